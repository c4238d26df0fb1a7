/// The output of tasks as far as a view still needs it: the lines not yet ended, and the last bytes
/// for the report of a failure.
struct TaskOutputs {
  private struct Kept {
    var bytes: [UInt8] = []
    /// How many of the last bytes are a line that has no end yet.
    var openBytes = 0
  }

  /// Bytes kept of each try; up to twice as many for a moment.
  let limit: Int
  private var kept: [TaskID: Kept] = [:]

  init(limit: Int) { self.limit = limit }

  /// A line of more bytes is shown in pieces, for a task may never end one.
  private static let maxLineBytes = 65_536

  mutating func append(_ task: TaskID, _ bytes: UnsafeRawBufferPointer) {
    kept[task, default: Kept()].bytes.append(contentsOf: bytes)
    trim(task)
  }

  /// Takes bytes in and calls `body` with each line that they end, without its line feed.
  mutating func appendLines(
    _ task: TaskID, _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void
  ) {
    var rest = bytes[...]
    while let end = rest.firstIndex(of: Field.lineFeed) {
      let piece = rest[...end]
      let open = kept[task]?.openBytes ?? 0
      kept[task, default: Kept()].bytes.append(contentsOf: piece)
      if open == 0 {
        body(UnsafeRawBufferPointer(rebasing: piece.dropLast()))
      } else {
        withOpenLine(task, open + piece.count, dropLast: 1, body)
      }
      kept[task]?.openBytes = 0
      trim(task)
      rest = rest[(end + 1)...]
    }
    guard !rest.isEmpty else { return }
    kept[task, default: Kept()].bytes.append(contentsOf: rest)
    kept[task]?.openBytes += rest.count
    if let open = kept[task]?.openBytes, open >= Self.maxLineBytes {
      withOpenLine(task, open, dropLast: 0, body)
      kept[task]?.openBytes = 0
      trim(task)
    }
  }

  /// Ends the try: calls `body` with a line that it left without an end.
  mutating func flush(_ task: TaskID, _ body: (UnsafeRawBufferPointer) -> Void) {
    guard let open = kept[task]?.openBytes, open > 0 else { return }
    withOpenLine(task, open, dropLast: 0, body)
    kept[task]?.openBytes = 0
  }

  /// The last bytes of the try that ends now, which are then forgotten.
  mutating func take(_ task: TaskID) -> [UInt8] {
    guard let bytes = kept.removeValue(forKey: task)?.bytes else { return [] }
    return bytes.count <= limit ? bytes : Array(bytes[(bytes.count - limit)...])
  }

  private func withOpenLine(
    _ task: TaskID, _ count: Int, dropLast: Int, _ body: (UnsafeRawBufferPointer) -> Void
  ) {
    guard let bytes = kept[task]?.bytes else { return }
    bytes.withUnsafeBytes {
      body(UnsafeRawBufferPointer(rebasing: $0[($0.count - count)..<($0.count - dropLast)]))
    }
  }

  private mutating func trim(_ task: TaskID) {
    guard let entry = kept[task], entry.bytes.count > 2 * max(limit, Self.maxLineBytes) else {
      return
    }
    kept[task]?.bytes.removeFirst(entry.bytes.count - max(limit, entry.openBytes))
  }
}

/// The end of a text, in whole lines.
enum LastLines {
  /// The last `count` lines of `bytes`, the last one ended by a line feed.
  static func of(_ bytes: [UInt8], count: Int) -> [UInt8] {
    var end = bytes.count
    if bytes.last == Field.lineFeed { end -= 1 }
    guard end > 0 else { return [] }
    var start = end
    var lines = 0
    while start > 0 {
      if bytes[start - 1] == Field.lineFeed {
        lines += 1
        if lines == count { break }
      }
      start -= 1
    }
    return Array(bytes[start..<end]) + [Field.lineFeed]
  }
}
