package import OpflowPlan
internal import OpflowSystem

package enum ChangeOutlook: Sendable {
  /// The run can be resumed with the new state, and these services stay up.
  case goesOn(keeping: Set<TaskID>)
  /// The run cannot be resumed, for this reason; keep the services running.
  ///
  /// - Parameter passes: The reason may pass without a change of files.
  case obstacle(String, passes: Bool)
}

/// Checks a run's files in a thread, since opening a file may block for long (file leases, dead
/// servers).
///
/// SAFETY: from `submit` until `takeDone` only the thread uses it, otherwise only its owner.
package final class ChangeLook: @unchecked Sendable {
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

  /// `isDue`: an earlier change was not acted on.
  func perform(_ held: HeldServices, isDue: Bool) {
    // First, so that no change falls between.
    let names = watch.watchedFolders
    folders = try? FolderWatch(names)
    switch watch.takePlace() {
    // The files beside it may come back together with it.
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
