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
    help.topic = "run"
    for line in ["help run", "run --help", "run -h", "--help run", "run x --help --set a=1"] {
      #expect(try parse(line) == help)
    }
    help.verbose = true
    for line in ["help run -v", "help -v run", "run -h -v", "run -vh", "run --help --verbose"] {
      #expect(try parse(line) == help)
    }
    help.topic = "cancel"
    for line in ["cancel -h -v", "cancel -hv", "cancel --help --verbose", "help --all cancel"] {
      #expect(try parse(line) == help)
    }
    help.topic = nil
    for line in ["help --all", "help -v", "-h -v"] { #expect(try parse(line) == help) }
    #expect(throws: UsageError.self) { try parse("cancel -v") }
    #expect(try parse("help manifest").manifestKey == "")
    #expect(try parse("help manifest retry.max").manifestKey == "retry.max")
    #expect(try parse("help run").manifestKey == nil)
    #expect(try parse("logs -fh").topic == "logs")
    #expect(try parse("help --rerun").topic == "--rerun")
    #expect(try parse("help -k").topic == "-k")
    #expect(try parse("help up to date").topic == "up to date")
    #expect(try parse("help --help").topic == "help")
    #expect(try parse("help keys").manifestKey == "")
    #expect(try parse("help manifest retry max").manifestKey == "retry.max")
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
        "unknown command list; `opflow tasks` lists the tasks, `opflow runs` the runs"
      ),
      ("ps", "unknown command ps; `opflow status` shows the running tasks, `opflow runs` all runs"),
      ("validate", "unknown command validate; `opflow check` checks a manifest"),
      ("run --jobs 4", "unknown flag --jobs; did you mean -j?"),
      ("run --jobs=4", "unknown flag --jobs; did you mean -j?"),
      (
        "logs --tail 20 a",
        "unknown flag --tail; `opflow logs TASK | tail -n 20` shows the last lines"
      ),
      ("logs -n 20 a", "unknown flag -n; `opflow logs TASK | tail -n 20` shows the last lines"),
      ("status -j4", "unknown flag -j; it is a flag of run, resume, plan, serve"),
      ("run VER=2", "`VER=2` is not a task; to set a variable, write `--set VER=2`"),
      ("run a.yaml b.yaml", "two manifests: `a.yaml` and `b.yaml`; name only one"),
      ("run -f a b.yaml", "two manifests: `a` and `b.yaml`; name only one"),
      ("run -f a -f b", "two manifests: `a` and `b`; name only one"),
      (
        "run -- -v",
        "`-- -v`: only one task can get arguments; name it: `opflow run TASK -- -v`"
      ),
      ("run a b -- -v", "`-- -v`: only one task can get arguments, but you named 2: a, b"),
      (
        "resume -- -v",
        "`-- -v`: a resume passes the arguments of the run; for others, start a new run: "
          + "`opflow run TASK -- -v`"
      ),
      (
        "run a* -- -v",
        "`-- -v`: only one task can get arguments, but `a*` can match several; use the ID of one"
      ),
      (
        "run tag:x -- -v",
        "`-- -v`: only one task can get arguments, but `tag:x` can match several; use the ID of one"
      ),
      ("build.yaml", "unknown command build.yaml; did you mean `opflow run build.yaml`?"),
      ("-j4 run", "unknown flag -j4; flags come after the command, as in `opflow run -j4`"),
      ("graph a.yaml --run 1", "`a.yaml` is a manifest and `1` is a run; name only one of them"),
      (
        "graph --format dto",
        "--format must be one of text, dot, mermaid, svg, not `dto`; did you mean dot?"
      ),
      ("pause build", "`pause` pauses the whole run; use `opflow suspend build` for tasks"),
      ("skip", "which tasks? For example: `opflow skip test`"),
      ("serve --name ..", "--name: `..` is not a valid name; a name has \(RunName.rule)"),
      ("suspend --json", "which tasks? For example: `opflow suspend test`"),
      ("priority", "which tasks? For example: `opflow priority build high`"),
      ("priority 5", "which tasks? For example: `opflow priority build 5`"),
      ("priority high", "which tasks? For example: `opflow priority build high`"),
      ("priority build", "which number? For example: `opflow priority build high`"),
      (
        "init site",
        "unexpected argument `site`; for a folder write `-C site`, for a file `-f site`"
      ),
      ("schema -o x", "unknown flag -o; redirect standard output: `> FILE`"),
      ("run a,b", "`a,b` is not a task; separate tasks by spaces: `a b`"),
      (
        "run -j auto",
        "-j needs a number from 1 to 2147483647, not `auto`; the default is the number of CPUs"
      ),
      ("run -w", "unknown flag -w; did you mean --watch?"),
      ("run -t x.yaml", "unknown flag -t; did you mean -f?"),
      ("run --cores 4", "unknown flag --cores; did you mean -j?"),
      (
        "run --until x",
        "unknown flag --until; name the task: `opflow run TASK` runs it and its dependencies"
      ),
      (
        "run --env-file x",
        "unknown flag --env-file; write `env_file: [FILE]` at the top of the manifest"
      ),
      ("graph --dot", "unknown flag --dot; did you mean `--format dot`?"),
      (
        "clean --all",
        "unknown flag --all; `--keep 0 --older-than 0` removes all runs that are not live"
      ),
      ("plan --graph", "unknown flag --graph; `opflow graph` shows the dependency graph"),
      (
        "completion --shell bash",
        "unknown flag --shell; name the shell without a flag: `opflow completion bash`"
      ),
      ("priority a -x", "unknown flag -x"),
      ("cancel -5", "unknown flag -5"),
      ("parallel", "how many? For example: `opflow parallel 4`, or `opflow parallel net=1`"),
      ("parallel 3 4", "unexpected argument `4`"),
      ("parallel net=", "`net=` must be N or NAME=N"),
      ("parallel =3", "`=3` must be N or NAME=N"),
      ("stop", "unknown command stop; `opflow cancel` cancels a run, or tasks of it"),
      ("run --keep-giong", "unknown flag --keep-giong; did you mean --keep-going?"),
      ("run --frobnicate", "unknown flag --frobnicate"),
      ("run --follow", "unknown flag --follow; it is a flag of logs"),
      ("run -x", "unknown flag -x"),
      ("run -dry-run", "unknown flag -dry-run; did you mean --dry-run?"),
      ("run -j", "-j needs a value (N)"),
      ("run --max-parallel", "--max-parallel needs a value (N)"),
      ("run --set", "--set needs a value (NAME=VALUE)"),
      ("run --set a", "--set needs NAME=VALUE, not `a`"),
      ("run --set =a", "--set needs NAME=VALUE, not `=a`"),
      ("run -C", "-C needs a value (DIR)"),
      ("run --only=", "--only needs a value (SEL)"),
      ("run --keep-going=1", "--keep-going takes no value"),
      ("run -j0", "-j needs a number from 1 to 2147483647, not `0`"),
      (
        "run -j 1,2",
        "-j (--max-parallel) takes one number here; to compare several: `opflow plan -j 1,2,4`"
      ),
      ("plan -j 1,", "-j needs a number from 1 to 2147483647, not ``"),
      ("run --max-parallel many", "--max-parallel needs a number from 1 to 2147483647, not `many`"),
      ("run -j-1", "-j needs a number from 1 to 2147483647, not `-1`"),
      (
        "run -j 99999999999",
        "-j needs a number from 1 to 2147483647, not `99999999999`"
      ),
      ("run --max-failures 1.5", "--max-failures needs a number from 0 to 2147483647, not `1.5`"),
      (
        "run --output lines",
        "--output must be one of live, line, group, github, gitlab, quiet, not `lines`; did you "
          + "mean line?"
      ),
      ("run --color blue", "--color must be one of auto, always, never, not `blue`"),
      ("run --durability all", "--durability must be one of none, group, each, not `all`"),
      (
        "run --on moon",
        "--on: NODES must be one of local, slurm[:OPTIONS], ssh:HOST,HOST, exec:COMMAND, not `moon`"
      ),
      ("run --on ssh:", "--on: ssh needs a host, such as ssh:HOST,HOST"),
      ("resume a b", "unexpected argument `b`"),
      ("resume a --run b", "two runs: `b` and `a`; name only one"),
      ("runs a", "unexpected argument `a`"),
      ("runs --json", "unknown flag --json; `opflow status --json` prints one run as JSON"),
      ("version a", "unexpected argument `a`"),
      ("journal", "which action? `opflow journal verify` (or export, repair)"),
      ("completion", "which shell? `opflow completion bash` (or zsh, fish)"),
      ("why", "which task? For example: `opflow why build`; `opflow status` lists the tasks"),
      (
        "add",
        "which manifest? For example: `opflow add more.yaml`, or `-` for standard input"
      ),
      (
        "journal verfy",
        "unknown action `verfy`; use one of verify, export, repair; did you mean verify?"
      ),
      ("journal verify a b", "unexpected argument `b`"),
      ("resume --resume", "unknown flag --resume; it is a flag of run, plan"),
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

  @Test func `a report has a kind, a run and a file`() throws {
    var expected = Invocation(.report)
    expected.report = .junit
    expected.run = "2026"
    expected.outputFile = "x.xml"
    #expect(try parse("report -o x.xml junit 2026") == expected)
    #expect(
      throws: UsageError(
        "unknown report `juni`; use one of junit, trace, html, otel; did you mean junit?",
        command: .report)
    ) { try parse("report juni") }
    #expect(
      throws: UsageError(
        "which report? `opflow report html -o run.html` (or junit, trace, otel)", command: .report)
    ) { try parse("report") }
    expected.outputFile = nil
    for line in ["report junit --run 2026", "report junit 2026 --run 2026"] {
      #expect(try parse(line) == expected)
    }
    for command in ["resume", "status", "wait", "journal verify"] {
      #expect(try parse("\(command) --run a") == parse("\(command) a"))
    }
    #expect(
      throws: UsageError(
        "--junit needs a run, but --dry-run runs nothing", command: .run)
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
        "--notify needs a run, but --dry-run runs nothing", command: .resume)
    ) { try parse("resume -n --notify x") }
    #expect(
      throws: UsageError(
        "--ci-commands needs --watch", command: .status)
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
}
