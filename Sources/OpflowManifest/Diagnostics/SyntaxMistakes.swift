/// Reports errors of the YAML reader.
enum SyntaxMistakes {
  /// Reads a document; returns nil after an error.
  static func read(_ file: SourceFile, _ mistakes: Mistakes) -> YAMLDocument? {
    do throws(YAMLFailure) {
      return try YAMLDocument(reading: file) { report($0, in: file, to: mistakes) }
    } catch {
      report(error, in: file, to: mistakes)
      return nil
    }
  }

  private static func report(_ failure: YAMLFailure, in file: SourceFile, to mistakes: Mistakes) {
    let place = file.place(failure.offset)
    switch failure.reason {
    case .empty:
      mistakes.error(
        file.place(0), "the manifest is empty", help: "declare at least one task under `tasks`")
    case .syntax(let problem, let context, let beginning):
      SyntaxError(
        source: file.text, place: failure.offset, beginning: beginning, problem: problem,
        context: context
      ).report(in: file, to: mistakes)
    case .notUTF8:
      let isUTF16 = file.text.starts(with: [0xFF, 0xFE]) || file.text.starts(with: [0xFE, 0xFF])
      mistakes.error(
        place, isUTF16 ? "the manifest is UTF-16" : "the manifest is not UTF-8 from here on",
        help: isUTF16
          ? "save it as UTF-8: `iconv -f UTF-16 -t UTF-8`"
          : "save it as UTF-8; what older programs write is often `iconv -f LATIN1 -t UTF-8`")
    case .forbiddenCharacter(let character):
      mistakes.error(
        place,
        character == 0
          ? "a NUL byte stands here"
          : "the control character U+\(hexadecimal(character)) is not allowed",
        help: character == 0
          ? "a manifest is text; remove the byte" : "remove it, or write it as an escape in \"…\"")
    case .secondDocument:
      mistakes.error(
        place, "a second document begins here", help: "a manifest is one document; remove the `---`"
      )
    case .tooDeep: mistakes.error(place, "nested deeper than \(YAMLFailure.mostLevels) levels")
    case .tooExpanded:
      mistakes.error(place, "aliases expand the manifest to more than ten million nodes")
    case .tooManyRecords:
      mistakes.error(place, "the manifest has more than a hundred million nodes")
    case .tooLong:
      mistakes.error(place, "a value, or comments, of more than 8 MiB begin behind this")
    case .tooManyDirectives: mistakes.error(place, "more than a hundred `%` directives")
    case .longDirective:
      mistakes.error(place, "a `%` directive of more than a thousand bytes")
    case .outOfMemory: mistakes.error(place, "out of memory while the manifest is read")
    }
  }

  private static func report(_ problem: YAMLProblem, in file: SourceFile, to mistakes: Mistakes) {
    let place = file.place(problem.offset)
    let word = word(at: problem.offset, of: file.text)
    switch problem.kind {
    case .unknownAlias:
      mistakes.error(
        place, "no anchor `&\(word.dropFirst())` stands before this alias",
        help: "a value that begins with `*` needs quotes")
    case .recursiveAlias: mistakes.error(place, "the alias `\(word)` stands for itself")
    case .unknownTag:
      mistakes.error(
        place, "YAML takes `\(word)` for a tag, and it has no meaning here",
        help: "a value that begins with `!` needs quotes")
    case .nulInText:
      mistakes.error(
        place, "the value holds a NUL character",
        help: "no argument, path or environment can hold one")
    }
    mistakes.settle(place)
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
