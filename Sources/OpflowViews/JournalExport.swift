internal import OpflowBase
package import OpflowJournal
package import OpflowPlan

/// The intact lines of a journal as JSON, one object per line, for `opflow journal export`.
///
/// Every object has `seq`, `time_ms` and `event`, and `task` if it is about a task. The other keys
/// are the journal's (JournalFormat.swift); a key that may repeat becomes a list.
package struct JournalExport {
  private var json = JSONWriter()

  package init() {}

  package mutating func take() -> [UInt8] {
    defer { json = JSONWriter() }
    return json.bytes
  }

  package var byteCount: Int { json.bytes.count }

  package mutating func add(_ line: JournalLine) {
    json.beginObject()
    json.add("seq", line.sequence)
    json.add("time_ms", line.milliseconds)
    json.add("event", line.event.word)
    if !line.task.isEmpty { json.add("task", Field.text(line.task) ?? "") }
    var lists: [(key: Key, values: [String])] = []
    for field in line.fields {
      let key = field.key
      switch key?.shape {
      case .texts:
        guard let key else { continue }
        if let place = lists.firstIndex(where: { $0.key == key }) {
          lists[place].values.append(field.text)
        } else {
          lists.append((key, [field.text]))
        }
      case .number:
        json.key(field.name)
        if let number: Int64 = Field.number(field.value) {
          json.number(number)
        } else {
          json.string(field.text)
        }
      // Unknown keys are from a newer opflow.
      case .text, nil:
        json.key(field.name)
        json.string(field.text)
      }
    }
    for list in lists { json.add(list.key.name, list.values) }
    json.endObject()
    json.endLine()
  }
}

extension JournalEvent {
  var word: String {
    switch self {
    case .open: "open"
    case .resume: "resume"
    case .close: "close"
    case .worker: "worker"
    case .request: "order"
    case .stop: "stop"
    case .node: "site"
    case .extend: "extend"
    case .retract: "withdraw"
    case .transition(let kind): kind.word.description
    case .unknown: "unknown"
    }
  }
}

/// The output of `opflow journal verify`: the damage, and its effect on each task.
package struct JournalVerdict {
  private let path: String
  private let recovery: JournalRecovery
  private let isHeld: Bool

  package init(path: String, recovery: JournalRecovery, isHeld: Bool) {
    self.path = path
    self.recovery = recovery
    self.isHeld = isHeld
  }

  package var isWhole: Bool { recovery.isIntact || isHeld && recovery.isOnlyTorn }

  /// `plan` is nil if it cannot be read; the text then omits tasks.
  package func text(plan: Plan?, history: RunModel) -> String {
    let path = CleanText.string(path)
    if isWhole {
      let state = recovery.isIntact ? "intact" : "intact so far; the run is live"
      return "\(path): \(Self.count(recovery.lineCount, "line")), \(state)\n"
    }
    var text = "\(path): \(Self.count(recovery.lineCount, "intact line")), "
    text += "\(Self.count(recovery.droppedLines, "damaged line")) "
    text += "(\(recovery.droppedBytes) bytes), \(recovery.missingLines) missing\n"
    for damage in recovery.damage { text += "  \(damage.message)\n" }
    if recovery.damage.count == JournalRecovery.placeLimit { text += "  … and possibly more\n" }
    if let length = recovery.repair.truncateTo {
      text +=
        "A resume cuts off the file after byte \(length) and ignores the rest of the damage.\n"
    } else {
      text += "A resume ignores the damage.\n"
    }
    if let plan { text += Self.tasks(plan, history) }
    return text
  }

  private static func tasks(_ plan: Plan, _ history: RunModel) -> String {
    var request = ResumeRequest()
    request.selected = RunScope.of(history, plan)
    request.scope = request.selected
    let decision = ResumeDecision(plan: plan, history: history, request: request)
    var lines: [(name: String, meaning: String)] = []
    for index in plan.tasks {
      let task = TaskID(index)
      let meaning: String
      switch decision[task] {
      case .outside, .leave, .keep, .stay: continue
      case .check: meaning = "re-run if its inputs or outputs changed"
      case .later: meaning = "re-run if a dependency is re-run"
      case .fail:
        meaning = "fails: its last attempt may be interrupted (on_interrupted: fail)"
      case .run(.unproven):
        meaning = "re-run: it ended, but a line that discards its result may be lost"
      case .run(.interrupted): meaning = "re-run: the end of its last attempt is not recorded"
      case .run(.new): meaning = "run: no start is recorded"
      case .run(let reason):
        meaning = "re-run: " + CleanText.string(ReasonText.text(.rerun(reason), plan: plan))
      }
      lines.append((CleanText.string(plan.nameString(task)), meaning))
    }
    let total = request.selected?.count ?? plan.taskCount
    var text = "It leaves \(total - lines.count) of \(count(total, "task")) as they are.\n"
    if lines.isEmpty { return text }
    text += "The others, by the intact lines of the journal:\n"
    let width = min(lines.reduce(0) { max($0, $1.name.count) }, 40)
    for line in lines {
      let padding = String(repeating: " ", count: max(0, width - line.name.count))
      text += "  \(line.name)\(padding)  \(line.meaning)\n"
    }
    return text
  }

  private static func count(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
  }
}
