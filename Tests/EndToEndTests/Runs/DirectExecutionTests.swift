import Testing

/// The visible result of a command must not depend on whether opflow executes it directly: each
/// command here runs once as a string, which opflow may execute itself, and once as a list that
/// passes the same text to the same shell.
struct DirectExecutionTests {
  @Test(arguments: CommandGroup.all)
  func `a string does what the shell does with it`(_ group: CommandGroup) throws {
    let place = try Workplace(manifest(group.commands))
    try place.write("sub/inner", "inner\n")
    try place.write("a b", "blank\n")
    try place.write("data", "one\ntwo\nthree\n")
    try place.writeProgram("bin/tool", "#!/bin/sh\necho \"tool of bin: $0 $#\"\n")
    try place.writeProgram("sub/bin/tool", "#!/bin/sh\necho tool of sub\n")
    try place.writeProgram("bin/plain", "echo \"no first line: $1\"\n")
    try place.writeProgram("bin/denied", "#!/bin/sh\necho never\n", mode: "644")
    try place.writeProgram("bin/lost", "#!/no/such/interpreter\n")
    try place.writeProgram("bin/empty", "")
    try place.writeProgram("bin/killed", "#!/bin/sh\nkill -KILL $$\n")
    try place.writeProgram("bin/args", "#!/bin/sh\nfor a; do printf '<%s>' \"$a\"; done\n")
    try place.writeProgram("bin/echo", "#!/bin/sh\nprintf 'the echo of bin\\n'\n")
    try place.writeProgram("bin/=x", "#!/bin/sh\necho equals\n")
    try place.writeProgram("bin/%1", "#!/bin/sh\necho percent\n")
    try place.opflow("run", "-j", "4", status: nil)

    let status = try place.status()
    for (index, command) in group.commands.enumerated() {
      let own = try #require(status["string-\(index)"])
      let shell = try #require(status["shell-\(index)"])
      #expect(own.state == shell.state, "\(command)")
      #expect(code(own) == code(shell), "\(command)")
      #expect(
        try output(place, "string-\(index)") == output(place, "shell-\(index)"), "\(command)")
    }
  }

  /// The exit code as a shell reports it. opflow reports the signal that ended a command; some
  /// shells turn a signal into an exit code.
  private func code(_ task: StatusView.Task) -> Int? {
    task.exit ?? task.signal.map { 128 + $0 }
  }

  /// Each command twice, in an environment with a PATH of its own.
  private func manifest(_ commands: [String]) -> String {
    var text = """
      max_failures: 0
      env: { PATH: "bin:${{ env.PATH }}", MARK: "a mark" }
      tasks:

      """
    for (index, command) in commands.enumerated() {
      let quoted = doubleQuoted(command)
      text += "  string-\(index): { run: \(quoted) }\n"
      text += "  shell-\(index): { run: [/bin/sh, -ec, \(quoted)] }\n"
    }
    return text
  }

  /// As a YAML scalar on one line.
  private func doubleQuoted(_ text: String) -> String {
    let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      .replacing("\n", with: "\\n").replacing("\t", with: "\\t")
    return "\"\(escaped)\""
  }

  /// The output of the task without the expected differences: its name, the temporary folder of
  /// its worker, and the word that some shells print for a killed command.
  private func output(_ place: Workplace, _ task: String) throws -> String {
    guard place.entries(try place.runFolder() + "/logs").contains("\(task).log") else { return "" }
    return try place.log(task).replacing(task, with: "TASK").replacing("Killed\n", with: "")
      .replacing(#/(OPFLOW_TMP|TRACEPARENT)='?[^'\n]*/#) { String($0.output.1) }
  }
}

/// Commands that have something in common.
struct CommandGroup: CustomTestStringConvertible {
  let testDescription: String
  let commands: [String]

  private init(_ name: String, _ commands: [String]) {
    testDescription = name
    self.commands = commands
  }

  static let all = [
    CommandGroup(
      "plain programs",
      [
        "true", "false", "cat data", "cat no-such-file", "ls -1 sub", "env | sort",
        "printenv MARK PWD", "uname -s", "id -u",
        "head -n 1 data", "wc -l data", "sort -r data", "expr 1 + 2", "expr 0", "seq 3",
        "basename /a/b/c.d .d", "dirname a/b", "date -d @0 +%Y-%m-%d -u", "cat sub/inner data",
        "/bin/cat data", "./bin/tool a b", "bin/tool", "sub/../bin/tool x", "nice cat data",
        "  cat   data  ", "cat\tdata", "cat data\n\n",
      ]),
    CommandGroup(
      "words that only look special",
      [
        "args a,b c:d e@f g%h", "args -- -x --long=1", "args a=b", "args .. . ./", "args +x %1",
        "args 2 1", "args 1.5e-3 0x1F", "args /a//b/", "args äöü", "args user@host:path",
        "%1", "bin/=x", "args a\\ b", "args ^a", "args a]b", "args {a}", "args {a,b}", "args a#b",
        "args #comment", "args !", "args a!b", "args ~", "args ~root", "args a~b", "args =",
      ]),
    CommandGroup(
      "quoting and expansion",
      [
        "args 'a b' c", "args \"a b\" c", "args \"$MARK\"", "args $MARK", "args ${MARK}x",
        "args $((1+2))", "args $(echo x y)", "args `echo z`", "args \"\" ''", "args a''b",
        "args *.none", "args bin/t*", "args [b]in", "args da?a", "args 'a\\b'", "args \"a\\\\b\"",
        "args \"$PWD\" | wc -w", "args $NOTHING x", "args \"$#\"",
      ]),
    CommandGroup(
      "syntax of the shell",
      [
        "cat data | head -n 1", "cat data && echo yes", "false || echo no", "false; echo never",
        "cat < data", "cat data > /dev/null; echo x", "cat nothing 2>&1", "cat data & wait",
        "(exit 3)",
        "{ exit 4; }", "if true; then echo yes; fi", "for i in 1 2; do echo $i; done",
        "! true", "case x in x) echo x;; esac", "cat <<E\nhere\nE", "cat data\ncat sub/inner",
        "false\necho never", "X=1", "X=1 env | grep ^X=", "MARK=other args \"$MARK\"",
        "echo 'open", "cat data |", "fi", "for", ")",
      ]),
    CommandGroup(
      "builtins and reserved words",
      [
        "echo a  b", "printf a", "exit 5", "exit", "cd sub", "pwd", "test 1 -eq 2", "test", ":",
        ". ./bin/plain", "eval false", "exec cat data", "type cat", "command -v cat",
        "umask", "ulimit -n", "kill -TERM $$", "wait", "read x", "return 3", "break",
        "shift", "unset MARK", "export", "trap", "[ 1 = 1 ]", "time", "function",
      ]),
    CommandGroup(
      "what cannot be executed",
      [
        "no-such-command", "no-such-command with words", "./no-such-file", "bin/denied", "denied",
        "/", "./sub", "sub", "bin/lost", "lost", "bin/plain word", "plain word", "bin/empty",
        "empty", "bin/killed", "killed", "data", "./data", "-x", "--help", "a/b/c", "bin/tool/x",
      ]),
  ]
}
