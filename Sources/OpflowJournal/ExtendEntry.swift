internal import OpflowBase
package import OpflowPlan

/// A plan segment with added tasks. Precedes all lines about them.
package struct ExtendEntry: Sendable, Equatable {
  /// Without `copy`, the run's folder keeps the manifest by this name.
  package var id: OrderID
  package var asker: OrderAsker
  /// `none` if no task of the run added them.
  package var adder = TaskID.none
  package var attempt: Int32 = 0
  /// 32 hexadecimal digits.
  package var segmentKey = ""
  /// Of the plan from here on, `added` of them new.
  package var taskCount: Int
  package var added: Int
  /// Real path; `-` for standard input.
  package var manifestPath = ""
  /// Of relative paths.
  package var folder = ""
  /// `HASH PATH` each, as in `OpenEntry`.
  package var files: [String] = []
  /// The manifest's text if it is not in a file.
  package var copy = ""

  package init(id: OrderID, asker: OrderAsker, taskCount: Int, added: Int) {
    self.id = id
    self.asker = asker
    self.taskCount = taskCount
    self.added = added
  }
}

extension JournalLine {
  /// Even if the plan does not have the task; nil for a line about the run.
  var namedTask: String? { task.isEmpty ? nil : Field.text(task) }

  /// Nil if a required field is missing.
  package func extend(plan: Plan) -> ExtendEntry? {
    guard let id = fields.first(where: { $0.key == .id }).flatMap({ OrderID($0.text) }) else {
      return nil
    }
    var entry = ExtendEntry(
      id: id, asker: OrderAsker(pid: 0, user: 0, name: ""), taskCount: taskCount ?? 0, added: 0)
    if let adder = plan.task(escapedName: task) { entry.adder = adder }
    for field in fields {
      switch field.key {
      case .attempt: entry.attempt = field.small ?? 0
      case .by: entry.asker.name = field.text
      case .pid: entry.asker.pid = field.small ?? 0
      case .uid: entry.asker.user = Field.number(field.value) ?? 0
      case .value: entry.added = Int(field.natural)
      case .plan: entry.segmentKey = field.text
      case .manifest: entry.manifestPath = field.text
      case .folder: entry.folder = field.text
      case .file: entry.files.append(field.text)
      case .copy: entry.copy = field.text
      default: break
      }
    }
    return entry
  }

  /// Of the plan from this line on.
  package var taskCount: Int? {
    for field in fields where field.key == .count {
      let count = Int(field.natural)
      return count > 0 ? count : nil
    }
    return nil
  }
}
