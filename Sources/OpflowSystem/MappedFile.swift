internal import CLinux
internal import Glibc

/// A read-only private mapping (mmap(2)), valid until `unmap`. Reading raises SIGBUS if the file is
/// truncated: see `exitOnBusError`.
package struct MappedFile: Sendable {
  package let byteCount: Int
  private let address: UInt

  package init(_ path: String) throws(Errno) {
    let file = try File.openRegular(path, .readOnly)
    try self.init(file)
  }

  package init(_ file: borrowing Descriptor) throws(Errno) {
    byteCount = Int(try file.status().sizeBytes)
    // The kernel refuses empty mappings (EINVAL).
    guard byteCount > 0 else {
      address = 0
      return
    }
    // Without MAP_POPULATE: faults map sixteen pages each, which is faster (17 MB: 1.4 against 1.8
    // ms).
    let start = mmap(nil, byteCount, PROT_READ, MAP_PRIVATE, file.rawValue, 0)
    guard let start, start != MAP_FAILED else { throw Errno.current }
    address = UInt(bitPattern: start)
  }

  package var bytes: UnsafeRawBufferPointer {
    // SAFETY: the mapping covers exactly these bytes until `unmap`.
    UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: byteCount)
  }

  /// `bytes` must be all bytes of a `MappedFile`.
  package static func unmap(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    // Fails only for an address that does not start a mapping.
    _ = munmap(UnsafeMutableRawPointer(mutating: start), bytes.count)
  }

  /// Makes a bus error, from a truncated file or a failing disk, exit with a message and code 74.
  package static func exitOnBusError() throws(Errno) {
    try call { clinux_exit_on_bus_error(busErrorText.cString) }
  }

  private static let busErrorText: StaticString =
    """
    opflow: a file of the run was truncated or cannot be read; check the disk, then type \
    `opflow resume`

    """
}

extension StaticString {
  fileprivate var cString: UnsafePointer<CChar> {
    // SAFETY: a static string's bytes are followed by a zero and may be read as CChar.
    UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
  }
}

/// A mapping that lives while referenced. It shows later writes, so it stays valid while the
/// length is the same; not on a network file system, where writes of other machines need a new
/// mapping.
package final class SharedMapping: Sendable {
  private let file: MappedFile
  private let identity: FileIdentity
  private let isNetwork: Bool

  /// `path` is the file or its folder.
  package init(_ file: borrowing Descriptor, at path: String) throws(Errno) {
    identity = try file.status().identity
    self.file = try MappedFile(file)
    isNetwork = NetworkFiles.isNetwork(at: path)
  }

  deinit { MappedFile.unmap(file.bytes) }

  package var bytes: UnsafeRawBufferPointer { file.bytes }

  /// True if the mapping shows all content of the file with that `status`. The inode number
  /// cannot be used again while the file is mapped.
  package func isAll(of status: FileStatus) -> Bool {
    !isNetwork && status.identity == identity && status.sizeBytes == Int64(file.byteCount)
  }

  /// A deallocator that keeps the mapping alive.
  package var release: @Sendable (UnsafeRawBufferPointer) -> Void {
    { _ in withExtendedLifetime(self) {} }
  }
}

package enum Memory {
  /// Below this size, large pages do not pay for the call.
  private static let largeBytes = 4 << 20

  /// Asks for huge pages in memory not yet written (madvise(2)).
  @Sendable
  package static func wantsLargePages(_ buffer: UnsafeMutableRawBufferPointer) {
    guard buffer.count >= largeBytes, let start = buffer.baseAddress else { return }
    let page = Int(getpagesize())
    let skipped = -Int(bitPattern: start) & (page - 1)
    // SAFETY: whole pages within the buffer; the advice does not change them. Failure leaves small
    // pages.
    _ = madvise(start + skipped, buffer.count - skipped, MADV_HUGEPAGE)
  }
}
