internal import OpflowJournal

extension PreparedResume {
  /// For a run with nothing left to do. `path` is nil for the run's own manifest.
  package func watch(_ path: String?) -> ManifestWatch {
    ManifestWatch(
      runFolder, plan, place: ManifestPlace(path ?? manifestPath), files: files, initial: initial)
  }
}

extension PreparedDrive {
  /// `path` is nil for the run's own manifest.
  package func watch(_ path: String?) -> ManifestWatch {
    ManifestWatch(
      folder, plan, place: ManifestPlace(path ?? manifestPath), files: files, initial: initial)
  }

  /// Continues the watch of the previous session.
  package func follow(with watch: inout ManifestWatch) { watch.follow(plan, files, initial) }

  var files: [String] {
    var files: [String] = []
    for case .open(let entry) in opening { files = entry.files }
    for case .resume(let entry) in opening { files = entry.files }
    return files
  }
}
