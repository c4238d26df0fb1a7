internal import CYAML

/// Says in a person's words what the reader of YAML found wrong.
enum SyntaxMistakes {
  static func report(_ document: cyaml_document, of source: Text, to mistakes: Mistakes) {
    reportProblems(document, of: source, to: mistakes)
    let place = document.place
    switch document.status {
    case Int32(CYAML_OK): return
    case Int32(CYAML_EMPTY):
      mistakes.error(
        0, "the manifest is empty", help: "declare at least one task under `tasks`")
    case Int32(CYAML_SYNTAX): reportSyntax(document, of: source, to: mistakes)
    case Int32(CYAML_NOT_UTF8): mistakes.error(place, "the manifest is not UTF-8 from here on")
    case Int32(CYAML_FORBIDDEN_CHARACTER):
      mistakes.error(
        place,
        document.character == 0
          ? "a NUL byte stands here"
          : "the control character U+\(hexadecimal(document.character)) is not allowed",
        help: document.character == 0
          ? "a manifest is text; remove the byte" : "remove it, or write it as an escape in \"…\"")
    case Int32(CYAML_SECOND_DOCUMENT):
      mistakes.error(
        place, "a second document begins here", help: "a manifest is one document; remove the `---`"
      )
    case Int32(CYAML_TOO_DEEP):
      mistakes.error(place, "nested deeper than \(CYAML_MAX_DEPTH) levels")
    case Int32(CYAML_TOO_EXPANDED):
      mistakes.error(place, "aliases expand the manifest to more than ten million nodes")
    case Int32(CYAML_TOO_MANY_RECORDS):
      mistakes.error(place, "the manifest has more than a hundred million nodes")
    case Int32(CYAML_TOO_LONG):
      mistakes.error(place, "a value of more than 32 MiB begins behind this")
    case Int32(CYAML_TOO_MANY_DIRECTIVES):
      mistakes.error(place, "more than a hundred `%` directives")
    default: mistakes.error(place, "out of memory while the manifest is read")
    }
  }

  /// Mistakes beside which the document is readable.
  private static func reportProblems(
    _ document: cyaml_document, of source: Text, to mistakes: Mistakes
  ) {
    withUnsafeBytes(of: document.problems) { bytes in
      for problem in bytes.bindMemory(to: cyaml_problem.self).prefix(document.problem_count) {
        let place = Int(problem.start)
        let word = word(at: place, of: source)
        switch Int(problem.kind) {
        case CYAML_UNKNOWN_ALIAS:
          mistakes.error(
            place, "no anchor `&\(word.dropFirst())` stands before this alias",
            help: "a value that begins with `*` needs quotes")
        case CYAML_RECURSIVE_ALIAS: mistakes.error(place, "the alias `\(word)` stands for itself")
        case CYAML_UNKNOWN_TAG:
          mistakes.error(
            place, "YAML takes `\(word)` for a tag, and it has no meaning here",
            help: "a value that begins with `!` needs quotes")
        default:
          mistakes.error(
            place, "the value holds a NUL character",
            help: "no argument, path or environment can hold one")
        }
      }
    }
  }

  private static func word(at place: Int, of source: Text) -> String {
    var end = place
    while end < source.count, end < place + 60, !Character8.isBlank(source[end]),
      source[end] != UInt8(ascii: ","), source[end] != UInt8(ascii: "]"),
      source[end] != UInt8(ascii: "}")
    {
      end += 1
    }
    return source.part(place..<end).string
  }

  private static func reportSyntax(
    _ document: cyaml_document, of source: Text, to mistakes: Mistakes
  ) {
    let problem = document.problem.map { String(cString: $0) } ?? "not valid YAML"
    let context = document.context.map { String(cString: $0) } ?? ""
    if let tab = indentingTab(near: document.place, problem: problem, of: source) {
      mistakes.error(
        tab, "a tab is used as indentation", help: "YAML takes blanks only; indent with two")
      return
    }
    if let expression = expressionTakenForMap(near: document.place, of: source) {
      mistakes.error(
        expression, "YAML takes the braces of this `${{` for a map",
        help: "put the whole value in quotes: \"${{ … }}\"")
      return
    }
    let known = explanation(problem: problem, context: context)
    var mistake = Mistakes.Mistake(
      severity: .error, place: document.place, message: known.message, help: known.help)
    let begin = document.context_place
    if begin < source.count, known.showsContext {
      mistake.notes = [(begin, "it begins here")]
    }
    mistakes.add(mistake)
  }

  /// Our words for the errors that people meet; libyaml's own for the rest.
  private static func explanation(
    problem: String, context: String
  ) -> (message: String, help: String?, showsContext: Bool) {
    switch problem {
    case "did not find expected key":
      return (
        "no key of a map begins here",
        "is the indentation that of the lines above, and what ends in `:` or holds `: ` quoted?",
        false
      )
    case "mapping values are not allowed in this context":
      return (
        "no `:` may follow here",
        "is the indentation that of the lines above, and a value that holds `: ` quoted?", false
      )
    case "did not find expected '-' indicator":
      return (
        "the list ends before this, and no key begins here",
        "begin an item with `- `, at the indentation of the items above", false
      )
    case "block sequence entries are not allowed in this context":
      return ("no item of a list may begin here", "put it on a line of its own", false)
    case "did not find expected ',' or ']'":
      return ("the list in brackets is not closed before this", "a `,` or `]` is missing", true)
    case "did not find expected ',' or '}'":
      return ("the map in braces is not closed before this", "a `,` or `}` is missing", true)
    case "could not find expected ':'":
      return (
        "a key without `:`", "write `key: value`, and indent what goes on with a value", false
      )
    case "found unexpected end of stream":
      return ("the quoted value is not closed", "its closing quote is missing", true)
    case "found unexpected document indicator":
      return ("the quoted value is not closed before this", "its closing quote is missing", true)
    case "found unknown escape character":
      return (
        "an unknown escape in a value in double quotes",
        "write \\\\ for a backslash, or use single quotes", false
      )
    case "found character that cannot start any token":
      return (
        "no value may begin with this character", "put the value in quotes", false
      )
    case "did not find expected alphabetic or numeric character":
      return (
        context.hasSuffix("alias")
          ? "YAML takes `*` for an alias, and no name follows"
          : "YAML takes `&` for an anchor, and no name follows", "put the value in quotes", false
      )
    default:
      return ("not valid YAML: \(problem)" + (context.isEmpty ? "" : " (\(context))"), nil, false)
    }
  }

  /// The place of a tab before the first other character of the line that holds `place`.
  private static func indentingTab(near place: Int, problem: String, of source: Text) -> Int? {
    var start = min(place, source.count)
    while start > 0, source[start - 1] != 10 { start -= 1 }
    while start < source.count, source[start] == 32 { start += 1 }
    guard start < source.count, source[start] == 9 else { return nil }
    return problem.contains("tab") || problem.contains("token") || place <= start + 1
      ? start : nil
  }

  /// The place of `${{` just before an error of brackets.
  private static func expressionTakenForMap(near place: Int, of source: Text) -> Int? {
    var start = min(place, source.count)
    while start > 0, place - start < 200, source[start - 1] != 10 {
      start -= 1
      if start + 3 <= source.count, source.part(start..<(start + 3)) == "${{" { return start }
    }
    return nil
  }

  private static func hexadecimal(_ value: UInt32) -> String {
    let digits = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
