/// Collects the bytes of a stream and gives them out as messages, line by line.
package struct LineBuffer {
  package enum Step<Message> {
    case message(Message)
    /// No whole line is left.
    case needsMore
    /// A line is too long, or no message: from here on the stream means nothing.
    case malformed
  }

  // Room for four of the longest lines, so that one read takes several messages.
  @usableFromInline
  package var storage = [UInt8](repeating: 0, count: 4 * MessageCodec.longestLineBytes)
  @usableFromInline package var start = 0
  @usableFromInline package var end = 0

  package init() {}

  /// Whether bytes of a line that has not ended are waiting.
  package var isEmpty: Bool { start == end }

  /// Lets `read` fill in more bytes and tell how many. There is always room, provided that `next` is
  /// called until it needs more.
  @inlinable
  @discardableResult
  package mutating func fill<Failure: Error>(
    _ read: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
  ) throws(Failure) -> Int {
    moveToFront()
    let used = end
    let count = try storage.withUnsafeMutableBufferPointer { all throws(Failure) in
      // SAFETY: the free part of storage, for the call only.
      try read(
        UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: all[used...])))
    }
    end += count
    return count
  }

  @usableFromInline
  package mutating func moveToFront() {
    if start == 0 { return }
    let (from, count) = (start, end - start)
    if count > 0 {
      storage.withUnsafeMutableBytes { all in
        // SAFETY: both ranges lie within storage, since `start` and `end` do.
        all.copyMemory(from: UnsafeRawBufferPointer(rebasing: all[from..<from + count]))
      }
    }
    start = 0
    end = count
  }

  /// Takes the next line, which `decode` turns into a message.
  @inlinable
  package mutating func next<Message>(
    _ decode: (UnsafeRawBufferPointer) -> Message?
  ) -> Step<Message> {
    let (from, to) = (start, end)
    let step: (Step<Message>, Int) = storage.withUnsafeBytes { all in
      let bytes = all.part(from, to)
      let length = bytes.position(of: Field.lineFeed, from: 0)
      if length == bytes.count {
        return (length < MessageCodec.longestLineBytes ? .needsMore : .malformed, 0)
      }
      guard length < MessageCodec.longestLineBytes, let message = decode(bytes.part(0, length))
      else { return (.malformed, 0) }
      return (.message(message), length + 1)
    }
    start += step.1
    return step.0
  }
}
