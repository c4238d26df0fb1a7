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
        + "/Sources/opflow/opflow.docc/CommandLine.md", encoding: .utf8)
  }

  @Test func `every command that is there is in the manual and in the help`() {
    for command in Command.allCases {
      let synopsis = command.synopsis.replacing("[FLAGS] ", with: "").replacing(
        " [FLAGS]", with: "")
      let line = "\nopflow \(synopsis)"
      #expect(manual.contains(line + "\n") || manual.contains(line + " "), "\(line)")
      #expect(HelpText.text(nil).contains("\n  \(command.word) "), "\(command)")
    }
  }

  @Test func `every flag is in the manual and in the help of each command that takes it`() throws {
    for command in Command.allCases {
      for flag in command.flags.map({ $0.row }) {
        let spellings = [flag.letter.map { "-\($0)" }, flag.long.map { "--\($0)" }].compactMap {
          $0
        }
        let help = HelpText.text(command)
        for spelling in spellings {
          #expect(
            manual.firstMatch(of: try Regex("`\(spelling)[ `]")) != nil, "\(spelling)")
          #expect(
            help.firstMatch(of: try Regex(" \(spelling)[ ,\n]")) != nil, "\(command) \(spelling)")
        }
        #expect(help.contains(flag.meaning), "\(command) \(flag.meaning)")
      }
    }
  }

  @Test func `a command says which of its choices are the default`() {
    let run = HelpText.text(.run)
    for mode in OutputMode.allCases { #expect(run.contains(mode.rawValue)) }
    #expect(
      run.contains("default: live on a terminal, github and gitlab on theirs, else line"))
  }
}
