import Foundation
import Testing

/// Every code block of the README holds.
///
/// A `yaml` block is written to the file that its first comment names and checked. A `console`
/// block is a session: each line after `$ ` is run in a copy of the repository's `jobs`, and what
/// follows must be what it prints, standard error included.
struct ReadmeTests {
  private struct Block {
    let kind: String
    let lines: [String]
  }

  private static func blocks() throws -> [Block] {
    let text = try String(contentsOfFile: Program.package + "/README.md", encoding: .utf8)
    var blocks: [Block] = []
    var open: (kind: String, lines: [String])?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
      guard line.hasPrefix("```") else {
        open?.lines.append(line)
        continue
      }
      if let block = open {
        blocks.append(Block(kind: block.kind, lines: block.lines))
        open = nil
      } else {
        open = (String(line.dropFirst(3)), [])
      }
    }
    return blocks
  }

  /// Replaces what differs from run to run: ids of runs, times, the folder, and the width
  /// of columns.
  private func normalised(_ text: String, in place: Workplace) -> String {
    text.replacing(place.path, with: "~/opflow")
      .replacing(#/\b\d{8}-\d{6}-[0-9a-z]+\b/#, with: "RUN")
      .replacing(#/\b\d+(\.\d+)? ?(ms|s|m)\b/#, with: "TIME")
      .replacing(#/ +/#, with: " ")
  }

  @Test func `every block is of a kind that is tested`() throws {
    let kinds = Set(try Self.blocks().map(\.kind))
    #expect(kinds.isSubset(of: ["yaml", "console"]), "\(kinds)")
    #expect(kinds.count == 2)
  }

  @Test func `the README's commands print what it says`() throws {
    let place = try Workplace()
    try FileManager.default.copyItem(
      atPath: Program.package + "/jobs", toPath: place.file("jobs"))
    _ = try? place.remove("jobs/.opflow")
    _ = try? place.remove("jobs/out")
    // What `scripts/opflow` and `scripts/test` build is what is under test here, and is there.
    try place.writeProgram("scripts/opflow", "#!/bin/sh\nexec \"$opflow\" \"$@\"\n")
    try place.writeProgram("scripts/test", "#!/bin/sh\n")
    for block in try Self.blocks() {
      switch block.kind {
      case "yaml":
        let name = try #require(block.lines.first?.split(separator: " ").last.map(String.init))
        try place.write(name, block.lines.joined(separator: "\n") + "\n")
        try place.opflow("check", name)
      default:
        try runSession(block.lines, in: place)
      }
    }
  }

  private func runSession(_ lines: [String], in place: Workplace) throws {
    var rest = lines[...]
    while let line = rest.popFirst() {
      guard line.hasPrefix("$ ") else {
        Issue.record("no command of a session: \(line)")
        return
      }
      let end = rest.firstIndex { $0.hasPrefix("$ ") } ?? rest.endIndex
      let expected = rest[..<end].joined(separator: "\n")
      rest = rest[end...]
      let command = String(line.dropFirst(2))
      let run = try place.shell("PATH=$PWD/scripts:$PATH; { \(command); } 2>&1", status: nil)
      // A session that shows no output is about the command alone.
      guard !expected.isEmpty else {
        #expect(run.status == 0, "\(command): \(run)")
        continue
      }
      let said = run.output.hasSuffix("\n") ? String(run.output.dropLast()) : run.output
      #expect(
        normalised(said, in: place) == normalised(expected, in: place), "\(command): \(run)")
    }
  }
}
