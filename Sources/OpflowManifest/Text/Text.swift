internal import CYAML

/// Bytes at an address that stays valid during compilation: part of the manifest, of text that
/// libyaml decoded, or of a `TextStore`.
/// SAFETY: the compilation owns all three, and no `ByteView` outlives it.
typealias ByteView = UnsafeRawBufferPointer

extension UnsafeRawBufferPointer {
  static var empty: ByteView { ByteView(start: nil, count: 0) }

  init(_ word: StaticString) {
    // SAFETY: a literal's bytes are never freed.
    self.init(start: word.utf8Start, count: word.utf8CodeUnitCount)
  }

  var start: UnsafePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }

  var string: String { String(decoding: self, as: UTF8.self) }

  func part(_ range: Range<Int>) -> ByteView { ByteView(rebasing: self[range]) }

  @inline(__always)
  static func == (text: ByteView, word: StaticString) -> Bool {
    guard text.count == word.utf8CodeUnitCount else { return false }
    // SAFETY: both have `text.count` bytes, and a literal is never freed.
    return cyaml_equal(text.baseAddress, word.utf8Start, text.count) != 0
  }

  func contains(_ word: ByteView) -> Bool {
    guard let first = word.first, word.count <= count else { return false }
    return (0...count - word.count).contains { start in
      self[start] == first && part(start..<start + word.count).isSame(as: word)
    }
  }

  func isSame(as other: ByteView) -> Bool {
    // SAFETY: both have `count` bytes.
    count == other.count && cyaml_equal(baseAddress, other.baseAddress, count) != 0
  }

  @inline(__always)
  func hasPrefix(_ word: StaticString) -> Bool {
    guard count >= word.utf8CodeUnitCount else { return false }
    return part(0..<word.utf8CodeUnitCount) == word
  }

  func hasSuffix(_ word: StaticString) -> Bool {
    guard count >= word.utf8CodeUnitCount else { return false }
    return part((count - word.utf8CodeUnitCount)..<count) == word
  }

  func hasSuffix(_ word: ByteView) -> Bool {
    count >= word.count && part((count - word.count)..<count).isSame(as: word)
  }

  var trimmed: ByteView {
    var start = 0
    var end = count
    while start < end, ASCII.isBlank(self[start]) { start += 1 }
    while end > start, ASCII.isBlank(self[end - 1]) { end -= 1 }
    return part(start..<end)
  }
}

/// Owns texts made during compilation, at stable addresses.
final class TextStore {
  private var chunks: [UnsafeMutableRawBufferPointer] = []
  /// Bounds of the text under construction in the last chunk.
  private var start = 0
  private var end = 0

  private static let chunkBytes = 64 << 10

  func append(_ bytes: ByteView) {
    guard let source = bytes.baseAddress, bytes.count > 0 else { return }
    let chunk = room(for: bytes.count)
    // SAFETY: `room` made at least `bytes.count` bytes free after `end`.
    chunk.baseAddress.map { ($0 + end).copyMemory(from: source, byteCount: bytes.count) }
    end += bytes.count
  }

  func append(_ word: StaticString) { append(ByteView(word)) }

  func append(_ byte: UInt8) { withUnsafeBytes(of: byte) { append($0) } }

  var pendingCount: Int { end - start }

  func finish() -> ByteView {
    guard let chunk = chunks.last else { return ByteView.empty }
    defer { start = end }
    return ByteView(chunk).part(start..<end)
  }

  func copy(_ bytes: ByteView) -> ByteView {
    append(bytes)
    return finish()
  }

  func copy(_ string: String) -> ByteView {
    var string = string
    return string.withUTF8 { copy(ByteView($0)) }
  }

  func removeAll() {
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
      grown.copyMemory(from: ByteView(chunk).part(start..<end))
    }
    chunks.append(grown)
    start = 0
    end = pending
    return grown
  }

  deinit { for chunk in chunks { chunk.deallocate() } }
}

enum ASCII {
  static func isBlank(_ byte: UInt8) -> Bool {
    byte == 32 || byte == 9 || byte == 10 || byte == 13
  }
  static func isDigit(_ byte: UInt8) -> Bool { byte >= 48 && byte <= 57 }
  static func isLetter(_ byte: UInt8) -> Bool {
    (byte >= 97 && byte <= 122) || (byte >= 65 && byte <= 90)
  }
  static func isHexadecimal(_ byte: UInt8) -> Bool {
    isDigit(byte) || (byte >= 97 && byte <= 102) || (byte >= 65 && byte <= 70)
  }
  static func beginsName(_ byte: UInt8) -> Bool { isLetter(byte) || byte == 95 }
  static func continuesName(_ byte: UInt8) -> Bool {
    beginsName(byte) || isDigit(byte) || byte == 45
  }
}

extension Array {
  /// For a few elements, `removeAll(keepingCapacity:)` takes several times as long.
  @inline(__always)
  mutating func removeEach() {
    while popLast() != nil {}
  }
}
