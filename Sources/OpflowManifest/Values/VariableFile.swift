/// The variables of an `env_file`.
///
///     # a comment
///     NAME=value          # spaces around the value and this comment do not count
///     export PLACE: here  `export` and `:` are for files of other tools
///     WITH="a \"quoted\" value, with \n, \t, \\ and ${NAME}"
///     AS_IT_IS='no $NAME, and "no" escape but \''
///     INHERITED
///
/// A quoted value may span lines. Outside of single quotes, `$NAME`, `${NAME}`, `${NAME:-other}`,
/// `${NAME:+instead}` and `${NAME:?complaint}` are expanded; without the colon, an empty variable
/// is set. `$$`, `\$` and any other `$` are literal. A name without `=` takes the inherited value.
/// The last definition wins.
///
/// The inherited environment wins over the file, also inside values, as in docker compose, just,
/// go-task and Node.js. Unlike there, only a comment may follow a closing quote, and names must be
/// valid in a shell.
///
/// These files contain secrets, so errors never show values.
struct VariableFile {
  let file: SourceFile
  let mistakes: Mistakes
  /// Owns the values, except inherited ones.
  let store: TextStore
  /// Returns nil for a variable that is not set.
  let inherited: (Text) -> Text?
  private(set) var names = TextTable()
  private(set) var values: [Text] = []
  private(set) var places: [Place] = []
  private var position = 0
  private var source: Text { file.text }

  /// - Parameter before: The variables of earlier files.
  init(
    _ file: SourceFile, after before: VariableFile?, mistakes: Mistakes, store: TextStore,
    inherited: @escaping (Text) -> Text?
  ) {
    self.file = file
    self.mistakes = mistakes
    self.store = store
    self.inherited = inherited
    if let before { (names, values, places) = (before.names, before.values, before.places) }
  }

  /// Reads all lines. Invalid lines are reported and skipped.
  mutating func read() {
    if let (place, what) = foreignByte {
      mistakes.error(file.place(place), what, help: "a file of variables is text")
      // The byte may be inside a value, so its whole line is hidden.
      hide(0, at: place)
      return
    }
    if source.hasPrefix(Self.byteOrderMark) { position = Self.byteOrderMark.utf8CodeUnitCount }
    while let byte = peek {
      if ASCII.isBlank(byte) {
        position += 1
      } else if byte == UInt8(ascii: "#") {
        skipLine()
      } else {
        readLine()
      }
    }
  }

  private func value(of name: Text) -> Text? {
    inherited(name) ?? names.index(of: name).map { values[$0] }
  }

  private mutating func set(_ name: Text, _ value: Text, at start: Int) {
    let (index, isNew) = names.insert(name)
    if isNew {
      values.append(value)
      places.append(file.place(start))
    } else {
      (values[index], places[index]) = (value, file.place(start))
    }
  }

  // MARK: Lines

  private mutating func readLine() {
    skipExport()
    let start = position
    while let byte = peek, Self.continuesName(byte) { position += 1 }
    let name = source.part(start..<position)
    skipBlanks()
    let isKnown = checkName(name, at: start)
    switch peek {
    case nil, 10, UInt8(ascii: "#"), 13:
      if isKnown, let value = inherited(name) { set(name, value, at: start) }
      skipLine()
    case UInt8(ascii: "="), UInt8(ascii: ":"):
      position += 1
      skipBlanks()
      if let value = readValue(), isKnown { set(name, value, at: start) }
    default:
      if isKnown {
        hide(start)
        mistakes.error(
          file.place(position), "no `=` follows the name", help: "a line is NAME=VALUE")
      }
      skipLine()
    }
  }

  private func checkName(_ name: Text, at start: Int) -> Bool {
    if name.isEmpty {
      hide(start)
      mistakes.error(
        file.place(start), "no name of a variable stands here",
        help: "a line is NAME=VALUE; a value of several lines is put in quotes")
      return false
    }
    if let mark = byteOrderMark(in: name) {
      hide(start)
      mistakes.error(
        file.place(start + mark), "a byte order mark stands here",
        help: "delete it: such a mark may only begin a file")
      return false
    }
    if !VariableName.isShellName(name) {
      hide(start)
      mistakes.error(
        file.place(start), "no shell accepts this name of a variable",
        help: "a name is letters, digits and `_`, and does not begin with a digit")
      return false
    }
    if name.hasPrefix("OPFLOW_") {
      hide(start + name.count)
      mistakes.error(
        file.place(start), "`\(name.string)` is opflow's own",
        help: "names that begin with `OPFLOW_` are set by opflow")
      return false
    }
    return true
  }

  private func byteOrderMark(in name: Text) -> Int? {
    Self.byteOrderMark.withUTF8Buffer { mark in
      name.indices.first { name.part($0..<name.count).starts(with: mark) }
    }
  }

  private static let byteOrderMark: StaticString = "\u{FEFF}"

  /// Skips `export` and the spaces behind it.
  private mutating func skipExport() {
    let rest = source.part(position..<source.count)
    guard rest.hasPrefix("export"), rest.count > 6, rest[6] == 32 || rest[6] == 9 else { return }
    let before = position
    position += 6
    skipBlanks()
    // Here `export` is the name of a variable.
    if peek.map({ Self.continuesName($0) }) != true { position = before }
  }

  private static func continuesName(_ byte: UInt8) -> Bool {
    ASCII.continuesName(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "[")
      || byte == UInt8(ascii: "]") || byte >= 0x80
  }

  // MARK: Values

  /// Reads a value and skips the rest of its last line; returns nil after an error.
  private mutating func readValue() -> Text? {
    let start = position
    switch peek {
    case UInt8(ascii: "'"):
      guard let end = closingQuote(from: start) else { return nil }
      return endQuoted(literal((start + 1)..<end), from: start, to: end)
    case UInt8(ascii: "\""):
      guard let end = closingQuote(from: start) else { return nil }
      return endQuoted(expanded((start + 1)..<end, isQuoted: true), from: start, to: end)
    default:
      skipLine()
      return expanded(start..<unquotedEnd(from: start, to: position), isQuoted: false)
    }
  }

  /// Returns the end of the value, before spaces and a comment.
  private func unquotedEnd(from start: Int, to limit: Int) -> Int {
    var end = start
    while end < limit, source[end] != 10 {
      if source[end] == UInt8(ascii: "#"), end == start || ASCII.isBlank(source[end - 1]) { break }
      end += 1
    }
    // `NAME=#x` has the value `#x`; `NAME= #x` has only a comment.
    if end == start, end < limit, source[end] == UInt8(ascii: "#"),
      start > 0, !ASCII.isBlank(source[start - 1])
    {
      while end < limit, source[end] != 10,
        !(source[end] == UInt8(ascii: "#") && ASCII.isBlank(source[end - 1]))
      {
        end += 1
      }
    }
    while end > start, ASCII.isBlank(source[end - 1]) { end -= 1 }
    return end
  }

  private mutating func closingQuote(from start: Int) -> Int? {
    var end = start + 1
    while end < source.count, source[end] != source[start] {
      end += source[end] == UInt8(ascii: "\\") ? 2 : 1
    }
    if end < source.count { return end }
    hide(start)
    mistakes.error(
      file.place(start), "the quoted value is not closed", help: "its closing quote is missing")
    skipLine()
    return nil
  }

  private mutating func endQuoted(_ value: Text?, from start: Int, to end: Int) -> Text? {
    position = end + 1
    skipBlanks()
    let next = peek
    if let next, next != 10, next != 13, next != UInt8(ascii: "#") {
      hide(start, at: position)
      mistakes.error(
        file.place(position), "nothing may follow the closing quote",
        help: "put the whole value in quotes, or none of it")
      skipLine()
      return nil
    }
    skipLine()
    return value
  }

  private func literal(_ range: Range<Int>) -> Text? {
    var position = range.lowerBound
    while position < range.upperBound {
      let next = position + 1 < range.upperBound ? source[position + 1] : 0
      let isSkipped =
        source[position] == UInt8(ascii: "\\") && next == UInt8(ascii: "'")
        || source[position] == 13 && next == 10
      if isSkipped { position += 1 }
      store.append(source.part(position..<(position + 1)))
      position += 1
    }
    return store.finish()
  }

  private func expanded(_ range: Range<Int>, isQuoted: Bool) -> Text? {
    var expansion = VariableExpansion(
      text: source, position: range.lowerBound, end: range.upperBound, isQuoted: isQuoted,
      store: store, value: value)
    do throws(ExpressionMistake) {
      return try expansion.expand()
    } catch {
      hide(range.lowerBound, at: error.offset)
      mistakes.error(file.place(error.offset), error.message, help: error.help)
      return nil
    }
  }

  // MARK: Bytes

  private var peek: UInt8? { position < source.count ? source[position] : nil }

  private mutating func skipBlanks() {
    while let byte = peek, byte == 32 || byte == 9 { position += 1 }
  }

  private mutating func skipLine() {
    while let byte = peek, byte != 10 { position += 1 }
  }

  /// Hides text from `start` on in diagnostics, or the whole line of `place` if that is later.
  private func hide(_ start: Int, at place: Int? = nil) {
    var start = start
    if let place {
      var line = min(place, source.count)
      while line > 0, source[line - 1] != 10 { line -= 1 }
      start = max(start, line)
    }
    mistakes.hide(Secret(place: file.place(start), extent: .rest))
  }

  /// Finds the first byte that is NUL or not UTF-8.
  private var foreignByte: (place: Int, what: String)? {
    if let nul = source.firstIndex(of: 0) { return (nul, "a NUL byte stands here") }
    guard let place = UTF8Check.firstWrong(in: source) else { return nil }
    return (place, "the file is not UTF-8 from here on")
  }
}
