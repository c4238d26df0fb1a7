import OpflowCommandLine
import OpflowCore
import OpflowRuntime
import OpflowSystem

/// `opflow run --watch`: after the end of the run it waits until the files that it was made of are others,
/// then resumes it, again and again. It stays until it is told to leave: what keeps it from going on is
/// told, and waited for.
struct WatchedRun: ~Copyable {
  private let folder: RunFolder
  private let serving: ServingWatch
  private let arguments: Invocation
  private let console: Console
  /// Of the drives that follow.
  private var further: Invocation
  /// What was told last of why a drive could not be; empty where the last one was.
  private var complaint = ""
  /// What it is about may be in files that nobody knows of: then whatever happens, and the mere time, is
  /// reason to look.
  private var isElsewhere = false
  private var isWaitTold = false

  /// Goes on after a drive that came to its own end, until it is told to leave.
  ///
  /// - Parameters:
  ///   - code: the exit code of the drive.
  ///   - arguments: of the drive, whose flags hold for those that follow.
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
    // It was asked for once.
    further.rerun = []
    return further
  }

  /// Has what changes taken up also while nothing is left of a drive but services that stay.
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
        return .obstacle(error.text)
      }
    }
  }

  /// What keeps a run from being resumed, where that is to go on otherwise.
  private enum Obstacle {
    /// It may be tried at once.
    case isGone
    /// What is there has to change first.
    case stays
    /// Another run is to be begun.
    case needsOther(String)
  }

  private mutating func goOn(after code: Int32) throws(CommandError) -> Int32 {
    var code = code
    var isDue = false
    // A run that was stopped is left, as by Ctrl-C.
    while code == ExitCode.success.rawValue || code == ExitCode.taskFailed.rawValue {
      if try takeDue() { isDue = true }
      // Services that go on wait for nobody.
      if serving.passed == nil, let other = try waitUntilDue(isDue) { return try startAnew(other) }
      do throws(CommandError) {
        code = try ResumeCommand.resume(
          folder, manifest: nil, further, console, releasing: nil, nil, isInGroup: false,
          round: serving)
        isDue = false
        complaint = ""
        isElsewhere = false
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

  /// What the drive before left to be taken up.
  private func takeDue() throws(CommandError) -> Bool {
    do throws(Errno) {
      return try serving.takeDue { Console.complain("\($0)\n") }
    } catch {
      throw CommandError(.io, "cannot wait for changes", error)
    }
  }

  /// Waits until there is reason to resume the run.
  ///
  /// - Parameter isDue: there was some already.
  /// - Returns: why another run is to be begun instead; nil where it is not.
  private mutating func waitUntilDue(_ isDue: Bool) throws(CommandError) -> String? {
    do throws(Errno) {
      // While nothing runs, a signal does what it does to any program.
      try SignalSet.all.unblock()
      var mayLook = isDue
      var isAbsenceTold = false
      while true {
        switch serving.look.watch.takePlace() {
        case .other(let path):
          return "\(manifest) is another file now, \(shown(path)): starting a run of that"
        case .nothing:
          if !isAbsenceTold { say("\(manifest) is gone; waiting for it, Ctrl-C leaves") }
          isAbsenceTold = true
        case .same:
          let changed = serving.look.watch.takeChanges()
          if !changed.isEmpty { say(Self.changed(changed, arguments.view)) }
          if mayLook || !changed.isEmpty { return nil }
          if !isWaitTold, complaint.isEmpty { say(Self.watching(serving.look.watch.fileCount)) }
          isWaitTold = true
          mayLook = isElsewhere
        }
        try serving.look.watch.wait()
      }
    } catch {
      throw CommandError(.io, "cannot wait for changes", error)
    }
  }

  private mutating func deal(with error: CommandError) throws(CommandError) -> Obstacle {
    if Path.isMissing(folder.path) {
      // With its folder, which may be elsewhere for a moment, or alone.
      guard case .same? = serving.look.watch.place?.look() else { return .isGone }
      return .needsOther("run \(folder.id) was removed: starting anew")
    }
    switch error.code {
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

  /// Another process drives the run, or one beside which it is not to be live.
  private mutating func waitForHolder(_ error: CommandError) throws(CommandError) {
    let folder = folder
    let isHeld = try RunLookup.reading { () throws(RunFolderError) in
      try RunFolderLock.isHeld(folder)
    }
    guard isHeld else {
      // Next time it is waited there. Who waits for itself is told so.
      if further.ifRunning == .wait { throw error }
      further.ifRunning = .wait
      return
    }
    let holder = RunFolderLock.holder(folder)?.description ?? "another process"
    say("waiting for run \(folder.id), which \(holder) drives; Ctrl-C leaves")
    try RunLookup.reading { () throws(RunFolderError) in
      try RunFolderLock.waitUntilFree(folder)
    }
  }

  // MARK: Another run

  /// Begins a run of what is there now, and stays with that.
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

  /// - Parameter before: the manifest as it was; nil where what is wrong may be elsewhere.
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

  // MARK: Telling

  private var manifest: String { CleanText.string(arguments.file ?? "the manifest") }

  private func shown(_ path: String) -> String {
    CleanText.string(ShownPath(arguments.view).text(path))
  }

  private func say(_ text: String) { Console.complain("opflow: \(text)\n") }

  private static func watching(_ count: Int) -> String {
    let files = count == 1 ? "the manifest" : "\(count) files"
    return "watching \(files) for changes; Ctrl-C leaves"
  }

  private static func changed(_ paths: [String], _ view: ViewArguments) -> String {
    let names = paths.prefix(5).map { CleanText.string(ShownPath(view).text($0)) }
    let more = paths.count > 5 ? " and \(paths.count - 5) more" : ""
    return "changed: \(names.joined(separator: ", "))\(more)"
  }
}
