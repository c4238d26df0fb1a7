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
    let help = row.help()
    var text = "\(help.summary)\n\nusage: opflow \(command.synopsis)\n"
    if !help.description.isEmpty { text += "\n\(help.description)\n" }
    let flags = (row.flags + [.help]).map { $0.row }
    for group in FlagGroup.allCases {
      let members = flags.filter { $0.group == group }
      if members.isEmpty { continue }
      text += "\n\(group.rawValue):\n"
      for flag in members { text += line(of: flag) }
    }
    if !help.examples.isEmpty { text += "\nExamples:\n\(help.examples)\n" }
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
