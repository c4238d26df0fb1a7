import Foundation
import Testing

/// Completes command lines in real shells at a terminal, with the scripts that `opflow completion`
/// prints.
struct CompletionTests {
  private struct Shell: CustomTestStringConvertible {
    let name: String
    var way = ""
    let arguments: [String]
    let setUp: String
    /// Lines that this shell reads differently from the others.
    var leavesOut: [String] = []

    var path: String? {
      ["/usr/bin/\(name)", "/bin/\(name)", "/usr/local/bin/\(name)"].first {
        FileManager.default.isExecutableFile(atPath: $0)
      }
    }

    var testDescription: String { name + way }
  }

  private static let shells = [
    Shell(
      name: "bash", arguments: ["--norc", "--noprofile", "-i"],
      setUp: "eval \"$(opflow completion bash)\""),
    Shell(
      name: "zsh", arguments: ["-f", "-i"],
      setUp: "autoload -U compinit; compinit -u -D; eval \"$(opflow completion zsh)\"",
      // For zsh this is a pattern, which it does not complete.
      leavesOut: ["run build[arch=x86_64,v=c\t"]),
    Shell(
      name: "zsh", way: " with a file, as an install has it", arguments: ["-f", "-i"],
      setUp: "mkdir functions; opflow completion zsh > functions/_opflow;"
        + " fpath=($PWD/functions $fpath); autoload -U compinit; compinit -u -D",
      leavesOut: ["run build[arch=x86_64,v=c\t"]),
    Shell(
      name: "fish", arguments: ["--no-config", "-i"], setUp: "opflow completion fish | source"),
  ]

  /// The input after `opflow`, and the arguments that it is completed to.
  private static let lines: [(typed: String, arguments: [String])] = [
    ("lo\t", ["logs"]),
    ("run db:u\t", ["run", "db:up"]),
    ("run db:\tu\t", ["run", "db:up"]),
    ("run we@\t", ["run", "we@host"]),
    ("run db/\t", ["run", "db/x"]),
    ("run tag:s\t", ["run", "tag:slow"]),
    ("run build[arch=x86_64,v=c\t", ["run", "build[arch=x86_64,v=c]"]),
    ("run build\\[arch=x86_64,v=c\t", ["run", "build[arch=x86_64,v=c]"]),
    ("run \"build[arch=x86_64,v=c\t", ["run", "build[arch=x86_64,v=c]"]),
    ("run 'build[arch=aarch64,v=a\t", ["run", "build[arch=aarch64,v=a%20b]"]),
    ("run --only=li\t", ["run", "--only=lint"]),
    ("run --only=db:u\t", ["run", "--only=db:up"]),
    ("run --only=build\\[arch=x86_64,v=a\t", ["run", "--only=build[arch=x86_64,v=a%20b]"]),
    ("run --dur\tgr\t", ["run", "--durability", "group"]),
    ("run -f my\t a\t", ["run", "-f", "my other.yaml", "alone"]),
    ("check \"my ot\t", ["check", "my other.yaml"]),
    ("-C sub run ins\t", ["-C", "sub", "run", "inside"]),
    ("run --junit su\tzz", ["run", "--junit", "sub/zz"]),
    ("parallel ne\t3", ["parallel", "net=3"]),
    ("priority db:u\tvery_h\t", ["priority", "db:up", "very_high"]),
    ("help manifest time\t", ["help", "manifest", "timeout"]),
    ("resume 2\t", ["resume", "RUN"]),
    ("run nothing-fits\t", ["run", "nothing-fits"]),
  ]

  private func place() throws -> Workplace {
    let place = try Workplace(
      """
      resources: { net: 2 }
      tasks:
        db:up: { run: "true", desc: "start: the 'database'", tags: [slow, fast] }
        db:down: { run: "true" }
        db/x: { run: "true" }
        we@host: { run: "true" }
        build:
          matrix: { arch: [x86_64, aarch64], v: ["a b", c] }
          run: "true"
        lint: { run: "true" }
      """)
    try place.write("my other.yaml", "tasks: { alone: { run: \"true\" } }")
    try place.write("sub/opflow.yaml", "tasks: { inside: { run: \"true\" } }")
    // Runs opflow for completion, and records the arguments of all other calls.
    try place.writeProgram(
      "bin/opflow",
      """
      #!/bin/sh
      case "$1" in __complete | completion) exec '\(Program.path)' "$@" ;; esac
      : > "$PLACE/new"
      for a; do printf '%s\\n' "$a" >> "$PLACE/new"; done
      mv "$PLACE/new" "$PLACE/arguments"
      """)
    return place
  }

  @Test(arguments: shells) private func `lines are completed`(_ shell: Shell) throws {
    guard let path = shell.path else {
      try Test.cancel("there is no \(shell.name): scripts/setup --tests installs it")
    }
    let place = try place()
    try place.opflow("run", "lint", "-q")
    let run = try #require(place.entries(".opflow/runs").first)
    try place.write("home/.keep", "")
    let terminal = try LiveTerminal(
      Launch(
        program: path, arguments: shell.arguments,
        environment: [
          "PATH": place.file("bin") + ":/usr/bin:/bin", "HOME": place.file("home"),
          "PLACE": place.path, "TERM": "xterm", "LANG": "C.UTF-8", "PS1": "$ ",
          "OPFLOW_TEST_MARK": place.mark,
        ], folder: place.path), columns: 150, rows: 40)
    try terminal.type("\(shell.setUp)\n")
    for line in Self.lines where !shell.leavesOut.contains(line.typed) {
      try terminal.type("opflow \(line.typed)\n")
      try terminal.wait { _ in place.exists("arguments") }
      let wanted = line.arguments.map { $0 == "RUN" ? run : $0 }
      #expect(place.lines("arguments") == wanted, "\(shell.name): \(line.typed)")
      try place.remove("arguments")
    }
  }

  @Test func `completion of a broken manifest prints no errors`() throws {
    let place = try place()
    let answer = try place.opflow("__complete", "bash", "opflow run db:", " \t\n\"'@><=;|&(:")
    #expect(answer.output == "closed\nup\ndown\n")
    #expect(answer.errors == "")
    try place.write("opflow.yaml", "tasks: { a: { rnu: x } }")
    let broken = try place.opflow("__complete", "bash", "opflow run ", " :=")
    #expect(broken.errors == "" && !broken.output.contains("a\n"))
    let nowhere = try place.opflow(
      "__complete", "bash", "opflow -C gone run ", " :=", status: nil)
    #expect(nowhere.errors == "" && nowhere.output == "")
  }

  @Test func `tasks of a manifest with errors are completed from its newest run`() throws {
    let place = try place()
    try place.opflow("run", "lint", "-q")
    try place.write("opflow.yaml", "tasks: { a: { rnu: x } }")
    let answer = try place.opflow("__complete", "bash", "opflow run li", " :=")
    #expect(answer.output == "closed\nlint\n")
  }
}
