internal import OpflowCore
internal import OpflowSystem

/// `OPFLOW_TMP`: a folder of the task that runs, which is empty when it starts and whose contents are
/// removed when it ends.
///
/// To make one and to remove it for each task would cost two calls of the kernel that write to a file
/// system, and most tasks use none. So a worker has one for all its tasks, one after the other, and looks
/// once after each whether the folder is as it was: one call that writes nothing. Only where it is not does
/// the worker look into it. A change shows in the folder's own time, which is set far into the past as long
/// as the folder is empty: beside the time of day it could not be told from one within the same tick of the
/// clock of files.
///
/// Its name ends in a random number, so that nobody who may write to the place as well makes it beforehand.
/// Where there is no place for it, or no room, tasks find a path at which nothing is, and never an empty
/// text: `rm -rf "$OPFLOW_TMP"/*` must not mean all there is.
///
/// A worker removes its folder as it leaves. That of one which was killed is removed by its coordinator, and
/// what both left by the next drive of the run, as far as it has the same `TMPDIR`: each finds it by its
/// name. On a machine that only a worker saw it stays.
package struct TaskFolder: ~Copyable {
  private let prefix: String
  private var name: String
  var path: String { "\(Self.place)/\(name)" }
  /// What tasks made in these could not be removed.
  private var givenUp: [String] = []
  /// Nil before the first task, and while there is none to be had.
  private var folder: Descriptor?
  /// As it is while it is empty; nil while that is not known.
  private var empty: Mark?
  private var isLackTold = false

  /// What differs once somebody made, removed or renamed something in it, moved it or changed its bits.
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

  /// No time that an archive gives to what is taken out of it.
  private static let longAgoNanoseconds: Int64 = 86_399_123_456_789

  init(run: String, worker: Int32) {
    prefix = Self.prefix(run: run, worker: worker)
    name = Self.name(prefix)
  }

  private static func name(_ prefix: String) -> String {
    prefix + Hexadecimal.text(.random(in: .min ... .max))
  }

  /// Makes it for a task, where it is not there.
  ///
  /// - Returns: why there is none, when that is to be told: once in a row.
  mutating func prepare() -> Errno? {
    do throws(Errno) {
      try make()
      return nil
    } catch {
      defer { isLackTold = true }
      return isLackTold ? nil : error
    }
  }

  /// Makes it where it is not there. Before the first task nobody has to know why that fails: there may be none.
  mutating func make() throws(Errno) {
    if folder != nil { return }
    do throws(Errno) {
      try Path.makeDirectory(path)
    } catch .exists {
      // It could not be opened before.
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

  /// A task has ended: removes what it left there.
  ///
  /// - Throws: why something could not be removed. The next task gets another folder.
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
      // A task that found nothing there may have made it.
      if isLackTold { try? removeWhole() }
      return
    }
    if Mark(status) == empty { return }
    guard status.linkCount > 0, (try? Path.linkStatus(path))?.identity == status.identity else {
      // It is gone, or was taken elsewhere for good; what came in its place goes.
      folder = nil
      try removeWhole()
      return
    }
    if status.mode != Self.mode { try folder?.setMode(Self.mode) }
    try folder?.removeContents()
    try markEmpty()
  }

  private static let mode: UInt32 = 0o700

  /// No more tasks come.
  mutating func remove() {
    for name in givenUp { try? Self.openPlace().removeTree(name) }
    if folder == nil { return }
    folder = nil
    // Mostly it is empty. What is left is left for the next drive.
    if (try? Path.removeDirectory(path)) == nil { try? removeWhole() }
  }

  private func removeWhole() throws(Errno) { try Self.openPlace().removeTree(name) }

  // MARK: - For whoever cleans up

  /// Where the folders of all workers are, which may be a link.
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

  /// Removes what workers of a run left that were killed.
  ///
  /// - Parameter worker: the process of one; nil for all of the run.
  package static func removeLeft(run: String, worker: Int32? = nil) {
    let prefix = Array(Self.prefix(run: run, worker: worker).utf8)
    var names: [String] = []
    // Where it cannot be read there was no folder to be made, or somebody else has to remove it.
    try? FolderEntries.forEach(in: place) { name, _ in
      if name.starts(with: prefix) { names.append(String(decoding: name, as: UTF8.self)) }
      return true
    }
    if names.isEmpty { return }
    guard let folder = try? openPlace() else { return }
    for name in names where isOwn("\(place)/\(name)") { try? folder.removeTree(name) }
  }

  /// Others may give such names, too.
  private static func isOwn(_ path: String) -> Bool {
    guard let status = try? Path.linkStatus(path) else { return false }
    // A file has the script of a task (`WorkerLauncher.scriptFile`).
    return [.directory, .file].contains(status.kind) && status.isOwn
  }
}
