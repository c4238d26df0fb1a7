import Foundation

@testable import OpflowCommandLine

/// The generated part of the manual's page of commands, in Markdown: the common flags, then each
/// command with its first paragraph. Other paragraphs are shared by several commands, or explained
/// on the page that the command links to.
struct CommandsPageText {
  private(set) var text = ""
  private let sharedParagraphs: Set<String>
  private let sharedFlags: [FlagRow]

  init() {
    let rows = Command.allCases.map(\.row)
    sharedParagraphs = Self.repeated(rows.flatMap(Self.paragraphs))
    let shared = Self.repeated(rows.flatMap(\.flags).map(\.row.meaning))
    sharedFlags = Flag.listed.map(\.row).filter { shared.contains($0.meaning) }
    text += "## Common flags\n"
    for group in FlagGroup.allCases {
      let flags = sharedFlags.filter { $0.group == group }
      if flags.isEmpty { continue }
      text += "\n### \(group.rawValue)\n\n"
      for flag in flags { write(flag) }
    }
    for command in Command.allCases { write(command) }
  }

  private static func repeated(_ texts: [String]) -> Set<String> {
    Set(Dictionary(grouping: texts) { $0 }.filter { $0.value.count > 1 }.keys)
  }

  private static func paragraphs(_ row: CommandRow) -> [String] {
    row.details.components(separatedBy: "\n\n").filter { !$0.isEmpty }
  }

  // MARK: - Commands

  private mutating func write(_ command: Command) {
    let row = command.row
    let usage = "opflow \(command.synopsis)".replacing(" [FLAGS]", with: "")
    text += "\n## opflow \(command.word)\n\n\(row.summary).\n\nUsage: `\(usage)`\n\n"
    let paragraphs = Self.paragraphs(row).filter { !sharedParagraphs.contains($0) }
    let link = Self.links[command.word].map { "See <doc:\($0)>." }
    if let first = paragraphs.first {
      // A colon introduces the next paragraph.
      let isWhole = !first.hasSuffix(":")
      write([isWhole ? Self.marked(first) : nil, link].compactMap { $0 }.joined(separator: " "))
      text += "\n"
    } else if let link {
      text += "\(link)\n\n"
    }
    for example in row.examples { write("- `\(example.command)`: \(Self.marked(example.meaning))") }
    let flags = row.flags.map(\.row)
    let shared = flags.filter { flag in sharedFlags.contains { $0.meaning == flag.meaning } }
    let own = flags.filter { flag in !shared.contains { $0.meaning == flag.meaning } }
    if !flags.isEmpty { text += "\nFlags:\n\n" }
    for flag in own { write(flag) }
    if !shared.isEmpty { write("- " + shared.map { "`\($0.spelled)`" }.joined(separator: ", ")) }
  }

  /// Where the manual explains a command.
  private static let links = [
    "run": "CommandLine", "resume": "Journal#Which-tasks-a-resume-runs",
    "plan": "CommandLine#Plan-a-run", "serve": "CommandLine#Queues",
    "status": "Output#State-of-a-run", "report": "Reports", "graph": "Reports#Graph",
    "journal": "Journal", "add": "CommandLine#Add-tasks", "approve": "Dependencies#Approvals",
    "clean": "CommandLine#Old-runs", "schema": "Editors", "completion": "Completion",
  ]

  private mutating func write(_ flag: FlagRow) {
    let names = flag.spelling.split(separator: ", ").map { "`\($0)`" }.joined(separator: ", ")
    write("- \(names): \(Self.marked(flag.meaning))")
  }

  // MARK: - Markdown

  /// Wraps a paragraph or an item of a list.
  private mutating func write(_ paragraph: String) {
    let indent = paragraph.hasPrefix("- ") ? "  " : ""
    var line = ""
    for word in paragraph.split(separator: " ") {
      if !line.isEmpty, line.count + 1 + word.count > 120 {
        text += line + "\n"
        line = indent + word
      } else {
        line += line.isEmpty ? word : " " + word
      }
    }
    text += line + "\n"
  }

  /// Marks flags, names and patterns in a text of help as code.
  private static func marked(_ help: String) -> String {
    let parts = help.replacing("\n", with: " ").split(
      separator: "`", omittingEmptySubsequences: false)
    return parts.enumerated().map { index, part in
      if index % 2 == 1 { return String(part) }
      return part.split(separator: " ", omittingEmptySubsequences: false).map(marked(word:))
        .joined(separator: " ")
    }.joined(separator: "`")
  }

  private static func marked(word: Substring) -> String {
    let begin = word.prefix { $0 == "(" }
    let end = String(word.reversed().prefix { ".,;:)".contains($0) }.reversed())
    let core = word.dropFirst(begin.count).dropLast(end.count)
    let isCode = core.hasPrefix("-") || core.contains { "*_[<$|".contains($0) }
    return isCode ? "\(begin)`\(core)`\(end)" : String(word)
  }
}
