internal import OpflowCore
package import OpflowSystem

/// Looks at what a run was made of (`run --watch`), also while nothing is left in it but services that stay:
/// what changes then ends those of them that it concerns, so that the run is resumed for it. The others go on.
package final class ServingWatch {
  /// For who looks between drives, once `takeDue` was called.
  package let look: ChangeLook
  private let begun: (Int) -> String
  private let told: ([String]) -> String
  /// What the last drive left up for the next one.
  package internal(set) var passed: PassedServices?

  /// The last drive, where tasks were added to it: what those read is looked at from then on.
  var grown: (plan: Plan, files: [String], initial: [InitialState])?

  /// Something has changed that the run was not resumed for.
  private var isDue = false
  private var hasBegun = false
  /// What is to be told of it once the services are up.
  private var note: String?
  /// What was told last of why it could not be.
  private var complaint = ""
  /// Of one thread; nil before it is wanted, and where none can be had.
  private var pool: ThreadPool?
  /// The services that a look is about which was begun and not taken in.
  private var asked: [HeldService]?
  private var isDone = false
  /// Nil while nobody waits for changes, and where the system has no watch left.
  private var folders: FolderWatch?
  private(set) var isLooking = false
  /// When to look; nil for never, and while a thread does.
  private(set) var nextLook: Instant?
  /// When to look though more may come; nil while nothing has come.
  private var lastLook: Instant?

  /// A manifest is compiled there.
  private static let stackBytes = 8 << 20

  /// - Parameters:
  ///   - begun: for a person: that so many files are looked at.
  ///   - told: the same: that these have changed.
  ///   - outlook: what can be done about a change, called in a thread.
  package init(
    _ watch: consuming ManifestWatch, begun: @escaping (Int) -> String,
    told: @escaping ([String]) -> String,
    outlook: @escaping @Sendable (HeldServices) -> ChangeOutlook
  ) {
    look = ChangeLook(watch, outlook: outlook)
    self.begun = begun
    self.told = told
  }

  deinit {
    if asked != nil { pool?.abandon() }
  }

  // MARK: Between drives

  /// Waits for the look that the drive before has begun; a signal then does what it does to any program.
  ///
  /// - Parameter tell: tells a person what that has found.
  /// - Returns: whether the run is to be resumed though nothing has changed since the last look.
  package func takeDue(tell: (String) -> Void) throws(Errno) -> Bool {
    if asked != nil {
      try SignalSet.all.unblock()
      var poll = PollSet(slots: 1)
      poll.set(0, lookDescriptor ?? -1)
      while !isLookDone() { _ = try poll.wait(nanoseconds: -1) }
      _ = takeFinding(tell)
    }
    if let grown { look.watch.follow(grown.plan, grown.files, grown.initial) }
    grown = nil
    defer { isDue = false }
    return isDue
  }

  /// Takes in what a look has found that is done.
  private func takeFinding(_ tell: (String) -> Void) -> ChangeLook.Finding {
    asked = nil
    switch look.finding {
    case .nothing: break
    case .other: isDue = true
    case .changed(let paths, _):
      if !paths.isEmpty { tell(told(paths)) }
      isDue = true
    }
    return look.finding
  }

  /// A drive has it now.
  package func forgetPassed() { passed = nil }

  /// No drive follows that could take over what was left up for it.
  package func endPassed() {
    passed?.end(but: [])
    passed = nil
  }

  /// The drive is over.
  package func endDrive() {
    end()
    hasBegun = false
    note = nil
  }

  // MARK: While services run

  /// Readable when there may be something new; nil for never.
  var foldersDescriptor: Int32? { folders?.rawDescriptor }
  /// Readable when a look is done; nil where no thread can do one.
  var lookDescriptor: Int32? { pool?.rawDescriptor }

  /// Begins to look.
  func begin(at now: Instant) {
    isLooking = true
    if asked != nil { return }
    if pool == nil { pool = try? ThreadPool(threads: 1, stackBytes: Self.stackBytes) }
    nextLook = now
    if !hasBegun { note = begun(look.watch.fileCount) }
    hasBegun = true
  }

  /// What is to be told of it when the services are up, once for each drive.
  func takeNote() -> String? {
    defer { note = nil }
    return note
  }

  /// What a thread is at goes on.
  func end() {
    isLooking = false
    folders = nil
    nextLook = nil
    lastLook = nil
  }

  /// Something has changed in one of the folders. An end of services costs more than a look, so who writes
  /// several files is waited for until nothing has come for a while.
  func note(at now: Instant) {
    try? folders?.takeChanges()
    guard isLooking, asked == nil else { return }
    let last = lastLook ?? now.advanced(byMilliseconds: Self.mostRestMilliseconds)
    lastLook = last
    nextLook = min(last, now.advanced(byMilliseconds: Self.restMilliseconds))
  }

  private static let restMilliseconds: Int64 = 200
  private static let mostRestMilliseconds: Int64 = 2_000

  /// Has a thread look. What changes meanwhile is for the look behind it.
  ///
  /// - Parameter held: the services that are up.
  /// - Returns: whether it is done already, where there is no thread to be had.
  func beginLook(_ held: HeldServices) -> Bool {
    folders = nil
    nextLook = nil
    lastLook = nil
    asked = held.services
    isDone = false
    let (look, isDue) = (look, isDue)
    if (try? pool?.submit { look.perform(held, isDue: isDue) }) != nil { return false }
    look.perform(held, isDue: isDue)
    isDone = true
    return true
  }

  /// Whether a look that was begun waits to be taken in.
  func isLookDone() -> Bool {
    guard asked != nil else { return false }
    try? pool?.takeDone { _ in isDone = true }
    return isDone
  }

  /// Acts on what a look has found that is done.
  ///
  /// - Parameters:
  ///   - held: the services that are up by now.
  ///   - tell: tells a person, in lines.
  /// - Returns: that the services are to end, but for these; nil where all stay.
  func takeLook(at now: Instant, _ held: [HeldService], tell: (String) -> Void) -> Set<TaskID>? {
    let isOfThese = asked == held
    folders = look.takeFolders()
    nextLook = now.advanced(byNanoseconds: look.watch.patienceNanoseconds)
    switch takeFinding(tell) {
    case .nothing: return nil
    case .other: return []
    case .changed(_, let outlook):
      guard isOfThese else {
        // What was found out is of others.
        nextLook = now
        return nil
      }
      switch outlook {
      case .goesOn(let kept):
        complaint = ""
        return kept
      case .obstacle(let text):
        isDue = false
        if text != complaint { tell(text) }
        complaint = text
        return nil
      }
    }
  }
}
