internal import OpflowCore

/// A file, folder or link that a task left, as recorded for the cache.
struct ProjectFile {
  /// Relative to the manifest's folder.
  let path: String
  let seen: SeenFile
  /// It is older than the task's last attempt, which did not write it.
  var isUntouched = false
}
