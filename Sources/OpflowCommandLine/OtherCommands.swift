/// The commands about opflow itself.
extension CommandRow {
  static var version: CommandRow {
    CommandRow(
      group: .other, meaning: "the version of opflow",
      words: .nothing
    ) {
      CommandHelp(summary: "Print the version of opflow.")
    }
  }

  static var help: CommandRow {
    CommandRow(
      group: .other, meaning: "this text, or all about a command",
      words: .topic
    ) {
      CommandHelp(summary: "Print the help of opflow, or of one of its commands.")
    }
  }
}
