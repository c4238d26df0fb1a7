enum TaskName {
  static let rule =
    "an ID has 1 to 255 letters, digits and `_ . - + @ : /`, and begins with a letter, digit or `_`"

  /// The rule, with a similar valid ID if possible.
  static func help(for text: ByteView) -> String {
    if text.prefix(longest).split(separator: UInt8(ascii: ":")).dropFirst().contains(where: {
      $0.first == UInt8(ascii: "{") || $0.first == UInt8(ascii: "[")
    }) {
      return "write a space after the `:`"
    }
    if text.contains(UInt8(ascii: "[")) {
      return "\(rule); `matrix` makes IDs with brackets"
    }
    var bytes: [UInt8] = []
    for byte in text.prefix(longest) where bytes.last != UInt8(ascii: "-") || isAllowed(byte) {
      bytes.append(isAllowed(byte) ? byte : UInt8(ascii: "-"))
    }
    var trimmed = String(decoding: bytes, as: UTF8.self).drop { !$0.isLetter && !$0.isNumber }
    // `tag:` selects tasks by tag, so an ID cannot start with it.
    while trimmed.hasPrefix("tag:") { trimmed = trimmed.dropFirst(4) }
    let id = trimmed.last == "-" ? trimmed.dropLast() : trimmed
    return id.count < 2 ? rule : "\(rule): `\(id)`"
  }

  static let longest = 255

  static func problem(_ text: ByteView) -> String? {
    guard let first = text.first else { return "the task ID is empty" }
    if text.count > longest { return "the task ID is longer than 255 bytes" }
    if text.hasPrefix("tag:") { return "the task ID `\(text.string)` begins with `tag:`" }
    guard ASCII.isLetter(first) || ASCII.isDigit(first) || first == UInt8(ascii: "_")
    else { return "`\(text.string)` is not a valid task ID" }
    return text.allSatisfy(isAllowed) ? nil : "`\(text.string)` is not a valid task ID"
  }

  static func isAllowed(_ byte: UInt8) -> Bool {
    if ASCII.continuesName(byte) { return true }
    switch byte {
    case UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: "@"), UInt8(ascii: ":"),
      UInt8(ascii: "/"):
      return true
    default: return false
    }
  }
}

enum VariableName {
  /// True for a name that environ(7) allows, even if shells do not.
  static func isEnvironment(_ text: ByteView) -> Bool {
    !text.isEmpty && text.allSatisfy { $0 > 32 && $0 != 127 && $0 != UInt8(ascii: "=") }
  }

  static func isShellName(_ text: ByteView) -> Bool {
    guard let first = text.first, ASCII.beginsName(first) else { return false }
    return text.allSatisfy { ASCII.beginsName($0) || ASCII.isDigit($0) }
  }

  /// True if `${{ vars.NAME }}` can contain the name.
  static func isExpressionName(_ text: ByteView) -> Bool {
    guard let first = text.first, ASCII.beginsName(first) else { return false }
    return text.allSatisfy(ASCII.continuesName)
  }
}

enum StopSignal {
  /// Signals that can end a task, on x86-64 and AArch64 (signal(7)).
  private static let table: [(name: StaticString, number: UInt32)] = [
    ("HUP", 1), ("INT", 2), ("QUIT", 3), ("ABRT", 6), ("KILL", 9), ("USR1", 10), ("USR2", 12),
    ("ALRM", 14), ("TERM", 15), ("WINCH", 28), ("PWR", 30),
  ]

  /// Accepts a name, with or without `SIG`, or a number.
  static func number(_ text: ByteView) -> UInt32? {
    if let number = CoreSchema.integer(text) {
      return KeyBounds.signal.contains(number) ? UInt32(number) : nil
    }
    let name = text.hasPrefix("SIG") ? text.part(3..<text.count) : text
    return table.first { name == $0.name }?.number
  }

  static func help(for text: ByteView) -> String? {
    let name = text.hasPrefix("SIG") ? text.part(3..<text.count) : text
    return Suggestion.nearest(to: name, among: table.lazy.map { ByteView($0.name) })
      .map { Suggestion.text($0) }
  }

  /// All names, then all with `SIG`.
  static var words: [String] {
    table.map(\.name.description) + table.map { "SIG\($0.name)" }
  }

  static let known: StaticString = "TERM, INT, HUP, QUIT, KILL, ABRT, ALRM, USR1, USR2 or a number"
}
