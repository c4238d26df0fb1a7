internal import OpflowSystem

/// Keeps one base folder open: relative lookups walk less of the path, which saves a tenth of the
/// time. Only for a moment, since another folder may replace it.
struct HeldFolder: ~Copyable {
  private(set) var isHeld = false
  private var path = ""
  private var folder: Descriptor?
  private var bytes: [UInt8] = []

  private static let slash = UInt8(ascii: "/")

  mutating func hold() { isHeld = true }

  mutating func letGo() {
    isHeld = false
    folder = nil
  }

  /// Relative to `start`; does not follow links. `path` must not contain a zero.
  mutating func linkStatus(
    _ path: UnsafeRawBufferPointer, from start: String
  ) -> Result<FileStatus, Errno> {
    do throws(Errno) {
      return .success(try status(path, from: start))
    } catch {
      return .failure(error)
    }
  }

  private mutating func status(
    _ path: UnsafeRawBufferPointer, from start: String
  ) throws(Errno) -> FileStatus {
    let folder = setBytes(of: path, from: start)
    return try Path.linkStatus(ofBytes: bytes, from: folder)
  }

  mutating func open(
    _ path: UnsafeRawBufferPointer, from start: String, _ flags: File.Flags
  ) throws(Errno) -> Descriptor {
    let folder = setBytes(of: path, from: start)
    return try File.open(ofBytes: bytes, from: folder, flags)
  }

  /// Returns the folder that `bytes` is relative to: the open one, or `File.workingFolder` for a
  /// full path.
  private mutating func setBytes(
    of path: UnsafeRawBufferPointer, from start: String
  ) -> Int32 {
    let isRelative = path.first != Self.slash
    if isRelative, isHeld { open(start) }
    bytes.removeAll(keepingCapacity: true)
    var from = File.workingFolder
    if isRelative {
      if isHeld, let folder = folder?.rawValue {
        from = folder
      } else {
        bytes.append(contentsOf: start.utf8)
        bytes.append(Self.slash)
      }
    }
    bytes.append(contentsOf: path)
    bytes.append(0)
    return from
  }

  /// On failure the full path is used, which reports the error.
  private mutating func open(_ start: String) {
    if folder != nil, path == start { return }
    path = start
    folder = try? File.open(start, [.pathOnly, .directory])
  }
}
