internal import OpflowBase
internal import OpflowPlan

/// Joins tasks' output, in pieces cut anywhere, to lines.
struct TaskOutputs {
  private var open: [TaskID: [UInt8]] = [:]

  /// Longer lines are passed on in pieces, because a task may never end a line.
  static let maxLineBytes = 16_384

  /// Calls `body` with each line, without its newline, and with the pieces of long ones. `endsLine`
  /// is false if the line continues.
  mutating func append(
    _ task: TaskID, _ bytes: UnsafeRawBufferPointer,
    _ body: (UnsafeRawBufferPointer, _ endsLine: Bool) -> Void
  ) {
    var start = 0
    while start < bytes.count {
      let end = bytes.position(of: Field.lineFeed, from: start)
      let hasEnd = end < bytes.count
      take(task, UnsafeRawBufferPointer(rebasing: bytes[start..<end]), hasEnd: hasEnd, body)
      start = end + 1
    }
  }

  private mutating func take(
    _ task: TaskID, _ part: UnsafeRawBufferPointer, hasEnd: Bool,
    _ body: (UnsafeRawBufferPointer, _ endsLine: Bool) -> Void
  ) {
    if open.isEmpty || open[task] == nil {
      if hasEnd, part.count <= Self.maxLineBytes { return body(part, true) }
      open[task] = []
    }
    var rest = part
    while let known = open[task], known.count + rest.count >= Self.maxLineBytes {
      let room = Self.maxLineBytes - known.count
      if hasEnd, room == rest.count { break }
      open[task]?.append(contentsOf: rest[..<room])
      flush(task, endsLine: false, body)
      open[task] = []
      rest = UnsafeRawBufferPointer(rebasing: rest[room...])
    }
    open[task]?.append(contentsOf: rest)
    if hasEnd {
      flush(task, body)
    } else if open[task]?.isEmpty == true {
      open[task] = nil
    }
  }

  mutating func flush(
    _ task: TaskID, endsLine: Bool = true,
    _ body: (UnsafeRawBufferPointer, _ endsLine: Bool) -> Void
  ) {
    open.removeValue(forKey: task)?.withUnsafeBytes { body($0, endsLine) }
  }
}
