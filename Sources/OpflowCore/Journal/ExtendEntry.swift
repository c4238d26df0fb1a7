/// Tasks were added to the run, as a segment of its plan. The line comes before any other that speaks of them.
package struct ExtendEntry: Sendable, Equatable {
  /// Of the order that asked for it. The run's folder has what was added by this name, where `copy` is empty.
  package var id: OrderID
  package var asker: OrderAsker
  /// The task of the run that added them; `none` where somebody else did.
  package var adder = TaskID.none
  /// The number of that task's try; 0 where there is none.
  package var attempt: Int32 = 0
  /// 32 hexadecimal digits: the key of the segment.
  package var segmentKey = ""
  /// How many tasks the run's plan has from here on, and how many of them are new.
  package var taskCount: Int
  package var added: Int
  /// The real path of what was added; `-` for standard input.
  package var manifestPath = ""
  /// The folder that its relative paths start at.
  package var folder = ""
  /// `HASH PATH` of each file that it was compiled from, as in `OpenEntry`.
  package var files: [String] = []
  /// The manifest as it was read, where no file has it.
  package var copy = ""

  package init(id: OrderID, asker: OrderAsker, taskCount: Int, added: Int) {
    self.id = id
    self.asker = asker
    self.taskCount = taskCount
    self.added = added
  }
}

extension JournalLine {
  /// The id of the task that it is about, whether a plan has it or not; nil where it is about none.
  var namedTask: String? { task.isEmpty ? nil : Field.text(task) }

  /// Nil for a line that lacks what it must say. A task that the plan does not have is none.
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

  /// Of an `extend`, and of a run's `resume`: how many tasks the plan has from there on; nil where it does not say so.
  package var taskCount: Int? {
    for field in fields where field.key == .count {
      let count = Int(field.natural)
      return count > 0 ? count : nil
    }
    return nil
  }
}
