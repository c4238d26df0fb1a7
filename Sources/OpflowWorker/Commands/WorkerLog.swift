internal import OpflowCore
internal import OpflowSystem

/// The log file of one try of a task: made when the first byte comes, so that a silent task has none.
struct WorkerLog: ~Copyable {
  let attempt: Int32
  private var file: Descriptor?
  /// Bytes of output, those that could not be written included.
  private(set) var byteCount: Int64 = 0
  /// What came last has no line feed.
  private(set) var endsWithinLine = false
  /// Why the log could not be written; from then on what comes is dropped.
  private(set) var failure: Errno?

  init(attempt: Int32) { self.attempt = attempt }

  /// Appends output to the log `name` in `folder`.
  mutating func append(
    _ bytes: UnsafeRawBufferPointer, name: () -> String, in folder: borrowing Descriptor
  ) {
    byteCount += Int64(bytes.count)
    if let last = bytes.last { endsWithinLine = last != Field.lineFeed }
    if failure != nil { return }
    do throws(Errno) {
      if file == nil { file = try open(name(), in: folder) }
      try file?.writeAll(bytes)
    } catch {
      failure = error
    }
  }

  /// A later try appends after a header line, which begins a line of its own.
  private func open(
    _ name: String, in folder: borrowing Descriptor
  ) throws(Errno) -> Descriptor {
    let file = try File.openRegular(name, in: folder, [.readWrite, .create, .append])
    guard attempt > 1 else { return file }
    let size = try file.status().sizeBytes
    var header = AttemptHeader.line(attempt)
    if size > 0 {
      var last: [UInt8] = [Field.lineFeed]
      _ = try last.withUnsafeMutableBufferPointer { last throws(Errno) in
        try file.read(into: UnsafeMutableRawBufferPointer(last), at: size - 1)
      }
      if last != [Field.lineFeed] { header = "\n" + header }
    }
    try file.writeAll(header)
    return file
  }

  /// Closes the file; a delayed write may fail here.
  mutating func close() {
    do throws(Errno) {
      try file.take()?.close()
    } catch {
      if failure == nil { failure = error }
    }
  }
}
