internal import CLinux
internal import Glibc

/// An owned file descriptor, closed exactly once.
package struct Descriptor: ~Copyable, Sendable {
  /// The caller must not close it.
  package let rawValue: Int32

  package init(owning rawValue: Int32) { self.rawValue = rawValue }

  deinit {
    // Callers that need the error call `close()`.
    _ = Glibc.close(rawValue)
  }

  /// Reports errors of delayed writes (close(2)).
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

  package static func expectFree(_ count: Int) throws(Errno) {
    var taken: [Int32] = []
    defer { for descriptor in taken { _ = Glibc.close(descriptor) } }
    let first = try File.open("/dev/null", .readOnly)
    for _ in 1..<max(1, count) { taken.append(try first.duplicate().release()) }
  }

  package consuming func release() -> Int32 {
    let descriptor = rawValue
    discard self
    return descriptor
  }

  /// Reads once; 0 is the end of the file.
  package borrowing func read(into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
    // SAFETY: the kernel writes at most `count` bytes into the caller's buffer.
    return try call { Glibc.read(rawValue, buffer.baseAddress, buffer.count) }
  }

  package borrowing func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(Errno) -> Int {
    // SAFETY: as above.
    return try call { pread(rawValue, buffer.baseAddress, buffer.count, off_t(offset)) }
  }

  /// Reads once, from `offset` if given.
  package borrowing func read(
    into bytes: inout [UInt8], atMost limit: Int = .max, at offset: Int64? = nil
  ) throws(Errno) -> Int {
    try bytes.withUnsafeMutableBufferPointer { all throws(Errno) in
      let room = UnsafeMutableRawBufferPointer(
        UnsafeMutableBufferPointer(rebasing: all.prefix(limit)))
      return if let offset { try read(into: room, at: offset) } else { try read(into: room) }
    }
  }

  /// Returns fewer than the array's count at the end of the file.
  package borrowing func fill(_ bytes: inout [UInt8], at offset: Int64) throws(Errno) -> Int {
    var filled = 0
    try bytes.withUnsafeMutableBufferPointer { all throws(Errno) in
      while filled < all.count {
        let room = UnsafeMutableBufferPointer(rebasing: all[filled...])
        let count = try read(into: UnsafeMutableRawBufferPointer(room), at: offset + Int64(filled))
        if count == 0 { return }
        filled += count
      }
    }
    return filled
  }

  package borrowing func readAll(atMost limit: Int = .max) throws(Errno) -> [UInt8] {
    // One byte more than the file has finds the end without growing the buffer.
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
      // More would move all bytes to a larger buffer.
      room = count < room ? room - count : min(max(bytes.count, 4096), 1 << 26)
    }
    return bytes
  }

  /// Writes once, maybe fewer bytes.
  package borrowing func write(_ bytes: UnsafeRawBufferPointer) throws(Errno) -> Int {
    // SAFETY: the kernel reads `count` bytes of the caller's buffer.
    return try call { Glibc.write(rawValue, bytes.baseAddress, bytes.count) }
  }

  /// Writes from index `sent` on and advances it. Throws `wouldBlock` when the descriptor is full.
  package borrowing func write(_ bytes: [UInt8], behind sent: inout Int) throws(Errno) {
    while sent < bytes.count {
      let from = sent
      sent += try bytes.withUnsafeBufferPointer { all throws(Errno) in
        try write(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: all[from...])))
      }
    }
  }

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

  /// `leavesHoles` skips blocks of zeros in a new file; the caller then sets its length with
  /// `truncate`.
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

  private static let blockBytes = 4096

  private static func isZero(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let start = bytes.baseAddress, bytes.count > 0, bytes[0] == 0 else { return false }
    // SAFETY: both ranges lie in `bytes`. Each byte is compared with its predecessor.
    return memcmp(start, start + 1, bytes.count - 1) == 0
  }

  package borrowing func writeAll(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) {
    var rest = bytes
    var position = offset
    while !rest.isEmpty {
      // SAFETY: as for `write`.
      let count = try call { pwrite(rawValue, rest.baseAddress, rest.count, off_t(position)) }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      position += Int64(count)
    }
  }

  package borrowing func writeAll(
    _ bytes: ArraySlice<UInt8>, at offset: Int64, leavesHoles: Bool = false
  ) throws(Errno) {
    try bytes.withUnsafeBufferPointer { all throws(Errno) in
      try writeAll(UnsafeRawBufferPointer(all), at: offset, leavesHoles: leavesHoles)
    }
  }

  package borrowing func seek(to offset: Int64) throws(Errno) {
    try call { lseek(rawValue, off_t(offset), SEEK_SET) }
  }

  @discardableResult
  package borrowing func seekToEnd() throws(Errno) -> Int64 {
    return Int64(try call { lseek(rawValue, 0, SEEK_END) })
  }

  /// Starts writing dirty pages (sync_file_range(2)); a later sync reports errors.
  package borrowing func beginWriting() { _ = clinux_begin_writing(rawValue) }

  package borrowing func sync() throws(Errno) {
    try call { fsync(rawValue) }
  }

  package borrowing func syncData() throws(Errno) {
    try call { fdatasync(rawValue) }
  }

  package borrowing func truncate(to byteCount: Int64) throws(Errno) {
    try call { ftruncate(rawValue, off_t(byteCount)) }
  }

  package borrowing func status() throws(Errno) -> FileStatus {
    var status = clinux_status()
    try call { clinux_fstat(rawValue, &status) }
    return FileStatus(status)
  }

  package borrowing func setMode(_ mode: UInt32) throws(Errno) {
    try call { fchmod(rawValue, mode) }
  }

  package borrowing func readableByteCount() throws(Errno) -> Int32 {
    let count = clinux_readable_bytes(rawValue)
    if count < 0 { throw Errno.current }
    return count
  }

  package borrowing func setNonblocking(_ on: Bool) throws(Errno) {
    try call { clinux_set_nonblocking(rawValue, on ? 1 : 0) }
  }

  /// Returns a close-on-exec duplicate.
  package borrowing func duplicate(from lowest: Int32 = 3) throws(Errno) -> Descriptor {
    return Descriptor(owning: try call { clinux_duplicate(rawValue, lowest) })
  }

  /// Replaces a number of 0, 1 or 2, free if the parent closed a standard stream: messages would go
  /// to this file.
  package consuming func aboveStandard() throws(Errno) -> Descriptor {
    if rawValue > 2 { return self }
    return try duplicate()
  }

  /// Makes `number` the same open file, kept over exec (dup2(2)).
  package borrowing func place(at number: Int32) throws(Errno) {
    try call { dup2(rawValue, number) }
  }
}

/// A close-on-exec pipe.
package struct Pipe: ~Copyable {
  package let read: Descriptor
  package let write: Descriptor

  package init() throws(Errno) {
    var ends = clinux_pipe_ends(read: -1, write: -1)
    try call { clinux_pipe(&ends) }
    read = Descriptor(owning: ends.read)
    write = Descriptor(owning: ends.write)
  }

  package consuming func takeRead() -> Descriptor { read }

  package consuming func takeWrite() -> Descriptor { write }
}

package enum DescriptorNumber {
  /// True if `number` is open and survives an exec, unlike this program's own descriptors.
  package static func isInherited(_ number: Int32) -> Bool {
    let flags = fcntl(number, F_GETFD)
    return flags >= 0 && flags & FD_CLOEXEC == 0
  }
}
