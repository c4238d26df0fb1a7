import Foundation
import Testing

/// Runs the blocks of a page in order, in a folder with a copy of `jobs`.
///
/// - `yaml` is a manifest without errors and warnings. Its first comment names the file, by default
///   `opflow.yaml`.
/// - `console` has commands, each after `$ `, and their exact output with standard error. A line
///   `…` matches any lines. A command without output must only succeed.
/// - `swift` is a part of an example program.
/// - Others are files for later commands, with their names in the first comment: `sh` is an
///   executable script, `json` a JSON file, `file` a file of another program.
struct DocumentTrial {
  let page: DocumentBlocks
  let place: Workplace

  init(_ page: DocumentBlocks) throws {
    self.page = page
    place = try Workplace()
    try FileManager.default.copyItem(
      atPath: Program.package + "/jobs", toPath: place.file("jobs"))
    _ = try? place.remove("jobs/.opflow")
    _ = try? place.remove("jobs/out")
    try place.writeProgram("scripts/opflow", "#!/bin/sh\nexec \"$opflow\" \"$@\"\n")
    // These scripts would build opflow again.
    for name in ["test", "install"] { try place.writeProgram("scripts/\(name)", "#!/bin/sh\n") }
  }

  func run() throws {
    for block in page.blocks where block.reason == nil {
      for command in block.before { try shell(command, block) }
      switch block.kind {
      case "yaml": try check(block)
      case "console": try runSession(block)
      case "swift": try find(block)
      case "sh":
        let name = try #require(block.fileName)
        // The kernel detects a script by its first two bytes.
        let isNamed = block.lines.dropFirst().first?.hasPrefix("#!") == true
        try place.writeProgram(
          name, block.lines.dropFirst(isNamed ? 1 : 0).joined(separator: "\n") + "\n")
        try shell("bash -n '\(name)'", block)
      case "json":
        let name = try #require(block.fileName)
        try place.write(name, block.lines.dropFirst().joined(separator: "\n"))
        try shell("python3 -m json.tool '\(name)' >/dev/null", block)
      default: try writeFile(block)
      }
    }
  }

  /// The lines must occur in an example program, which another test runs.
  private func find(_ block: DocumentBlocks.Block) throws {
    let folder = Program.package + "/Tests/Examples"
    let isThere = try FileManager.default.contentsOfDirectory(atPath: folder).contains {
      try String(contentsOfFile: "\(folder)/\($0)/main.swift", encoding: .utf8).contains(block.text)
    }
    #expect(isThere, "\(page.name):\(block.line): it stands in no program below Tests/Examples")
  }

  /// Writes a file of another program. A second YAML reader checks a YAML file.
  private func writeFile(_ block: DocumentBlocks.Block) throws {
    let name = try #require(block.fileName)
    try place.write(name, block.text)
    let python = Program.package + "/.build/validator/bin/python"
    guard name.hasSuffix(".yml") || name.hasSuffix(".yaml"),
      FileManager.default.isExecutableFile(atPath: python)
    else { return }
    try shell(
      "'\(python)' -c 'import sys, yaml; yaml.safe_load(open(sys.argv[1]))' '\(name)'", block)
  }

  private func shell(_ command: String, _ block: DocumentBlocks.Block) throws {
    let run = try place.shell("PATH=$PWD/scripts:$PATH; \(command)", status: nil)
    #expect(run.status == 0, "\(page.name):\(block.line): \(command): \(run)")
  }

  private func check(_ block: DocumentBlocks.Block) throws {
    let name = block.fileName ?? "opflow.yaml"
    try place.write(name, block.text)
    // Pages use up to four GPUs.
    let check = try place.opflow(
      "check", "-f", name, status: nil, environment: ["CUDA_VISIBLE_DEVICES": "0,1,2,3"])
    #expect(check.status == 0, "\(page.name):\(block.line): \(check)")
    #expect(!check.errors.contains("warning:"), "\(page.name):\(block.line): \(check)")
  }

  private func runSession(_ block: DocumentBlocks.Block) throws {
    var rest = block.lines[...]
    while let line = rest.popFirst() {
      guard line.hasPrefix("$ ") else {
        Issue.record("\(page.name):\(block.line): no command of a session: \(line)")
        return
      }
      let end = rest.firstIndex { $0.hasPrefix("$ ") } ?? rest.endIndex
      let expected = rest[..<end].joined(separator: "\n")
      rest = rest[end...]
      let command = String(line.dropFirst(2))
      let run = try place.shell("PATH=$PWD/scripts:$PATH; { \(command); } 2>&1", status: nil)
      guard !expected.isEmpty else {
        #expect(run.status == 0, "\(page.name):\(block.line): \(command): \(run)")
        continue
      }
      let said = run.output.hasSuffix("\n") ? String(run.output.dropLast()) : run.output
      #expect(
        Self.fits(normalised(said), normalised(expected)),
        "\(page.name):\(block.line): \(command): \(run)")
    }
  }

  /// Whether the output has the expected lines, where `…` matches any lines.
  static func fits(_ said: String, _ expected: String) -> Bool {
    func lines(_ text: String) -> ArraySlice<Substring> {
      text.split(separator: "\n", omittingEmptySubsequences: false)[...]
    }
    func fits(_ said: ArraySlice<Substring>, _ expected: ArraySlice<Substring>) -> Bool {
      guard let first = expected.first else { return said.isEmpty }
      if first == "…" {
        return said.indices.contains { fits(said[$0...], expected.dropFirst()) }
          || fits(said[said.endIndex...], expected.dropFirst())
      }
      return said.first == first && fits(said.dropFirst(), expected.dropFirst())
    }
    return fits(lines(said), lines(expected))
  }

  /// Replaces text that differs between runs: run IDs, times, the folder and the width of columns.
  private func normalised(_ text: String) -> String {
    text.replacing(place.path, with: "~/opflow")
      .replacing(#/\b\d{8}-\d{6}-[0-9a-z]+\b/#, with: "RUN")
      .replacing(#/\b\d+(\.\d+)? ?(ms|s|m)\b/#, with: "TIME")
      .replacing(#/ +/#, with: " ")
  }
}
