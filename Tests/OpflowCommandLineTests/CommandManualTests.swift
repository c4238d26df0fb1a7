import Foundation
import OpflowBase
import Testing

@testable import OpflowCommandLine

/// The tables of the command line, the help and the manual say the same.
@Suite struct CommandManualTests {
  private let manual: String

  init() throws {
    manual = try String(
      contentsOfFile: #filePath.components(separatedBy: "/Tests/")[0]
        + "/Sources/opflow/opflow.docc/Commands.md", encoding: .utf8)
  }

  @Test func `every command that is there is in the manual and in the help`() {
    for command in Command.allCases {
      let synopsis = command.synopsis.replacing("[FLAGS] ", with: "").replacing(
        " [FLAGS]", with: "")
      #expect(manual.contains("\nUsage: `opflow \(synopsis)`\n"), "\(synopsis)")
      #expect(HelpText.program(isLong: true).contains("\n  \(command.word) "), "\(command)")
    }
  }

  @Test func `every flag is in the manual and in the help of each command that takes it`() throws {
    for command in Command.allCases {
      for flag in command.flags.map({ $0.row }) {
        let spellings = [flag.letter.map { "-\($0)" }, flag.long.map { "--\($0)" }].compactMap {
          $0
        }
        let help = try #require(HelpText.command(command.word, isLong: true))
        let words = help.split { $0.isWhitespace }.joined(separator: " ")
        for spelling in spellings {
          #expect(
            manual.firstMatch(of: try Regex("`\(spelling)[ `]")) != nil, "\(spelling)")
          #expect(
            help.firstMatch(of: try Regex(" \(spelling)[ ,\n]")) != nil, "\(command) \(spelling)")
        }
        #expect(words.contains(flag.meaning), "\(command) \(flag.meaning)")
      }
    }
  }

  @Test func `a command says which of its choices are the default`() throws {
    let run = try #require(HelpText.command("run", isLong: true))
    for mode in OutputMode.allCases { #expect(run.contains(mode.rawValue)) }
    let words = run.split { $0.isWhitespace }.joined(separator: " ")
    #expect(words.contains("default: live on a terminal, github and gitlab on CI, else line"))
  }
}
