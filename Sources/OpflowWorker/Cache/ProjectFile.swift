internal import OpflowBase

/// A file, folder or link that a task left, as recorded for the cache.
struct ProjectFile {
  /// As seen from the manifest's folder.
  let path: [UInt8]
  /// What it was when it was looked at.
  let seen: SeenFile
  /// Whether an edit of it is to stay: the task's last attempt did not write it, or it was there
  /// before the first attempt and is an input as well.
  var keepsEdits = false
  /// It was not there before the task's first attempt, so that it may be removed.
  var isMade = true
  /// Its path for people.
  var name: String { NameCharacters.text(path) }
}
