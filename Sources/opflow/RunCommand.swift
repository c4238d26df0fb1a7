internal import OpflowBase
import OpflowCommandLine
internal import OpflowEngine
internal import OpflowJournal
internal import OpflowPlan
import OpflowRuntime
import OpflowSystem
internal import OpflowViews
internal import OpflowWorker

enum RunCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    try perform(arguments, Console.enter(arguments.view))
  }

  static func perform(_ arguments: Invocation, _ console: Console) throws(CommandError) -> Int32 {
    try SessionEnd.expect(arguments)
    let manifest = try ManifestLookup.manifest(arguments.file, naming: arguments.tasks)
    var arguments = arguments
    // Later sessions use the manifest found now.
    arguments.file = manifest.displayPath
    let state = try RunLookup.state(arguments.view, for: manifest)
    if arguments.resumesNewest { return try resumeOrStart(manifest, state, arguments, console) }
    if let around = TaskAround.triedAgain, manifest.realPath != "-" {
      return try resumeOrStart(manifest, state, arguments, console, of: around)
    }
    let new = try prepare(manifest, state, arguments, console)
    if arguments.isDryRun || new.group.ifRunning == .allow {
      return try start(new, manifest, state, arguments, console, releasing: nil, nil)
    }
    let entry = try GroupEntry(new.group)
    let current =
      entry.hasWaited
      ? try prepare(manifest.readAgain(), state, arguments, console, isAgain: true) : new
    return try start(
      current, manifest, state, arguments, console, releasing: nil, entry.takeApproval())
  }

  /// `run --resume`, and a run by a task that is retried (`around`: only runs of that task).
  /// Between the search and the run's lock no other process may choose a run here.
  private static func resumeOrStart(
    _ manifest: ManifestFile, _ state: StateFolder, _ arguments: Invocation, _ console: Console,
    of around: TaskAround? = nil
  ) throws(CommandError) -> Int32 {
    var request = RunRequest(arguments)
    request.around = around
    // In a new place, errors in the manifest must not leave a folder.
    var early = state.isThere ? nil : try prepare(manifest, state, arguments, console)
    var manifest = manifest
    var gate: ConcurrencyGate?
    var isInGroup = false
    var hasWaited = false
    while true {
      let choice = try choose(state, arguments, console)
      let run: RunFolder?
      do throws(RunFolderError) {
        run = try state.resumable(ofManifest: manifest.realPath, request)
      } catch {
        if error.holderElsewhere != nil, !hasWaited, !arguments.isDryRun,
          case .held(let name, _) = error, let id = RunID(name)
        {
          _ = consume choice
          try waitForOther(state.folder(of: id), arguments, console)
          hasWaited = true
          early = nil
          manifest = try manifest.readAgain()
          continue
        }
        guard !arguments.isDryRun, let group = group(holding: error, state, arguments) else {
          throw CommandError(error)
        }
        // Hold neither while waiting.
        _ = consume choice
        gate = nil
        gate = try GroupEntry(group).takeApproval()
        isInGroup = true
        early = nil
        manifest = try manifest.readAgain()
        continue
      }
      if let run {
        return try ResumeCommand.resume(
          run, manifest: manifest, arguments, console, releasing: choice, gate,
          isInGroup: isInGroup)
      }
      let new = if let early { early } else { try prepare(manifest, state, arguments, console) }
      if arguments.isDryRun || isInGroup || new.group.ifRunning == .allow {
        return try start(new, manifest, state, arguments, console, releasing: choice, gate)
      }
      _ = consume choice
      let entry = try GroupEntry(new.group)
      if entry.hasWaited { manifest = try manifest.readAgain() }
      early = entry.hasWaited ? nil : new
      gate = entry.takeApproval()
      isInGroup = true
    }
  }

  private static func waitForOther(
    _ run: RunFolder, _ arguments: Invocation, _ console: Console
  ) throws(CommandError) {
    _ = try RunLookup.reading(RunFolderLock.take(run, arguments, console))
  }

  static func choose(
    _ state: StateFolder, _ arguments: Invocation, _ console: Console
  ) throws(CommandError) -> StateFolderLock? {
    if arguments.isDryRun { return nil }
    return try RunLookup.reading { () throws(RunFolderError) in
      try StateFolderLock.take(state) { holder in
        let name = holder?.description ?? "another process"
        console.warn("waiting for \(name), which is starting or resuming a run here")
      }
    }
  }

  /// nil unless waiting for it was requested.
  private static func group(
    holding error: RunFolderError, _ state: StateFolder, _ arguments: Invocation
  ) -> ConcurrencyGroup? {
    guard case .held(let name, _) = error, let id = RunID(name) else { return nil }
    let group = ConcurrencyGroup(of: state.folder(of: id), asked: arguments.ifRunning)
    return group?.ifRunning == .wait ? group : nil
  }

  /// `isAgain`: the warnings were shown already.
  static func prepare(
    _ manifest: ManifestFile, _ state: StateFolder, _ arguments: Invocation, _ console: Console,
    isAgain: Bool = false
  ) throws(CommandError) -> NewRun {
    var new = try console.preparing(NewRun(manifest, state, RunRequest(arguments)))
    if !isAgain { console.show(new.diagnostics) }
    try console.preparing(new.selectTasks())
    return new
  }

  /// Releases `choice` and `gate` once the run's first journal line exists.
  static func start(
    _ new: consuming NewRun, _ manifest: ManifestFile, _ state: StateFolder,
    _ arguments: Invocation, _ console: Console, releasing choice: consuming StateFolderLock?,
    _ gate: consuming ConcurrencyGate?
  ) throws(CommandError) -> Int32 {
    if arguments.isDryRun { return try Forecast.show(new, arguments, console) }
    try console.preparing(PreparedSession.expectMeans())
    try console.preparing(new.expectRunnable { console.warn($0) })
    let warnings =
      unfinished(state.newestState(ofManifest: manifest.realPath), in: state, arguments.view)
      + beside(new.group)
    var session = try console.preparing(new.begin())
    _ = consume choice
    _ = consume gate
    session.request.warnings += warnings
    return try Session.perform(session, arguments, console)
  }

  private static func unfinished(
    _ newest: (run: RunID, state: RunState, on: [String])?, in folder: StateFolder,
    _ view: ViewArguments
  ) -> [String] {
    guard let (run, state, on) = newest else { return [] }
    switch state {
    case .running: return ["run \(run) of this manifest is still live"]
    case .interrupted, .cancelled:
      let resume = CommandText.resume(folder.folder(of: run), on: on, view)
      return [
        "the newest run of this manifest, \(run), is unfinished, and this is a new run; "
          + "to continue the old one: \(resume)"
      ]
    case .succeeded, .failed: return []
    }
  }

  /// Warns of a live run of another manifest.
  private static func beside(_ group: ConcurrencyGroup) -> [String] {
    guard group.isNamed, let member = try? group.live() else { return [] }
    return ["run \(member.folder.id) \(group.title) is still live"]
  }
}

extension ManifestFile {
  /// Standard input can be read only once.
  func readAgain() throws(CommandError) -> ManifestFile {
    if realPath == ManifestFile.standardInput { return self }
    return try ManifestLookup.read(displayPath)
  }
}

enum ServeCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    try SessionEnd.expect(arguments)
    var arguments = arguments
    let manifest = try manifest(arguments, console)
    if arguments.file != nil { arguments.file = manifest.displayPath }
    let state = try RunLookup.state(arguments.view, for: manifest)
    // In a new place, errors in the manifest must not leave a folder.
    let early = state.isThere ? nil : try RunCommand.prepare(manifest, state, arguments, console)
    // Held until the first journal line, so that the run's name stays unique.
    let choice = try RunCommand.choose(state, arguments, console)
    if !arguments.name.isEmpty { try expectFree(arguments.name, in: state, arguments.view) }
    let new =
      if let early { early } else {
        try RunCommand.prepare(manifest, state, arguments, console)
      }
    if arguments.output != .quiet {
      let run = arguments.name.isEmpty ? "" : " --run \(CleanText.string(arguments.name))"
      Console.complain(
        "opflow: the queue is open; to add tasks: opflow add\(run) FILE; to close it: "
          + "opflow close\(run)\n")
    }
    return try RunCommand.start(new, manifest, state, arguments, console, releasing: choice, nil)
  }

  private static func manifest(
    _ arguments: Invocation, _ console: Console
  ) throws(CommandError) -> ManifestFile {
    guard let file = arguments.file else {
      return try console.preparing(ManifestFile.none(named: arguments.name))
    }
    var manifest = try ManifestLookup.read(ManifestFile.path(file))
    manifest.mayBeEmpty = true
    return manifest
  }

  private static func expectFree(
    _ name: String, in state: StateFolder, _ view: ViewArguments
  ) throws(CommandError) {
    guard state.isThere else { return }
    let other = try RunLookup.reading { () throws(RunFolderError) -> RunFolder? in
      guard let run = try state.run(named: name), try RunFolderLock.isHeld(run) else { return nil }
      return run
    }
    guard let other else { return }
    let shown = CleanText.string(name)
    throw CommandError(
      .held,
      "the live run \(other.id) already has the name `\(shown)`; to add tasks to it: "
        + "opflow add --run \(shown) FILE")
  }
}

/// Enters a concurrency group and reports the runs that it waits for.
struct GroupEntry: ~Copyable {
  private let gate: ConcurrencyGate
  /// State read before the wait may be outdated.
  let hasWaited: Bool

  init(_ group: ConcurrencyGroup, but own: RunID? = nil) throws(CommandError) {
    var hasWaited = false
    gate = try RunLookup.reading { () throws(RunFolderError) in
      try group.enter(but: own) { obstacle in
        hasWaited = true
        Console.complain("opflow: waiting for \(Self.text(obstacle, group))\n")
      }
    }
    self.hasWaited = hasWaited
  }

  consuming func takeApproval() -> ConcurrencyGate { gate }

  private static func text(_ obstacle: ConcurrencyGroup.Obstacle, _ group: ConcurrencyGroup)
    -> String
  {
    switch obstacle {
    case .run(let member):
      let process = member.holder.map { " (\($0))" } ?? ""
      return CleanText.string("run \(member.folder.id) \(group.title)\(process)")
    case .queue(let holder):
      let process = holder?.description ?? "another process"
      return CleanText.string("\(process), which also waits for a run \(group.title)")
    }
  }
}

enum CacheChoice {
  private static let variable = "OPFLOW_CACHE"
  private static let limitVariable = "OPFLOW_CACHE_SIZE"

  static func setting(_ arguments: Invocation) throws(CommandError) -> CacheSetting? {
    if !arguments.usesCache { return nil }
    let limit = try limitBytes()
    let named = arguments.cache ?? Environment.value(variable).flatMap { $0.isEmpty ? nil : $0 }
    guard let named else { return .own(limitBytes: limit) }
    return .shared(path: try absolute(named), mayWrite: arguments.writesCache, limitBytes: limit)
  }

  private static func absolute(_ path: String) throws(CommandError) -> String {
    if path.hasPrefix("/") { return path }
    return try rethrowing(Path.workingDirectory() + "/" + path) {
      CommandError(.io, "cannot find the folder \(CleanText.string(path))", $0)
    }
  }

  private static func limitBytes() throws(CommandError) -> Int64 {
    guard let text = Environment.value(limitVariable), !text.isEmpty else {
      return CacheSetting.standardLimitBytes
    }
    let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    let units: [Substring: Int64] = ["": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40]
    guard let number = Field.number(digits, as: Int64.self),
      let unit = units[text.dropFirst(digits.count)],
      case let (bytes, isTooMuch) = number.multipliedReportingOverflow(by: unit), !isTooMuch
    else {
      throw CommandError(
        .usage,
        "\(limitVariable) must be a size such as 500M or 20G, not `\(CleanText.string(text))`")
    }
    return bytes
  }
}

/// A dry run: the tasks that would run, in order, with expected times.
enum Forecast {
  static func show(
    _ prepared: some Preparation, _ arguments: Invocation, _ console: Console
  ) throws(CommandError) -> Int32 {
    for warning in prepared.warnings { console.warn(warning) }
    if let missing = prepared.missingSecrets { console.warn(missing) }
    let plan = prepared.plan
    var resumeState = prepared.resumeState
    resumeState.durations = prepared.durations
    let view = PlanView(
      plan: plan, options: SchedulerOptions(prepared.asked, plan), resumeState: resumeState,
      reasons: prepared.reasons, capacities: arguments.capacities.map { UInt64($0) },
      foresight: foresight(plan, prepared.stateFolder, cache: prepared.asked.cache, console),
      showsAll: arguments.verbose,
      color: console.colorsOutput, columns: Terminal.size(Terminal.standardOutput)?.columns)
    try view.write { bytes throws(CommandError) in try Console.write(bytes) }
    return ExitCode.success.rawValue
  }

  static func foresight(
    _ plan: Plan, _ state: StateFolder, cache: CacheSetting?, _ console: Console
  ) -> FileForesight? {
    guard plan.hasChecks else { return nil }
    do throws(Errno) {
      let look = try PlanScan(plan, state: state.path, cache: cache)
      return { look.foresee($0, $1) }
    } catch {
      console.warn(
        "cannot read the results of earlier runs: \(error); the plan assumes that all tasks run")
      return nil
    }
  }
}
