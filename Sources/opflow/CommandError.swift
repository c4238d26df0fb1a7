internal import OpflowBase
import OpflowCommandLine
import OpflowManifest
internal import OpflowPlan
import OpflowRuntime
import OpflowSystem

struct CommandError: Error {
  let code: ExitCode
  /// Complete lines for standard error.
  let text: String
  /// Processes that must end first.
  var survivors: [Orphans.Survivor] = []

  /// Without the program's name and the last newline.
  var message: String {
    let text = text.hasSuffix("\n") ? String(text.dropLast()) : text
    return text.hasPrefix("opflow: ") ? String(text.dropFirst(8)) : text
  }

  init(_ code: ExitCode, _ message: String) {
    self.code = code
    text = "opflow: \(message)\n"
  }

  /// For complete text, such as diagnostics.
  init(_ code: ExitCode, verbatim text: String) {
    self.code = code
    self.text = text
  }

  init(_ error: UsageError) { self.init(.usage, verbatim: error.text) }

  init(_ code: ExitCode, _ detail: String, _ error: Errno) {
    self.init(code, "\(detail): \(error)")
  }
}

/// A run's exit code comes from the `close` entry of its journal; these are the others.
enum ExitCode: Int32 {
  /// Also for tasks that were up to date, skipped or failed with `allow_failure`.
  case success = 0
  case taskFailed = 1
  /// A usage error, or a run that does not exist.
  case usage = 2
  case manifest = 3
  /// Damaged beyond recovery, or another file.
  case journal = 4
  case held = 5
  /// Stopped on request; resumable.
  case cancelled = 6
  /// From `wait`: the run's process was killed or crashed; resumable. Shells use this code for a
  /// killed process.
  case died = 137
  case `internal` = 70
  /// Such as a full disk; resumable.
  case io = 74
}

extension CommandError {
  init(_ error: PreparationError, colored: Bool) {
    switch error {
    case .unreadable(let path, let errno):
      self.init(
        Self.isProblem(errno) ? .usage : .io,
        "cannot read \(CleanText.string(path)): \(errno)\(ManifestLookup.hint(path, errno))")
    case .diagnostics(let diagnostics):
      self.init(.manifest, verbatim: DiagnosticRenderer(isColored: colored).render(diagnostics))
    case .folder(let error): self.init(error)
    case .noSuchTask(let word, let manifest, let tasks):
      let hint = ManifestLookup.file(among: [word.selector]) ?? Self.hint(word, tasks)
      self.init(
        .usage,
        "no task of \(CleanText.string(manifest)) fits `\(CleanText.string(word.selector))`\(hint)")
    case .selection(let error): self.init(UsageError(error.message))
    case .unsoundPlan(let error):
      self.init(.internal, "the plan that was compiled is not sound: \(error.message)")
    case .noInstanceSource(let task):
      self.init(
        .internal, "no manifest of the run declares the legs of \(CleanText.string(task))")
    case .unfitAddition(.segment(.tooLarge)):
      self.init(.manifest, "with what was added the run has more tasks than a run can have")
    case .unfitAddition(let error):
      self.init(.internal, "what was added to the run does not fit its plan: \(error)")
    case .secrets(let secrets):
      let names = secrets.faults.map(\.name).joined(separator: ", ")
      self.init(.manifest, "secrets cannot be had: \(names)")
    case .secretSet(let name):
      self.init(
        .usage,
        "--set \(CleanText.string(name)): its value holds a secret, and is written down; list it "
          + "under the task's `secrets`, and read it from the environment")
    case .secretOn:
      self.init(
        .usage,
        "--on: it holds a secret, and is written down; let the command that reaches the machine "
          + "find it otherwise, as in a file")
    case .secretNamed(let option):
      self.init(.usage, "\(option): it holds a secret, and is written down; use another name")
    case .noMemoryLimits(let detail):
      self.init(
        .usage,
        "--memory enforce: `memory_limit` cannot be kept: \(CleanText.string(detail));"
          + " \(MemoryPolicy.remedy)")
    case .noTerminal(let tasks):
      let names = tasks.map(CleanText.string).joined(separator: ", ")
      self.init(.manifest, "there is no terminal for what is interactive: \(names)")
    case .noProgram(let program, let transport):
      self.init(
        .usage,
        "--on \(CleanText.string(transport)): this machine has no `\(program)` in PATH;"
          + " install it, or run the tasks here without --on")
    case .tooFewDevices(let task, let wanted, let there):
      self.init(
        .manifest,
        "task \(CleanText.string(task)) wants \(wanted) of gpu, and this machine has \(there): "
          + "those that CUDA_VISIBLE_DEVICES names where it is set, else each /dev/nvidia0 and so "
          + "on")
    case .workersElsewhere(let hosts):
      let names = hosts.map { CleanText.string($0) }.joined(separator: ", ")
      self.init(
        .held,
        "workers of an earlier drive still run on \(names), past the lease of their agents: end "
          + "them there (`pkill opflow`), so that no task runs twice at once. Where those machines "
          + "are gone, --take-over goes on without them")
    case .taskAround(let task):
      let name = CleanText.string(task)
      self.init(
        .held,
        "task \(name) runs this command and would run again within itself, without end: run other "
          + "tasks, or leave it out with `--skip \(name)`")
    case .survivors(let survivors):
      self.init(.held, Self.text(survivors))
      self.survivors = survivors
    case .noDescriptors(let count, let error):
      self.init(
        .io,
        "a run needs \(count) open files at least, beside those that opflow has: \(error);"
          + " `ulimit -n` tells the limit, and raises it")
    case .noProcesses(let obstacle):
      self.init(.io, "cannot find the processes of tasks: \(obstacle)")
    }
  }

  private static func text(_ survivors: [Orphans.Survivor]) -> String {
    let titles = survivors.map { CleanText.string($0.title) }.joined(separator: ", ")
    let hosts = Set(survivors.lazy.compactMap(\.host)).sorted()
    func kill(on host: String?) -> String {
      "`sudo kill\(survivors.filter { $0.host == host }.map { " \($0.mark.pid)" }.joined())`"
    }
    let twice = "so that no task runs twice at once"
    if hosts.isEmpty {
      return "an earlier session of the run left what opflow cannot end: process \(titles);"
        + " wait until it ends, or end it (\(kill(on: nil))), then resume, \(twice)."
        + " To resume beside it, add --take-over"
    }
    var ways = hosts.map { "\(kill(on: $0)) on \(CleanText.string($0))" }
    if survivors.contains(where: { $0.host == nil }) { ways.insert(kill(on: nil), at: 0) }
    return "an earlier session of the run left what opflow cannot end, or cannot look at from here:"
      + " process \(titles); wait until it ends, or end it (\(ways.joined(separator: ", "))),"
      + " then resume with --take-over, \(twice)"
  }

  init(_ error: RunFolderError) {
    let code: ExitCode =
      switch error {
      case .file: .io
      case .journal, .plan: .journal
      case .held, .heldElsewhere, .live, .beginning, .aroundItself: .held
      case .foreign, .foreignManifest, .link, .removed, .noRuns, .noSuchRun, .ambiguous: .usage
      }
    self.init(code, error.message)
  }

  /// The user named a wrong path.
  private static func isProblem(_ error: Errno) -> Bool {
    [
      .noSuchFile, .accessDenied, .notADirectory, .isADirectory, .tooManyLinks, .nameTooLong,
      .invalid, .notUTF8,
    ].contains(error)
  }

  /// `names` are tasks, or tags for a `tag:` selector.
  private static func hint(_ word: UnfitSelector, _ names: [String]) -> String {
    if let hint = word.hint { return hint }
    guard word.selector.hasPrefix("tag:") else {
      return list(of: names) ?? "; `opflow` alone shows the tasks"
    }
    return names.isEmpty
      ? "; no task has tags: `tags: [slow]` in a task gives it one"
      : "; its tags: \(names.map(CleanText.string).joined(separator: ", "))"
  }

  /// nil if there are too many to list.
  static func list(of tasks: [String]) -> String? {
    tasks.count > ManifestFile.mostTasksTold
      ? nil : "; its tasks: \(tasks.map(CleanText.string).joined(separator: ", "))"
  }
}

extension Console {
  func preparing<Result: ~Copyable>(
    _ body: @autoclosure () throws(PreparationError) -> Result
  ) throws(CommandError) -> Result {
    try rethrowing(body()) { CommandError($0, colored: colorsError) }
  }

  func preparing<Result: ~Copyable>(
    _ body: () throws(PreparationError) -> Result
  ) throws(CommandError) -> Result {
    try preparing(body())
  }
}

extension RunRequest {
  init(_ invocation: Invocation) {
    self.init()
    set = invocation.set
    tasks = invocation.tasks
    arguments = invocation.arguments
    only = invocation.only
    skip = invocation.skip
    rerun = invocation.rerun
    serves = invocation.command == .serve
    name = invocation.name
    watches = invocation.watchesFiles
    resumesNewest = invocation.resumesNewest
    takesOver = invocation.takesOver
    ifRunning = invocation.ifRunning
    memory = invocation.memory
    maxParallel = invocation.maxParallel
    maxFailures = invocation.maxFailures
    durability = invocation.durability
    on = invocation.on
    queueMilliseconds = invocation.queueTimeout.flatMap { WrittenDuration.milliseconds($0) }
      .map { Int64(clamping: $0) }
    controlDescriptor = invocation.controlDescriptor
    isForQueue = invocation.isForQueue
    cache = (try? CacheChoice.setting(invocation)) ?? nil
  }
}
