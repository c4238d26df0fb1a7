internal import OpflowBase

package enum HelpText {
  package static func text(_ topic: Command?) -> String {
    topic.map(command) ?? program
  }

  private static var program: String {
    var text = """
      opflow runs the tasks of a manifest: in the order that they need each other, many at once, and
      such that a run that was stopped, killed or failed goes on where it was.

      usage: opflow COMMAND [FLAGS] [ARGUMENTS]

      """
    for group in CommandGroup.allCases {
      text += "\n\(group.rawValue):\n"
      for command in Command.allCases where command.row.group == group {
        text += line("  \(command.word)\(words(of: command))", 20, command.row.meaning)
      }
    }
    return text + """

      opflow alone shows the tasks of opflow.yaml here or above.

      Examples:
        opflow run                      run all tasks of opflow.yaml
        opflow run test                 run the task `test` and what it needs
        opflow run -j4 -k build.yaml    another manifest, four at once, and go on after failures
        opflow resume                   continue the newest run
        opflow logs -f test             follow what the task `test` prints

      """
  }

  private static func words(of command: Command) -> String {
    let row = command.row
    if let label = row.label { return label }
    let words = row.words.synopsis
    return words.before + words.behind.replacing(" [FILE]", with: "")
  }

  private static func command(_ command: Command) -> String {
    let row = command.row
    var text = "\(row.summary)\n\nusage: opflow \(command.synopsis)\n"
    if !row.description.isEmpty { text += "\n\(row.description)\n" }
    let flags = (row.flags + [.help]).map { $0.row }
    for group in FlagGroup.allCases {
      let members = flags.filter { $0.group == group }
      if members.isEmpty { continue }
      text += "\n\(group.rawValue):\n"
      for flag in members { text += line(of: flag) }
    }
    if !row.examples.isEmpty { text += "\nExamples:\n\(row.examples)\n" }
    return text
  }

  /// Returns `  -j, --max-parallel N   meaning`.
  private static func line(of flag: FlagRow) -> String {
    var left = "  \(flag.letter.map { "-\($0)" } ?? "  ")"
    if let long = flag.long { left += flag.letter == nil ? "  --\(long)" : ", --\(long)" }
    if flag.takes.isThere { left += " \(flag.takes.name)" }
    return line(left, 28, flag.meaning)
  }

  /// A long left column gets a line of its own.
  private static func line(_ left: String, _ column: Int, _ right: String) -> String {
    if left.count >= column {
      return "\(left)\n\(String(repeating: " ", count: column))\(right)\n"
    }
    return "\(left)\(String(repeating: " ", count: column - left.count))\(right)\n"
  }
}

/// The manual page opflow(1), from the table of commands and flags.
package enum CommandPage {
  /// - Parameter date: `2026-12-31`; may be empty.
  package static func text(date: String) -> String {
    var page = RoffText("OPFLOW", section: 1, date: date)
    page.name("opflow", "run the tasks of a manifest, and go on where a run was stopped")
    page.section("SYNOPSIS")
    page.bold("opflow [COMMAND [FLAGS] [ARGUMENTS]]")
    page.section("DESCRIPTION")
    page.paragraphs(
      """
      opflow runs the tasks of a manifest, opflow.yaml(5): in the order that they need each other, many at
      once, and such that a run that was stopped, killed or failed goes on where it was.

      Alone it shows the tasks of opflow.yaml here or in the nearest folder above.
      """)
    page.section("COMMANDS")
    for group in CommandGroup.allCases {
      page.subsection(group.rawValue)
      for command in Command.allCases where command.row.group == group {
        page.item("opflow \(command.synopsis)", command.row.meaning)
      }
    }
    for command in Command.allCases { add(command, to: &page) }
    page.section("ENVIRONMENT")
    page.item("NO_COLOR, CLICOLOR_FORCE", "colours are never or always used")
    page.item("OPFLOW_CACHE, OPFLOW_CACHE_SIZE", "where results are cached, and how much of them")
    page.section("FILES")
    page.item("opflow.yaml", "the manifest")
    page.item(".opflow", "runs, with their journals and logs, beside the manifest")
    page.section("SEE ALSO")
    page.paragraphs("opflow.yaml(5)")
    return page.text
  }

  private static func add(_ command: Command, to page: inout RoffText) {
    let row = command.row
    page.section("OPFLOW \(command.word.uppercased())")
    page.bold("opflow \(command.synopsis)")
    page.paragraphs("\(row.summary)\n\n\(row.description)")
    for group in FlagGroup.allCases {
      let members = (row.flags + [.help]).map { $0.row }.filter { $0.group == group }
      if members.isEmpty { continue }
      page.subsection(group.rawValue)
      for flag in members { page.item(spelling(flag), flag.meaning) }
    }
    if !row.examples.isEmpty {
      page.subsection("Examples")
      add(examples: row.examples, to: &page)
    }
  }

  /// Each command with its meaning below it, for narrow terminals.
  private static func add(examples: String, to page: inout RoffText) {
    var items: [(command: String, meaning: String)] = []
    for line in examples.split(separator: "\n") {
      let text = line.drop { $0 == " " }
      // Continues the meaning of the line before.
      if line.count - text.count > 8, let last = items.indices.last {
        items[last].meaning += " \(text)"
      } else {
        let end = text.firstRange(of: "  ")?.lowerBound ?? text.endIndex
        items.append((String(text[..<end]), String(text[end...].drop { $0 == " " })))
      }
    }
    for item in items {
      if item.meaning.isEmpty {
        page.bold(item.command)
      } else {
        page.item(item.command, item.meaning)
      }
    }
  }

  private static func spelling(_ flag: FlagRow) -> String {
    let names = [flag.letter.map { "-\($0)" }, flag.long.map { "--\($0)" }].compactMap { $0 }
    let value = flag.takes.isThere ? " \(flag.takes.name)" : ""
    return names.joined(separator: ", ") + value
  }
}
