internal import CLinux
internal import Glibc

/// A file mapped into memory, to be read (mmap(2), private). The mapping lives until `unmap`.
///
/// Reading it after somebody cut the file short raises SIGBUS: see `exitOnBusError`.
package struct MappedFile: Sendable {
  package let byteCount: Int
  private let address: UInt

  /// Of a file that opflow keeps for itself.
  package init(_ path: String) throws(Errno) {
    let file = try File.openRegular(path, .readOnly)
    try self.init(file)
  }

  package init(_ file: borrowing Descriptor) throws(Errno) {
    let descriptor = file.rawValue
    byteCount = Int(try file.status().sizeBytes)
    // An empty mapping is refused by the kernel (EINVAL).
    guard byteCount > 0 else {
      address = 0
      return
    }
    // Also where all of it is read: the kernel maps sixteen pages around each that is touched, which takes
    // less than all at once by MAP_POPULATE (17 MB: 1.4 against 1.8 ms).
    let start = mmap(nil, byteCount, PROT_READ, MAP_PRIVATE, descriptor, 0)
    guard let start, start != MAP_FAILED else { throw Errno.current }
    address = UInt(bitPattern: start)
  }

  package var bytes: UnsafeRawBufferPointer {
    // SAFETY: the mapping covers exactly these bytes until `unmap`, which ends their use.
    UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: byteCount)
  }

  /// Ends the mapping of `bytes`, which must be those of a `MappedFile`, whole.
  package static func unmap(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    // Fails only for an address that no mapping begins at.
    _ = munmap(UnsafeMutableRawPointer(mutating: start), bytes.count)
  }

  /// From now on a mapped file that shrank, or whose disk fails, ends this process with exit code 74
  /// and a clear text instead of a crash.
  package static func exitOnBusError() throws(Errno) {
    try call { clinux_exit_on_bus_error(busErrorText.cString) }
  }

  private static let busErrorText: StaticString =
    "opflow: a mapped file of the run was cut short or cannot be read; see the disk, then resume\n"
}

extension StaticString {
  /// The text as C has it: it lives for ever and ends with a zero.
  fileprivate var cString: UnsafePointer<CChar> {
    // SAFETY: a static string's bytes are followed by a zero and may be read as CChar.
    UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
  }
}

/// A file that is mapped for as long as anybody refers to it: what is written to it shows in the mapping, so that who looks
/// again needs no other one while the file has its length.
///
/// Not on a network's file system: what another machine wrote shows there in a file that was opened and mapped after that.
package final class SharedMapping: Sendable {
  private let file: MappedFile
  private let identity: FileIdentity
  private let isNetwork: Bool

  /// - Parameter path: of the file, or of a folder that it is in.
  package init(_ file: borrowing Descriptor, at path: String) throws(Errno) {
    identity = try file.status().identity
    self.file = try MappedFile(file)
    isNetwork = NetworkFiles.isNetwork(at: path)
  }

  deinit { MappedFile.unmap(file.bytes) }

  package var bytes: UnsafeRawBufferPointer { file.bytes }

  /// Whether that is this file, and all of it is mapped and shows as it is by now. Its number is nobody else's while it is
  /// mapped.
  package func isAll(of status: FileStatus) -> Bool {
    !isNetwork && status.identity == identity && status.sizeBytes == Int64(file.byteCount)
  }

  /// For who is given the bytes: keeps them mapped until it is called, or gone.
  package var release: @Sendable (UnsafeRawBufferPointer) -> Void {
    { _ in withExtendedLifetime(self) {} }
  }
}
