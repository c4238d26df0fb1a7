import OpflowBase
import OpflowPlan
import Testing

@testable import OpflowCommandLine

@Suite struct CommandLineTests {
  private func parse(_ line: String) throws(UsageError) -> Invocation {
    try CommandLineParser.parse(line.split(separator: " ").map(String.init))
  }

  /// Of a run, a resume or a plan.
  private func run(_ line: String) throws -> Invocation {
    let invocation = try parse(line)
    #expect([.run, .resume, .plan].contains(invocation.command), "not a run: \(line)")
    return invocation
  }

  @Test(
    arguments: [
      ("-j4", 4), ("-j 4", 4), ("-j=4", 4), ("--max-parallel 4", 4), ("--max-parallel=4", 4),
      ("-kj8", 8), ("-j1 -j2", 2),
    ] as [(String, UInt32)])
  func `a number stands behind a flag in each usual way`(flags: String, expected: UInt32) throws {
    #expect(try run("run \(flags) x.yaml").maxParallel == expected)
    #expect(try run("run \(flags) x.yaml").file == "x.yaml")
    #expect(try run("run x.yaml \(flags)").maxParallel == expected)
  }

  @Test func `a run without flags leaves every choice open`() throws {
    #expect(try parse("run") == Invocation(.run))
    #expect(try parse("resume") == Invocation(.resume))
  }

  @Test func `all flags of run are read`() throws {
    let line = """
      run --set a=1 --set b=x=y --only t* --only tag:z --skip u --rerun v --resume -n -v --json \
      --output=group --durability each --on local --color never -C dir --state-dir s \
      --max-failures 3 -j7 m.yaml
      """
    var expected = Invocation(.run)
    expected.set = ["a=1", "b=x=y"]
    expected.only = ["t*", "tag:z"]
    expected.skip = ["u"]
    expected.rerun = ["v"]
    expected.resumesNewest = true
    expected.isDryRun = true
    expected.verbose = true
    expected.json = true
    expected.output = .group
    expected.durability = .each
    expected.saysPlace = true
    expected.view.color = .never
    expected.view.directory = "dir"
    expected.view.stateDirectory = "s"
    expected.maxFailures = 3
    expected.maxParallel = 7
    expected.file = "m.yaml"
    #expect(try parse(line) == expected)
  }

  @Test func `the later of two flags about one thing counts`() throws {
    #expect(try run("run -k --max-failures 2").maxFailures == 2)
    #expect(try run("run --max-failures 2 -k").maxFailures == 0)
    #expect(try run("run --output group -q").output == .quiet)
    #expect(try run("run -q --output group").output == .group)
  }

  @Test func `grouped letters are each a flag`() throws {
    let arguments = try run("run -knvq")
    #expect(arguments.maxFailures == 0)
    #expect(arguments.isDryRun)
    #expect(arguments.verbose)
    #expect(arguments.output == .quiet)
  }

  @Test func `the folder may stand before the command`() throws {
    for line in ["-C d run x", "-Cd run x", "run -C d x", "run x -Cd"] {
      #expect(try run(line).view.directory == "d")
      #expect(try run(line).tasks == ["x"])
    }
    var here = Invocation(nil)
    here.view.directory = "d"
    for line in ["-C d", "-Cd", "-C=d"] { #expect(try parse(line) == here) }
    #expect(throws: UsageError.self) { try parse("-C") }
  }

  @Test func `nothing is a flag after two dashes`() throws {
    #expect(try run("plan -- -k").tasks == ["-k"])
    #expect(try run("run -").file == "-")
  }

  @Test(
    arguments: [
      ("", nil, []), ("-", "-", []), ("m.yaml", "m.yaml", []), ("m.yml t", "m.yml", ["t"]),
      ("t m.yaml u", "m.yaml", ["t", "u"]), ("sub/", "sub/", []), ("sub/ t", "sub/", ["t"]),
      (".", "./", []), ("..", "../", []), ("a/..", "a/../", []), ("a/b", nil, ["a/b"]),
      ("-f any", "any", []), ("-f any t*", "any", ["t*"]), ("--file=any tag:x", "any", ["tag:x"]),
      ("-fany", "any", []), ("t", nil, ["t"]), ("/dev/stdin", "/dev/stdin", []),
      ("/dev/fd/63 t", "/dev/fd/63", ["t"]), ("/proc/self/fd/3", "/proc/self/fd/3", []),
    ] as [(String, String?, [String])])
  func `what looks like a manifest is one, and all else are tasks`(
    words: String, file: String?, tasks: [String]
  ) throws {
    for command in ["run", "plan", "run -n"] {
      let arguments = try run("\(command) \(words)")
      #expect(arguments.file == file)
      #expect(arguments.tasks == tasks)
      #expect(arguments.run == nil)
    }
    var check = Invocation(.check)
    (check.file, check.tasks) = (file, tasks)
    #expect(try parse("check \(words)") == check)
  }

  @Test func `plan is a dry run`() throws {
    var plan = try parse("run -n x.yaml --only a")
    plan.command = .plan
    #expect(try parse("plan x.yaml --only a") == plan)
  }

  @Test func `views take a run and tasks`() throws {
    var status = Invocation(.status)
    status.run = "2026"
    status.json = true
    #expect(try parse("status --json 2026") == status)
    status.json = false
    status.watches = true
    status.output = .quiet
    #expect(try parse("status --watch -q 2026") == status)
    var logs = Invocation(.logs)
    logs.tasks = ["a", "b*"]
    logs.run = "r"
    logs.follows = true
    #expect(try parse("logs -f a --run r b*") == logs)
    var runs = Invocation(.runs)
    runs.view.stateDirectory = "s"
    #expect(try parse("runs --state-dir=s") == runs)
    var check = Invocation(.check)
    check.file = "-"
    check.set = ["a=b"]
    #expect(try parse("check - --set a=b") == check)
  }

  @Test func `requests take tasks, and what is to be set`() throws {
    let cancel = try parse("cancel a 'b*' --run 2026 --json")
    #expect(cancel.command == .request(.cancel))
    #expect(cancel.tasks == ["a", "'b*'"])
    #expect(cancel.run == "2026")
    #expect(cancel.json)
    #expect(try parse("continue").command == .request(.proceed))
    let priority = try parse("priority a b -5 --json")
    #expect(priority.tasks == ["a", "b"])
    #expect(priority.value == "-5")
    #expect(try parse("priority a very_high").value == "very_high")
    let cpu = try parse("parallel 3")
    #expect(cpu.resource == "cpu")
    #expect(cpu.value == "3")
    let memory = try parse("parallel memory=16GiB")
    #expect(memory.resource == "memory")
    #expect(memory.value == "16GiB")
  }

  @Test func `help and version are found everywhere`() throws {
    for line in ["help", "--help", "-h"] { #expect(try parse(line) == Invocation(.help)) }
    var help = Invocation(.help)
    help.topic = .run
    for line in ["help run", "run --help"] { #expect(try parse(line) == help) }
    #expect(try parse("help manifest").manifestKey == "")
    #expect(try parse("help manifest retry.max").manifestKey == "retry.max")
    #expect(try parse("help run").manifestKey == nil)
    #expect(try parse("logs -fh").topic == .logs)
    for line in ["version", "--version", "-V"] { #expect(try parse(line) == Invocation(.version)) }
    var journal = Invocation(.journal)
    journal.action = .export
    journal.run = "2026"
    #expect(try parse("journal export 2026") == journal)
  }

  @Test(
    arguments: [
      ("rnu", "unknown command rnu; did you mean `opflow run`?"),
      ("xyzzyplugh", "unknown command xyzzyplugh; `opflow run xyzzyplugh` runs a task"),
      ("sub/", "unknown command sub/; did you mean `opflow run sub/`?"),
      ("graphs", "unknown command graphs; did you mean `opflow graph`?"),
      (
        "list",
        "unknown command list; `opflow tasks` shows the tasks, `opflow runs` the runs"
      ),
      ("ps", "unknown command ps; `opflow status` shows what runs, `opflow runs` all runs"),
      (
        "validate", "unknown command validate; `opflow check` reads and validates a manifest"
      ),
      ("run --jobs 4", "unknown flag --jobs; did you mean -j?"),
      ("run --jobs=4", "unknown flag --jobs; did you mean -j?"),
      (
        "logs --tail 20 a",
        "unknown flag --tail; `opflow logs TASK | tail -n 20` shows the last lines"
      ),
      ("logs -n 20 a", "unknown flag -n; `opflow logs TASK | tail -n 20` shows the last lines"),
      ("status -j4", "takes no -j (that is a flag of run, serve, resume, plan)"),
      ("run VER=2", "`VER=2` is no task; a variable is set with `--set VER=2`"),
      ("run a.yaml b.yaml", "two manifests: `a.yaml` and `b.yaml`; one command reads one"),
      ("run -f a b.yaml", "two manifests: `a` and `b.yaml`; one command reads one"),
      ("run -f a -f b", "two manifests: `a` and `b`; one command reads one"),
      (
        "run -- -v",
        "`-- -v`: arguments go to one task, and none is named: `opflow run TASK -- -v`"
      ),
      ("run a b -- -v", "`-- -v`: arguments go to one task, and 2 are named: a, b"),
      (
        "resume -- -v",
        "`-- -v`: a resume hands on the arguments that the run was started with; others make "
          + "another run: `opflow run TASK -- -v`"
      ),
      (
        "run a* -- -v",
        "`-- -v`: arguments go to one task, and `a*` may be several: name it by its id"
      ),
      (
        "run tag:x -- -v",
        "`-- -v`: arguments go to one task, and `tag:x` may be several: name it by its id"
      ),
      ("build.yaml", "unknown command build.yaml; did you mean `opflow run build.yaml`?"),
      ("-j4 run", "unknown flag -j4; flags stand after the command: `opflow run -j4`"),
      ("graph a.yaml --run 1", "a manifest, `a.yaml`, and a run, `1`: the graph is of one of them"),
      ("graph --format dto", "--format is text, dot, mermaid, svg, not `dto`; did you mean dot?"),
      ("pause build", "it is about the whole run; `opflow suspend build` holds tasks"),
      ("skip", "it names no task: SEL..."),
      ("serve --name ..", "--name has \(RunName.rule), and is not `..`"),
      ("suspend --json", "it names no task: SEL..."),
      ("priority", "SEL... and N are missing"),
      ("priority 5", "it names no task: SEL... N"),
      ("priority high", "it names no task: SEL... N"),
      ("priority build", "N is missing: `opflow priority build high`, or a number"),
      ("init site", "`-C site` writes it in that folder, `-f site` under that name"),
      ("schema -o x", "unknown flag -o; it goes to standard output: `> FILE`"),
      ("run a,b", "`a,b` is no task; several are words of their own: `a b`"),
      (
        "run -j auto",
        "--max-parallel needs a number from 1 to 2147483647, not `auto`; without it there are as "
          + "many as processors"
      ),
      ("run -w", "unknown flag -w; did you mean --watch?"),
      ("run -t x.yaml", "unknown flag -t; did you mean -f?"),
      ("run --cores 4", "unknown flag --cores; did you mean -j?"),
      (
        "run --until x",
        "unknown flag --until; the task itself: `opflow run TASK` runs it and what it needs"
      ),
      (
        "run --env-file x",
        "unknown flag --env-file; the manifest says it: `env_file: [FILE]` at the top"
      ),
      ("graph --dot", "unknown flag --dot; did you mean `--format dot`?"),
      (
        "clean --all",
        "unknown flag --all; `--keep 0 --older-than 0` removes all that is not live"
      ),
      ("plan --graph", "unknown flag --graph; `opflow graph` shows what needs what"),
      (
        "completion --shell bash",
        "unknown flag --shell; the shell is a word: `opflow completion bash`"
      ),
      ("priority a -x", "unknown flag -x"),
      ("cancel -5", "unknown flag -5"),
      ("parallel", "N or NAME=N is missing"),
      ("parallel 3 4", "one argument too many: `4`"),
      ("parallel net=", "`net=` is no NAME=N"),
      ("parallel =3", "`=3` is no NAME=N"),
      ("stop", "unknown command stop; `opflow cancel` stops a run, or tasks of it"),
      ("run --keep-giong", "unknown flag --keep-giong; did you mean --keep-going?"),
      ("run --frobnicate", "unknown flag --frobnicate"),
      ("run --follow", "takes no --follow (that is a flag of logs)"),
      ("run -x", "unknown flag -x"),
      ("run -dry-run", "unknown flag -dry-run; did you mean --dry-run?"),
      ("run -j", "--max-parallel needs a value (N)"),
      ("run --set", "--set needs a value (NAME=VALUE)"),
      ("run --set a", "--set needs NAME=VALUE, not `a`"),
      ("run --set =a", "--set needs NAME=VALUE, not `=a`"),
      ("run -C", "-C needs a value (DIR)"),
      ("run --only=", "--only needs a value (SEL)"),
      ("run --keep-going=1", "--keep-going takes no value"),
      ("run -j0", "--max-parallel needs a number from 1 to 2147483647, not `0`"),
      ("run -j 1,2", "--max-parallel takes one number; `opflow plan` compares several"),
      ("plan -j 1,", "--max-parallel needs a number from 1 to 2147483647, not ``"),
      ("run -j many", "--max-parallel needs a number from 1 to 2147483647, not `many`"),
      ("run -j-1", "--max-parallel needs a number from 1 to 2147483647, not `-1`"),
      (
        "run -j 99999999999",
        "--max-parallel needs a number from 1 to 2147483647, not `99999999999`"
      ),
      ("run --max-failures 1.5", "--max-failures needs a number from 0 to 2147483647, not `1.5`"),
      (
        "run --output lines",
        "--output is live, line, group, github, gitlab, quiet, not `lines`; did you mean line?"
      ),
      ("run --color blue", "--color is auto, always, never, not `blue`"),
      ("run --durability all", "--durability is none, group, each, not `all`"),
      (
        "run --on moon",
        "--on: it is one of local, slurm[:OPTIONS], ssh:HOST,HOST, exec:COMMAND, not `moon`"
      ),
      ("run --on ssh:", "--on: ssh: a host is missing, as in ssh:HOST,HOST"),
      ("resume a b", "one argument too many: `b`"),
      ("runs a", "one argument too many: `a`"),
      ("version a", "one argument too many: `a`"),
      ("journal", "one of verify, export, repair is missing"),
      ("journal verfy", "`verfy` is none of verify, export, repair; did you mean verify?"),
      ("journal verify a b", "one argument too many: `b`"),
      ("resume --resume", "takes no --resume (that is a flag of run, plan)"),
      (
        "help nothing",
        "help: no help on `nothing`; `opflow tasks nothing` tells of a task of that name"
      ),
    ])
  func `a wrong line is told what is wrong`(line: String, message: String) {
    let error = #expect(throws: UsageError.self) { try parse(line) }
    #expect(error?.message == message)
  }

  @Test func `an error ends with the usage line`() {
    let error = #expect(throws: UsageError.self) { try parse("run --nope") }
    #expect(
      error?.text == """
        opflow run: unknown flag --nope
        usage: opflow run [FLAGS] [FILE] [TASK...] [-- ARG...]
        see `opflow help run`

        """)
    let other = #expect(throws: UsageError.self) { try parse("nope") }
    #expect(
      other?.text
        == "opflow: unknown command nope; `opflow run nope` runs a task\nsee `opflow help`\n")
  }

  @Test func `an escape sequence in a word does not reach the terminal`() {
    let error = #expect(throws: UsageError.self) { try parse("run --\u{1b}[31mx") }
    #expect(error?.message == "unknown flag --x")
  }

  @Test func `every command that is there has help that fits a terminal`() {
    for command in Command.allCases {
      let text = HelpText.text(command)
      #expect(text.contains("usage: opflow \(command.synopsis)\n"))
      #expect(text.hasSuffix("\n"))
      for line in text.split(separator: "\n") { #expect(line.count <= 100, "\(line)") }
      for other in Command.allCases {
        #expect(HelpText.text(nil).contains("  \(other.word) "))
      }
    }
  }

  @Test func `a report has a kind, a run and a file`() throws {
    var expected = Invocation(.report)
    expected.report = .junit
    expected.run = "2026"
    expected.outputFile = "x.xml"
    #expect(try parse("report -o x.xml junit 2026") == expected)
    #expect(
      throws: UsageError(
        "`juni` is none of junit, trace, html, otel; did you mean junit?", command: .report)
    ) { try parse("report juni") }
    #expect(throws: UsageError("one of junit, trace, html, otel is missing", command: .report)) {
      try parse("report")
    }
    #expect(
      throws: UsageError(
        "--junit is for a run, and --dry-run does not run anything", command: .run)
    ) { try parse("run -n --junit x.xml") }
  }

  @Test func `what is for a CI server is read`() throws {
    var expected = Invocation(.run)
    expected.notifyCommand = "mail"
    expected.passesCommands = false
    expected.output = .gitHub
    #expect(try parse("run --notify mail --ci-commands=off --output github") == expected)
    expected.output = .gitLab
    expected.passesCommands = true
    #expect(try parse("run --notify mail --ci-commands on --output gitlab") == expected)
    #expect(
      throws: UsageError(
        "--notify is for a run, and --dry-run does not run anything", command: .resume)
    ) { try parse("resume -n --notify x") }
    #expect(
      throws: UsageError(
        "--ci-commands is for --watch: without it, status shows nothing of tasks", command: .status)
    ) { try parse("status --ci-commands off") }
  }

  @Test func `a command that is there is not foreign`() {
    for command in Command.allCases {
      #expect(ForeignWords.help(command: command.word) == nil)
    }
  }

  @Test func `no two flags of a command are called the same`() {
    for command in Command.allCases {
      let rows = (command.flags + [.help]).map { $0.row }
      #expect(Set(rows.compactMap { $0.long }).count == rows.count { $0.long != nil })
      #expect(Set(rows.compactMap { $0.letter }).count == rows.count { $0.letter != nil })
    }
  }

  @Test func `the help of run names each flag once`() {
    let text = HelpText.text(.run)
    for flag in [
      "--set NAME=VALUE", "--only SEL", "--skip SEL", "--resume", "--rerun SEL",
      "-j, --max-parallel N", "--max-failures N", "-k, --keep-going", "-n, --dry-run",
      "--output live|line|group|github|gitlab|quiet", "--notify COMMAND", "--ci-commands on|off",
      "-q, --quiet", "-v, --verbose", "--json",
      "--color auto|always|never", "--junit FILE", "--durability none|group|each", "--on SITES",
      "--queue-timeout D", "--take-over",
      "-f, --file FILE",
      "-C DIR",
      "--state-dir DIR", "-h, --help",
    ] {
      #expect(
        text.split(separator: "\n").count { $0.contains("  \(flag) ") || $0.hasSuffix("  \(flag)") }
          == 1, "\(flag)")
    }
  }
}
