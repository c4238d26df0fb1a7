internal import OpflowSystem

/// Looks at files by paths that start from one folder, which is kept open for a moment: the kernel then walks less
/// of each path than from the root, and a look takes a tenth less.
///
/// For a moment only, since another folder may be put in its place.
struct HeldFolder: ~Copyable {
  private(set) var isHeld = false
  private var path = ""
  private var folder: Descriptor?
  private var bytes: [UInt8] = []

  private static let slash = UInt8(ascii: "/")

  /// From now on the folder that was asked for last stays open.
  mutating func hold() { isHeld = true }

  mutating func letGo() {
    isHeld = false
    folder = nil
  }

  /// - Parameters:
  ///   - path: without a zero in it.
  ///   - start: the folder where it starts if it is relative.
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

  /// Opens a file by such a path.
  mutating func open(
    _ path: UnsafeRawBufferPointer, from start: String, _ flags: File.Flags
  ) throws(Errno) -> Descriptor {
    let folder = setBytes(of: path, from: start)
    return try File.open(ofBytes: bytes, from: folder, flags)
  }

  /// - Returns: the folder that the path in `bytes` starts from, where that is the one which is open; else it is the
  ///   whole path.
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

  /// What stands against that is told by the whole path.
  private mutating func open(_ start: String) {
    if folder != nil, path == start { return }
    path = start
    folder = try? File.open(start, [.pathOnly, .directory])
  }
}
