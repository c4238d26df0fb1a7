internal import CLinux
internal import Glibc

/// A read-only private mapping of a file (mmap(2)), valid until `unmap`. If the file is truncated,
/// reading raises SIGBUS: see `exitOnBusError`.
package struct MappedFile: Sendable {
  package let byteCount: Int
  private let address: UInt

  /// Maps one of opflow's own files.
  package init(_ path: String) throws(Errno) {
    let file = try File.openRegular(path, .readOnly)
    try self.init(file)
  }

  package init(_ file: borrowing Descriptor) throws(Errno) {
    let descriptor = file.rawValue
    byteCount = Int(try file.status().sizeBytes)
    // The kernel refuses empty mappings (EINVAL).
    guard byteCount > 0 else {
      address = 0
      return
    }
    // Without MAP_POPULATE, even if all of it is read: faults map sixteen pages each, which is
    // faster (17 MB: 1.4 against 1.8 ms).
    let start = mmap(nil, byteCount, PROT_READ, MAP_PRIVATE, descriptor, 0)
    guard let start, start != MAP_FAILED else { throw Errno.current }
    address = UInt(bitPattern: start)
  }

  package var bytes: UnsafeRawBufferPointer {
    // SAFETY: the mapping covers exactly these bytes until `unmap`, which ends their use.
    UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: byteCount)
  }

  /// Unmaps `bytes`, which must be all bytes of a `MappedFile`.
  package static func unmap(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    // Fails only for an address that is not the start of a mapping.
    _ = munmap(UnsafeMutableRawPointer(mutating: start), bytes.count)
  }

  /// From now on a bus error, from a truncated mapped file or a failing disk, ends this process
  /// with exit code 74 and a message instead of a crash.
  package static func exitOnBusError() throws(Errno) {
    try call { clinux_exit_on_bus_error(busErrorText.cString) }
  }

  private static let busErrorText: StaticString =
    "opflow: a mapped file of the run was cut short or cannot be read; see the disk, then resume\n"
}

extension StaticString {
  fileprivate var cString: UnsafePointer<CChar> {
    // SAFETY: a static string's bytes are followed by a zero and may be read as CChar.
    UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
  }
}

/// A mapping that lives as long as it is referenced. It shows later writes, so readers can reuse it
/// while the file's length is the same. Not so on a network file system, where writes of other
/// machines show only in a file opened and mapped afterwards.
package final class SharedMapping: Sendable {
  private let file: MappedFile
  private let identity: FileIdentity
  private let isNetwork: Bool

  /// - Parameter path: the file, or a folder that contains it.
  package init(_ file: borrowing Descriptor, at path: String) throws(Errno) {
    identity = try file.status().identity
    self.file = try MappedFile(file)
    isNetwork = NetworkFiles.isNetwork(at: path)
  }

  deinit { MappedFile.unmap(file.bytes) }

  package var bytes: UnsafeRawBufferPointer { file.bytes }

  /// Whether `status` is of this file and the mapping shows all of its current content. The inode
  /// cannot be reused while the file is mapped.
  package func isAll(of status: FileStatus) -> Bool {
    !isNetwork && status.identity == identity && status.sizeBytes == Int64(file.byteCount)
  }

  /// A deallocator for consumers of `bytes`: the mapping lives until it is called or destroyed.
  package var release: @Sendable (UnsafeRawBufferPointer) -> Void {
    { _ in withExtendedLifetime(self) {} }
  }
}
