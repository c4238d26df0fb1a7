internal import OpflowCore

/// A file that a task left, or folder or link, as a cache knows it.
struct ProjectFile {
  /// As seen from the manifest's folder.
  let path: String
  /// What it was when it was looked at.
  let seen: SeenFile
  /// It lay there before the last attempt of the task, which did not write it again.
  var isUntouched = false
}
