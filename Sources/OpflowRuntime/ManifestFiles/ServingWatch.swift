internal import OpflowCore
internal import OpflowSystem

/// Looks at what a run was made of (`run --watch`), also while nothing is left in it but services that stay:
/// what changes then ends them, so that the run is resumed for it, and they start again with what they need.
package final class ServingWatch {
  package var watch: ManifestWatch
  private let begun: (Int) -> String
  private let told: ([String]) -> String
  private let couldGoOn: () -> Bool

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
  ///   - couldGoOn: whether the run could be resumed with what is there now; tells what is wrong where it could
  ///     not. The services that run are better than none.
  package init(
    _ watch: consuming ManifestWatch, begun: @escaping (Int) -> String,
    told: @escaping ([String]) -> String, couldGoOn: @escaping () -> Bool
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
  /// - Parameter tell: tells a person what has changed.
  /// - Returns: whether the services are to end.
  func look(at now: Instant, tell: (String) -> Void) -> Bool {
    switch watch.takePlace() {
    // With it what stands beside it may be back in a moment.
    case .nothing: break
    case .other: isDue = true
    case .same:
      let changed = watch.takeChanges()
      if !changed.isEmpty {
        tell(told(changed))
        isDue = couldGoOn()
      }
    }
    renew(lookAt: now.advanced(byNanoseconds: watch.patienceNanoseconds))
    return isDue
  }

  func end() {
    folders = nil
    nextLook = nil
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
