/// How the block of a task is folded in the log of a CI server.
///
/// What failed is not folded away: it is what a reader came for.
enum GroupFolding {
  case none
  case gitHub
  /// The names of sections have to differ in a log, and so begin with the run.
  case gitLab(run: String)

  init(_ mode: OutputMode, run: String) {
    switch mode {
    case .gitHub: self = .gitHub
    case .gitLab: self = .gitLab(run: run)
    case .live, .line, .group, .quiet: self = .none
    }
  }

  /// All of what a try printed is shown: the logs go with the machine.
  var showsLogs: Bool {
    switch self {
    case .none: false
    case .gitHub, .gitLab: true
    }
  }

  /// What stands around the block of a try that has ended; nil for nothing.
  func fold(_ transition: Transition, _ model: DriveModel) -> GroupFold? {
    guard transition.endsTry else { return nil }
    let isGood = transition.event == .success
    switch self {
    case .none: return nil
    case .gitHub: return isGood ? .gitHub : nil
    case .gitLab(let run):
      let end = model.lastMilliseconds
      let wall = transition.outcome.usage.wallMicroseconds / 1000
      return .gitLab(
        name: "opflow-\(run)-\(transition.task.index)-\(transition.attempt)",
        beganSeconds: (end - wall) / 1000, endedSeconds: end / 1000, isCollapsed: isGood)
    }
  }
}

/// The lines around one block.
enum GroupFold {
  case gitHub
  /// Times are since the epoch: GitLab shows beside a section how long it took.
  case gitLab(name: String, beganSeconds: Int64, endedSeconds: Int64, isCollapsed: Bool)

  /// What GitLab's log takes for no text (ECMA-48, erase in line).
  private static let erase = "\u{1b}[0K"

  /// - Parameter title: a line.
  func begin(_ title: [UInt8], into text: inout TextBuffer) {
    switch self {
    case .gitHub:
      text.add("::group::")
      WorkflowCommand.append(data: title.dropLast(), to: &text)
      text.endLine()
    case .gitLab(let name, let began, _, let isCollapsed):
      let options = isCollapsed ? "[collapsed=true]" : ""
      text.add("\(Self.erase)section_start:\(began):\(name)\(options)\r\(Self.erase)")
      text.add(title)
    }
  }

  func end(into text: inout TextBuffer) {
    switch self {
    case .gitHub: text.add("::endgroup::\n")
    case .gitLab(let name, _, let ended, _):
      text.add("\(Self.erase)section_end:\(ended):\(name)\r\(Self.erase)\n")
    }
  }
}
