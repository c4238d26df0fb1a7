internal import OpflowBase
import OpflowCommandLine
internal import OpflowPlan
import OpflowRuntime
import OpflowSystem

/// `opflow run --watch`: resumes the run whenever its files change, and waits while it cannot.
struct WatchedRun: ~Copyable {
  private let folder: RunFolder
  private let serving: ServingWatch
  private let arguments: Invocation
  private let console: Console
  private var further: Invocation
  /// The last reported obstacle; empty after a session.
  private var complaint = ""
  /// The obstacle may depend on unknown files: check at every event and interval.
  private var isElsewhere = false
  /// The obstacle: processes that an earlier round left.
  private var survivors: [Orphans.Survivor] = []
  private var isWaitTold = false

  /// Continues after a session that ended by itself, with its options.
  static func goOn(
    _ folder: RunFolder, _ serving: ServingWatch, after code: Int32,
    _ arguments: Invocation, _ console: Console
  ) throws(CommandError) -> Int32 {
    var rounds = WatchedRun(folder, serving, arguments, console)
    return try rounds.goOn(after: code)
  }

  private init(
    _ folder: RunFolder, _ serving: ServingWatch, _ arguments: Invocation, _ console: Console
  ) {
    self.folder = folder
    self.serving = serving
    self.arguments = arguments
    self.console = console
    further = Self.further(arguments)
  }

  private static func further(_ arguments: Invocation) -> Invocation {
    var further = arguments
    // For the first session only.
    further.rerun = []
    return further
  }

  /// Also works while only services are left.
  static func attend(
    _ watch: consuming ManifestWatch, of folder: RunFolder, _ arguments: Invocation,
    _ console: Console
  ) -> ServingWatch {
    let (view, further) = (arguments.view, further(arguments))
    return ServingWatch(
      watch, begun: { "opflow: \(watching($0))" }, told: { "opflow: \(changed($0, view))" }
    ) { held in
      do throws(CommandError) {
        return .goesOn(keeping: try ResumeCommand.staying(held, folder, further, console))
      } catch {
        return .obstacle(
          error.survivors.isEmpty ? error.text : "opflow: \(waiting(for: error.survivors))\n",
          passes: !error.survivors.isEmpty)
      }
    }
  }

  /// Why a run cannot be resumed now.
  private enum Obstacle {
    /// Try at once.
    case isGone
    /// Files must change first.
    case stays
    /// Start a new run instead.
    case needsOther(String)
  }

  private mutating func goOn(after code: Int32) throws(CommandError) -> Int32 {
    var code = code
    var isDue = false
    // A stopped run ends the watch, like Ctrl-C.
    while code == ExitCode.success.rawValue || code == ExitCode.taskFailed.rawValue {
      if try takeDue() { isDue = true }
      // Services that stay up need the next session at once.
      if serving.passed == nil, let other = try waitUntilDue(isDue) { return try startAnew(other) }
      do throws(CommandError) {
        code = try ResumeCommand.resume(
          folder, manifest: nil, further, console, releasing: nil, nil, isInGroup: false,
          round: serving)
        isDue = false
        complaint = ""
        isElsewhere = false
        survivors = []
        isWaitTold = false
        further.ifRunning = arguments.ifRunning
      } catch {
        serving.endPassed()
        switch try deal(with: error) {
        case .isGone: isDue = true
        case .stays: isDue = false
        case .needsOther(let why): return try startAnew(why)
        }
      }
    }
    return code
  }

  // MARK: Waiting

  private func takeDue() throws(CommandError) -> Bool {
    do throws(Errno) {
      return try serving.takeDue { Console.complain("\($0)\n") }
    } catch {
      throw CommandError(.io, "cannot wait for changes", error)
    }
  }

  /// Returns why a new run must be started instead. `isDue`: there is a reason to resume already.
  private mutating func waitUntilDue(_ isDue: Bool) throws(CommandError) -> String? {
    do throws(Errno) {
      // Signals have their default effect between sessions.
      try SignalSet.all.unblock()
      var mayLook = isDue
      var isAbsenceTold = false
      while true {
        switch serving.look.watch.takePlace() {
        case .other(let path):
          return "\(manifest) is now \(shown(path)), another file; starting a new run"
        case .nothing:
          if !isAbsenceTold { say("\(manifest) is missing; waiting for it (Ctrl-C to quit)") }
          isAbsenceTold = true
        case .same:
          let changed = serving.look.watch.takeChanges()
          if !changed.isEmpty { say(Self.changed(changed, arguments.view)) }
          if mayLook || !changed.isEmpty { return nil }
          if !isWaitTold, complaint.isEmpty { say(Self.watching(serving.look.watch.fileCount)) }
          isWaitTold = true
          mayLook = isElsewhere
        }
        if !survivors.isEmpty, !survivors.contains(where: \.isAlive) { return nil }
        try serving.look.watch.wait()
      }
    } catch {
      throw CommandError(.io, "cannot wait for changes", error)
    }
  }

  private mutating func deal(with error: CommandError) throws(CommandError) -> Obstacle {
    if Path.isMissing(folder.path) {
      // The manifest's folder may be gone too, perhaps for a moment.
      guard case .same? = serving.look.watch.place?.look() else { return .isGone }
      return .needsOther("run \(folder.id) was removed; starting a new run")
    }
    survivors = error.survivors
    switch error.code {
    case .held where !survivors.isEmpty:
      let text = Self.waiting(for: survivors)
      if text != complaint { say(text) }
      complaint = text
      return .stays
    case .held:
      try waitForHolder(error)
      return .isGone
    case .manifest, .usage:
      if error.text != complaint { Console.complain(error.text) }
      complaint = error.text
      isElsewhere = error.code == .manifest
      return .stays
    case .success, .taskFailed, .journal, .cancelled, .died, .internal, .io: throw error
    }
  }

  /// Waits for the run's holder, or next time for its group.
  private mutating func waitForHolder(_ error: CommandError) throws(CommandError) {
    let folder = folder
    let isHeld = try RunLookup.reading(RunFolderLock.isHeld(folder))
    guard isHeld else {
      // The next attempt waits for the group and reports that.
      if further.ifRunning == .wait { throw error }
      further.ifRunning = .wait
      return
    }
    let holder = RunFolderLock.holder(folder)?.description ?? "another process"
    say("waiting for \(holder), which holds run \(folder.id) (Ctrl-C to quit)")
    try RunLookup.reading(RunFolderLock.waitUntilFree(folder))
  }

  // MARK: New runs

  private mutating func startAnew(_ why: String) throws(CommandError) -> Int32 {
    say(why)
    serving.look.watch.leave()
    var again = arguments
    again.rerun = []
    while true {
      let before = serving.look.watch.place?.status
      do throws(CommandError) {
        return try RunCommand.perform(again, console)
      } catch {
        switch error.code {
        case .held where again.ifRunning != .wait: again.ifRunning = .wait
        case .manifest, .usage:
          if error.text != complaint { Console.complain(error.text) }
          complaint = error.text
          try waitForOther(than: error.code == .usage ? before : nil)
        case .held, .success, .taskFailed, .journal, .cancelled, .died, .internal, .io: throw error
        }
      }
    }
  }

  /// `before` must change; nil if the error may be in another file.
  private mutating func waitForOther(than before: FileStatus?) throws(CommandError) {
    do throws(Errno) {
      try SignalSet.all.unblock()
      repeat {
        try serving.look.watch.wait()
      } while before != nil && serving.look.watch.place?.status == before
    } catch {
      throw CommandError(.io, "cannot wait for changes", error)
    }
  }

  private var manifest: String { CleanText.string(arguments.file ?? "the manifest") }

  private func shown(_ path: String) -> String {
    CleanText.string(ShownPath(arguments.view).text(path))
  }

  private func say(_ text: String) { Console.complain("opflow: \(text)\n") }

  private static func watching(_ count: Int) -> String {
    let files = count == 1 ? "the manifest" : "\(count) files"
    return "watching \(files) for changes (Ctrl-C to quit)"
  }

  private static func waiting(for survivors: [Orphans.Survivor]) -> String {
    let titles = survivors.map { CleanText.string($0.title) }.joined(separator: ", ")
    let pids = survivors.map { " \($0.mark.pid)" }.joined()
    return "waiting for the end of processes of an earlier session, so that no task runs twice:"
      + " \(titles); to end them: sudo kill\(pids) (Ctrl-C to quit)"
  }

  private static func changed(_ paths: [String], _ view: ViewArguments) -> String {
    "changed: \(CleanText.list(paths) { CleanText.string(ShownPath(view).text($0)) })"
  }
}
