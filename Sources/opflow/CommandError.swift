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
    case .unreadable(let path, .noSuchFile):
      self.init(
        .usage, "no manifest `\(CleanText.string(path))`\(ManifestLookup.hint(path, .noSuchFile))")
    case .unreadable(let path, let errno):
      self.init(
        Self.isProblem(errno) ? .usage : .io,
        "cannot read \(CleanText.string(path)): \(errno)\(ManifestLookup.hint(path, errno))")
    case .diagnostics(let diagnostics):
      self.init(.manifest, verbatim: DiagnosticRenderer(isColored: colored).render(diagnostics))
    case .folder(let error): self.init(error)
    case .noSuchTask(let word, let manifest, _):
      self.init(
        .usage,
        word.message(
          "no task of \(CleanText.string(manifest))",
          hint: ManifestLookup.file(among: [word.selector])))
    case .selection(let error): self.init(.usage, error.message)
    case .unsoundPlan(let error):
      self.init(.internal, "bug in opflow: the compiled plan is invalid: \(error.message)")
    case .noInstanceSource(let task):
      self.init(
        .internal,
        "bug in opflow: no manifest of the run declares the matrix `\(CleanText.string(task))`")
    case .unfitAddition(.segment(.tooLarge)):
      self.init(.manifest, "too many tasks: a run cannot have as many as this addition makes")
    case .unfitAddition(let error):
      self.init(.internal, "bug in opflow: the added tasks do not fit the run: \(error)")
    case .secrets(let secrets):
      let names = secrets.faults.map(\.name).joined(separator: ", ")
      self.init(.manifest, "cannot get the secrets: \(names)")
    case .secretSet(let name):
      self.init(
        .usage,
        "--set \(CleanText.string(name)): the value contains a secret, and opflow records it; list "
          + "the secret under `secrets` of the task and read it from the environment")
    case .secretOn:
      self.init(
        .usage,
        "--on: it contains a secret, and opflow records it; let the command read the secret, for "
          + "example from a file")
    case .secretNamed(let option):
      self.init(.usage, "\(option): it contains a secret, and opflow records it; use another name")
    case .noMemoryLimits(let detail):
      self.init(
        .usage,
        "--memory enforce: opflow cannot enforce `memory_limit`: \(CleanText.string(detail));"
          + " \(MemoryPolicy.remedy)")
    case .noTerminal(let tasks):
      let names = tasks.map(CleanText.string).joined(separator: ", ")
      self.init(.manifest, "interactive tasks need a terminal: \(names)")
    case .noProgram(let program, let transport) where transport.hasPrefix("slurm"):
      self.init(.usage, "Slurm is not available here: `\(program)` not found in PATH")
    case .noController(let complaint):
      self.init(
        .io,
        "Slurm is not available here: its controller does not answer ("
          + "\(CleanText.string(complaint)))")
    case .noProgram(let program, let transport):
      self.init(
        .usage,
        "--on \(CleanText.string(transport)): `\(program)` not found in PATH; install it, or run"
          + " the tasks here without --on")
    case .tooFewDevices(let task, let wanted, let there):
      self.init(
        .manifest,
        "task \(CleanText.string(task)) needs \(wanted) \(wanted == 1 ? "GPU" : "GPUs"); this"
          + " machine has \(there == 0 ? "none" : "\(there)") (opflow looked at"
          + " CUDA_VISIBLE_DEVICES, SLURM_STEP_GPUS and /dev/nvidia*)")
    case .workersElsewhere(let hosts):
      let names = hosts.map { CleanText.string($0) }.joined(separator: ", ")
      self.init(
        .held,
        "workers of an earlier session still run on \(names) after the heartbeat timeout of their"
          + " agents; end them there (`pkill opflow`), so that no task runs twice; if those"
          + " machines are dead, add --take-over")
    case .taskAround(let task):
      let name = CleanText.string(task)
      self.init(
        .held,
        "task \(name) runs this command and would run itself again without end; run other tasks,"
          + " or add `--skip \(QuotedWords.quoted(name))`")
    case .survivors(let survivors):
      self.init(.held, Self.text(survivors))
      self.survivors = survivors
    case .noDescriptors(let count, let error):
      self.init(
        .io,
        "a run needs at least \(count) open files in addition to those of opflow: \(error);"
          + " `ulimit -n` shows and raises the limit")
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
    let twice = "so that no task runs twice"
    if hosts.isEmpty {
      return "cannot end all processes of an earlier session of the run: \(titles);"
        + " wait for their end, or end them (\(kill(on: nil))), then resume, \(twice);"
        + " to resume at once, add --take-over"
    }
    var ways = hosts.map { "\(kill(on: $0)) on \(CleanText.string($0))" }
    if survivors.contains(where: { $0.host == nil }) { ways.insert(kill(on: nil), at: 0) }
    return "cannot end, or cannot see from here, all processes of an earlier session of the"
      + " run: \(titles); wait for their end, or end them (\(ways.joined(separator: ", "))),"
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
