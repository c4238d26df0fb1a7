internal import CLinux
internal import Glibc

/// An open file descriptor and the duty to close it: it is closed exactly once, at the latest when
/// its owner goes.
package struct Descriptor: ~Copyable, Sendable {
  /// For polling, and for handing to a program; never to be closed.
  package let rawValue: Int32

  package init(owning rawValue: Int32) { self.rawValue = rawValue }

  deinit {
    // A failure has nobody left to tell; whoever must know of one calls `close()`.
    _ = Glibc.close(rawValue)
  }

  /// Closes, and tells what a delayed write ran into (close(2)).
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

  /// Sees whether this process can have so many more.
  package static func expectFree(_ count: Int) throws(Errno) {
    var taken: [Int32] = []
    defer { for descriptor in taken { _ = Glibc.close(descriptor) } }
    let first = try File.open("/dev/null", .readOnly)
    for _ in 1..<max(1, count) { taken.append(try first.duplicate().release()) }
  }

  /// Gives up the duty to close.
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

  /// Reads from here to the end of the file, or until there are `limit` bytes.
  package borrowing func readAll(atMost limit: Int = .max) throws(Errno) -> [UInt8] {
    // One byte more than the file should have, so that its end shows without more room.
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
      // No more than is left, which would move all that is there to a larger place.
      room = count < room ? room - count : min(max(bytes.count, 4096), 1 << 26)
    }
    return bytes
  }

  /// Writes once (write(2)); the count may be less than what was asked.
  package borrowing func write(_ bytes: UnsafeRawBufferPointer) throws(Errno) -> Int {
    let descriptor = rawValue
    // SAFETY: the kernel reads `count` bytes of a buffer the caller holds.
    return try call { Glibc.write(descriptor, bytes.baseAddress, bytes.count) }
  }

  /// Writes what stands behind `sent`, which counts on with it.
  ///
  /// - Throws: `wouldBlock` where there is no room for the rest.
  package borrowing func write(_ bytes: [UInt8], behind sent: inout Int) throws(Errno) {
    while sent < bytes.count {
      let from = sent
      sent += try bytes.withUnsafeBufferPointer { all throws(Errno) in
        try write(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: all[from...])))
      }
    }
  }

  /// Writes all of it, in as many calls as it takes.
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

  /// Writes all of it from `offset` on (pwrite(2)).
  ///
  /// - Parameter leavesHoles: whether blocks of zeros are passed over, as the file has none there yet. Its end is then
  ///   to be set with `truncate`.
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

  /// Of most file systems.
  private static let blockBytes = 4096

  private static func isZero(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let start = bytes.baseAddress, bytes.count > 0, bytes[0] == 0 else { return false }
    // SAFETY: both parts lie in `bytes`; each byte is compared with the one before it.
    return memcmp(start, start + 1, bytes.count - 1) == 0
  }

  /// Writes all of it from `offset` on (pwrite(2)).
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

  /// Moves the position, from the start of the file (lseek(2)).
  package borrowing func seek(to offset: Int64) throws(Errno) {
    let descriptor = rawValue
    try call { lseek(descriptor, off_t(offset), SEEK_SET) }
  }

  /// Moves the position to the end of the file and tells it.
  @discardableResult
  package borrowing func seekToEnd() throws(Errno) -> Int64 {
    let descriptor = rawValue
    return Int64(try call { lseek(descriptor, 0, SEEK_END) })
  }

  /// Has what was written of a file go to the disk, without waiting for it (sync_file_range(2)). What
  /// that runs into is for a sync to tell.
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

  /// How many bytes of a pipe can be read at once.
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

  /// A further descriptor of the same open file, close-on-exec, numbered `lowest` or above.
  package borrowing func duplicate(from lowest: Int32 = 3) throws(Errno) -> Descriptor {
    let descriptor = rawValue
    return Descriptor(owning: try call { clinux_duplicate(descriptor, lowest) })
  }

  /// The same where it is none of the three standard ones; else one that is none of them. A process that has closed those
  /// writes its messages to whatever has their numbers.
  package consuming func aboveStandard() throws(Errno) -> Descriptor {
    if rawValue > 2 { return self }
    return try duplicate()
  }

  /// Makes `number` a descriptor of the same open file, kept open over exec (dup2(2)).
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

  /// The reading end; the other one is closed.
  package consuming func takeRead() -> Descriptor { read }

  /// The writing end; the other one is closed.
  package consuming func takeWrite() -> Descriptor { write }
}

/// Descriptors that are known by their number alone.
package enum DescriptorNumber {
  /// Whether it is open and would stay so through an exec, as none does that this program opened.
  package static func isInherited(_ number: Int32) -> Bool {
    let flags = fcntl(number, F_GETFD)
    return flags >= 0 && flags & FD_CLOEXEC == 0
  }
}
