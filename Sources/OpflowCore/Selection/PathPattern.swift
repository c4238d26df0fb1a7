/// A pattern on names of files: `*` is any run of characters of a name, `?` any one, `[a-z]` one of
/// several and `[!a-z]` none of them, and `**` any folders, also none. A name that begins with a dot fits
/// only where the pattern has that dot. What ends with `/` fits folders, all else files.
package struct PathPattern: Sendable {
  /// What stands between two slashes.
  package enum Part: Sendable {
    case literal(String)
    case pattern(NamePattern)
    case anyFolders
  }

  package let parts: [Part]
  /// It begins at the root.
  package let isAbsolute: Bool
  package let fitsFolders: Bool

  /// Nil where a `[` is not closed.
  package init?(_ text: String) {
    isAbsolute = text.utf8.first == UInt8(ascii: "/")
    fitsFolders = text.utf8.last == UInt8(ascii: "/")
    var parts: [Part] = []
    for part in text.utf8.split(separator: UInt8(ascii: "/")) {
      let name = String(decoding: part, as: UTF8.self)
      if name == "**" {
        parts.append(.anyFolders)
      } else if !name.utf8.contains(where: Self.isSpecial) {
        parts.append(.literal(name))
      } else if let pattern = NamePattern(name) {
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
  }

  /// Whether a path is meant as a pattern.
  package static func isPattern(_ path: UnsafeRawBufferPointer) -> Bool {
    path.contains(where: isSpecial)
  }

  /// Whether a byte makes a pattern of what is a path without it.
  package static func isSpecial(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "*") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "[")
  }

  /// Whether a path fits, given by its names, from where the pattern begins. What is a folder and what a
  /// link is not asked. At most as many names are looked at as both have, multiplied.
  package func matches(_ names: some RandomAccessCollection<[UInt8]>) -> Bool {
    let names = Array(names)
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
    case .literal(let wanted): wanted.utf8.elementsEqual(name)
    case .pattern(let pattern): name.withUnsafeBytes { pattern.matches($0) }
    case .anyFolders: false
    }
  }
}

/// The pattern of one name.
package struct NamePattern: Sendable {
  private enum Token: Equatable {
    case run, any
    case one(Unicode.Scalar)
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
      case let scalar: tokens.append(.one(scalar))
      }
      position += 1
    }
  }

  /// What every name that fits begins with; empty where that may be anything.
  package var beginning: String {
    var scalars = String.UnicodeScalarView()
    for token in tokens {
      guard case .one(let scalar) = token else { break }
      scalars.append(scalar)
    }
    return String(scalars)
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
      let low = scalars[position].value
      if position + 2 < scalars.count, scalars[position + 1] == "-", scalars[position + 2] != "]" {
        let high = scalars[position + 2].value
        if low <= high { ranges.append(low...high) }
        position += 3
      } else {
        ranges.append(low...low)
        position += 1
      }
    }
    return nil
  }

  /// Whether all of a name fits, given by its bytes.
  package func matches(_ name: UnsafeRawBufferPointer) -> Bool {
    if name.allSatisfy({ $0 < 0x80 }) { return matches(name.lazy.map { Unicode.Scalar($0) }) }
    return matches(Array(String(decoding: name, as: UTF8.self).unicodeScalars))
  }

  /// At most as many steps as both have characters, multiplied.
  private func matches(_ scalars: some RandomAccessCollection<Unicode.Scalar>) -> Bool {
    let start = scalars.startIndex
    if scalars.first == ".", tokens.first != .one(".") { return false }
    var place = 0
    var position = 0
    var retry: (place: Int, position: Int)?
    let count = scalars.count
    while position < count {
      if place < tokens.count, tokens[place] == .run {
        place += 1
        retry = (place, position)
      } else if place < tokens.count,
        fits(tokens[place], scalars[scalars.index(start, offsetBy: position)])
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

  private func fits(_ token: Token, _ scalar: Unicode.Scalar) -> Bool {
    switch token {
    case .run: false
    case .any: true
    case .one(let wanted): wanted == scalar
    case .set(let ranges, let isNegated):
      ranges.contains { $0.contains(scalar.value) } != isNegated
    }
  }
}
