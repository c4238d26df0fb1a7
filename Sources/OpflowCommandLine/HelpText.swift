internal import OpflowBase

/// The answers of `opflow help`.
package enum HelpText {
  private static let introduction =
    "opflow runs the tasks in opflow.yaml in parallel, in dependency order, and can resume any run"
    + " that failed or was killed."

  /// Fits one screen; `isLong` lists all commands.
  package static func program(isLong: Bool = false) -> String {
    var lines = HelpLines()
    lines.paragraphs(introduction)
    lines.line("\nUsage: opflow COMMAND [FLAGS] [ARGUMENTS]")
    for group in CommandGroup.allCases {
      lines.line("\n\(group.rawValue):")
      if group == .controlling, !isLong {
        lines.row("", 2, "Cancel, pause, retry, approve, add tasks, ...: see `opflow help control`")
      } else {
        add(isLong ? commands(group) : commands(group).filter(\.row.isCommon), to: &lines)
      }
    }
    lines.line()
    if !isLong {
      let others = Command.allCases.filter { !$0.row.isCommon && $0.row.group != .controlling }
      lines.paragraphs("More commands: \(others.map(\.word).joined(separator: ", "))")
    }
    lines.paragraphs(
      isLong
        ? "`opflow help COMMAND` explains a command, with -v all its flags. `opflow` without a "
          + "command lists the tasks of opflow.yaml."
        : "`opflow help --all` explains all commands; `opflow` alone lists your tasks.")
    add(
      [
        ("opflow run", "Run all tasks of opflow.yaml"),
        ("opflow run test", "Run the task `test` and its dependencies"),
        ("opflow run -j4 -k ci.yaml", "Run ci.yaml, 4 tasks at once; keep going"),
        ("opflow resume", "Continue the newest run"),
        ("opflow logs -f test", "Follow the output of the task `test`"),
      ], to: &lines)
    return lines.text
  }

  /// `control`: the commands for a live run.
  private static var control: String {
    var lines = HelpLines()
    lines.line("Control a live run from another terminal.\n")
    lines.line("Usage: opflow COMMAND [FLAGS] [SEL...]\n\nCommands:")
    add(commands(.controlling), to: &lines)
    lines.line()
    lines.paragraphs("\(Glossary.selector)\n\n\(HelpPhrases.liveRun)")
    add(
      [
        ("opflow pause", "Start no more tasks"),
        ("opflow cancel 'test-*'", "Cancel some tasks"),
        ("opflow retry build --run 2026", "Run a failed task of another run again"),
      ], to: &lines)
    lines.line("\n`opflow help COMMAND` explains a command.")
    return lines.text
  }

  private static func commands(_ group: CommandGroup) -> [Command] {
    Command.allCases.filter { $0.row.group == group }
  }

  private static func add(_ commands: [Command], to lines: inout HelpLines) {
    for command in commands { lines.row("  \(command.word)", 14, command.row.summary) }
  }

  private static func add(_ examples: [CommandRow.Example], to lines: inout HelpLines) {
    lines.line("\nExamples:")
    let longest = examples.map(\.command.count).max() ?? 0
    for example in examples {
      lines.row("  \(example.command)", min(longest + 4, 34), example.meaning)
    }
  }

  // MARK: - Topics

  /// Returns the help of a command or of `control`.
  package static func command(_ word: String, isLong: Bool) -> String? {
    if word == controlTopic { return control }
    return Command(named: word).map { isLong ? long($0) : short($0) }
  }

  static let controlTopic = "control"

  private static func short(_ command: Command) -> String {
    let row = command.row
    var lines = HelpLines()
    lines.line("\(row.summary).\n\nUsage: opflow \(command.synopsis)")
    add(row.examples, to: &lines)
    lines.line("\nFlags:")
    for flag in (row.common ?? row.flags) + [.help] { add(flag.row, to: &lines) }
    lines.line("\n`opflow help \(command.word) -v` shows all flags, exit codes and details.")
    return lines.text
  }

  private static func long(_ command: Command) -> String {
    let row = command.row
    var lines = HelpLines()
    lines.line("\(row.summary).\n\nUsage: opflow \(command.synopsis)")
    if !row.details.isEmpty {
      lines.line()
      lines.paragraphs(row.details)
    }
    let placeholders = row.placeholders
    if !placeholders.isEmpty { lines.line() }
    for placeholder in placeholders { lines.paragraphs(placeholder.meaning) }
    add(row.examples, to: &lines)
    for (group, flags) in row.groups {
      lines.line("\n\(group.rawValue):")
      for flag in flags { add(flag, to: &lines) }
    }
    lines.line("\nExit codes:")
    for exit in row.exits { lines.row("  \(exit.code)", 18, exit.meaning) }
    return lines.text
  }

  /// Adds `  -j, --max-parallel N   meaning`.
  private static func add(_ flag: FlagRow, to lines: inout HelpLines) {
    let names = flag.letter == nil ? "    \(flag.spelling)" : flag.spelling
    lines.row("  \(names)", 28, flag.meaning)
  }

  /// Returns the help of a flag, such as `-k`, `--rerun` or `rerun`.
  package static func flag(_ word: String) -> String? {
    let name = word.drop { $0 == "-" }.prefix { $0 != "=" }
    let isLetter = word.hasPrefix("-") && !word.hasPrefix("--")
    let rows = Flag.listed.map(\.row).filter {
      isLetter
        ? $0.letter == name.first && (name.count == 1 || $0.takes.isThere) : $0.long == String(name)
    }
    if rows.isEmpty { return nil }
    var lines = HelpLines()
    for row in rows {
      let takers = Command.allCases.filter { command in
        (command.flags + [.help]).contains { $0.row.meaning == row.meaning }
      }
      if !lines.text.isEmpty { lines.line() }
      lines.line(row.spelling)
      lines.row("", 2, row.meaning)
      lines.row("", 2, "Flag of: \(takers.map(\.word).joined(separator: ", "))")
    }
    // A FILE is the manifest for some flags only.
    for name in Set(rows.map(\.takes.name)).subtracting(["FILE"]).sorted() {
      guard let placeholder = Glossary.placeholders.first(where: { $0.name == name }) else {
        continue
      }
      lines.line()
      lines.paragraphs(placeholder.meaning)
    }
    return lines.text
  }

  /// Returns `word: meaning`; below other help, with a heading.
  package static func term(_ word: String, isBelow: Bool) -> String? {
    guard let term = Glossary.term(word, isExact: isBelow) else { return nil }
    var lines = HelpLines()
    if isBelow { lines.line("Term:") }
    let isSentence = term.meaning.hasPrefix("\(term.name) ")
    lines.row("", isBelow ? 2 : 0, isSentence ? term.meaning : "\(term.name): \(term.meaning)")
    return lines.text
  }

  /// Returns a hint for an unknown topic.
  package static func hint(_ word: String, meantKey: String?, keys: [String]) -> String {
    if let hint = ForeignWords.help(command: word) { return hint }
    let first = word.prefix { $0 != " " }
    if first.count < word.count, Command.allCases.contains(where: { $0.word == first }) {
      return "did you mean `opflow help \(first)`?"
    }
    var candidates = Command.allCases.map(\.word)
    // Short words are near to too many terms and keys.
    if word.utf8.count >= 5 { candidates += Glossary.terms.map(\.name) + keys }
    if word.hasPrefix("-") { candidates = Flag.listed.compactMap { $0.row.long.map { "--\($0)" } } }
    return (meantKey ?? NearestName.of(word, among: candidates)).map {
      "did you mean `opflow help \($0)`?"
    } ?? "`opflow help` lists the commands"
  }
}

/// The manual page opflow(1), from the table of commands and flags.
package enum CommandPage {
  /// - Parameter date: `2026-12-31`; may be empty.
  package static func text(date: String) -> String {
    var page = RoffText("OPFLOW", section: 1, date: date)
    page.name("opflow", "run tasks in dependency order, and resume after a failure")
    page.section("SYNOPSIS")
    page.bold("opflow [COMMAND [FLAGS] [ARGUMENTS]]")
    page.section("DESCRIPTION")
    page.paragraphs(
      """
      opflow runs the tasks of a manifest, opflow.yaml(5), in parallel and in dependency order. It can
      resume any run that failed or was killed.

      Without a command, opflow lists the tasks of opflow.yaml here or in the nearest folder above.
      """)
    page.section("COMMANDS")
    for group in CommandGroup.allCases {
      page.subsection(group.rawValue)
      for command in Command.allCases where command.row.group == group {
        page.item("opflow \(command.synopsis)", command.row.summary)
      }
    }
    for command in Command.allCases { add(command, to: &page) }
    page.section("TERMS")
    for term in Glossary.terms { page.item(term.name, term.meaning) }
    page.section("ENVIRONMENT")
    page.item("NO_COLOR, CLICOLOR_FORCE", "Never or always use colors")
    page.item("OPFLOW_CACHE, OPFLOW_CACHE_SIZE", "The folder of the cache and its maximum size")
    page.section("FILES")
    page.item("opflow.yaml", "The manifest")
    page.item(".opflow", "The runs with their journals and logs, next to the manifest")
    page.section("SEE ALSO")
    page.paragraphs("opflow.yaml(5)")
    return page.text
  }

  private static func add(_ command: Command, to page: inout RoffText) {
    let row = command.row
    page.section("OPFLOW \(command.word.uppercased())")
    page.bold("opflow \(command.synopsis)")
    let placeholders = row.placeholders.map(\.meaning).joined(separator: "\n\n")
    page.paragraphs("\(row.summary).\n\n\(row.details)\n\n\(placeholders)")
    for (group, flags) in row.groups {
      page.subsection(group.rawValue)
      for flag in flags { page.item(flag.spelling, flag.meaning) }
    }
    page.subsection("Examples")
    for example in row.examples { page.item(example.command, example.meaning) }
    page.subsection("Exit codes")
    for exit in row.exits { page.item(exit.code, exit.meaning) }
  }
}

extension CommandRow {
  /// The flags by group, with `--help`.
  fileprivate var groups: [(FlagGroup, [FlagRow])] {
    let rows = (flags + [.help]).map(\.row)
    return FlagGroup.allCases.compactMap { group in
      let members = rows.filter { $0.group == group }
      return members.isEmpty ? nil : (group, members)
    }
  }

  /// The placeholders of the usage line and of flags that need an explanation.
  fileprivate var placeholders: [Glossary.Term] {
    let values = Set(words.placeholders + flags.map(\.row.takes.name))
    // A FILE of a flag is any file.
    let isManifest = words.placeholders.contains("FILE")
    return Glossary.placeholders.filter {
      values.contains($0.name) && ($0.name != "FILE" || isManifest)
    }
  }
}
