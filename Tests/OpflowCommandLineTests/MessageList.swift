import Foundation

/// The messages in Swift sources: string literals that are sentences or parts of sentences.
/// Interpolations are shown as `{name}`, and literals joined by `+` as one message.
struct MessageList {
  private let source: [UInt8]
  private var position = 0
  private(set) var messages: [String] = []

  init(of source: String) {
    self.source = Array(source.utf8)
    var pending: String?
    while position < self.source.count {
      switch self.source[position] {
      case UInt8(ascii: "/") where starts("//"): skip { $0 != UInt8(ascii: "\n") }
      case UInt8(ascii: "\""), UInt8(ascii: "#"):
        guard let text = literal() else { continue }
        pending = (pending ?? "") + text
        if !skipJoin() { flush(&pending) }
      default: position += 1
      }
    }
  }

  /// All messages of the Swift files in `folder`, each file under a heading, in the order of paths.
  static func text(ofSourcesIn folder: String) throws -> String {
    let files = try FileManager.default.subpathsOfDirectory(atPath: folder).sorted()
    var text = ""
    for file in files where file.hasSuffix(".swift") {
      let list = MessageList(of: try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8))
      if list.messages.isEmpty { continue }
      text += "\(text.isEmpty ? "" : "\n")# \(file)\n\n"
      for message in list.messages { text += "\(message)\n" }
    }
    return text
  }

  private mutating func flush(_ pending: inout String?) {
    guard let text = pending else { return }
    pending = nil
    let shown = text.trimmingCharacters(in: .whitespacesAndNewlines)
    if Self.isMessage(shown) { messages.append(shown.replacing("\n", with: "\\n")) }
  }

  /// Two words with a space between them; not markup, an option list or a pattern.
  private static func isMessage(_ text: String) -> Bool {
    let plain = text.replacing(#/\{[^}]*\}/#, with: "x")
    return plain.contains(#/[a-z`'")][,;:]? [a-z`("]/#) && !plain.contains(#/[a-z]: ?[a-z0-9#-]+;/#)
      && !plain.hasPrefix("<")
  }

  // MARK: - Reading

  private func starts(_ text: StaticString, at place: Int? = nil) -> Bool {
    let start = place ?? position
    guard start + text.utf8CodeUnitCount <= source.count else { return false }
    return text.withUTF8Buffer { bytes in
      source[start..<(start + bytes.count)].elementsEqual(bytes)
    }
  }

  private mutating func skip(while isSkipped: (UInt8) -> Bool) {
    while position < source.count, isSkipped(source[position]) { position += 1 }
  }

  /// Skips a `+` between two literals.
  private mutating func skipJoin() -> Bool {
    var place = position
    while place < source.count, source[place] == UInt8(ascii: " ") || source[place] == 10 {
      place += 1
    }
    guard starts("+ ", at: place) else { return false }
    place += 2
    guard starts("\"", at: place) else { return false }
    position = place
    return true
  }

  /// Reads the literal at the position, without its quotes; nil if none starts there.
  private mutating func literal() -> String? {
    var hashes = 0
    while position < source.count, source[position] == UInt8(ascii: "#") {
      hashes += 1
      position += 1
    }
    let isLong = starts("\"\"\"")
    guard isLong || starts("\"") else { return nil }
    let quotes = isLong ? 3 : 1
    position += quotes
    var bytes: [UInt8] = []
    while position < source.count, !isEnd(quotes: quotes, hashes: hashes) {
      guard source[position] == UInt8(ascii: "\\"), hasHashes(hashes, at: position + 1) else {
        bytes.append(source[position])
        position += 1
        continue
      }
      position += 1 + hashes
      escape(into: &bytes)
    }
    position += quotes + hashes
    let text = String(decoding: bytes, as: UTF8.self)
    return isLong ? text.replacing(#/\n\s*/#, with: " ") : text
  }

  private func isEnd(quotes: Int, hashes: Int) -> Bool {
    for place in position..<(position + quotes) {
      guard place < source.count, source[place] == UInt8(ascii: "\"") else { return false }
    }
    return hasHashes(hashes, at: position + quotes)
  }

  private func hasHashes(_ count: Int, at place: Int) -> Bool {
    place + count <= source.count
      && source[place..<(place + count)].allSatisfy { $0 == UInt8(ascii: "#") }
  }

  /// The position is behind the backslash.
  private mutating func escape(into bytes: inout [UInt8]) {
    switch source[position] {
    case UInt8(ascii: "("):
      let start = position
      skipParentheses()
      let expression = String(decoding: source[start..<position], as: UTF8.self)
      bytes += Array("{\(Self.name(of: expression))}".utf8)
    case UInt8(ascii: "n"):
      position += 1
      bytes.append(UInt8(ascii: "\n"))
    case UInt8(ascii: "\n"):
      position += 1
      skip { $0 == UInt8(ascii: " ") }
    default:
      bytes.append(source[position])
      position += 1
    }
  }

  private mutating func skipParentheses() {
    var depth = 0
    repeat {
      switch source[position] {
      case UInt8(ascii: "("): depth += 1
      case UInt8(ascii: ")"): depth -= 1
      case UInt8(ascii: "\""):
        _ = literal()
        continue
      default: break
      }
      position += 1
    } while depth > 0 && position < source.count
  }

  /// The last name in an expression without literals, such as `path` in `(CleanText.string(path))`.
  private static func name(of expression: String) -> String {
    if expression.contains("\"") { return String(expression.dropFirst().dropLast()) }
    let names = expression.matches(of: #/[A-Za-z]+/#).map { String($0.output) }
    return names.last ?? "…"
  }
}
