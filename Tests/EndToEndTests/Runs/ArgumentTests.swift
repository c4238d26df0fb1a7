import Testing

/// Arguments after `--` on the command line.
struct ArgumentTests {
  private func place() throws -> Workplace {
    try Workplace(
      """
      tasks:
        first: { run: 'echo "first $#" >> trace' }
        string: { needs: first, run: 'for a; do echo "<$a>"; done >> trace; test -e ok' }
        list: { run: [sh, -c, 'for a; do echo "<$a>"; done >> trace', name, own] }
        default: { run: 'echo "$0: $*" >> trace' }
        bash: { shell: bash, run: 'echo "$0: $*" >> trace' }
        env: { shell: [env, A=1, /bin/bash, -c], run: 'echo "$0: $*" >> trace' }
        perl: { shell: [perl, -e], run: 'print STDERR join("|", @ARGV)' }
        python: { shell: [python3, -c], run: 'import sys; print(sys.argv[1:])' }
        plain: { run: echo hello }
        legs: { matrix: { x: [a, b] }, run: 'echo "${{ matrix.x }} $*" >> trace' }
        one: { matrix: { x: [a] }, run: 'echo "${{ matrix.x }} $*" >> trace' }
        token: { secrets: [TOKEN], run: 'echo "$*" >> trace' }
        get: { download: { url: "http://127.0.0.1:1/", to: f } }
      """)
  }

  @Test func `a script gets the arguments unchanged, and its dependency gets none`() throws {
    let place = try place()
    try place.write("ok", "")
    try place.opflow("run", "string", "--", "not foo", "", "a'b\"c", "$HOME", "-v", "--", "ü\n")
    #expect(
      place.lines() == [
        "first 0", "<not foo>", "<>", "<a'b\"c>", "<$HOME>", "<-v>", "<-->", "<ü", ">",
      ])
  }

  @Test func `a list gets the arguments after its own words`() throws {
    let place = try place()
    try place.opflow("run", "list", "--", "one", "two three")
    #expect(place.lines() == ["<own>", "<one>", "<two three>"])
  }

  @Test func `a shell keeps its name as $0, and other programs get no $0`() throws {
    let place = try place()
    for task in ["default", "bash", "env"] { try place.opflow("run", task, "--", "-a", "b") }
    #expect(place.lines() == ["/bin/sh: -a b", "bash: -a b", "/bin/bash: -a b"])
    try place.opflow("run", "perl", "--", "-v", "b")
    #expect(try place.opflow("logs", "perl").output.contains("-v|b"))
    try place.opflow("run", "python", "--", "-v", "b")
    #expect(try place.opflow("logs", "python").output.contains("['-v', 'b']"))
  }

  @Test func `a script that reads no arguments does not change with them`() throws {
    let place = try place()
    try place.opflow("run", "plain", "--", "x")
    let log = try place.opflow("logs", "plain").output
    #expect(log.contains("hello"))
    #expect(!log.contains("x"))
  }

  @Test func `one matrix task gets them: the named one, or the only one`() throws {
    let place = try place()
    try place.opflow("run", "legs[x=b]", "--", "v")
    try place.opflow("run", "one", "--", "w")
    #expect(place.lines() == ["b v", "a w"])
  }

  @Test func `views and exports show the arguments unchanged`() throws {
    let place = try place()
    try place.opflow("run", "list", "--", "a b", "it's", "", "\n\t\\")
    let status = try place.opflow("status").output
    #expect(status.contains("\narguments of list: 'a b' 'it'\\''s' '' '"), "\(status)")
    let array = #"["a b","it's","","\n\t\\"]"#
    #expect(try place.opflow("status", "--json").output.contains(#""arguments":"# + array))
    #expect(try place.opflow("journal", "export").output.contains(#""args":"# + array))
    #expect(try !place.opflow("status", "--json").output.contains("\n\t"))
    try place.opflow("journal", "verify")
    // A run without arguments does not mention them.
    try place.opflow("run", "list")
    #expect(try !place.opflow("status").output.contains("arguments"))
    #expect(try !place.opflow("status", "--json").output.contains("arguments"))
  }

  @Test func `opflow refuses an argument that contains a secret and does not store it`() throws {
    let place = try place()
    let refused = try place.opflow(
      "run", "token", "--", "x", "key=s3cr3t-of-mine", status: 2,
      environment: ["TOKEN": "s3cr3t-of-mine"])
    #expect(
      refused.errors.contains("`token` cannot get arguments: one of them contains a secret"),
      "\(refused)")
    #expect(!refused.errors.contains("s3cr3t"))
    #expect(place.runs.isEmpty)
    try place.opflow("run", "token", "--", "x", environment: ["TOKEN": "s3cr3t-of-mine"])
    #expect(place.lines() == ["x"])
  }

  @Test func `an argument that is not UTF-8 is refused`() throws {
    let place = try place()
    let refused = try place.shell("$opflow run list -- ok $'a\\xffb'", status: 2)
    #expect(
      refused.errors.contains(
        "is not UTF-8: opflow records arguments and cannot pass this one; put the value into a file"
      ),
      "\(refused)")
    #expect(place.runs.isEmpty)
  }

  @Test func `-- without arguments passes none`() throws {
    let place = try place()
    try place.opflow("run", "list", "--")
    #expect(place.lines() == ["<own>"])
  }

  @Test func `a resume passes them again, and run --resume finds the run by them`() throws {
    let place = try place()
    try place.opflow("run", "string", "--", "x", "y z", status: 1)
    let journal = try place.text(place.journalName)
    #expect(journal.contains("\ttasks=string\targs=x\targs=y z"), "\(journal)")
    try place.write("trace", "")
    try place.opflow("run", "--resume", "string", "--", "x", "y z", status: 1)
    #expect(place.lines() == ["<x>", "<y z>"])
    try place.write("ok", "")
    try place.write("trace", "")
    try place.opflow("resume")
    #expect(place.lines() == ["<x>", "<y z>"])
    let success = try place.journal().last { $0.event == "success" && $0.task == "string" }
    #expect(success?.values["with"]?.count == 16)
    try place.write("trace", "")
    try place.opflow("resume")
    #expect(place.lines().isEmpty)
    // Other arguments start another run.
    try place.opflow("run", "--resume", "string", "--", "other")
    #expect(place.lines() == ["first 0", "<other>"])
    #expect(place.runs.count == 2)
  }

  struct ParseError: Sendable, CustomTestStringConvertible {
    let words: String
    let says: String
    var testDescription: String { words }
  }

  @Test(arguments: [
    ParseError(
      words: "run get -- x",
      says: "`get` cannot get arguments: it is a download and runs no command"),
    ParseError(words: "run -- x", says: "only one task can get arguments; name it"),
    ParseError(
      words: "run list bash -- x",
      says: "only one task can get arguments, but you named 2: list, bash"),
    ParseError(words: "run 'l*' -- x", says: "`l*` can match several; use the ID of one"),
    ParseError(words: "run lst -- x", says: "no task of"),
    ParseError(
      words: "run legs -- x",
      says: "`legs` cannot get arguments: these are 2 tasks; name one, such as `'legs[x=a]'`"),
    ParseError(words: "run -n legs -- x", says: "`legs` cannot get arguments"),
    ParseError(
      words: "resume -- x",
      says: "`-- x`: a resume passes the arguments of the run; for others, start a new run: "
        + "`opflow run TASK -- x`"),
    ParseError(words: "plan list -- x", says: "no task of"),
  ])
  func `a usage error starts no run`(_ problem: ParseError) throws {
    let place = try place()
    let run = try place.shell("$opflow \(problem.words)", status: 2)
    #expect(run.errors.contains(problem.says), "\(run)")
    #expect(place.runs.isEmpty)
  }

  @Test func `a task gets many and long arguments`() throws {
    let place = try Workplace("tasks: { t: { run: 'echo $# ${#1} >> trace' } }")
    try place.shell("$opflow run t -- $(head -c 100000 /dev/zero | tr '\\0' x) $(seq 5000)")
    #expect(place.lines() == ["5001 100000"])
  }

  @Test func `a task gets as many bytes as a command line can hold`() throws {
    let place = try Workplace(
      "tasks: { t: { run: 'printf %s \"$@\" | cksum >> trace; test -e ok' } }")
    try place.shell("head -c 120000 /dev/zero | tr '\\0' x > long")
    let words = "$(for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do cat long; echo; done)"
    try place.shell("$opflow run t -- \(words)", status: 1)
    try place.write("ok", "")
    try place.opflow("resume")
    try place.shell("(for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do cat long; done) | cksum >> trace")
    #expect(Set(place.lines()).count == 1)
    #expect(place.lines().count == 3)
    let status = try place.opflow("status")
    #expect(status.output.utf8.count < 2000)
  }
}
