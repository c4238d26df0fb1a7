internal import OpflowEngine
package import OpflowPlan
package import OpflowSystem

/// Watches a run's files (`run --watch`), even while only services are left. A change ends affected
/// services, so that the run is resumed.
package final class ServingWatch {
  /// Usable between sessions, after `takeDue`.
  package let look: ChangeScan
  private let begun: (Int) -> String
  private let told: ([String]) -> String
  package internal(set) var passed: PassedServices?

  /// Tasks that the last session added, whose files are watched from then on.
  var grown: (plan: Plan, files: [String], initial: [InitialState])?

  /// True after a change until the run is resumed.
  private var isDue = false
  /// A task's success was discarded, in the last session and in the one before.
  private var hasDiscarded = (now: false, before: false)
  private var hasBegun = false
  private var note: String?
  private var complaint = ""
  private var pool: ThreadPool?
  private var asked: [HeldService]?
  private var isDone = false
  /// nil while changes are not awaited, or without a watch.
  private var folders: FolderWatch?
  private(set) var isLooking = false
  /// nil for never, and during a check.
  private(set) var nextLook: Instant?
  private var lastLook: Instant?

  /// The thread compiles manifests.
  private static let stackBytes = 8 << 20

  /// `begun` and `told` make messages; `outlook` decides, in a thread, how to handle a change.
  package init(
    _ watch: consuming ManifestWatch, begun: @escaping (Int) -> String,
    told: @escaping ([String]) -> String,
    outlook: @escaping @Sendable (HeldServices) -> ChangeOutlook
  ) {
    look = ChangeScan(watch, outlook: outlook)
    self.begun = begun
    self.told = told
  }

  deinit {
    if asked != nil { pool?.abandon() }
  }

  // MARK: Between sessions

  /// Waits for a check that the last session started, with default signal actions. Returns true to
  /// resume even without a further change.
  package func takeDue(tell: (String) -> Void) throws(Errno) -> Bool {
    if asked != nil {
      try SignalSet.all.unblock()
      var poll = PollSet(slots: 1)
      poll.set(0, scanDescriptor ?? -1)
      while !isLookDone() { _ = try poll.wait(nanoseconds: -1) }
      _ = takeFinding(tell)
    }
    if let grown { look.watch.follow(grown.plan, grown.files, grown.initial) }
    grown = nil
    let isAgain = hasDiscarded.now && !hasDiscarded.before
    defer {
      isDue = false
      hasDiscarded = (false, isAgain)
    }
    return isDue || isAgain
  }

  /// A file changed while a task read it, and may have its old content again: the run is resumed
  /// once without a further change.
  func noteDiscarded() { hasDiscarded.now = true }

  private func takeFinding(_ tell: (String) -> Void) -> ChangeScan.Finding {
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

  package func forgetPassed() { passed = nil }

  /// Called if no session follows.
  package func endPassed() {
    passed?.end(but: [])
    passed = nil
  }

  package func endSession() {
    end()
    hasBegun = false
    note = nil
  }

  // MARK: While services run

  var foldersDescriptor: Int32? { folders?.rawDescriptor }
  var scanDescriptor: Int32? { pool?.rawDescriptor }

  func begin(at now: Instant) {
    isLooking = true
    if asked != nil { return }
    if pool == nil { pool = try? ThreadPool(threads: 1, stackBytes: Self.stackBytes) }
    nextLook = now
    if !hasBegun { note = begun(look.watch.fileCount) }
    hasBegun = true
  }

  func takeNote() -> String? {
    defer { note = nil }
    return note
  }

  /// A check in the thread continues.
  func end() {
    isLooking = false
    folders = nil
    nextLook = nil
    lastLook = nil
  }

  /// Waits until changes cease: ending services costs more than a check.
  func note(at now: Instant) {
    try? folders?.takeChanges()
    guard isLooking, asked == nil else { return }
    let last = lastLook ?? now.advanced(byMilliseconds: Self.mostRestMilliseconds)
    lastLook = last
    nextLook = min(last, now.advanced(byMilliseconds: Self.restMilliseconds))
  }

  private static let restMilliseconds: Int64 = 200
  private static let mostRestMilliseconds: Int64 = 2_000

  /// Leaves later changes to the next check. Returns true if it is finished, for lack of a thread.
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

  func isLookDone() -> Bool {
    guard asked != nil else { return false }
    try? pool?.takeDone { _ in isDone = true }
    return isDone
  }

  /// Returns the services to keep while all others end; nil if all stay.
  func takeLook(at now: Instant, _ held: [HeldService], tell: (String) -> Void) -> Set<TaskID>? {
    let isOfThese = asked == held
    folders = look.takeFolders()
    nextLook = now.advanced(byNanoseconds: look.watch.patienceNanoseconds)
    switch takeFinding(tell) {
    case .nothing: return nil
    case .other: return []
    case .changed(_, let outlook):
      guard isOfThese else {
        nextLook = now
        return nil
      }
      switch outlook {
      case .goesOn(let kept):
        complaint = ""
        return kept
      case .obstacle(let text, let passes):
        isDue = passes
        if text != complaint { tell(text) }
        complaint = text
        return nil
      }
    }
  }
}

package enum ChangeOutlook: Sendable {
  /// The run can be resumed with the new state, and these services stay up.
  case goesOn(keeping: Set<TaskID>)
  /// The run cannot be resumed, for this reason; the services keep running.
  ///
  /// - Parameter passes: The reason may pass without a change of files.
  case obstacle(String, passes: Bool)
}

/// Checks a run's files in a thread, since opening a file may block for long (`F_SETLEASE`, dead
/// servers).
///
/// SAFETY: from `submit` until `takeDone` only the thread uses it, else only its owner.
package final class ChangeScan: @unchecked Sendable {
  enum Finding {
    case nothing
    /// The path leads to another manifest.
    case other
    case changed([String], ChangeOutlook)
  }

  package var watch: ManifestWatch
  private(set) var finding = Finding.nothing
  private var folders: FolderWatch?
  private let outlook: @Sendable (HeldServices) -> ChangeOutlook

  init(
    _ watch: consuming ManifestWatch, outlook: @escaping @Sendable (HeldServices) -> ChangeOutlook
  ) {
    self.watch = watch
    self.outlook = outlook
  }

  /// `isDue`: the run was not resumed for an earlier change.
  func perform(_ held: HeldServices, isDue: Bool) {
    // The watch begins first, so that no change is missed.
    let names = watch.watchedFolders
    folders = try? FolderWatch(names)
    switch watch.takePlace() {
    // The files beside the manifest may come back with it.
    case .nothing: finding = .nothing
    case .other: finding = .other
    case .same:
      let changed = watch.takeChanges()
      finding = changed.isEmpty && !isDue ? .nothing : .changed(changed, outlook(held))
    }
    let others = watch.watchedFolders
    if others != names { folders = try? FolderWatch(others) }
  }

  func takeFolders() -> FolderWatch? { folders.take() }
}
