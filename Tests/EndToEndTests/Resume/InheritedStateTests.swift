import Foundation
import Glibc
import Testing

/// What opflow was started with: descriptors, signals, limits, a machine with something missing.
struct InheritedStateTests {
  static let isRoot = geteuid() == 0
  static let isSanitized = ProcessInfo.processInfo.environment["ASAN_OPTIONS"] != nil

  // MARK: - Descriptors

  /// Every command, with the exit code that it has here.
  private static let commands = [
    "version", "help", "check", "plan", "run", "resume", "status", "status --json", "logs", "runs",
    "journal verify", "bogus",
  ]

  @Test(arguments: commands)
  func `standard descriptors that are closed change no exit code`(command: String) throws {
    let place = try Workplace("tasks: { a: { run: echo hello } }")
    try place.opflow("run")
    let usual = try place.shell("\"$opflow\" \(command)", status: nil).status
    #expect(usual == 0 || command == "bogus")
    for closed in 1..<8 {
      let streams = (0..<3).filter { closed & (1 << $0) != 0 }.map { "\($0)>&-" }
      let script = "\"$opflow\" \(command) \(streams.joined(separator: " "))"
      try place.shell(script, status: usual)
    }
    for run in place.runs {
      let journal = try place.text(".opflow/runs/\(run)/journal.log")
      #expect(
        journal.split(separator: "\n").allSatisfy { JournalLine(String($0))?.isIntact == true })
    }
  }

  @Test func `a task finds standard streams that opflow did not have`() throws {
    let place = try Workplace("tasks: { a: { run: 'readlink /proc/self/fd/0; echo more >&2' } }")
    try place.shell("\"$opflow\" run 0<&- 1>&- 2>&-")
    #expect(try place.log("a") == "/dev/null\nmore\n")
  }

  @Test(arguments: ["version", "help", "check", "plan", "status", "status --json", "logs", "runs"])
  func `a result that cannot be written is an error`(command: String) throws {
    let place = try Workplace("tasks: { a: { run: echo hello } }")
    try place.opflow("run")
    let full = try place.shell("\"$opflow\" \(command) > /dev/full", status: 74)
    #expect(full.errors == "opflow: cannot write to standard output: No space left on device\n")
    let readOnly = try place.shell("\"$opflow\" \(command) 1< opflow.yaml", status: 74)
    #expect(readOnly.errors == "opflow: cannot write to standard output: Bad file descriptor\n")
    try place.shell("\"$opflow\" \(command) 1< . ", status: 74)
    try place.shell("set -o pipefail; \"$opflow\" \(command) | true")
  }

  @Test func `a manifest on a standard input that cannot be read is an error`() throws {
    let place = try Workplace()
    for input in ["0> out", "0< ."] {
      let run = try place.shell("\"$opflow\" check - \(input)", status: nil)
      #expect([2, 74].contains(run.status), "\(run)")
      #expect(run.errors.contains("cannot read -: "), "\(run)")
    }
  }

  // MARK: - Signals

  @Test func `a hang-up that nohup ignored stays ignored, in tasks too`() throws {
    let place = try Workplace(
      "tasks: { a: { run: 'grep SigIgn /proc/self/status; echo here > here; read x < go' } }")
    let here = try place.gate("here")
    let go = try place.gate("go")
    let live = try place.startShell("trap '' HUP; exec \"$opflow\" run")
    _ = try here.next()
    live.sendToGroup(SIGHUP)
    try go.letGo()
    let run = try live.finish()
    #expect(run.status == 0, "\(run)")
    #expect(try place.log("a").contains("SigIgn:\t0000000000000001\n"))
  }

  @Test func `an interrupt that was ignored stays ignored, TERM ends the run all the same`() throws
  {
    let place = try Workplace(
      """
      tasks: { a: { run: 'grep SigIgn /proc/self/status; echo here > here; \
      exec tail -f /dev/null' } }
      """
    )
    let here = try place.gate("here")
    let live = try place.startShell("trap '' INT TERM QUIT TSTP; exec \"$opflow\" run")
    _ = try here.next()
    live.send(SIGINT)
    live.send(SIGTSTP)
    live.send(SIGTERM)
    let run = try live.finish()
    #expect(run.status == -SIGTERM, "\(run)")
    #expect(try place.log("a").contains("SigIgn:\t0000000000000000\n"))
    place.expectNothingAlive()
  }

  /// Starts what follows with every signal ignored that can be, and every one blocked.
  private static let unheard = """
    python3 -c '
    import os, signal, sys
    for number in range(1, 32):
        if number not in (9, 19, 1): signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    os.execv(sys.argv[1], sys.argv[1:])'
    """

  @Test func `signals that were ignored or blocked change nothing for tasks and workers`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "grep -E 'Sig(Ign|Blk)' /proc/self/status" }
        b: { run: "yes | head -n 1; kill -KILL $$", allow_failure: true }
        c: { run: "test $OPFLOW_ATTEMPT -gt 1 || kill -KILL $PPID" }
      """)
    let run = try place.shell("\(Self.unheard) \"$opflow\" run --output line")
    let zero = String(repeating: "0", count: 16)
    #expect(try place.log("a") == "SigBlk:\t\(zero)\nSigIgn:\t\(zero)\n")
    #expect(!run.errors.contains("cannot reap"), "\(run)")
    place.expectNothingAlive()
  }

  @Test func `TERM ends a run that was started deaf`() throws {
    let place = try Workplace(
      "tasks: { a: { run: 'echo here > here; exec tail -f /dev/null' } }")
    let here = try place.gate("here")
    let live = try place.startShell("exec \(Self.unheard) \"$opflow\" run")
    _ = try here.next()
    live.send(SIGTERM)
    #expect(try live.finish().status == -SIGTERM)
    place.expectNothingAlive()
  }

  // MARK: - Limits

  @Test(arguments: 3...40)
  func `few descriptors are enough, or a clear error`(limit: Int) throws {
    let place = try Workplace(
      "tasks: { a: { run: echo a >> trace }, b: { run: echo b >> trace } }")
    let run = try place.shell("ulimit -n \(limit); exec \"$opflow\" run", status: nil)
    if run.status == 0 {
      #expect(place.lines().sorted() == ["a", "b"])
      return
    }
    // Where shared libraries are loaded, the loader has its own words.
    #expect([1, 74, 127].contains(run.status), "\(limit): \(run)")
    let isTold =
      run.errors.contains("Too many open files") || run.errors.contains("shared object")
    #expect(isTold, "\(limit): \(run)")
  }

  @Test(arguments: [0, 1])
  func `files that may not grow end a run with 74`(blocks: Int) throws {
    let place = try Workplace()
    let tasks = (0..<40).map { "  a\($0): { run: echo hello }\n" }.joined()
    try place.write("opflow.yaml", "tasks:\n" + tasks)
    let run = try place.shell("ulimit -f \(blocks); exec \"$opflow\" run", status: 74)
    #expect(run.errors.contains("File too large"), "\(run)")
  }

  @Test func `a log that may not grow ends a run with 74, and tasks die of their own`() throws {
    let place = try Workplace(
      """
      tasks:
        own: { run: "head -c 100000 /dev/zero > own" , allow_failure: true }
        log: { needs: [own], run: head -c 100000 /dev/zero }
      """)
    let run = try place.shell("ulimit -f 32; exec \"$opflow\" run", status: 74)
    #expect(try place.status()["own"]?.exit == 153, "\(run)")
    #expect(run.errors.contains("opflow cannot write its output"), "\(run)")
  }

  @Test(.enabled(if: isRoot, "root alone can be another user"), arguments: 1...6)
  func `few processes are enough, or a clear error`(limit: Int) throws {
    let place = try Workplace("tasks: { a: { run: 'true' } }")
    try place.shell("chmod 777 . && cp \"$opflow\" opflow")
    // A user that nobody is, each time another one: what it may have is counted for all that is
    // its.
    let user = 70_000 + Int(getpid()) * 8 % 400_000 + limit
    let libraries = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"] ?? ""
    let run = try place.shell(
      """
      exec setpriv --reuid=\(user) --clear-groups bash -c 'ulimit -u \(limit); \
      exec ./opflow run -f opflow.yaml'
      """,
      status: nil, environment: ["LD_LIBRARY_PATH": libraries])
    #expect([0, 1, 74].contains(run.status), "\(limit): \(run)")
    #expect(!run.errors.contains("cannot write the journal"), "\(limit): \(run)")
    if run.status != 0 {
      #expect(run.errors.contains("Resource temporarily unavailable"), "\(limit): \(run)")
    }
  }

  @Test(arguments: [nil, "enable=no"])
  func `a task finds what Swift's runtime was told by a person, and not by opflow`(
    told: String?
  ) throws {
    let place = try Workplace("tasks: { a: { run: 'env | grep ^SWIFT_BACKTRACE= || echo none' } }")
    let variable = told.map { "SWIFT_BACKTRACE=\($0)" }
    try place.shell("env \(variable ?? "-u SWIFT_BACKTRACE") \"$opflow\" run")
    #expect(try place.log("a") == (variable ?? "none") + "\n")
  }

  // MARK: - What is missing

  static let canUnshare: Bool = {
    guard isRoot, !isSanitized, let place = try? Workplace() else { return false }
    return (try? place.shell("unshare -m mount -t tmpfs none /proc", status: nil))?.status == 0
  }()

  @Test(.enabled(if: canUnshare, "mounting needs root"))
  func `without /proc what needs it says so, and the rest works`() throws {
    let place = try Workplace("tasks: { a: { run: echo hello } }")
    func without(_ command: String, status: Int32) throws -> Finished {
      try place.shell(
        "unshare -m sh -c 'mount -t tmpfs none /proc && exec \"$opflow\" \(command)'",
        status: status)
    }
    let run = try without("run", status: 74)
    #expect(run.errors.contains("/proc is not mounted"), "\(run)")
    #expect(place.runs.isEmpty)
    try place.opflow("run")
    for command in ["version", "help", "check", "plan", "status", "logs", "runs", "journal verify"]
    {
      _ = try without(command, status: 0)
    }
  }

  @Test(.enabled(if: canUnshare, "a PID namespace needs root"))
  func `opflow works as the first process of a namespace, and tells where it cannot`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "setsid sh -c '(tail -f /dev/null &)'; echo hello" }
        b: { run: "test $OPFLOW_ATTEMPT -gt 1 || kill -KILL $PPID" }
      """)
    let foreign = try place.shell("unshare -pf \"$opflow\" run", status: 74)
    #expect(foreign.errors.contains("another PID namespace"), "\(foreign)")
    try place.shell("unshare -pf --mount-proc \"$opflow\" run")
    place.expectNothingAlive()
  }

  @Test func `an empty environment and no name are enough`() throws {
    let place = try Workplace("tasks: { a: { run: [/bin/echo, hello] } }")
    try place.shell("exec env -i \"$opflow\" run")
    #expect(try place.log("a") == "hello\n")
    try place.shell("exec -a '' \"$opflow\" version")
  }

  @Test func `a working directory that is gone is a clear error`() throws {
    let place = try Workplace("tasks: { a: { run: echo hello } }")
    for command in ["run", "check", "status"] {
      let run = try place.shell(
        "mkdir gone && cd gone && rmdir ../gone && exec \"$opflow\" \(command)", status: nil)
      #expect([2, 74].contains(run.status), "\(run)")
      #expect(run.errors.contains("No such file or directory"), "\(run)")
    }
  }

  // MARK: - Files that shrink

  @Test func `a plan that is cut short while it is used is an I/O error`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "chmod u+w .opflow/runs/*/plan; truncate -s 0 .opflow/runs/*/plan" }
        b: { needs: [a], run: echo hello }
      """)
    let run = try place.opflow("run", status: 74)
    #expect(
      run.errors.contains("a file of the run was truncated or cannot be read"), "\(run)")
    place.expectNothingAlive()
  }

  @Test func `a view of a plan that is cut short ends in order, or with an I/O error`() throws {
    let place = try Workplace(
      "tasks: { a: { run: 'echo here > here; read x < go; echo more' }, b: { run: echo b } }")
    let here = try place.gate("here")
    let go = try place.gate("go")
    let live = try place.start("run", "--output", "quiet")
    _ = try here.next()
    let view = try place.start("logs", "-f")
    try view.waitForOutput("b")
    try place.shell("chmod u+w .opflow/runs/*/plan; : > .opflow/runs/*/plan")
    try go.letGo()
    let seen = try view.finish()
    // It does not read the journal twice, so it may no longer need the plan.
    #expect([0, 74].contains(seen.status), "\(seen)")
    #expect(seen.errors.contains("truncated") == (seen.status == 74), "\(seen)")
    #expect(try live.finish().status == 74)
    place.expectNothingAlive()
  }
}
