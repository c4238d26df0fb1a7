import Drill
import Foundation
import Glibc
import Testing

/// Programs that use the library, and their failures.
struct LibraryHostTests {
  private static let programs =
    URL(fileURLWithPath: Program.path).deletingLastPathComponent().path

  private func start(
    _ program: String, _ arguments: String..., in place: Workplace
  ) throws -> LiveProcess {
    try place.launch(
      "\(Self.programs)/\(program)", arguments, input: nil,
      environment: ["SWIFT_BACKTRACE": "enable=no"], in: nil
    ).start()
  }

  @Test func `the program's children, signals and forks are its own`() throws {
    let place = try Workplace()
    let host = try start("QuietHost", in: place)
    try host.waitForOutput("waiting\n")
    // It is killed, and leaves a child that it forked: the runs stop all the same.
    host.send(SIGKILL)
    let end = try host.finish()
    let forked = try #require(
      end.output.split(separator: "\n").first { $0.hasPrefix("forked: ") }
        .flatMap { pid_t($0.dropFirst(8)) })
    let rest = end.output.replacing("forked: \(forked)\n", with: "")
    #expect(
      rest == """
        b: succeeded, tries: 2
        children: none
        SIGCHLD: 0
        handlers are those of before: true
        own child: 7
        waiting

        """)
    #expect(kill(forked, 0) == 0)
    try place.shell("$opflow wait one --state-dir .opflow; test $? = 143")
    kill(forked, SIGKILL)
    place.expectNothingAlive()
  }

  @Test(arguments: [
    ("parallel", "most: 2\n"), ("reopen", "there: 20, of 20\n"),
    ("cancel", "t: cancelled, next: skipped\n"), ("finish", "finished: true\nagain: true\n"),
    ("closing", "finished: true, tries: 2\n"),
    ("closed", "0 is nobody's: true\n"),
    (
      "stopped",
      """
      waitCancelled: the waiting task was cancelled; opflow may still carry out its request
      waitCancelled: the task that waited for the queue was cancelled, or the queue was released
      t: 1
      done
      paused: true

      """
    ),
  ])
  func `what is rarely asked for is done as well`(_ detail: String, _ told: String) throws {
    let place = try Workplace()
    let end = try start("ProbeHost", detail, in: place).finish()
    #expect(end.status == 0 && end.output == told, "\(end)")
    place.expectNothingAlive()
  }

  @Test func `requests remain in force when the opflow process of the run is lost`() throws {
    let place = try Workplace()
    let end = try start("ProbeHost", "held", in: place).finish()
    #expect(
      end.status == 0
        && end.output == "paused: true, cancelled, pending\nheld: pending\n", "\(end)")
    // Its process may have ended before it wrote anything.
    #expect(place.lines().filter { $0 != "try 1" } == ["free", "held"])
    place.expectNothingAlive()
  }

  @Test func `results are kept when the opflow process of the run is lost`() throws {
    let place = try Workplace()
    let end = try start("ProbeHost", "lost", in: place).finish()
    #expect(
      end.status == 0 && end.output == "failed 1, skipped, cancelled\n0, 2\n", "\(end)")
    #expect(place.lines() == ["failed", "report", "failed"])
    place.expectNothingAlive()
  }

  /// A program that reports and stops itself; then the opflow process of its run is killed.
  private func startStopped(_ detail: String, in place: Workplace) throws -> LiveProcess {
    let host = try start("ProbeHost", detail, in: place)
    try host.waitForOutput("\(detail)\n")
    try ProcessState.wait(for: "T", of: host.pid)
    kill(try #require(owner(place)), SIGKILL)
    return host
  }

  @Test func `what was requested holds when another program finds the loss first`() throws {
    let place = try Workplace()
    let away = try startStopped("away", in: place)
    let other = try start("ProbeHost", "other", in: place).finish()
    #expect(other.output == "paused: true, cancelled\n", "\(other)")
    away.send(SIGCONT)
    let end = try away.finish()
    #expect(
      end.output == "away\npaused: true, pending, cancelled\nfinished: 3, succeeded\n", "\(end)")
    #expect(place.lines() == ["held"])
    let sessions = try place.journal().filter { $0.event == "resume" && $0.task.isEmpty }
    #expect(sessions.map { $0.text.contains("\tcapacity=cpu:1\t") } == [true])
    place.expectNothingAlive()
  }

  @Test func `what another program does after a loss is heard of by who comes later`() throws {
    let place = try Workplace()
    let asleep = try startStopped("asleep", in: place)
    // A program has the run still.
    let waiting = try place.start("wait", "asleep")
    let busy = try start("ProbeHost", "busy", in: place).finish()
    #expect(busy.status == 0, "\(busy)")
    asleep.send(SIGCONT)
    let end = try asleep.finish()
    #expect(end.output == "asleep\n2, more: succeeded\nrunning\nsucceeded\n", "\(end)")
    #expect(try waiting.finish().status == 0)
    place.expectNothingAlive()
  }

  @Test func `what a lost try had added and the next one does not is over`() throws {
    let place = try Workplace()
    try place.write(
      "adder.yaml",
      """
      tasks:
        adder:
          control: true
          run: |
            test $OPFLOW_ATTEMPT = 1 || exit 0
            echo '{"tasks": {"later": {"run": "true", "needs": ["adder"]}}}' | \(Program.path) add -
            sleep 600
      """)
    let end = try start("ProbeHost", "ghosts", in: place).finish()
    #expect(end.output == "succeeded, later: withdrawn, 1\n", "\(end)")
    place.expectNothingAlive()
  }

  @Test func `an error names the task and the property of the library`()
    throws
  {
    let place = try Workplace()
    let end = try start("ProbeHost", "wrong", in: place).finish()
    #expect(end.status == 0)
    let advice = "write it as 500ms, 10s, 5m, 2h or 1h30m; a bare number is seconds"
    let rule =
      """
      is not a valid queue name; a name has 1 to 100 letters, digits, `.`, `_` and `-`, starts \
      with a letter, a digit or `_`, and does not look like the ID of a run
      """
    #expect(
      end.output == """
        manifest: task late, needs: unknown task `nobody`; the other tasks are right, good
        manifest: task again, retry: `max` must be at least 0, not -1; such as `max: 3`
        manifest: task file, download.url: `url` must be an http, https or file URL; the scheme \
        'ftp' is not one of http, https and file
        task file, download.maxSpeed: `maxSpeed` must be a size per second; such as 10MiB
        manifest: task here, cwd: `cwd` is empty; such as `cwd: src`
        manifest: task far, stop: `signal` must be TERM, INT, HUP, QUIT, KILL, ABRT, \
        ALRM, USR1, USR2 or a number, not "NOPE"; such as `signal: INT`
        manifest: task long, timeout: `timeout` must be a duration, not `-5000ms`; \(advice)
        manifest: task long, timeout: `timeout` must be a duration, not `9214157878975800000ms`; \(advice)
        manifest: task cross, needs: good is a task of another queue
        io: cannot read ./-: No such file or directory
        there: ["good"]
        usage: `` \(rule)
        usage: `.` \(rule)
        usage: `..` \(rule)
        usage: `-x` \(rule)
        usage: `\(String(repeating: "a", count: 100))` \(rule)

        """)
    place.expectNothingAlive()
  }

  @Test(
    .enabled(if: getuid() == 0, "mounting a file system needs root"),
    arguments: ["64k", "68k", "80k"])
  func `a full disk is told as that to who opens a queue`(_ size: String) throws {
    let place = try Workplace()
    try place.shell("mkdir m; mount -t tmpfs -o size=\(size) none m")
    defer { _ = try? place.shell("umount m") }
    try place.shell("head -c 60k /dev/zero > m/fill")
    let end = try start("ProbeHost", "open", "m", in: place).finish()
    #expect(end.status == 0)
    #expect(end.output.hasSuffix(": No space left on device\n"), "\(end)")
  }

  /// The opflow process of the newest run; nil if the run is not live.
  private func owner(_ place: Workplace) -> pid_t? {
    guard let run = place.runs.last, let lock = try? place.text(".opflow/runs/\(run)/lock") else {
      return nil
    }
    return lock.split(separator: " ").first.flatMap { pid_t($0) }
  }

  /// A sample of `scripts/stress hosts`.
  @Test(arguments: 1...4)
  func
    `killed at any moment, with all that works for it, nothing is lost and nothing is done twice`(
      _ seed: Int
    ) throws
  {
    var drill = try HostDrill(
      host: "\(Self.programs)/DrillHost", seed: UInt64(seed), taskCount: 24,
      parent: NSTemporaryDirectory())
    try drill.run(killing: 5)
  }

  @Test func `what the disk lacks of the plan after a loss of power, the journal has`() throws {
    let place = try Workplace()
    let host = try start("DrillHost", "24", "stop", in: place)
    try host.waitForOutput("added t12\n")
    let run = try #require(place.runs.last)
    // Both end at once, as at a loss of power. Else the program would start another opflow process
    // for the run, which could read the plan while it is damaged.
    host.send(SIGSTOP)
    if let pid = owner(place) { kill(pid, SIGKILL) }
    host.send(SIGKILL)
    let said = try host.finish().output.split(separator: "\n")
    let added = said.filter { $0.hasPrefix("added ") }.map { $0.dropFirst(6) }
    // Its head says what the rest does not have.
    let path = "\(place.path)/.opflow/runs/\(run)/plan"
    let plan = try #require(FileHandle(forUpdatingAtPath: path))
    let length = try plan.seekToEnd()
    try plan.seek(toOffset: length / 4)
    try plan.write(contentsOf: Data(count: Int(length - length / 4)))
    try plan.close()
    let end = try start("DrillHost", "24", "stop", in: place).finish()
    #expect(end.status == 0, "\(end)")
    #expect(end.output.contains("run \(run)\n") && end.output.contains("finished 24 true\n"))
    let ends = try place.journal().filter { $0.event == "success" }.map(\.task)
    #expect(ends.count == Set(ends).count && added.allSatisfy { ends.contains(String($0)) })
    place.expectNothingAlive()
  }
}
