import Testing

/// How a command is run.
struct ShellTests {
  @Test func `a list is run without a shell`() throws {
    let place = try Workplace(
      #"""
      tasks:
        a: { run: [/usr/bin/printf, '%s\n', "$HOME", "a b", "*", ";", "", "'"] }
      """#)
    try place.opflow("run")
    #expect(try place.log("a") == "$HOME\na b\n*\n;\n\n'\n")
  }

  @Test func `a string goes to the shell`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: 'for i in 1 2; do echo $i; done | tac' }
      """)
    try place.opflow("run")
    #expect(try place.log("a") == "2\n1\n")
  }

  @Test func `a failing line in the middle fails the task`() throws {
    let place = try Workplace(
      """
      tasks:
        a:
          run: |
            echo one >> trace
            false
            echo two >> trace
      """)
    try place.opflow("run", status: 1)
    #expect(place.lines() == ["one"])
  }

  @Test func `shell bash fails with a failing pipe`() throws {
    let place = try Workplace(
      """
      max_failures: 0
      tasks:
        sh: { run: false | cat }
        bash: { run: false | cat, shell: bash }
      """)
    try place.opflow("run", status: 1)
    let status = try place.status()
    #expect(status["sh"]?.state == "succeeded")
    #expect(status["bash"]?.state == "failed")
  }

  @Test func `any program may be the shell`() throws {
    let place = try Workplace(
      """
      tasks:
        awk: { shell: [awk], run: 'BEGIN { print 6 * 7 }' }
        cat: { shell: [sh, -c, 'printf "<%s>" "$1"', name], run: "$HOME; it's text" }
      """)
    try place.opflow("run")
    #expect(try place.log("awk") == "42\n")
    #expect(try place.log("cat") == "<$HOME; it's text>")
  }

  @Test func `a simple command behaves as through the shell`() throws {
    let place = try Workplace(
      """
      max_failures: 0
      tasks:
        found: { run: env, env: { MARK: "1" } }
        missing: { run: no-such-command-anywhere }
        builtin: { run: exit 9 }
        folder: { run: / }
        denied: { run: ./denied }
        script: { run: ./script arg }
        assign: { run: X=1 }
        quoted: { run: 'echo "a  b" c' }
      """)
    try place.writeProgram("denied", "#!/bin/sh\n", mode: "644")
    try place.writeProgram("script", "echo script without a first line: $1\n")
    try place.opflow("run", status: 1)
    let status = try place.status()
    #expect(status["found"]?.exit == 0)
    #expect(status["missing"]?.exit == 127)
    #expect(try place.log("missing").contains("not found"))
    #expect(status["builtin"]?.exit == 9)
    #expect(status["folder"]?.exit == 126)
    #expect(status["denied"]?.exit == 126)
    #expect(try place.log("script") == "script without a first line: arg\n")
    #expect(status["assign"]?.exit == 0)
    #expect(try place.log("quoted") == "a  b c\n")
  }

  @Test func `PATH of the task decides which program is meant`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: tool, env: { PATH: "bin:${{ env.PATH }}" }, dir: sub }
      """)
    try place.writeProgram("sub/bin/tool", "#!/bin/sh\necho mine\n")
    try place.opflow("run")
    #expect(try place.log("a") == "mine\n")
  }

  @Test func `a program of a list that is missing fails the task and is named`() throws {
    let place = try Workplace("tasks: { a: { run: [no-such-program, x] } }")
    let run = try place.opflow("run", status: 1)
    #expect(run.errors.contains("could not start: `no-such-program` not found in PATH"), "\(run)")
  }

  @Test func `exit codes and signals are told apart`() throws {
    let place = try Workplace(
      """
      max_failures: 0
      tasks:
        code: { run: exit 137 }
        signal: { run: kill -KILL $$ }
        term: { run: kill -TERM $$ }
      """)
    try place.opflow("run", status: 1)
    let status = try place.status()
    #expect(status["code"]?.exit == 137)
    #expect(status["code"]?.signal == nil)
    #expect(status["signal"]?.exit == nil)
    #expect(status["signal"]?.signal == 9)
    #expect(status["term"]?.signal == 15)
  }

  @Test func `a very long command is run`() throws {
    let text = String(repeating: "x", count: 100_000)
    let place = try Workplace("tasks: { a: { run: 'printf %s \(text) | wc -c' } }")
    try place.opflow("run")
    #expect(try place.log("a") == "100000\n")
  }

  @Test func `a command too long for the kernel fails its task`() throws {
    let text = String(repeating: "x", count: 300_000)
    let place = try Workplace(
      """
      max_failures: 0
      tasks:
        a: { run: [echo, "\(text)"] }
        b: { run: echo b >> trace }
      """)
    let run = try place.opflow("run", status: 1)
    #expect(run.errors.lowercased().contains("argument list too long"))
    #expect(place.lines() == ["b"])
  }

  /// More than the kernel takes for one argument.
  private static let longScript =
    "run: |\n" + String(repeating: "      true a line like many others\n", count: 6_000)

  @Test(arguments: ["[/bin/sh, -ec]", "bash", "[bash, -ce]"])
  func `a script that is too long for an argument is run like any other`(_ shell: String) throws {
    let place = try Workplace(
      """
      tasks:
        long:
          shell: \(shell)
          \(Self.longScript)      printf '%s\\n' "$@"
            [ -z "$(ls -A "$OPFLOW_TMP")" ]
            false
            echo not reached
      """)
    try place.opflow("run", "long", "--", "a b", "", status: 1, environment: ["TMPDIR": place.path])
    #expect(try place.log("long") == "a b\n\n")
    #expect(place.entries().filter { $0.hasPrefix("opflow-2") } == [])
  }

  @Test func `what is too long for the kernel is told by its name and size`() throws {
    let place = try Workplace(
      """
      max_failures: 0
      tasks:
        program:
          shell: [python3, -c]
          \(Self.longScript)
        variable: { run: [echo, a], env: { LONG: "\(String(repeating: "x", count: 200_000))" } }
        argument: { run: [echo, a, "\(String(repeating: "x", count: 200_000))"] }
        all: { run: [echo, \((0..<40).map { _ in String(repeating: "x", count: 100_000) }.joined(separator: ", "))] }
      """)
    let run = try place.opflow("run", "--output", "line", status: 1)
    #expect(
      run.errors.contains("its script has 169.9KiB, but an argument can have only 128 KiB"),
      "\(run)")
    #expect(
      run.errors.contains("the variable LONG has 195.3KiB, and the kernel allows 128 KiB"),
      "\(run)")
    #expect(
      run.errors.contains("argument 2 has 195.3KiB, and the kernel allows 128 KiB"), "\(run)")
    #expect(run.errors.contains("its arguments (3.8MiB) and environment ("), "\(run)")
  }
}
