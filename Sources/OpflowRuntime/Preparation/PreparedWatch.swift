internal import OpflowCore

extension PreparedResume {
  /// The same of a run in which nothing is left to do.
  ///
  /// - Parameter path: of the manifest, as the person named it; nil for where the run says.
  package func watch(_ path: String?) -> ManifestWatch {
    ManifestWatch(
      runFolder, plan, place: ManifestPlace(path ?? manifestPath), files: files, initial: initial)
  }
}

extension PreparedDrive {
  /// Looks at what its plan was made of.
  ///
  /// - Parameter path: see above.
  package func watch(_ path: String?) -> ManifestWatch {
    ManifestWatch(
      folder, plan, place: ManifestPlace(path ?? manifestPath), files: files, initial: initial)
  }

  /// The same with what looked at the drive before.
  package func follow(with watch: inout ManifestWatch) { watch.follow(plan, files, initial) }

  var files: [String] {
    var files: [String] = []
    for case .open(let entry) in opening { files = entry.files }
    for case .resume(let entry) in opening { files = entry.files }
    return files
  }
}
