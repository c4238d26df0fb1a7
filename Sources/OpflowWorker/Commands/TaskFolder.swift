internal import OpflowBase
internal import OpflowSystem

/// `OPFLOW_TMP`: a folder for the running task, empty at its start and emptied at its end.
///
/// A folder per task would cost two writing system calls, and most tasks do not use it. So a worker
/// has one folder for all its tasks and checks after each, with one call, whether its modification
/// time changed. While the folder is empty this time is set far into the past: the current time
/// could equal that of a change within the same clock tick.
///
/// A random number in the name keeps other users from making the folder first. If the folder cannot
/// be made, the variable names a missing path, never an empty string: `rm -rf "$OPFLOW_TMP"/*` must
/// not delete everything.
///
/// A worker removes its folder when it exits, and the coordinator that of a killed worker. If both
/// were killed, the next session with the same `TMPDIR` removes it. On a machine that only a worker
/// used, it stays.
package struct TaskFolder: ~Copyable {
  private let prefix: String
  private var name: String
  var path: String { "\(Self.place)/\(name)" }
  /// Folders whose contents could not be removed.
  private var givenUp: [String] = []
  /// nil before the first task and if the folder cannot be made.
  private var folder: Descriptor?
  /// nil if unknown.
  private var empty: Mark?
  private var isLackTold = false

  /// Differs after an entry was made, removed or renamed, or the folder was moved or its mode
  /// changed.
  private struct Mark: Equatable {
    let modifiedNanoseconds: Int64
    let changedNanoseconds: Int64
    let mode: UInt32
    let isThere: Bool

    init(_ status: FileStatus) {
      modifiedNanoseconds = status.modifiedNanoseconds
      changedNanoseconds = status.changedNanoseconds
      mode = status.mode
      isThere = status.linkCount > 0
    }
  }

  /// Odd, so that archives do not set it on extracted files.
  private static let longAgoNanoseconds: Int64 = 86_399_123_456_789

  init(run: String, worker: Int32) {
    prefix = Self.prefix(run: run, worker: worker)
    name = Self.name(prefix)
  }

  private static func name(_ prefix: String) -> String {
    prefix + Hexadecimal.text(.random(in: .min ... .max))
  }

  /// Returns only the first of several errors in a row.
  mutating func prepare() -> Errno? {
    do throws(Errno) {
      try make()
      return nil
    } catch {
      defer { isLackTold = true }
      return isLackTold ? nil : error
    }
  }

  mutating func make() throws(Errno) {
    if folder != nil { return }
    do throws(Errno) {
      try Path.makeDirectory(path)
    } catch .exists {
      // An earlier call could not open it.
      try removeWhole()
      try Path.makeDirectory(path)
    }
    folder = try File.open(path, [.readOnly, .directory, .noFollow])
    isLackTold = false
    try markEmpty()
  }

  private mutating func markEmpty() throws(Errno) {
    empty = nil
    try folder?.setModified(nanoseconds: Self.longAgoNanoseconds)
    guard let status = try folder?.status() else { return }
    empty = Mark(status)
  }

  /// After an error the next task gets another folder.
  mutating func clean() throws(Errno) {
    do throws(Errno) {
      try cleanInPlace()
    } catch {
      folder = nil
      givenUp.append(name)
      name = Self.name(prefix)
      throw error
    }
  }

  private mutating func cleanInPlace() throws(Errno) {
    guard let status = try folder?.status() else {
      // The task may have made the missing folder itself.
      if isLackTold { try? removeWhole() }
      return
    }
    if Mark(status) == empty { return }
    guard status.linkCount > 0, (try? Path.linkStatus(path))?.identity == status.identity else {
      // The task removed or moved the folder; remove what replaced it.
      folder = nil
      try removeWhole()
      return
    }
    if status.mode != Self.mode { try folder?.setMode(Self.mode) }
    try folder?.removeContents()
    try markEmpty()
  }

  private static let mode: UInt32 = 0o700

  mutating func remove() {
    for name in givenUp { try? Self.openPlace().removeTree(name) }
    if folder == nil { return }
    folder = nil
    // Usually it is empty. The next session removes leftovers.
    if (try? Path.removeDirectory(path)) == nil { try? removeWhole() }
  }

  private func removeWhole() throws(Errno) { try Self.openPlace().removeTree(name) }

  // MARK: - Cleaning up after killed workers

  /// The parent of all workers' folders; may be a link.
  private static var place: String {
    let place = Environment.value("TMPDIR") ?? ""
    return place.hasPrefix("/") ? place : "/tmp"
  }

  private static func openPlace() throws(Errno) -> Descriptor {
    try File.open(place, [.readOnly, .directory])
  }

  private static func prefix(run: String, worker: Int32? = nil) -> String {
    "opflow-\(run)-" + (worker.map { "\($0)-" } ?? "")
  }

  /// Removes the folders of a run's killed workers, or of one.
  package static func removeLeft(run: String, worker: Int32? = nil) {
    let prefix = Array(Self.prefix(run: run, worker: worker).utf8)
    var names: [String] = []
    // No folder was made there, or another user must remove it.
    try? FolderEntries.forEach(in: place) { name, _ in
      if name.starts(with: prefix) { names.append(String(decoding: name, as: UTF8.self)) }
      return true
    }
    if names.isEmpty { return }
    guard let folder = try? openPlace() else { return }
    for name in names where isOwn("\(place)/\(name)") { try? folder.removeTree(name) }
  }

  /// Other users may use such names too.
  private static func isOwn(_ path: String) -> Bool {
    guard let status = try? Path.linkStatus(path) else { return false }
    // A file is a task's script (`WorkerLauncher.scriptFile`).
    return [.directory, .file].contains(status.kind) && status.isOwn
  }
}
