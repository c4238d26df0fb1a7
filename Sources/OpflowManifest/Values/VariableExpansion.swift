/// Expands `$NAME`, `${NAME…}` and escapes in variable files.
struct VariableExpansion {
  let text: Text
  private(set) var position: Int
  let end: Int
  /// Whether the value is in double quotes, where escapes are expanded.
  let isQuoted: Bool
  let store: TextStore
  /// Returns nil for a variable that is not set.
  let value: (Text) -> Text?
  /// The depth of nested `${…}`.
  private var depth = 0

  private static let mostLevels = 64
  private static let mostBytes = 1 << 20

  init(
    text: Text, position: Int, end: Int, isQuoted: Bool, store: TextStore,
    value: @escaping (Text) -> Text?
  ) {
    (self.text, self.position, self.end) = (text, position, end)
    (self.isQuoted, self.store, self.value) = (isQuoted, store, value)
  }

  mutating func expand() throws(ExpressionMistake) -> Text {
    do throws(ExpressionMistake) {
      try expand(until: nil, isWritten: true)
    } catch {
      _ = store.finish()
      throw error
    }
    return store.finish()
  }

  /// - Parameters:
  ///   - close: The byte that ends the part; nil for the end.
  ///   - isWritten: Whether to write the result or skip it.
  private mutating func expand(
    until close: UInt8?, isWritten: Bool
  ) throws(ExpressionMistake) {
    while position < end {
      let byte = text[position]
      if byte == close { return }
      switch byte {
      case UInt8(ascii: "\\"): try escape(isWritten)
      case UInt8(ascii: "$"): try variable(isWritten)
      case 13 where peek(1) == 10: position += 1
      default:
        write(position..<(position + 1), isWritten)
        position += 1
      }
      if store.pendingCount > Self.mostBytes {
        throw mistake(position, "the value grows beyond \(Self.mostBytes >> 20) MiB")
      }
    }
  }

  // MARK: Escapes

  private mutating func escape(_ isWritten: Bool) throws(ExpressionMistake) {
    let next = peek(1)
    if next == UInt8(ascii: "$") {
      write((position + 1)..<(position + 2), isWritten)
      position += 2
      return
    }
    guard isQuoted, let next else {
      write(position..<(position + 1), isWritten)
      position += 1
      return
    }
    if let meant = Self.meant(by: next) {
      write(meant, isWritten)
      position += 2
    } else if next == UInt8(ascii: "0") {
      try octal(isWritten)
    } else {
      write(position..<(position + 2), isWritten)
      position += 2
    }
  }

  private static func meant(by byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "n"): 10
    case UInt8(ascii: "r"): 13
    case UInt8(ascii: "t"): 9
    case UInt8(ascii: "a"): 7
    case UInt8(ascii: "b"): 8
    case UInt8(ascii: "f"): 12
    case UInt8(ascii: "v"): 11
    case UInt8(ascii: "\\"), UInt8(ascii: "\""): byte
    default: nil
    }
  }

  /// Reads `\0` and up to three octal digits.
  private mutating func octal(_ isWritten: Bool) throws(ExpressionMistake) {
    let start = position
    var value = 0
    var digits = 0
    position += 2
    while digits < 3, let digit = peek(0), (48...55).contains(digit) {
      value = value * 8 + Int(digit) - 48
      digits += 1
      position += 1
    }
    // Other characters can be written directly.
    guard value > 0, value < 128 else {
      throw mistake(start, "this escape stands for no character that an environment can hold")
    }
    write(UInt8(value), isWritten)
  }

  // MARK: Variables

  private mutating func variable(_ isWritten: Bool) throws(ExpressionMistake) {
    let start = position
    switch peek(1) {
    case UInt8(ascii: "$"):
      write(position..<(position + 1), isWritten)
      position += 2
    case UInt8(ascii: "{"):
      position += 2
      try braced(from: start, isWritten)
    case .some(let byte) where ASCII.isLetter(byte) || byte == UInt8(ascii: "_"):
      position += 1
      let name = readName()
      if isWritten, let value = value(name) { store.append(value) }
    default:
      write(position..<(position + 1), isWritten)
      position += 1
    }
  }

  private mutating func braced(
    from start: Int, _ isWritten: Bool
  ) throws(ExpressionMistake) {
    guard let first = peek(0), ASCII.isLetter(first) || first == UInt8(ascii: "_") else {
      throw mistake(
        start, "no name of a variable follows this `${`", help: "write `$$` for a `$`")
    }
    guard depth < Self.mostLevels else {
      throw mistake(start, "variables nested deeper than \(Self.mostLevels) levels")
    }
    let name = readName()
    let found = value(name)
    var hasColon = false
    if peek(0) == UInt8(ascii: ":") {
      hasColon = true
      position += 1
    }
    let isThere = found.map { !(hasColon && $0.isEmpty) } ?? false
    depth += 1
    switch peek(0) {
    case UInt8(ascii: "}") where !hasColon:
      if isWritten, let found { store.append(found) }
    case UInt8(ascii: "-"):
      position += 1
      if isWritten, isThere, let found { store.append(found) }
      try expand(until: UInt8(ascii: "}"), isWritten: isWritten && !isThere)
    case UInt8(ascii: "+"):
      position += 1
      try expand(until: UInt8(ascii: "}"), isWritten: isWritten && isThere)
    case UInt8(ascii: "?"):
      position += 1
      if isWritten, isThere, let found { store.append(found) }
      let words = position
      try expand(until: UInt8(ascii: "}"), isWritten: false)
      if isWritten, !isThere {
        let said = text.part(words..<position).string
        throw mistake(
          start, "`\(name.string)` is \(found == nil ? "not set" : "empty")",
          help: said.isEmpty ? nil : said)
      }
    default:
      throw mistake(
        start,
        position < end ? "this `${` is no variable" : "`${` without its `}`",
        help: position < end ? "after the name come `}`, `:-`, `-`, `:+`, `+`, `:?` or `?`" : nil)
    }
    depth -= 1
    guard peek(0) == UInt8(ascii: "}") else { throw mistake(start, "`${` without its `}`") }
    position += 1
  }

  private mutating func readName() -> Text {
    let start = position
    while let byte = peek(0), ASCII.continuesName(byte), byte != UInt8(ascii: "-") { position += 1 }
    return text.part(start..<position)
  }

  // MARK: Bytes

  private func peek(_ offset: Int) -> UInt8? {
    position + offset < end ? text[position + offset] : nil
  }

  private func write(_ range: Range<Int>, _ isWritten: Bool) {
    if isWritten { store.append(text.part(range)) }
  }

  private func write(_ byte: UInt8, _ isWritten: Bool) {
    if isWritten { withUnsafeBytes(of: byte) { store.append($0) } }
  }

  private func mistake(_ offset: Int, _ message: String, help: String? = nil) -> ExpressionMistake {
    ExpressionMistake(offset: offset, message: message, help: help)
  }
}
