internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

/// The log of one attempt, made with the first output.
struct WorkerLog: ~Copyable {
  let attempt: Int32
  private var file: Descriptor?
  /// Includes bytes that could not be written.
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
  private func open(_ name: String, in folder: borrowing Descriptor) throws(Errno) -> Descriptor {
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

/// The last output line of a watched task, reported at most ten times a second.
struct WorkerWatch {
  static let intervalMilliseconds: Int64 = 100
  static let longestLineBytes = 400

  private var watched: TaskID?
  private var line: [UInt8] = []
  private var isNew = false
  private var nextTime = Instant(nanoseconds: 0)

  mutating func set(_ task: TaskID, on: Bool) {
    if on {
      watched = task
    } else if watched == task {
      watched = nil
    }
    line.removeAll()
    isNew = false
  }

  func isWatched(_ task: TaskID) -> Bool { watched == task }

  mutating func note(_ chunk: UnsafeRawBufferPointer) {
    let isBreak = { (byte: UInt8) in byte == Field.lineFeed || byte == Field.carriageReturn }
    guard let last = chunk.lastIndex(where: { !isBreak($0) }) else { return }
    let start = chunk[..<last].lastIndex(where: isBreak).map { $0 + 1 } ?? 0
    line.removeAll(keepingCapacity: true)
    line.append(contentsOf: chunk[start...last].suffix(Self.longestLineBytes))
    isNew = true
  }

  var deadline: Instant? { isNew ? nextTime : nil }

  mutating func takeReport(at now: Instant) -> WorkerReport? {
    guard isNew, let watched, nextTime <= now else { return nil }
    isNew = false
    nextTime = now.advanced(byMilliseconds: Self.intervalMilliseconds)
    return .progress(
      WorkerProgress(
        task: watched, doneBytes: 0, totalBytes: -1, bytesPerSecond: 0,
        text: String(decoding: line, as: UTF8.self)))
  }
}
