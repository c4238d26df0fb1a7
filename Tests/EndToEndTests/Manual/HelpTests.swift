import Foundation
import Testing

/// `opflow help` with any word.
struct HelpTests {
  private func words(_ text: String) -> [String] {
    text.split(separator: "\n")
      .filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") && !$0.hasPrefix("  opflow ") }
      .compactMap { $0.split(separator: " ").first.map(String.init) }
  }

  @Test func `help tells about the keys of a manifest`() throws {
    let place = try Workplace()
    #expect(try place.opflow("help", "manifest").output.contains("\n  timeout "))
    let key = try place.opflow("help", "manifest", "timeout").output
    #expect(key.hasPrefix("timeout, in a task or `defaults`:\n") && key.contains("timeout: 10m"))
    let unknown = try place.opflow("help", "manifest", "depends_on", status: 2)
    #expect(unknown.errors.contains("did you mean `opflow help manifest needs`?"))
  }

  @Test func `keys that few manifests need come last`() throws {
    let keys = words(try Workplace().opflow("help", "manifest").output)
    #expect(
      keys.first == "tasks" && keys.firstIndex(of: "run") == keys.firstIndex(of: "version")! + 1)
    let advanced = try #require(keys.firstIndex(of: "block"))
    #expect(keys[..<advanced].suffix(3) == ["control", "local", "jobserver"])
    #expect(keys[advanced + 1] == "max")
  }

  @Test func `help with any command, key, flag or term is there and fits a screen`() throws {
    let place = try Workplace()
    let commands = words(try place.opflow("help", "--all").output)
    #expect(commands.count > 25)
    for command in commands + ["control"] {
      let help = try place.opflow("help", command)
      #expect(help.outputLines.count <= 40, "\(command)")
      for line in help.outputLines { #expect(line.count <= 100, "\(line)") }
      if command != "control", command != "help" {
        #expect(try place.opflow(command, "--help").output == help.output)
        #expect(try place.opflow(command, "-h").output == help.output)
      }
    }
    let keys = Set(words(try place.opflow("help", "manifest").output))
    #expect(keys.count > 50)
    for key in keys.sorted() {
      let help = try place.opflow("help", key).output
      #expect(
        help.hasPrefix("\(key), in ") || help.contains("\n  \(key), in "), "\(key): \(help)")
    }
    for word in ["-k", "--rerun", "rerun", "session", "up to date", "SEL", "retry.max"] {
      #expect(try !place.opflow("help", word).output.isEmpty)
    }
  }

  @Test func `a word with several meanings is explained with each`() throws {
    let place = try Workplace()
    let retry = try place.opflow("help", "retry").output
    #expect(retry.contains("Usage: opflow retry ") && retry.contains("\n  retry: Run a failed "))
    #expect(retry.contains("(`opflow help manifest retry` shows an example)"))
    #expect(retry.contains("\n  retry, in a task or `defaults`: "))
    let matrix = try place.opflow("help", "matrix").output
    #expect(matrix.hasPrefix("matrix: ") && matrix.contains("\n  matrix, in a task: "))
    let port = try place.opflow("help", "env").output
    #expect(port.components(separatedBy: "env, in ").count == 5)
  }

  @Test(arguments: [
    (["nope"], "no help for `nope`; `opflow help` lists the commands"),
    ([""], "no help for ``; `opflow help` lists the commands"),
    (["-x"], "no help for `-x`; `opflow help` lists the commands"),
    (["a", "b", "c"], "no help for `a b c`; `opflow help` lists the commands"),
    (["timeot"], "no help for `timeot`; did you mean `opflow help timeout`?"),
    (["depends_on"], "no help for `depends_on`; did you mean `opflow help needs`?"),
    (["--rernu"], "no help for `--rernu`; did you mean `opflow help --rerun`?"),
    (
      [String(repeating: "x", count: 500)],
      "no help for `\(String(repeating: "x", count: 60))…`; `opflow help` lists the commands"
    ),
    (["\u{1b}[31mred"], "no help for `red`; `opflow help` lists the commands"),
  ])
  func `an unknown word is one plain error`(_ words: [String], _ message: String) throws {
    let place = try Workplace()
    let help = try place.launch(
      Program.path, ["help"] + words, input: nil, environment: [:], in: nil
    ).start().finish()
    #expect(help.status == 2)
    #expect(help.errors == "opflow: \(message)\n" && help.output == "")
  }
}
