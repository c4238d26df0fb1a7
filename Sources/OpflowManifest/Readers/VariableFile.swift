/// The variables of an `env_file`.
///
///     # a comment
///     NAME=value          # spaces around the value and this comment are ignored
///     export PLACE: here  `export` and `:` are for files of other tools
///     WITH="a \"quoted\" value, with \n, \t, \\ and ${NAME}"
///     AS_IT_IS='no $NAME, and "no" escape but \''
///     INHERITED
///
/// - A quoted value may span lines. Outside single quotes, `$NAME`, `${NAME}`, `${NAME:-other}`,
///   `${NAME:+instead}` and `${NAME:?complaint}` are expanded; without the colon, an empty variable
///   is set. `$$`, `\$` and any other `$` are literal.
/// - A name without `=` takes the inherited value. The last definition wins.
/// - The inherited environment wins over the file, also inside values, as in docker compose, just,
///   go-task and Node.js. Unlike there, only a comment may follow a closing quote, and names must
///   be valid in a shell.
/// - These files contain secrets, so errors never show values.
struct VariableFile {
  let file: SourceFile
  let diagnostics: Diagnostics
  /// Owns the values, except inherited ones.
  let store: TextStore
  let inherited: (ByteView) -> ByteView?
  private(set) var variables: TextMap<(value: ByteView, place: Place)>
  private var position = 0
  private var source: ByteView { file.text }

  init(
    _ file: SourceFile, after before: VariableFile?, diagnostics: Diagnostics, store: TextStore,
    inherited: @escaping (ByteView) -> ByteView?
  ) {
    self.file = file
    self.diagnostics = diagnostics
    self.store = store
    self.inherited = inherited
    variables = before?.variables ?? TextMap()
  }

  /// Reports and skips invalid lines.
  mutating func read() {
    if let (place, detail) = foreignByte {
      diagnostics.error(file.place(place), detail, help: "an `env_file` must be a text file")
      // The byte may be inside a value: hide its whole line.
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

  private func value(of name: ByteView) -> ByteView? {
    inherited(name) ?? variables[name]?.value
  }

  private mutating func set(_ name: ByteView, _ value: ByteView, at start: Int) {
    variables.set(name, (value, file.place(start)))
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
        refuse(
          position, hidingFrom: start, "expected `=` after the name", help: "write NAME=VALUE")
      }
      skipLine()
    }
  }

  private func checkName(_ name: ByteView, at start: Int) -> Bool {
    if name.isEmpty {
      refuse(
        start, hidingFrom: start, "this line has no variable name",
        help: "write NAME=VALUE; put a value of several lines in quotes")
      return false
    }
    if let mark = byteOrderMark(in: name) {
      refuse(
        start + mark, hidingFrom: start, "the file contains a byte order mark here",
        help: "delete it; only the beginning of a file can have such a mark")
      return false
    }
    if !VariableName.isShellName(name) {
      refuse(
        start, hidingFrom: start, "this is not a valid variable name",
        help: "a name has letters, digits and `_`, and does not begin with a digit")
      return false
    }
    if name.hasPrefix("OPFLOW_") {
      refuse(
        start, hidingFrom: start + name.count, "`\(name.string)` is reserved",
        help: "opflow sets the variables that begin with `OPFLOW_`; choose another name")
      return false
    }
    return true
  }

  private func byteOrderMark(in name: ByteView) -> Int? {
    Self.byteOrderMark.withUTF8Buffer { mark in
      name.indices.first { name.part($0..<name.count).starts(with: mark) }
    }
  }

  private static let byteOrderMark: StaticString = "\u{FEFF}"

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

  /// Skips the rest of the last line. Returns nil after an error.
  private mutating func readValue() -> ByteView? {
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
    refuse(
      start, hidingFrom: start, "the quoted value has no closing quote", help: "add the quote")
    skipLine()
    return nil
  }

  private mutating func endQuoted(_ value: ByteView?, from start: Int, to end: Int) -> ByteView? {
    position = end + 1
    skipBlanks()
    let next = peek
    if let next, next != 10, next != 13, next != UInt8(ascii: "#") {
      hide(start, at: position)
      diagnostics.error(
        file.place(position), "only a comment can follow the closing quote",
        help: "put the whole value in quotes, or none of it")
      skipLine()
      return nil
    }
    skipLine()
    return value
  }

  private func literal(_ range: Range<Int>) -> ByteView? {
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

  private func expanded(_ range: Range<Int>, isQuoted: Bool) -> ByteView? {
    var expansion = VariableExpansion(
      text: source, position: range.lowerBound, end: range.upperBound, isQuoted: isQuoted,
      store: store, value: value)
    do throws(ExpressionError) {
      return try expansion.expand()
    } catch {
      hide(range.lowerBound, at: error.offset)
      diagnostics.error(file.place(error.offset), error.message, help: error.help)
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

  private func refuse(_ place: Int, hidingFrom start: Int, _ message: String, help: String? = nil) {
    hide(start)
    diagnostics.error(file.place(place), message, help: help)
  }

  /// Hides text from `start` on, or the whole line of `place` if that is later.
  private func hide(_ start: Int, at place: Int? = nil) {
    var start = start
    if let place {
      var line = min(place, source.count)
      while line > 0, source[line - 1] != 10 { line -= 1 }
      start = max(start, line)
    }
    diagnostics.hide(Secret(place: file.place(start), extent: .rest))
  }

  private var foreignByte: (place: Int, detail: String)? {
    if let nul = source.firstIndex(of: 0) { return (nul, "the file contains a NUL byte") }
    guard let place = file.firstWrong else { return nil }
    return (place, "the file is not valid UTF-8 from here on")
  }
}

struct VariableFileEntry {
  let node: Node
  let path: ByteView
  let mayBeMissing: Bool
}

struct VariableFileReader: NodeReader {
  /// Its texts must live as long as the scope.
  let values: ValueReader
  /// Reports an error if the file is missing.
  let open: (VariableFileEntry) -> SourceFile?

  /// The inherited environment wins over the files.
  func read(_ node: Node, into list: inout EnvironmentList) {
    guard let items = values.items(node, Subject(ManifestKey.envFile), expected: "a list of paths")
    else { return }
    var known: VariableFile?
    for item in items {
      guard let entry = readItem(item), let file = open(entry) else { continue }
      var variables = VariableFile(
        file, after: known.take(), diagnostics: diagnostics, store: scratch,
        inherited: { name in
          guard scope.secrets.contains(name) else { return scope.inherited.value(name) }
          return error(
            item, "a file of `env_file` reads `\(name.string)`, which is a secret",
            help: "remove it from the file; a task gets secrets with its key `secrets`")
        })
      variables.read()
      known = variables
    }
    guard let known else { return }
    for (name, found) in zip(known.variables.keys.texts, known.variables.values) {
      let value = winner(name, found.value, at: found.place)
      scope.setEnvironment(name, value)
      list.set(name, Scalar(node: node, text: value, stable: value, isTyped: false))
    }
  }

  private func winner(_ name: ByteView, _ value: ByteView, at place: Place) -> ByteView {
    if scope.secrets.contains(name) { return value }
    guard let inherited = scope.inherited.value(name) else { return value }
    if !inherited.isSame(as: value) {
      // The file used to win. Drop the warning in the version after this one.
      let end = Place(file: place.file, offset: place.offset + name.count)
      diagnostics.hide(Secret(place: end, extent: .rest))
      diagnostics.warning(
        place, "`\(name.string)` has a different value in the environment of opflow, which wins",
        help: "unset it there, or set it under `env` in the manifest, which overrides both")
    }
    return inherited
  }

  private func readItem(_ node: Node) -> VariableFileEntry? {
    let subject = Subject.item(of: ManifestKey.envFile)
    if document.kind(node) == .mapping {
      return values.wrongType(
        node, subject, expected: "a path",
        help: "write only the path; a leading `?` makes the file optional")
    }
    guard let path = values.filledString(node, subject) else { return nil }
    values.warnOfShellText(path, node, subject)
    let mayBeMissing = path.text.first == UInt8(ascii: "?")
    let text = mayBeMissing ? path.text.part(1..<path.text.count) : path.text
    if text.trimmed.isEmpty {
      return error(
        node, "an item of `env_file` has no path after the `?`", help: "such as \"?.env.local\"")
    }
    return VariableFileEntry(node: node, path: scope.store.copy(text), mayBeMissing: mayBeMissing)
  }
}

struct VariableExpansion {
  let text: ByteView
  private(set) var position: Int
  let end: Int
  /// True in double quotes, where escapes are expanded.
  let isQuoted: Bool
  let store: TextStore
  let value: (ByteView) -> ByteView?
  private var depth = 0

  private static let mostLevels = 64
  private static let mostBytes = 1 << 20

  init(
    text: ByteView, position: Int, end: Int, isQuoted: Bool, store: TextStore,
    value: @escaping (ByteView) -> ByteView?
  ) {
    (self.text, self.position, self.end) = (text, position, end)
    (self.isQuoted, self.store, self.value) = (isQuoted, store, value)
  }

  mutating func expand() throws(ExpressionError) -> ByteView {
    do throws(ExpressionError) {
      try expand(until: nil, isWritten: true)
    } catch {
      _ = store.finish()
      throw error
    }
    return store.finish()
  }

  /// - Parameter isWritten: False to skip the result.
  private mutating func expand(until close: UInt8?, isWritten: Bool) throws(ExpressionError) {
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
        throw problem(position, "the value is larger than \(Self.mostBytes >> 20) MiB")
      }
    }
  }

  // MARK: Escapes

  private mutating func escape(_ isWritten: Bool) throws(ExpressionError) {
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

  private mutating func octal(_ isWritten: Bool) throws(ExpressionError) {
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
      throw problem(
        start, "an octal escape must be from `\\01` to `\\0177`",
        help: "write other characters as they are")
    }
    write(UInt8(value), isWritten)
  }

  // MARK: Variables

  private mutating func variable(_ isWritten: Bool) throws(ExpressionError) {
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

  private mutating func braced(from start: Int, _ isWritten: Bool) throws(ExpressionError) {
    guard let first = peek(0), ASCII.isLetter(first) || first == UInt8(ascii: "_") else {
      throw problem(
        start, "expected a variable name after `${`", help: "write `$$` for the character `$`")
    }
    guard depth < Self.mostLevels else {
      throw problem(start, "variables are nested deeper than \(Self.mostLevels) levels")
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
        throw problem(
          start, "`\(name.string)` is \(found == nil ? "not set" : "empty")",
          help: said.isEmpty ? nil : said)
      }
    default:
      throw problem(
        start, position < end ? "this `${` is not a valid variable" : "`${` is not closed",
        help: position < end
          ? "after the name, write `}`, `:-`, `-`, `:+`, `+`, `:?` or `?`" : "add the `}`")
    }
    depth -= 1
    guard peek(0) == UInt8(ascii: "}") else {
      throw problem(start, "`${` is not closed", help: "add the `}`")
    }
    position += 1
  }

  private mutating func readName() -> ByteView {
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
    if isWritten { store.append(byte) }
  }

  private func problem(_ offset: Int, _ message: String, help: String? = nil) -> ExpressionError {
    ExpressionError(offset: offset, message: message, help: help)
  }
}
