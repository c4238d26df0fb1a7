enum SyntaxErrors {
  static func read(_ file: SourceFile, _ diagnostics: Diagnostics) -> YAMLDocument? {
    do throws(YAMLFailure) {
      return try YAMLDocument(reading: file) { report($0, in: file, to: diagnostics) }
    } catch {
      report(error, in: file, to: diagnostics)
      return nil
    }
  }

  private static func report(
    _ failure: YAMLFailure, in file: SourceFile, to diagnostics: Diagnostics
  ) {
    let place = file.place(failure.offset)
    switch failure.reason {
    case .empty:
      diagnostics.error(
        file.place(0), "the manifest is empty", help: "declare at least one task under `tasks`")
    case .syntax(let problem, let context, let beginning):
      SyntaxError(
        source: file.text, place: failure.offset, beginning: beginning, problem: problem,
        context: context
      ).report(in: file, to: diagnostics)
    case .notUTF8:
      let isUTF16 = file.text.starts(with: [0xFF, 0xFE]) || file.text.starts(with: [0xFE, 0xFF])
      diagnostics.error(
        place,
        isUTF16 ? "the manifest is UTF-16, not UTF-8" : "the manifest is not valid UTF-8 here",
        help: isUTF16
          ? "convert it to UTF-8: `iconv -f UTF-16 -t UTF-8`"
          : "convert it to UTF-8; if it is Latin-1: `iconv -f LATIN1 -t UTF-8`")
    case .forbiddenCharacter(let character):
      diagnostics.error(
        place,
        character == 0
          ? "the manifest contains a NUL byte"
          : "the control character U+\(hexadecimal(character)) is not allowed",
        help: character == 0
          ? "a manifest is text; remove the byte" : "remove it, or write it as an escape in \"…\"")
    case .secondDocument:
      diagnostics.error(
        place, "a second document begins here", help: "a manifest is one document; remove the `---`"
      )
    case .tooDeep: diagnostics.error(place, "nested deeper than \(YAMLFailure.mostLevels) levels")
    case .tooExpanded:
      diagnostics.error(place, "aliases expand the manifest to more than ten million nodes")
    case .tooManyRecords:
      diagnostics.error(place, "the manifest has more than a hundred million nodes")
    case .tooLong:
      diagnostics.error(place, "a value or comment that begins after this is larger than 8 MiB")
    case .tooManyDirectives:
      diagnostics.error(place, "the manifest has more than a hundred `%` directives")
    case .longDirective:
      diagnostics.error(place, "a `%` directive is longer than a thousand bytes")
    case .outOfMemory: diagnostics.error(place, "opflow ran out of memory reading the manifest")
    }
  }

  private static func report(
    _ problem: YAMLProblem, in file: SourceFile, to diagnostics: Diagnostics
  ) {
    let place = file.place(problem.offset)
    let word = word(at: problem.offset, of: file.text)
    switch problem.kind {
    case .unknownAlias:
      diagnostics.error(
        place, "unknown alias `\(word)`: no anchor `&\(word.dropFirst())` before it",
        help: "define the anchor above, or put a value that begins with `*` in quotes")
    case .recursiveAlias: diagnostics.error(place, "the alias `\(word)` refers to itself")
    case .unknownTag:
      diagnostics.error(
        place, "YAML reads `\(word)` as a tag, which opflow does not support",
        help: "put a value that begins with `!` in quotes")
    case .nulInText:
      diagnostics.error(
        place, "the value contains a NUL character",
        help: "arguments, paths and environment variables cannot contain one; remove it")
    }
    diagnostics.settle(place)
  }

  private static func word(at place: Int, of source: ByteView) -> String {
    var end = place
    while end < source.count, end < place + 60, !ASCII.isBlank(source[end]),
      source[end] != UInt8(ascii: ","), source[end] != UInt8(ascii: "]"),
      source[end] != UInt8(ascii: "}")
    {
      end += 1
    }
    return source.part(place..<end).string
  }

  private static func hexadecimal(_ value: UInt32) -> String {
    let digits = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}

/// Rewords an error of libyaml and moves it to the most useful place.
struct SyntaxError {
  private let source: ByteView
  private let place: Int
  private let beginning: Int?
  private let problem: String
  private let context: String

  private struct Explanation {
    var message: String
    var help: String?
    var place: Int
    var notes: [(place: Int, message: String)] = []
  }

  init(source: ByteView, place: Int, beginning: Int?, problem: String, context: String) {
    self.source = source
    self.place = min(place, source.count)
    self.beginning = beginning
    self.problem = problem
    self.context = context
  }

  func report(in file: SourceFile, to diagnostics: Diagnostics) {
    let found = tab ?? longKey ?? expressionTakenForMap ?? quoteWithin ?? explanation
    diagnostics.add(
      .error, file.place(found.place), found.message, help: found.help,
      notes: found.notes.map { .init(place: file.place($0.place), message: $0.message) })
  }

  private var explanation: Explanation {
    switch problem {
    case "did not find expected key": return strayText
    case "mapping values are not allowed in this context": return strayColon
    case "did not find expected '-' indicator":
      return at(
        "this is not an item of the list above, and not a key",
        help: "begin an item with `- `, with the indentation of the items above")
    case "block sequence entries are not allowed in this context":
      return at("a list item cannot begin here", help: "put it on a line of its own")
    case "did not find expected ',' or ']'":
      return unclosed("the list in brackets is not closed", missing: "a `,` or `]`")
    case "did not find expected ',' or '}'":
      return unclosed("the map in braces is not closed", missing: "a `,` or `}`")
    case "could not find expected ':'":
      var result = at(
        "this line has no `:`",
        help: "write `key: value`, or indent the line to continue the value above")
      result.place = beginning ?? place
      return result
    case "found unexpected end of stream", "found unexpected document indicator":
      return unclosed("the quoted value is not closed", missing: "its closing quote")
    case "found unknown escape character":
      return at(
        "unknown escape in a value in double quotes",
        help: "write \\\\ for a backslash, or use single quotes")
    case "found character that cannot start any token":
      return at("a value cannot begin with \(wrongStart)", help: "put the value in quotes")
    case "did not find expected alphabetic or numeric character":
      return at(
        context.hasSuffix("alias")
          ? "YAML reads `*` as an alias, but no name follows"
          : "YAML reads `&` as an anchor, but no name follows", help: "put the value in quotes")
    case "did not find expected <document start>":
      return at(
        "text follows the end of the manifest",
        help: "a manifest is one map: write `tasks:`, and indent the tasks below it")
    case "found incompatible YAML document":
      return at("opflow does not read this version of YAML", help: "it reads YAML 1.1 and 1.2")
    default: return at("not valid YAML: \(problem)" + (context.isEmpty ? "" : " (\(context))"))
    }
  }

  private var wrongStart: String {
    guard place < source.count else { return "this character" }
    switch source[place] {
    case UInt8(ascii: "@"): return "`@`"
    case UInt8(ascii: "%"): return "`%`"
    case UInt8(ascii: "`"): return "a backtick"
    default: return "this character"
    }
  }

  private func at(_ message: String, help: String? = nil) -> Explanation {
    Explanation(message: message, help: help, place: place)
  }

  /// Reports an unclosed construct at its start, or where it breaks off if both are on one line.
  private func unclosed(_ message: String, missing: String) -> Explanation {
    let help = bracketHelp ?? "\(missing) is missing"
    guard let beginning, lineStart(beginning) != lineStart(place) || place >= source.count else {
      return Explanation(message: message + " before this", help: help, place: place)
    }
    return Explanation(
      message: message, help: help, place: beginning,
      notes: [(place, place < source.count ? "it is still not closed here" : "the file ends here")])
  }

  /// Advice for matrix tasks without quotes, as in `needs: [build[arch]]`.
  private var bracketHelp: String? {
    guard place > 0, place < source.count, source[place] == UInt8(ascii: "["),
      ASCII.continuesName(source[place - 1])
    else { return nil }
    var start = place
    while start > 0, ASCII.continuesName(source[start - 1]) { start -= 1 }
    guard let end = source[place...].prefix(100).firstIndex(of: UInt8(ascii: "]")) else {
      return nil
    }
    return "put a name with brackets in quotes: \"\(source.part(start..<(end + 1)).string)\""
  }

  // MARK: Maps

  /// Libyaml's limit, in characters.
  private static let longestKey = 1024

  private var longKey: Explanation? {
    guard place < source.count, source[place] == UInt8(ascii: ":") else { return nil }
    var start = lineStart(place)
    let openers = Array("{,".utf8)
    if let opener = source.part(start..<place).lastIndex(where: { openers.contains($0) }) {
      start += opener + 1
    }
    start = firstCharacter(of: start)
    // UTF-8 continuation bytes are not characters.
    let count = source.part(min(start, place)..<place).count { $0 & 0xC0 != 0x80 }
    guard count > Self.longestKey else { return nil }
    return Explanation(
      message: "a key can have at most \(Self.longestKey) characters; this one has \(count)",
      help: "shorten it", place: start)
  }

  private var strayText: Explanation {
    var before = place
    while before > 0, source[before - 1] == 32 { before -= 1 }
    if before > 0, source[before - 1] == UInt8(ascii: "\"") || source[before - 1] == 39 {
      return at(
        "text follows the closing quote", help: "put the whole value in quotes, or none of it")
    }
    if place < source.count, source[place] == UInt8(ascii: "]") || source[place] == 125 {
      let isList = source[place] == UInt8(ascii: "]")
      return at(
        "this `\(isList ? "]" : "}")` has no matching `\(isList ? "[" : "{")`", help: "remove it")
    }
    return at(
      "expected a key of a map here",
      help:
        "indent all keys of a map alike; put a value that begins with a special character in quotes"
    )
  }

  /// A `:` inside a plain value, on its line or continued from a line before that has no `:` or is
  /// indented less.
  private var strayColon: Explanation {
    let start = lineStart(place)
    let text = firstCharacter(of: start)
    if hasColon(from: text, to: place) {
      return at(
        "a value without quotes contains `: `", help: "put the whole value in quotes")
    }
    guard let previous = previousLine(before: start) else {
      return at("a `:` cannot follow here", help: "put the whole value in quotes")
    }
    let previousText = firstCharacter(of: previous)
    if !hasColon(from: previousText, to: start) {
      return Explanation(
        message: "this line has no `:`",
        help: "write `key: value`, or indent the line to continue the value above",
        place: previousText)
    }
    return Explanation(
      message: "this key is indented deeper than the one above, which already has a value",
      help: "indent all keys of a map alike", place: text)
  }

  private func hasColon(from start: Int, to end: Int) -> Bool {
    var position = start
    while position < end {
      if source[position] == UInt8(ascii: ":"),
        position + 1 >= source.count || ASCII.isBlank(source[position + 1])
      {
        return true
      }
      position += 1
    }
    return false
  }

  // MARK: Traps

  private var tab: Explanation? {
    var start = lineStart(place)
    while start < source.count, source[start] == 32 { start += 1 }
    guard start < source.count, source[start] == 9,
      problem.contains("tab") || problem.contains("token") || place <= start + 1
    else { return nil }
    return Explanation(
      message: "a tab is used as indentation", help: "YAML takes spaces only; indent with two",
      place: start)
  }

  /// A quote inside a quoted value: `'echo it's'`.
  private var quoteWithin: Explanation? {
    guard place > 1, place < source.count, problem.hasPrefix("did not find expected"),
      source[place - 1] == 39 || source[place - 1] == UInt8(ascii: "\""),
      !ASCII.isBlank(source[place]), !",]}:#".utf8.contains(source[place]),
      // A quote that opens a value follows a space or a bracket.
      !" \t[{,\n".utf8.contains(source[place - 2])
    else { return nil }
    return at(
      "text follows the closing quote",
      help: source[place - 1] == 39
        ? "write `''` for a `'` within '…', or put the value in \"…\" or below a `|`"
        : "write `\\\"` for a `\"` within \"…\", or put the value in '…' or below a `|`")
  }

  /// Shortly before an error about braces.
  private var expressionTakenForMap: Explanation? {
    var start = place
    while start > 0, place - start < 200, source[start - 1] != 10 {
      start -= 1
      if source.part(start..<source.count).hasPrefix("${{") {
        return Explanation(
          message: "YAML reads the braces of this `${{` as a map",
          help: "put the whole value in quotes: \"${{ … }}\"", place: start)
      }
    }
    return nil
  }

  // MARK: Lines

  private func lineStart(_ place: Int) -> Int {
    var start = place
    while start > 0, source[start - 1] != 10 { start -= 1 }
    return start
  }

  private func firstCharacter(of line: Int) -> Int {
    var start = line
    while start < source.count, source[start] == 32 { start += 1 }
    return start
  }

  private func previousLine(before line: Int) -> Int? {
    var line = line
    while line > 0 {
      line = lineStart(line - 1)
      let first = firstCharacter(of: line)
      if first < source.count, !ASCII.isBlank(source[first]) { return line }
    }
    return nil
  }
}
