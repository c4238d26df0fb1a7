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
    case Int32(CYAML_SYNTAX):
      SyntaxError(document, source: source).report(to: mistakes)
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
      mistakes.error(place, "a value of more than 8 MiB begins behind this")
    case Int32(CYAML_TOO_MANY_DIRECTIVES):
      mistakes.error(place, "more than a hundred `%` directives")
    case Int32(CYAML_LONG_DIRECTIVE):
      mistakes.error(place, "a `%` directive of more than a thousand bytes")
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
        mistakes.settle(place)
      }
    }
  }

  private static func word(at place: Int, of source: Text) -> String {
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
