internal import OpflowBase
package import OpflowJournal
package import OpflowPlan

package struct WhyView {
  private let status: RunStatus
  private let reasons: TaskReasons
  private let nowMilliseconds: Int64
  private let fate: (TaskID) -> ResumeFate?

  private static let maxGroups = 50
  private static let maxInstances = 3
  /// The minimum width of broken lines; without a terminal, lines are not broken.
  private static let leastColumns = 20

  /// `fate` is not called for a live run.
  package init(
    _ status: RunStatus, durations: TaskDurations, nowMilliseconds: Int64,
    controlCommand: @escaping RequestLineText = ControlAction.plainCommand,
    fate: @escaping (TaskID) -> ResumeFate?
  ) {
    self.status = status
    self.nowMilliseconds = nowMilliseconds
    self.fate = status.state == .running ? { _ in nil } : fate
    reasons = TaskReasons(
      status, durations: durations, nowMilliseconds: nowMilliseconds, controlCommand: controlCommand
    )
  }

  private var plan: Plan { status.plan }

  // MARK: - For people

  package func text(_ tasks: [TaskID], color: Bool, columns: Int?) -> [UInt8] {
    let palette = Palette(isOn: color)
    var text = TextBuffer()
    let groups = groups(tasks)
    for group in groups.prefix(Self.maxGroups) {
      if !text.isEmpty { text.endLine() }
      write(group, palette, columns, into: &text)
    }
    if groups.count > Self.maxGroups {
      text.add("\n… and \(groups.count - Self.maxGroups) more\n")
    }
    return text.take()
  }

  private struct Group {
    var tasks: [TaskID]
    let reasons: [TaskReason]
  }

  private func groups(_ tasks: [TaskID]) -> [Group] {
    var groups: [Group] = []
    var places: [String: Int] = [:]
    for task in tasks {
      // The generated matrix tasks represent their generator.
      if tasks.count > 1, plan.instances(madeBy: task) != nil, status.state(task).isSuccess {
        continue
      }
      let reasons = all(of: task)
      if let matrixGroup = plan.matrixGroup(of: task), plan.instances(matrixGroup).count > 1 {
        let parts =
          ["\(matrixGroup.index)", status.state(task).word]
          + reasons.map { "\($0.kind) \($0.shared)" }
        let key = parts.joined(separator: "\n")
        if let place = places[key] {
          groups[place].tasks.append(task)
          continue
        }
        places[key] = groups.count
      }
      groups.append(Group(tasks: [task], reasons: reasons))
    }
    return groups
  }

  private func all(of task: TaskID) -> [TaskReason] {
    guard let fate = fate(task) else { return reasons.of(task) }
    if fate == .fails {
      let why = "would fail on resume: it was interrupted, and has `on_interrupted: fail`"
      let command = "to re-run it: \(reasons.rerunCommand(task))"
      let shared = "\(why); --rerun re-runs it"
      return reasons.of(task) + [TaskReason(.resume, "\(why); \(command)", shared: shared)]
    }
    return reasons.of(task) + (text(of: fate).map { [TaskReason(.resume, $0)] } ?? [])
  }

  private func text(of fate: ResumeFate) -> String? {
    switch fate {
    case .runs(nil): "a resume would run it"
    case .runs(let transition?):
      "a resume would re-run it (\(ReasonText.text(transition.why, plan: plan)))"
    case .runsChanged(""): "a resume would re-run it (no earlier success is recorded)"
    case .runsChanged(let detail): "a resume would re-run it (\(detail))"
    case .runsUnless(let need):
      "a resume would re-run it, unless the outputs of \(plan.nameString(need)) stay the same"
    case .keeps: "a resume would not re-run it"
    case .upToDate: "is up to date; a resume would not run it"
    case .blocked(let need): "a resume would skip it because of \(plan.nameString(need))"
    case .unfit(let detail): "would fail on resume: \(detail)"
    case .checks: "a resume would re-run it only if its inputs or outputs changed"
    case .keepsLater: "a resume would re-run it only if a dependency is re-run"
    case .staysFailed: "a resume would not re-run it; it stays failed"
    case .leaves: "a resume would not include it"
    case .gone: "is no longer in the manifest; a resume would remove it from the run"
    case .addedAnew: "a resume would re-run its generator, which decides whether to add it again"
    case .fails, .unknown: nil
    }
  }

  private func write(
    _ group: Group, _ palette: Palette, _ columns: Int?, into text: inout TextBuffer
  ) {
    let first = group.tasks[0]
    let state = status.state(first)
    let isOne = group.tasks.count == 1
    var name = plan.nameString(first)
    if !isOne, let matrixGroup = plan.matrixGroup(of: first) {
      let all = CountText.grouped(plan.instances(matrixGroup).count)
      let count = CountText.grouped(group.tasks.count)
      name = "\(plan.matrixGroupName(matrixGroup)): \(count) of \(all) matrix tasks"
    }
    text.add("\(palette.bold(CleanText.string(name))) \(palette.painted(state.shown))\n")
    if !isOne {
      let instances = NameList.text(group.tasks, plan: plan, limit: Self.maxInstances)
      write(palette.dim("("), instances, palette.dim(")"), columns, into: &text)
    }
    for reason in group.reasons {
      write("", isOne ? reason.text : reason.shared, "", columns, into: &text)
    }
  }

  private func write(
    _ before: String, _ sentence: String, _ behind: String, _ columns: Int?,
    into text: inout TextBuffer
  ) {
    let width = columns.map { max(Self.leastColumns, $0) } ?? .max
    var line = "  "
    var lines: [String] = []
    for word in sentence.split(separator: " ") {
      let room = width - TextWidth.of(line) - 1
      if TextWidth.of(String(word)) > room, !line.allSatisfy({ $0 == " " }) {
        lines.append(line)
        line = "    "
      }
      line += (line.last == " " ? "" : " ") + word
    }
    lines.append(line)
    for (index, line) in lines.enumerated() {
      let indent = String(line.prefix { $0 == " " })
      text.add(indent)
      if index == 0 { text.add(before) }
      text.addCleaned(String(line.dropFirst(indent.count)))
      if index == lines.count - 1 { text.add(behind) }
      text.endLine()
    }
  }

  // MARK: - For programs

  package func json(_ tasks: [TaskID]) -> [UInt8] {
    JSONWriter.line { json in
      json.add("run", status.run)
      json.add("state", status.state.rawValue)
      json.objects("tasks", tasks) { json, task in
        json.add("id", plan.nameBytes(task))
        json.add("state", status.state(task).word)
        json.objects("reasons", all(of: task)) { json, reason in
          json.add("kind", reason.kind.word)
          json.add("text", reason.text)
          json.add("tasks", reason.tasks, plan)
        }
      }
    }
  }
}

extension Palette {
  func painted(_ word: String) -> String {
    switch word {
    case "succeeded": green(word)
    case "failed": red(word)
    case "running": cyan(word)
    case "cancelled", "interrupted", "suspended", "paused", "failed (allowed)": yellow(word)
    default: word
    }
  }
}
