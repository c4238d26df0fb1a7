package import OpflowCore
internal import OpflowSystem

/// Looks at what a run was made of (`run --watch`), also while nothing is left in it but services that stay:
/// what changes then ends those of them that it concerns, so that the run is resumed for it. The others go on.
package final class ServingWatch {
  package var watch: ManifestWatch
  private let begun: (Int) -> String
  private let told: ([String]) -> String
  private let couldGoOn: (HeldServices) -> Set<TaskID>?
  /// What the last drive left up for the next one.
  package internal(set) var passed: PassedServices?

  /// Services were ended for a change that is to be taken up.
  private var isDue = false
  private var hasBegun = false
  /// Nil while nobody looks, and where the system has no watch left.
  private var folders: FolderWatch?
  /// When to look; nil for never.
  private(set) var nextLook: Instant?
  /// When to look though more may come; nil while nothing has come.
  private var lastLook: Instant?

  /// - Parameters:
  ///   - begun: for a person: that so many files are looked at.
  ///   - told: the same: that these have changed.
  ///   - couldGoOn: whether the run could be resumed with what is there now, and which services would go on then;
  ///     nil where it could not: tells what is wrong. The services that run are better than none.
  package init(
    _ watch: consuming ManifestWatch, begun: @escaping (Int) -> String,
    told: @escaping ([String]) -> String,
    couldGoOn: @escaping (HeldServices) -> Set<TaskID>?
  ) {
    self.watch = watch
    self.begun = begun
    self.told = told
    self.couldGoOn = couldGoOn
  }

  /// Whether the run is to be resumed though nothing has changed since the last look.
  package func takeDue() -> Bool {
    defer { isDue = false }
    return isDue
  }

  // MARK: While services run

  var isLooking: Bool { nextLook != nil }
  /// Readable when there may be something new; nil for never.
  var rawDescriptor: Int32? { folders?.rawDescriptor }

  /// Begins to look.
  ///
  /// - Returns: what is to be told of it, once for each drive.
  func begin(at now: Instant) -> String? {
    renew(lookAt: now)
    defer { hasBegun = true }
    return hasBegun ? nil : begun(watch.fileCount)
  }

  /// Something has changed in one of the folders. An end of services costs more than a look, so who writes
  /// several files is waited for until nothing has come for a while.
  func note(at now: Instant) {
    try? folders?.takeChanges()
    guard isLooking else { return }
    let last = lastLook ?? now.advanced(byMilliseconds: Self.mostRestMilliseconds)
    lastLook = last
    nextLook = min(last, now.advanced(byMilliseconds: Self.restMilliseconds))
  }

  private static let restMilliseconds: Int64 = 200
  private static let mostRestMilliseconds: Int64 = 2_000

  /// Looks. The folders may be others from here on.
  ///
  /// - Parameters:
  ///   - held: the services that are up.
  ///   - tell: tells a person what has changed.
  /// - Returns: that the services are to end, but for these; nil where all stay.
  func look(at now: Instant, _ held: HeldServices, tell: (String) -> Void) -> Set<TaskID>? {
    var kept: Set<TaskID>?
    switch watch.takePlace() {
    // With it what stands beside it may be back in a moment.
    case .nothing: break
    case .other: kept = []
    case .same:
      let changed = watch.takeChanges()
      if !changed.isEmpty {
        tell(told(changed))
        kept = couldGoOn(held)
      }
    }
    renew(lookAt: now.advanced(byNanoseconds: watch.patienceNanoseconds))
    if kept != nil { isDue = true }
    return kept
  }

  func end() {
    folders = nil
    nextLook = nil
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
  }

  private func renew(lookAt time: Instant) {
    folders = nil
    folders = try? FolderWatch(watch.watchedFolders)
    nextLook = time
    lastLook = nil
  }
}
