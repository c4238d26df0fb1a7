internal import CLinux
internal import Glibc

/// An owned file descriptor. It is closed exactly once, at the latest when its owner is destroyed.
package struct Descriptor: ~Copyable, Sendable {
  /// For polling and for passing to a program; the caller must not close it.
  package let rawValue: Int32

  package init(owning rawValue: Int32) { self.rawValue = rawValue }

  deinit {
    // The error cannot be reported here; callers that need it call `close()`.
    _ = Glibc.close(rawValue)
  }

  /// Closes the descriptor and reports errors of delayed writes (close(2)).
  package consuming func close() throws(Errno) {
    let descriptor = rawValue
    discard self
    // Not through `call`: Linux closes the descriptor even when the call is interrupted.
    if Glibc.close(descriptor) == -1 {
      let error = Errno.current
      precondition(error != .badDescriptor, "close: \(error)")
      if error != .interrupted { throw error }
    }
  }

  /// Throws if this process cannot open `count` more descriptors.
  package static func expectFree(_ count: Int) throws(Errno) {
    var taken: [Int32] = []
    defer { for descriptor in taken { _ = Glibc.close(descriptor) } }
    let first = try File.open("/dev/null", .readOnly)
    for _ in 1..<max(1, count) { taken.append(try first.duplicate().release()) }
  }

  /// Returns the descriptor without closing it; the caller then owns it.
  package consuming func release() -> Int32 {
    let descriptor = rawValue
    discard self
    return descriptor
  }

  /// Reads once (read(2)); 0 is the end of the file.
  package borrowing func read(into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
    let descriptor = rawValue
    // SAFETY: the kernel writes at most `count` bytes into a buffer the caller holds.
    return try call { Glibc.read(descriptor, buffer.baseAddress, buffer.count) }
  }

  /// Reads once at `offset` (pread(2)).
  package borrowing func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(Errno) -> Int {
    let descriptor = rawValue
    // SAFETY: as above.
    return try call { pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset)) }
  }

  /// Reads from the current position to the end of the file, or up to `limit` bytes.
  package borrowing func readAll(atMost limit: Int = .max) throws(Errno) -> [UInt8] {
    // One byte more than the file's size, so that the end is found without growing the buffer.
    var room = max(Int(try status().sizeBytes) + 1, 4096)
    var bytes: [UInt8] = []
    while bytes.count < limit {
      let start = bytes.count
      try bytes.append(addingCapacity: min(room, limit - start)) { span throws(Errno) in
        try span.withUnsafeMutableBufferPointer { buffer, count throws(Errno) in
          let free = UnsafeMutableBufferPointer(rebasing: buffer[count...])
          Memory.wantsLargePages(UnsafeMutableRawBufferPointer(free))
          count += try read(into: UnsafeMutableRawBufferPointer(free))
        }
      }
      let count = bytes.count - start
      if count == 0 { break }
      // Do not ask for more than is left: that would move all bytes to a larger buffer.
      room = count < room ? room - count : min(max(bytes.count, 4096), 1 << 26)
    }
    return bytes
  }

  /// Writes once (write(2)); the returned count may be smaller than `bytes.count`.
  package borrowing func write(_ bytes: UnsafeRawBufferPointer) throws(Errno) -> Int {
    let descriptor = rawValue
    // SAFETY: the kernel reads `count` bytes of a buffer the caller holds.
    return try call { Glibc.write(descriptor, bytes.baseAddress, bytes.count) }
  }

  /// Writes from index `sent` on and advances it. Throws `wouldBlock` if not all can be written
  /// now.
  package borrowing func write(_ bytes: [UInt8], behind sent: inout Int) throws(Errno) {
    while sent < bytes.count {
      let from = sent
      sent += try bytes.withUnsafeBufferPointer { all throws(Errno) in
        try write(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: all[from...])))
      }
    }
  }

  /// Writes all bytes, in as many calls as needed.
  package borrowing func writeAll(_ bytes: UnsafeRawBufferPointer) throws(Errno) {
    var rest = bytes
    while !rest.isEmpty {
      let count = try write(rest)
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }

  package borrowing func writeAll(_ bytes: [UInt8]) throws(Errno) {
    try bytes.withUnsafeBufferPointer { all throws(Errno) in
      try writeAll(UnsafeRawBufferPointer(all))
    }
  }

  package borrowing func writeAll(_ text: String) throws(Errno) {
    try writeAll(Array(text.utf8))
  }

  /// Writes all bytes at `offset` (pwrite(2)). `leavesHoles` skips blocks of zeros in a new file;
  /// the caller then sets its length with `truncate`.
  package borrowing func writeAll(
    _ bytes: UnsafeRawBufferPointer, at offset: Int64, leavesHoles: Bool
  ) throws(Errno) {
    if !leavesHoles { return try writeAll(bytes, at: offset) }
    var start = 0
    var position = 0
    while position < bytes.count {
      let end = min(position + Self.blockBytes, bytes.count)
      if Self.isZero(UnsafeRawBufferPointer(rebasing: bytes[position..<end])) {
        try writeAll(
          UnsafeRawBufferPointer(rebasing: bytes[start..<position]), at: offset + Int64(start))
        start = end
      }
      position = end
    }
    try writeAll(UnsafeRawBufferPointer(rebasing: bytes[start...]), at: offset + Int64(start))
  }

  /// The block size of most file systems.
  private static let blockBytes = 4096

  private static func isZero(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let start = bytes.baseAddress, bytes.count > 0, bytes[0] == 0 else { return false }
    // SAFETY: both ranges lie in `bytes`; each byte is compared with its predecessor.
    return memcmp(start, start + 1, bytes.count - 1) == 0
  }

  /// Writes all bytes at `offset` (pwrite(2)).
  package borrowing func writeAll(
    _ bytes: UnsafeRawBufferPointer, at offset: Int64
  ) throws(Errno) {
    let descriptor = rawValue
    var rest = bytes
    var position = offset
    while !rest.isEmpty {
      // SAFETY: as for `write`.
      let count = try call {
        pwrite(descriptor, rest.baseAddress, rest.count, off_t(position))
      }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      position += Int64(count)
    }
  }

  /// Sets the file position, counted from the start (lseek(2)).
  package borrowing func seek(to offset: Int64) throws(Errno) {
    let descriptor = rawValue
    try call { lseek(descriptor, off_t(offset), SEEK_SET) }
  }

  /// Moves the position to the end of the file and returns it.
  @discardableResult
  package borrowing func seekToEnd() throws(Errno) -> Int64 {
    let descriptor = rawValue
    return Int64(try call { lseek(descriptor, 0, SEEK_END) })
  }

  /// Starts writing the file's dirty pages to disk without waiting (sync_file_range(2)). A later
  /// sync reports the errors.
  package borrowing func beginWriting() {
    _ = clinux_begin_writing(rawValue)
  }

  package borrowing func sync() throws(Errno) {
    let descriptor = rawValue
    try call { fsync(descriptor) }
  }

  package borrowing func syncData() throws(Errno) {
    let descriptor = rawValue
    try call { fdatasync(descriptor) }
  }

  package borrowing func truncate(to byteCount: Int64) throws(Errno) {
    let descriptor = rawValue
    try call { ftruncate(descriptor, off_t(byteCount)) }
  }

  package borrowing func status() throws(Errno) -> FileStatus {
    let descriptor = rawValue
    var status = clinux_status()
    try call { clinux_fstat(descriptor, &status) }
    return FileStatus(status)
  }

  /// Sets the permission bits (fchmod(2)).
  package borrowing func setMode(_ mode: UInt32) throws(Errno) {
    let descriptor = rawValue
    try call { fchmod(descriptor, mode) }
  }

  /// The number of bytes that can be read from a pipe now.
  package borrowing func readableByteCount() throws(Errno) -> Int32 {
    let descriptor = rawValue
    let count = clinux_readable_bytes(descriptor)
    if count < 0 { throw Errno.current }
    return count
  }

  package borrowing func setNonblocking(_ on: Bool) throws(Errno) {
    let descriptor = rawValue
    try call { clinux_set_nonblocking(descriptor, on ? 1 : 0) }
  }

  /// Duplicates the descriptor, close-on-exec, with a number of at least `lowest`.
  package borrowing func duplicate(from lowest: Int32 = 3) throws(Errno) -> Descriptor {
    let descriptor = rawValue
    return Descriptor(owning: try call { clinux_duplicate(descriptor, lowest) })
  }

  /// Returns this descriptor, or a duplicate if its number is 0, 1 or 2: the parent may have closed
  /// a standard stream, and messages would go to this file.
  package consuming func aboveStandard() throws(Errno) -> Descriptor {
    if rawValue > 2 { return self }
    return try duplicate()
  }

  /// Makes `number` refer to the same open file, kept open over exec (dup2(2)).
  package borrowing func place(at number: Int32) throws(Errno) {
    let descriptor = rawValue
    try call { dup2(descriptor, number) }
  }
}

/// A pipe (pipe(2)), both ends close-on-exec.
package struct Pipe: ~Copyable {
  package let read: Descriptor
  package let write: Descriptor

  package init() throws(Errno) {
    var ends = clinux_pipe_ends(read: -1, write: -1)
    try call { clinux_pipe(&ends) }
    read = Descriptor(owning: ends.read)
    write = Descriptor(owning: ends.write)
  }

  /// Returns the read end; the write end is closed.
  package consuming func takeRead() -> Descriptor { read }

  /// Returns the write end; the read end is closed.
  package consuming func takeWrite() -> Descriptor { write }
}

/// Descriptors that are known by number only.
package enum DescriptorNumber {
  /// Whether `number` is open and survives an exec. This program's own descriptors do not.
  package static func isInherited(_ number: Int32) -> Bool {
    let flags = fcntl(number, F_GETFD)
    return flags >= 0 && flags & FD_CLOEXEC == 0
  }
}
