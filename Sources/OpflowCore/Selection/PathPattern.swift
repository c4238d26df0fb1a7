/// A pattern for file names: `*` is any part of a name, `?` a character, `[a-z]` one of a set,
/// `[!a-z]` one outside it, `**` any number of folders. A leading dot must be written. With a
/// trailing `/` it matches folders, otherwise files.
///
/// `\*`, `\?`, `\[`, `\\`, `[*]`, `[?]` and `[[]` are literal, and so is any other `\`. The exact
/// name matches too, so a folder `[slug]` needs no escapes.
package struct PathPattern: Sendable {
  /// One path component.
  package enum Part: Sendable {
    case literal([UInt8])
    case pattern(NamePattern)
    case anyFolders
  }

  package let parts: [Part]
  /// The components as literal names, without escapes.
  package let written: [[UInt8]]
  package let isAbsolute: Bool
  package let fitsFolders: Bool

  /// Nil if a `[` is not closed.
  package init?(_ text: String) {
    isAbsolute = text.utf8.first == UInt8(ascii: "/")
    fitsFolders = text.utf8.last == UInt8(ascii: "/")
    var parts: [Part] = []
    var written: [[UInt8]] = []
    for part in text.utf8.split(separator: UInt8(ascii: "/")) {
      let name = Array(part)
      written.append(name.withUnsafeBytes { Self.name(of: $0) })
      if name.elementsEqual("**".utf8) {
        parts.append(.anyFolders)
      } else if !name.withUnsafeBytes({ Self.isPattern($0) }) {
        parts.append(.literal(written[written.count - 1]))
      } else if let pattern = NamePattern(String(decoding: name, as: UTF8.self)) {
        parts.append(.pattern(pattern))
      } else {
        return nil
      }
    }
    // `a/**` matches all files below `a`.
    if case .anyFolders = parts.last, !fitsFolders, let all = NamePattern("*") {
      parts.append(.pattern(all))
    }
    self.parts = parts
    self.written = written
  }

  /// Whether a path has an unescaped pattern character.
  package static func isPattern(_ path: UnsafeRawBufferPointer) -> Bool {
    firstSpecial(path) < path.count
  }

  /// The position of the first unescaped pattern character, or the end of the path.
  package static func firstSpecial(_ path: UnsafeRawBufferPointer) -> Int {
    var place = 0
    while place < path.count {
      let length = escapeLength(path, at: place)
      if length == 1, isSpecial(path[place]) { return place }
      place += length
    }
    return place
  }

  /// The name that a path without pattern characters stands for, without escapes.
  package static func name(of path: UnsafeRawBufferPointer) -> [UInt8] {
    var name: [UInt8] = []
    name.reserveCapacity(path.count)
    var place = 0
    while place < path.count {
      let length = escapeLength(path, at: place)
      name.append(path[length == 1 ? place : place + 1])
      place += length
    }
    return name
  }

  /// Where a `[` stands in the last name of a path that no `]` behind it closes; nil for none.
  package static func openSet(in path: UnsafeRawBufferPointer) -> Int? {
    var open: Int?
    var first = 0
    var place = 0
    while place < path.count {
      let length = open == nil ? escapeLength(path, at: place) : backslashLength(path, at: place)
      switch path[place] {
      case UInt8(ascii: "[") where open == nil && length == 1:
        open = place
        let isNegated =
          path.dropFirst(place + 1).first.map { $0 == UInt8(ascii: "!") || $0 == UInt8(ascii: "^") }
          ?? false
        first = place + (isNegated ? 2 : 1)
      case UInt8(ascii: "]") where place > first: open = nil
      case UInt8(ascii: "/"): open = nil
      default: break
      }
      place += length
    }
    return open
  }

  /// How a name is written that is none of a pattern: with its escapes.
  package static func text(ofName name: String) -> String {
    let bytes = name.utf8.flatMap { isEscaped($0) ? [backslash, $0] : [$0] }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Whether a byte is escaped in what stands for a name.
  package static func isEscaped(_ byte: UInt8) -> Bool { isSpecial(byte) || byte == backslash }

  /// The length of the escape at a position; 1 if there is none.
  private static func escapeLength(_ path: UnsafeRawBufferPointer, at place: Int) -> Int {
    if path.count - place > 2, path[place] == UInt8(ascii: "["),
      path[place + 2] == UInt8(ascii: "]"),
      isSpecial(path[place + 1])
    {
      return 3
    }
    return backslashLength(path, at: place)
  }

  private static func backslashLength(_ path: UnsafeRawBufferPointer, at place: Int) -> Int {
    let isEscape =
      path.count - place > 1 && path[place] == backslash && isEscaped(path[place + 1])
    return isEscape ? 2 : 1
  }

  private static let backslash = UInt8(ascii: "\\")

  private static func isSpecial(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "*") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "[")
  }

  /// Whether the components of a path match, or equal the pattern. Does not read the file system.
  /// The time is bounded by the product of both lengths.
  package func matches(_ names: some RandomAccessCollection<[UInt8]>) -> Bool {
    let names = Array(names)
    return fits(names) || names == written
  }

  /// Whether it matches as a pattern.
  package func fits(_ names: [[UInt8]]) -> Bool {
    var part = 0
    var position = 0
    var retry: (part: Int, position: Int)?
    while position < names.count {
      if part < parts.count, case .anyFolders = parts[part] {
        part += 1
        retry = (part, position)
      } else if part < parts.count, fits(parts[part], names[position]) {
        part += 1
        position += 1
      } else if let last = retry, names[last.position].first != UInt8(ascii: ".") {
        // The last `**` takes one more folder.
        retry = (last.part, last.position + 1)
        (part, position) = (last.part, last.position + 1)
      } else {
        return false
      }
    }
    // `a/**/` matches `a` too.
    while part < parts.count, case .anyFolders = parts[part] { part += 1 }
    return part == parts.count
  }

  private func fits(_ part: Part, _ name: [UInt8]) -> Bool {
    switch part {
    case .literal(let wanted): wanted == name
    case .pattern(let pattern): name.withUnsafeBytes { pattern.matches($0) }
    case .anyFolders: false
    }
  }
}

/// A pattern for one path component.
package struct NamePattern: Sendable {
  private enum Token: Equatable {
    case run, any
    /// A character as in `NameCharacters`.
    case one(UInt32)
    case set([ClosedRange<UInt32>], isNegated: Bool)
  }

  private var tokens: [Token] = []

  init?(_ text: String) {
    let scalars = Array(text.unicodeScalars)
    var position = 0
    while position < scalars.count {
      switch scalars[position] {
      case "*": if tokens.last != .run { tokens.append(.run) }
      case "?": tokens.append(.any)
      case "[":
        guard let end = appendSet(scalars, from: position + 1) else { return nil }
        position = end
      default: tokens.append(.one(Self.character(scalars, &position)))
      }
      position += 1
    }
  }

  /// Reads a character or an escape; leaves `position` at its last scalar.
  private static func character(_ scalars: [Unicode.Scalar], _ position: inout Int) -> UInt32 {
    if scalars[position] == "\\", position + 1 < scalars.count,
      let byte = UInt8(exactly: scalars[position + 1].value), PathPattern.isEscaped(byte)
    {
      position += 1
    }
    return scalars[position].value
  }

  /// The literal prefix that all matching names share.
  package var beginning: [UInt8] {
    var bytes: [UInt8] = []
    for token in tokens {
      guard case .one(let character) = token, let scalar = Unicode.Scalar(character) else { break }
      bytes.append(contentsOf: String(scalar).utf8)
    }
    return bytes
  }

  /// Reads a set and returns the position of its `]`. A `]` at the start of the set is literal.
  private mutating func appendSet(_ scalars: [Unicode.Scalar], from start: Int) -> Int? {
    var position = start
    let isNegated =
      position < scalars.count && (scalars[position] == "!" || scalars[position] == "^")
    if isNegated { position += 1 }
    var ranges: [ClosedRange<UInt32>] = []
    let first = position
    while position < scalars.count {
      if scalars[position] == "]", position > first {
        tokens.append(.set(ranges, isNegated: isNegated))
        return position
      }
      let low = Self.character(scalars, &position)
      if position + 2 < scalars.count, scalars[position + 1] == "-", scalars[position + 2] != "]" {
        position += 2
        let high = Self.character(scalars, &position)
        if low <= high { ranges.append(low...high) }
      } else {
        ranges.append(low...low)
      }
      position += 1
    }
    return nil
  }

  package func matches(_ name: UnsafeRawBufferPointer) -> Bool {
    if name.allSatisfy({ $0 < 0x80 }) { return matches(name.lazy.map { UInt32($0) }) }
    return matches(NameCharacters.of(name))
  }

  /// Takes at most the product of both lengths in steps.
  private func matches(_ characters: some RandomAccessCollection<UInt32>) -> Bool {
    let start = characters.startIndex
    let dot = UInt32(UInt8(ascii: "."))
    if characters.first == dot, tokens.first != .one(dot) { return false }
    var place = 0
    var position = 0
    var retry: (place: Int, position: Int)?
    let count = characters.count
    while position < count {
      if place < tokens.count, tokens[place] == .run {
        place += 1
        retry = (place, position)
      } else if place < tokens.count,
        fits(tokens[place], characters[characters.index(start, offsetBy: position)])
      {
        place += 1
        position += 1
      } else if let last = retry {
        // The last `*` takes one more character.
        retry = (last.place, last.position + 1)
        (place, position) = (last.place, last.position + 1)
      } else {
        return false
      }
    }
    return tokens[place...].allSatisfy { $0 == .run }
  }

  private func fits(_ token: Token, _ character: UInt32) -> Bool {
    switch token {
    case .run: false
    case .any: true
    case .one(let wanted): wanted == character
    case .set(let ranges, let isNegated):
      ranges.contains { $0.contains(character) } != isNegated
    }
  }
}
