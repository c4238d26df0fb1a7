internal import OpflowBase

/// A pattern for file names: `*` is any part of a name, `?` a character, `[a-z]` one of a set,
/// `[!a-z]` one outside it, `**` any number of folders. A leading dot must be written. A pattern
/// with a trailing `/` matches folders, else files.
///
/// `\*`, `\?`, `\[`, `\\`, `[*]`, `[?]` and `[[]` are literal, and so is any other `\`. The exact
/// name matches too, so a folder `[slug]` does not need escapes.
package struct PathPattern: Sendable {
  package enum Part: Sendable {
    case literal([UInt8])
    case pattern(NamePattern)
    case anyFolders
  }

  package let parts: [Part]
  package let written: [[UInt8]]
  package let isAbsolute: Bool
  package let fitsFolders: Bool

  /// nil if a `[` is not closed.
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

  package static func isPattern(_ path: UnsafeRawBufferPointer) -> Bool {
    firstSpecial(path) < path.count
  }

  /// The first unescaped pattern character, or the end.
  package static func firstSpecial(_ path: UnsafeRawBufferPointer) -> Int {
    var place = 0
    while place < path.count {
      let length = escapeLength(path, at: place)
      if length == 1, isSpecial(path[place]) { return place }
      place += length
    }
    return place
  }

  /// Removes the escapes of a path without pattern characters.
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

  /// The last unclosed `[` in the last component.
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

  /// Escapes a name so that it is not a pattern.
  package static func text(ofName name: String) -> String {
    let bytes = name.utf8.flatMap { isEscaped($0) ? [backslash, $0] : [$0] }
    return String(decoding: bytes, as: UTF8.self)
  }

  package static func isEscaped(_ byte: UInt8) -> Bool { isSpecial(byte) || byte == backslash }

  /// 1 without an escape.
  private static func escapeLength(_ path: UnsafeRawBufferPointer, at place: Int) -> Int {
    if path.count - place > 2, path[place] == UInt8(ascii: "["),
      path[place + 2] == UInt8(ascii: "]"), isSpecial(path[place + 1])
    {
      return 3
    }
    return backslashLength(path, at: place)
  }

  private static func backslashLength(_ path: UnsafeRawBufferPointer, at place: Int) -> Int {
    let isEscape = path.count - place > 1 && path[place] == backslash && isEscaped(path[place + 1])
    return isEscape ? 2 : 1
  }

  private static let backslash = UInt8(ascii: "\\")

  private static func isSpecial(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "*") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "[")
  }

  /// True if the path matches or equals the pattern; does not read the file system. The time is
  /// bounded by the product of both lengths.
  package func matches(_ names: some RandomAccessCollection<[UInt8]>) -> Bool {
    let names = Array(names)
    return fits(names) || names == written
  }

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

  /// True if this pattern matches all paths that the other one matches, from the same folder. May
  /// be false if that needs different choices of folders for a `**`.
  package func covers(_ other: PathPattern) -> Bool {
    fitsFolders == other.fitsFolders && covers(other.parts[...])
  }

  package func holds(_ other: PathPattern) -> Bool {
    fitsFolders && other.parts.indices.contains { $0 > 0 && covers(other.parts[..<$0]) }
  }

  package func holds(_ names: [[UInt8]]) -> Bool {
    fitsFolders && names.indices.contains { $0 > 0 && matches(names[..<$0]) }
  }

  private func covers(_ others: ArraySlice<Part>) -> Bool {
    PatternPieces.covers(parts, others) { own, part in
      switch (own, part) {
      case (.anyFolders, .anyFolders): true
      case (.anyFolders, .literal(let name)): name.first != UInt8(ascii: ".")
      case (.anyFolders, .pattern(let pattern)): !pattern.matchesHidden
      case (.literal(let name), .literal(let other)): name == other
      case (.pattern(let pattern), .literal(let name)): name.withUnsafeBytes(pattern.matches)
      case (.pattern(let pattern), .pattern(let other)): pattern.covers(other)
      case (.literal, _), (.pattern, .anyFolders): false
      }
    } isRun: {
      if case .anyFolders = $0 { true } else { false }
    }
  }
}

/// A run is a piece that takes any number of pieces.
private enum PatternPieces {
  static func covers<Piece>(
    _ own: [Piece], _ other: some Sequence<Piece>, takes: (_ own: Piece, _ other: Piece) -> Bool,
    isRun: (Piece) -> Bool
  ) -> Bool {
    // Per number of own pieces: they take the pieces of `other` so far.
    var ends = [Bool](repeating: false, count: own.count + 1)
    ends[0] = true
    for piece in other {
      var next = [Bool](repeating: false, count: ends.count)
      for place in own.indices {
        // A run may take nothing.
        if ends[place], isRun(own[place]) { ends[place + 1] = true }
        if ends[place], takes(own[place], piece) {
          next[isRun(own[place]) ? place : place + 1] = true
        }
      }
      ends = next
    }
    return ends.indices.contains { ends[$0] && own[$0...].allSatisfy(isRun) }
  }
}

package struct NamePattern: Sendable {
  private enum Token: Equatable {
    case run, any
    /// As in `NameCharacters`.
    case one(UInt32)
    case set([ClosedRange<UInt32>])
  }

  private var tokens: [Token] = []

  init?(_ text: String) {
    let scalars = Array(text.unicodeScalars)
    var position = 0
    while position < scalars.count {
      switch scalars[position] {
      case "*": if tokens.last != .run { tokens.append(.run) }
      // `*?` and `?*` match the same.
      case "?": tokens.insert(.any, at: tokens.last == .run ? tokens.count - 1 : tokens.count)
      case "[":
        guard let end = appendSet(scalars, from: position + 1) else { return nil }
        position = end
      default: tokens.append(.one(Self.character(scalars, &position)))
      }
      position += 1
    }
  }

  /// Leaves `position` at the last scalar of a character or escape.
  private static func character(_ scalars: [Unicode.Scalar], _ position: inout Int) -> UInt32 {
    if scalars[position] == "\\", position + 1 < scalars.count,
      let byte = UInt8(exactly: scalars[position + 1].value), PathPattern.isEscaped(byte)
    {
      position += 1
    }
    return scalars[position].value
  }

  package var beginning: [UInt8] {
    var bytes: [UInt8] = []
    for token in tokens {
      guard case .one(let character) = token, let scalar = Unicode.Scalar(character) else { break }
      bytes.append(contentsOf: String(scalar).utf8)
    }
    return bytes
  }

  /// Returns the position of the set's `]`. A `]` at the start is literal.
  private mutating func appendSet(_ scalars: [Unicode.Scalar], from start: Int) -> Int? {
    var position = start
    let isNegated =
      position < scalars.count && (scalars[position] == "!" || scalars[position] == "^")
    if isNegated { position += 1 }
    var ranges: [ClosedRange<UInt32>] = []
    let first = position
    while position < scalars.count {
      if scalars[position] == "]", position > first {
        let set = Self.merged(ranges)
        tokens.append(.set(isNegated ? Self.complement(of: set) : set))
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

  private static func merged(_ ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
    var merged: [ClosedRange<UInt32>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = merged.last, range.lowerBound <= last.upperBound + 1 {
        merged[merged.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
      } else {
        merged.append(range)
      }
    }
    return merged
  }

  private static func complement(of set: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
    let starts = [0] + set.map { $0.upperBound + 1 }
    let ends = set.map(\.lowerBound) + [NameCharacters.last + 1]
    return zip(starts, ends).compactMap { $0 < $1 ? $0...($1 - 1) : nil }
  }

  package func matches(_ name: UnsafeRawBufferPointer) -> Bool {
    if name.allSatisfy({ $0 < 0x80 }) { return matches(name.lazy.map { UInt32($0) }) }
    return matches(NameCharacters.of(name))
  }

  /// Takes at most the product of both lengths in steps.
  private func matches(_ characters: some RandomAccessCollection<UInt32>) -> Bool {
    let start = characters.startIndex
    if characters.first == Self.dot, !matchesHidden { return false }
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
    case .set(let ranges): ranges.contains { $0.contains(character) }
    }
  }

  private static let dot = UInt32(UInt8(ascii: "."))

  fileprivate var matchesHidden: Bool { tokens.first == .one(Self.dot) }

  /// May be false if that needs different choices of characters for a `*`.
  fileprivate func covers(_ other: NamePattern) -> Bool {
    if other.matchesHidden, !matchesHidden { return false }
    return PatternPieces.covers(tokens, other.tokens) { own, token in
      switch (own, token) {
      case (.run, _): true
      case (_, .run): false
      case (.any, _): true
      case (_, .one(let character)): fits(own, character)
      default:
        Self.ranges(of: token).allSatisfy { inner in
          Self.ranges(of: own).contains {
            $0.contains(inner.lowerBound) && $0.contains(inner.upperBound)
          }
        }
      }
    } isRun: {
      $0 == .run
    }
  }

  private static func ranges(of token: Token) -> [ClosedRange<UInt32>] {
    switch token {
    case .run, .any: [0...NameCharacters.last]
    case .one(let character): [character...character]
    case .set(let ranges): ranges
    }
  }
}

package struct FileNameFault: Error, Equatable, Sendable {
  /// Ends an error message.
  package var text: String
  package init(_ text: String) { self.text = text }
}
