internal import OpflowCore

/// How the block of a task is folded in the log of a CI server. Failures stay unfolded, because
/// readers look for them.
enum GroupFolding {
  case none
  case gitHub
  /// Section names must be unique in a log, so they contain the run's ID.
  case gitLab(run: String)

  init(_ mode: OutputMode, run: String) {
    switch mode {
    case .gitHub: self = .gitHub
    case .gitLab: self = .gitLab(run: run)
    case .live, .line, .group, .quiet: self = .none
    }
  }

  /// Whether a try's whole output is shown, because logs are lost with the CI machine.
  var showsLogs: Bool {
    switch self {
    case .none: false
    case .gitHub, .gitLab: true
    }
  }

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

enum GroupFold {
  case gitHub
  /// Times are in seconds since the epoch; GitLab shows the duration next to a section.
  case gitLab(name: String, beganSeconds: Int64, endedSeconds: Int64, isCollapsed: Bool)

  /// The escape around GitLab's section markers, which hides them (ECMA-48, erase in line).
  private static let erase = "\u{1b}[0K"

  /// - Parameter title: one line with its newline.
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
