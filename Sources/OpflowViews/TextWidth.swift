internal import OpflowBase

enum TextWidth {
  static func of(_ text: String) -> Int {
    text.unicodeScalars.reduce(0) { $0 + of($1) }
  }

  /// 2 for wide and fullwidth characters, 0 for combining ones, else 1 (Unicode Standard Annex 11).
  /// If terminals differ, the larger width counts.
  static func of(_ scalar: Unicode.Scalar) -> Int {
    if scalar.value < 0x300 { return 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return isWide(scalar.value) ? 2 : 1
    }
  }

  /// The longest start that takes at most `columns`, with an ellipsis if cut.
  static func cut(_ text: String, to columns: Int) -> String {
    if of(text) <= columns { return text }
    if columns < 1 { return "" }
    var room = columns - 1
    return String(
      text.prefix { character in
        room -= character.unicodeScalars.reduce(0) { $0 + of($1) }
        return room >= 0
      }) + "…"
  }

  /// Cuts in the middle, because both ends identify a name.
  static func cutMiddle(_ text: String, to columns: Int) -> String {
    if of(text) <= columns { return text }
    if columns < 4 { return cut(text, to: columns) }
    let end = (columns - 1) / 2
    var room = end
    let tail = String(
      text.reversed().prefix { character in
        room -= character.unicodeScalars.reduce(0) { $0 + of($1) }
        return room >= 0
      }.reversed())
    return cut(text, to: columns - of(tail)) + tail
  }

  /// Cuts names so that different ones look different: if the ends are equal, the differing middle
  /// stays and the ends are cut.
  static func cutApart(_ names: [String], to columns: Int) -> [String] {
    var shown = names.map { cutMiddle($0, to: columns) }
    let alike = Dictionary(grouping: names.indices) { shown[$0] }.values
      .map { places in (places, Set(places.map { names[$0] })) }
    for (places, different) in alike where different.count > 1 {
      let ends = commonEnds(different.map { Array($0) })
      for place in places {
        let name = Array(names[place])
        let own = String(name[ends.first..<(name.count - ends.last)])
        let room = columns - of(own)
        guard room > 1 else {
          shown[place] = cutMiddle(own, to: columns)
          continue
        }
        let tail = String(name.suffix(ends.last))
        let shownTail = of(tail) <= room / 2 ? tail : "…" + tail.suffix(room / 2 - 1)
        let head = cut(String(name.prefix(ends.first)), to: room - of(shownTail))
        shown[place] = head + own + shownTail
      }
    }
    return shown
  }

  private static func commonEnds(_ names: [[Character]]) -> (first: Int, last: Int) {
    let shortest = names.map(\.count).min() ?? 0
    func common(_ limit: Int, _ character: ([Character], Int) -> Character) -> Int {
      (0..<limit).first { place in Set(names.map { character($0, place) }).count > 1 } ?? limit
    }
    let first = common(shortest) { $0[$1] }
    return (first, common(shortest - first) { $0[$0.count - 1 - $1] })
  }

  /// Replaces tabs by spaces: a terminal does not erase the columns that a tab skips.
  static func expandingTabs(_ text: String) -> String {
    guard text.utf8.contains(9) else { return text }
    var expanded = ""
    for part in text.split(separator: "\t", omittingEmptySubsequences: false) {
      if !expanded.isEmpty || part.startIndex != text.startIndex {
        expanded += blanks(8 - of(expanded) % 8)
      }
      expanded += part
    }
    return expanded
  }

  static func padded(_ text: String, to columns: Int) -> String {
    text + blanks(columns - of(text))
  }

  static func rightAligned(_ text: String, to columns: Int) -> String {
    blanks(columns - of(text)) + text
  }

  private static func blanks(_ count: Int) -> String {
    String(repeating: " ", count: max(0, count))
  }

  private static func isWide(_ value: UInt32) -> Bool {
    var low = 0
    var high = wideRanges.count
    while low < high {
      let middle = (low + high) / 2
      if wideRanges[middle].upperBound < value { low = middle + 1 } else { high = middle }
    }
    return low < wideRanges.count && wideRanges[low].contains(value)
  }

  /// EastAsianWidth.txt of Unicode 14, values W and F; ranges with only unassigned or zero-width
  /// characters between them are merged.
  private static let wideRanges: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23EC, 0x23F0...0x23F0,
    0x23F3...0x23F3, 0x25FD...0x25FE, 0x2614...0x2615, 0x2648...0x2653, 0x267F...0x267F,
    0x2693...0x2693, 0x26A1...0x26A1, 0x26AA...0x26AB, 0x26BD...0x26BE, 0x26C4...0x26C5,
    0x26CE...0x26CE, 0x26D4...0x26D4, 0x26EA...0x26EA, 0x26F2...0x26F3, 0x26F5...0x26F5,
    0x26FA...0x26FA, 0x26FD...0x26FD, 0x2705...0x2705, 0x270A...0x270B, 0x2728...0x2728,
    0x274C...0x274C, 0x274E...0x274E, 0x2753...0x2755, 0x2757...0x2757, 0x2795...0x2797,
    0x27B0...0x27B0, 0x27BF...0x27BF, 0x2B1B...0x2B1C, 0x2B50...0x2B50, 0x2B55...0x2B55,
    0x2E80...0x303E, 0x3041...0x3247, 0x3250...0x4DBF, 0x4E00...0xA4C6, 0xA960...0xA97C,
    0xAC00...0xD7A3, 0xF900...0xFAD9, 0xFE10...0xFE6B, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
    0x16FE0...0x18D08, 0x1AFF0...0x1B2FB, 0x1F004...0x1F004, 0x1F0CF...0x1F0CF, 0x1F18E...0x1F18E,
    0x1F191...0x1F19A, 0x1F200...0x1F320, 0x1F32D...0x1F335, 0x1F337...0x1F37C, 0x1F37E...0x1F393,
    0x1F3A0...0x1F3CA, 0x1F3CF...0x1F3D3, 0x1F3E0...0x1F3F0, 0x1F3F4...0x1F3F4, 0x1F3F8...0x1F43E,
    0x1F440...0x1F440, 0x1F442...0x1F4FC, 0x1F4FF...0x1F53D, 0x1F54B...0x1F54E, 0x1F550...0x1F567,
    0x1F57A...0x1F57A, 0x1F595...0x1F596, 0x1F5A4...0x1F5A4, 0x1F5FB...0x1F64F, 0x1F680...0x1F6C5,
    0x1F6CC...0x1F6CC, 0x1F6D0...0x1F6D2, 0x1F6D5...0x1F6DF, 0x1F6EB...0x1F6EC, 0x1F6F4...0x1F6FC,
    0x1F7E0...0x1F7F0, 0x1F90C...0x1F93A, 0x1F93C...0x1F945, 0x1F947...0x1F9FF, 0x1FA70...0x1FAF6,
    0x20000...0x3FFFD,
  ]
}

/// Pieces in different colors that can be cut to a width before they are painted.
struct StyledLine: Equatable {
  typealias Style = Palette.Style

  private var pieces: [(text: String, style: Style)] = []
  private(set) var width = 0

  init() {}
  init(_ text: String, _ style: Style = .plain) { add(text, style) }

  static func == (one: StyledLine, other: StyledLine) -> Bool {
    one.pieces.elementsEqual(other.pieces, by: ==)
  }

  mutating func add(_ text: String, _ style: Style = .plain) {
    if text.isEmpty { return }
    pieces.append((text, style))
    width += TextWidth.of(text)
  }

  mutating func append(_ other: StyledLine) {
    pieces += other.pieces
    width += other.width
  }

  func cut(to columns: Int) -> StyledLine {
    if width <= columns { return self }
    var line = StyledLine()
    for piece in pieces {
      let room = columns - line.width
      let isLast = TextWidth.of(piece.text) >= room
      // The ellipsis needs a column even if a piece fits exactly.
      let text = isLast ? TextWidth.cut(piece.text + "…", to: room) : piece.text
      line.add(text, piece.style)
      if isLast { break }
    }
    return line
  }

  func text(_ palette: Palette) -> String {
    pieces.map { palette.paint($0.text, $0.style) }.joined()
  }
}

/// Breaks lasting lines at spaces, and after `/` in a word longer than a line. The terminal itself
/// would break them anywhere.
///
/// Commands of opflow can still be copied: one that does not fit starts a line, and is broken only
/// at spaces, with a backslash at the end of the line.
struct WrappedLines {
  private let columns: Int
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

  private static let leastColumns = 20
  private static let command = Array("opflow ".utf8)
  /// A command for a CI server, which must stay on one line.
  private static let serverCommand = Array("::".utf8)

  /// `lines` end with newlines; colors and links take no columns.
  static func text(_ lines: [UInt8], columns: Int) -> [UInt8] {
    if columns < leastColumns || lines.count <= columns { return lines }
    var text: [UInt8] = []
    for line in LineSlices(lines) {
      // Characters do not take more columns than bytes, except tabs.
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

  /// The end of an escape sequence at `place`: CSI, OSC, or two characters (ECMA-48).
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

  private mutating func breakLine() {
    if column == 0 || text.isEmpty { return }
    if isCommand { text += Array(" \\".utf8) }
    text.append(Field.lineFeed)
    column = 0
    spaces = indent
  }
}
