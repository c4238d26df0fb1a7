/// A pattern on names of files: `*` is any run of characters of a name, `?` any one, `[a-z]` one of
/// several and `[!a-z]` none of them, and `**` any folders, also none. A name that begins with a dot fits
/// only where the pattern has that dot. What ends with `/` fits folders, all else files.
///
/// `\*`, `\?`, `\[` and `\\` stand for the character itself, as `[*]`, `[?]` and `[[]` do. A `\` before any
/// other character is itself. The file of exactly the name that is written fits as well, so that a folder
/// `[slug]` can be written as it is called.
package struct PathPattern: Sendable {
  /// What stands between two slashes.
  package enum Part: Sendable {
    case literal([UInt8])
    case pattern(NamePattern)
    case anyFolders
  }

  package let parts: [Part]
  /// The names that are written, without escapes.
  package let written: [[UInt8]]
  /// It begins at the root.
  package let isAbsolute: Bool
  package let fitsFolders: Bool

  /// Nil where a `[` is not closed.
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
    // `a/**` is all files below.
    if case .anyFolders = parts.last, !fitsFolders, let all = NamePattern("*") {
      parts.append(.pattern(all))
    }
    self.parts = parts
    self.written = written
  }

  /// Whether a path that is written is meant as a pattern.
  package static func isPattern(_ path: UnsafeRawBufferPointer) -> Bool {
    firstSpecial(path) < path.count
  }

  /// Where the first character stands that makes a pattern of what is a name without it; the end of the path
  /// where none does.
  package static func firstSpecial(_ path: UnsafeRawBufferPointer) -> Int {
    var place = 0
    while place < path.count {
      let length = escapeLength(path, at: place)
      if length == 1, isSpecial(path[place]) { return place }
      place += length
    }
    return place
  }

  /// The name that a path stands for which is written without a pattern: each escape is the character itself.
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

  /// Whether a byte is escaped in what stands for a name.
  package static func isEscaped(_ byte: UInt8) -> Bool { isSpecial(byte) || byte == backslash }

  /// The bytes of the escape that stands there; 1 for a byte that is none.
  private static func escapeLength(_ path: UnsafeRawBufferPointer, at place: Int) -> Int {
    let left = path.count - place
    if left > 1, path[place] == backslash, isEscaped(path[place + 1]) { return 2 }
    if left > 2, path[place] == UInt8(ascii: "["), path[place + 2] == UInt8(ascii: "]"),
      isSpecial(path[place + 1])
    {
      return 3
    }
    return 1
  }

  private static let backslash = UInt8(ascii: "\\")

  private static func isSpecial(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "*") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "[")
  }

  /// Whether a path fits, given by its names, from where the pattern begins. What is a folder and what a
  /// link is not asked. At most as many names are looked at as both have, multiplied.
  package func matches(_ names: some RandomAccessCollection<[UInt8]>) -> Bool {
    let names = Array(names)
    return fits(names) || names == written
  }

  /// Whether it fits, whatever is written.
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
        // The last `**` takes one folder more.
        retry = (last.part, last.position + 1)
        (part, position) = (last.part, last.position + 1)
      } else {
        return false
      }
    }
    // `a/**/` is `a` as well.
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

/// The pattern of one name.
package struct NamePattern: Sendable {
  private enum Token: Equatable {
    case run, any
    /// A character, as `NameCharacters` has them.
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

  /// What stands there, where an escape may; the place goes on to its end.
  private static func character(_ scalars: [Unicode.Scalar], _ position: inout Int) -> UInt32 {
    if scalars[position] == "\\", position + 1 < scalars.count,
      let byte = UInt8(exactly: scalars[position + 1].value), PathPattern.isEscaped(byte)
    {
      position += 1
    }
    return scalars[position].value
  }

  /// What every name that fits begins with; empty where that may be anything.
  package var beginning: [UInt8] {
    var bytes: [UInt8] = []
    for token in tokens {
      guard case .one(let character) = token, let scalar = Unicode.Scalar(character) else { break }
      bytes.append(contentsOf: String(scalar).utf8)
    }
    return bytes
  }

  /// Reads a set; where its `]` stands, which as its first character stands for itself.
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

  /// Whether all of a name fits, given by its bytes.
  package func matches(_ name: UnsafeRawBufferPointer) -> Bool {
    if name.allSatisfy({ $0 < 0x80 }) { return matches(name.lazy.map { UInt32($0) }) }
    return matches(NameCharacters.of(name))
  }

  /// At most as many steps as both have characters, multiplied.
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
        // The last run takes one character more.
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
