internal import OpflowCore

/// Breaks lines that stay on a terminal at spaces, and after `/` in a word longer than a line. The
/// terminal itself would break them anywhere.
///
/// Commands of opflow can still be copied: one that does not fit starts a line, and is broken only
/// at spaces, with a backslash at the end of the line.
struct WrappedLines {
  private let columns: Int
  /// The indent after a break.
  private let indent: Int
  private let isCommand: Bool
  private var text: [UInt8] = []
  private var column = 0
  /// Spaces that are written only if a word follows them.
  private var spaces = 0
  private var word: [UInt8] = []
  private var wordWidth = 0
  /// The ends of the parts of the word that end in `/`, and the width up to there.
  private var parts: [(end: Int, width: Int)] = []

  /// In fewer columns, breaks do not help a reader.
  private static let leastColumns = 20
  private static let command = Array("opflow ".utf8)
  /// Starts a command for a CI server, which must stay on one line.
  private static let serverCommand = Array("::".utf8)

  /// - Parameter lines: each with its newline; colors and links take no columns.
  static func text(_ lines: [UInt8], columns: Int) -> [UInt8] {
    if columns < leastColumns || lines.count <= columns { return lines }
    var text: [UInt8] = []
    for line in LineSlices(lines) {
      // No character takes more columns than bytes, except tabs.
      let isWide = line.count > columns || line.contains(Field.tab)
      if isWide, !line.starts(with: serverCommand) {
        text += wrapped(line, columns)
      } else {
        text += line
      }
      text.append(Field.lineFeed)
    }
    if lines.last != Field.lineFeed { text.removeLast() }
    return text
  }

  private static func wrapped(_ line: ArraySlice<UInt8>, _ columns: Int) -> [UInt8] {
    let indent = min(leadingSpaces(line), columns / 2)
    var whole = WrappedLines(columns: columns, indent: indent + 2, isCommand: false)
    let wrapped = whole.wrap(line)
    // A line that fits keeps its tabs.
    if !wrapped.contains(Field.lineFeed) { return Array(line) }
    if line.dropFirst(indent).starts(with: command) {
      var lines = WrappedLines(columns: columns - 2, indent: indent + 2, isCommand: true)
      return lines.wrap(line)
    }
    guard let place = commandPlace(in: line) else { return wrapped }
    let own = Array(repeating: UInt8(ascii: " "), count: indent + 2) + line[place...]
    return Self.wrapped(line[..<(place - 1)], columns) + [Field.lineFeed]
      + Self.wrapped(own[...], columns)
  }

  /// Returns the number of leading spaces, also after a color.
  private static func leadingSpaces(_ line: ArraySlice<UInt8>) -> Int {
    var rest = line
    var count = 0
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: " ") {
        count += 1
      } else if byte == 0x1b, rest.popFirst() == UInt8(ascii: "[") {
        rest = rest.drop { !(0x40...0x7e).contains($0) }.dropFirst()
      } else {
        break
      }
    }
    return count
  }

  /// Returns where a command starts after a colon and a space.
  private static func commandPlace(in line: ArraySlice<UInt8>) -> Int? {
    let colon = Array(": ".utf8)
    return line.indices.first { place in
      line[..<place].suffix(2).elementsEqual(colon) && line[place...].starts(with: command)
    }
  }

  private init(columns: Int, indent: Int, isCommand: Bool) {
    self.columns = columns
    self.indent = indent
    self.isCommand = isCommand
  }

  private mutating func wrap(_ line: ArraySlice<UInt8>) -> [UInt8] {
    let scalars = Array(String(decoding: line, as: UTF8.self).unicodeScalars)
    var place = 0
    while place < scalars.count {
      let scalar = scalars[place]
      let end = Self.endOfSequence(scalars, from: place)
      if end > place {
        for part in scalars[place..<end] { word += Array(String(part).utf8) }
        place = end
        continue
      }
      place += 1
      if scalar == " " {
        flush()
        spaces += 1
      } else if scalar == "\t" {
        flush()
        spaces += 8 - (column + spaces) % 8
      } else {
        word += Array(String(scalar).utf8)
        wordWidth += TextWidth.of(scalar)
        if scalar == "/", !isCommand { parts.append((word.count, wordWidth)) }
      }
    }
    flush()
    return text
  }

  /// Returns the end of an escape sequence at `place`: CSI, OSC, or two characters (ECMA-48).
  private static func endOfSequence(_ scalars: [Unicode.Scalar], from place: Int) -> Int {
    guard scalars[place] == "\u{1b}" else { return place }
    guard place + 1 < scalars.count else { return place + 1 }
    let rest = scalars.indices.dropFirst(place + 2)
    switch scalars[place + 1] {
    case "[":
      return rest.first { ("@"..."~").contains(scalars[$0]) }.map { $0 + 1 } ?? scalars.count
    case "]":
      let end = rest.first {
        scalars[$0] == "\u{7}" || scalars[$0] == "\\" && scalars[$0 - 1] == "\u{1b}"
      }
      return end.map { $0 + 1 } ?? scalars.count
    default: return place + 2
    }
  }

  /// Writes the word, with a line break before or within it if it does not fit.
  private mutating func flush() {
    if word.isEmpty { return }
    if wordWidth == 0 || column + spaces + wordWidth <= columns {
      put(word[...], wordWidth)
    } else if wordWidth <= columns - indent || parts.isEmpty {
      breakLine()
      put(word[...], wordWidth)
    } else {
      var (start, width) = (0, 0)
      for part in parts + [(word.count, wordWidth)] where part.end > start {
        if column + spaces + part.width - width > columns { breakLine() }
        put(word[start..<part.end], part.width - width)
        (start, width) = part
      }
    }
    word.removeAll()
    parts.removeAll()
    wordWidth = 0
  }

  private mutating func put(_ bytes: ArraySlice<UInt8>, _ width: Int) {
    text += repeatElement(UInt8(ascii: " "), count: spaces)
    text += bytes
    column += spaces + width
    spaces = 0
  }

  /// Breaks the line, unless it is empty.
  private mutating func breakLine() {
    if column == 0 || text.isEmpty { return }
    if isCommand { text += Array(" \\".utf8) }
    text.append(Field.lineFeed)
    column = 0
    spaces = indent
  }
}
