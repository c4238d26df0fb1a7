package import OpflowCore
internal import OpflowSystem

/// What can be done about what has changed while services run.
package enum ChangeOutlook: Sendable {
  /// The run could be resumed with what is there now, and these services would go on then.
  case goesOn(keeping: Set<TaskID>)
  /// It could not be: why, for a person. The services that run are better than none.
  case obstacle(String)
}

/// Looks at what a run was made of, in a thread: an open may wait for long, for who holds a lease of the file or
/// for a server that is gone, and who drives a run waits for nothing.
///
/// SAFETY: from `submit` until `takeDone` it is the thread's alone, else its owner's.
package final class ChangeLook: @unchecked Sendable {
  enum Finding {
    case nothing
    /// Another manifest stands there now.
    case other
    /// What has changed since the last look, and what is to be done about that.
    case changed([String], ChangeOutlook)
  }

  package var watch: ManifestWatch
  private(set) var finding = Finding.nothing
  /// What tells of changes from here on; nil where the system has none left.
  private var folders: FolderWatch?
  private let outlook: @Sendable (HeldServices) -> ChangeOutlook

  init(
    _ watch: consuming ManifestWatch, outlook: @escaping @Sendable (HeldServices) -> ChangeOutlook
  ) {
    self.watch = watch
    self.outlook = outlook
  }

  /// - Parameters:
  ///   - held: the services that are up.
  ///   - isDue: there is a change that nothing was done about.
  func perform(_ held: HeldServices, isDue: Bool) {
    // What changes from here on is seen by this look, or told by that.
    let names = watch.watchedFolders
    folders = try? FolderWatch(names)
    switch watch.takePlace() {
    // With it what stands beside it may be back in a moment.
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
