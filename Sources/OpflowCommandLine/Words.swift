internal import OpflowCore

/// What a command takes that is no flag.
enum Words {
  case nothing
  /// FILE and TASK..., as `ManifestWords` tells them apart. What stands behind `--` are tasks too, or is
  /// handed on to the task.
  case manifestAndTasks(handsOn: Bool)
  case tasks
  case run
  /// A command, which the parser looks for.
  case topic
  /// A `JournalAction`, then RUN.
  case actionAndRun

  /// As the usage line has them: what stands before the flags, and behind them.
  var synopsis: (before: String, behind: String) {
    switch self {
    case .nothing: ("", "")
    case .manifestAndTasks(let handsOn):
      ("", handsOn ? " [FILE] [TASK...] [-- ARG...]" : " [FILE] [TASK...]")
    case .tasks: ("", " [TASK...]")
    case .run: ("", " [RUN]")
    case .topic: ("", " [COMMAND]")
    case .actionAndRun: (" \(Self.actions.joined(separator: "|"))", " [RUN]")
    }
  }

  func read(_ scanner: WordScanner, into invocation: inout Invocation) throws(Complaint) {
    let words = scanner.positionals
    switch self {
    case .nothing:
      if let extra = words.first { throw .superfluous(extra) }
    case .manifestAndTasks(let handsOn):
      // As npm and just hand words on to what they run.
      let behind = handsOn ? scanner.behindDashes : []
      let found = try ManifestWords(
        Array(words.dropLast(behind.count)), file: invocation.file)
      (invocation.file, invocation.tasks) = (found.file, found.tasks)
      invocation.arguments = behind
    case .tasks: invocation.tasks = words
    case .run:
      if invocation.command == .resume, let first = scanner.behindDashes.first {
        throw Complaint(
          "`-- \(first.clean)`: a resume hands on the arguments that the run was started with; others"
            + " make another run: `opflow run TASK -- \(first.clean)`")
      }
      invocation.run = try Self.single(words[...])
    case .topic: invocation.tasks = try Self.single(words[...]).map { [$0] } ?? []
    case .actionAndRun:
      invocation.action = try Self.action(words.first)
      invocation.run = try Self.single(words.dropFirst())
    }
  }

  private static func single(_ words: ArraySlice<String>) throws(Complaint) -> String? {
    if let extra = words.dropFirst().first { throw .superfluous(extra) }
    if let only = words.first, only.isEmpty { throw Complaint("an empty name") }
    return words.first
  }

  private static let actions = JournalAction.allCases.map { $0.rawValue }

  private static func action(_ word: String?) throws(Complaint) -> JournalAction {
    let all = actions.joined(separator: ", ")
    guard let word else { throw Complaint("one of \(all) is missing") }
    if let action = JournalAction(rawValue: word) { return action }
    let nearest = NearestName.of(word, among: actions).map { "; did you mean \($0)?" } ?? ""
    throw Complaint("`\(word.clean)` is none of \(all)\(nearest)")
  }
}
