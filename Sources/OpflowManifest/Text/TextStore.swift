/// Owns texts made during compilation, at stable addresses.
final class TextStore {
  private var chunks: [UnsafeMutableRawBufferPointer] = []
  /// The bounds of the text under construction in the last chunk.
  private var start = 0
  private var end = 0

  private static let chunkBytes = 64 << 10

  func append(_ bytes: Text) {
    guard let source = bytes.baseAddress, bytes.count > 0 else { return }
    let chunk = room(for: bytes.count)
    // SAFETY: `room` made at least `bytes.count` bytes free behind `end`.
    chunk.baseAddress.map { ($0 + end).copyMemory(from: source, byteCount: bytes.count) }
    end += bytes.count
  }

  var pendingCount: Int { end - start }

  /// Completes the text under construction.
  func finish() -> Text {
    guard let chunk = chunks.last else { return Text(start: nil, count: 0) }
    defer { start = end }
    return Text(chunk).part(start..<end)
  }

  func copy(_ bytes: Text) -> Text {
    append(bytes)
    return finish()
  }

  func copy(_ string: String) -> Text {
    var string = string
    return string.withUTF8 { copy(Text($0)) }
  }

  /// Invalidates all texts.
  func removeAll() {
    // Usually the store is empty.
    if end == 0 { return }
    while chunks.count > 1 { chunks.removeLast().deallocate() }
    start = 0
    end = 0
  }

  private func room(for count: Int) -> UnsafeMutableRawBufferPointer {
    if let chunk = chunks.last, chunk.count - end >= count { return chunk }
    let pending = end - start
    let size = max(Self.chunkBytes, (pending + count) * 2)
    let grown = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
    if let chunk = chunks.last {
      grown.copyMemory(from: Text(chunk).part(start..<end))
    }
    chunks.append(grown)
    start = 0
    end = pending
    return grown
  }

  deinit { for chunk in chunks { chunk.deallocate() } }
}
