internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem

/// The log of one attempt, made with the first byte of output.
struct WorkerLog: ~Copyable {
  let attempt: Int32
  private var file: Descriptor?
  /// Also bytes that could not be written.
  private(set) var byteCount: Int64 = 0
  private(set) var endsWithinLine = false
  /// Later output is dropped.
  private(set) var failure: Errno?

  init(attempt: Int32) { self.attempt = attempt }

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

  /// A later attempt appends a header, on a line of its own.
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

  /// A delayed write may fail here.
  mutating func close() {
    do throws(Errno) {
      try file.take()?.close()
    } catch {
      if failure == nil { failure = error }
    }
  }
}
