import Glibc
import Testing

/// The processes of a task: their environment, and leftover ones.
struct ProcessTests {
  @Test func `standard input is empty`() throws {
    let place = try Workplace("tasks: { a: { run: 'cat; readlink /proc/self/fd/0' } }")
    try place.opflow("run", input: "not for tasks\n")
    #expect(try place.log("a") == "/dev/null\n")
  }

  @Test func `no descriptor but the three is inherited`() throws {
    let place = try Workplace("tasks: { a: { run: [ls, /proc/self/fd] } }")
    let live = try place.startShell("exec 7</dev/null 8</dev/null; exec \"$opflow\" run")
    #expect(try live.finish().status == 0)
    // The fourth is the folder that `ls` itself reads.
    #expect(try place.log("a") == "0\n1\n2\n3\n")
  }

  @Test func `signals are at their default, none is blocked or ignored`() throws {
    let place = try Workplace(
      "tasks: { a: { run: [cat, /proc/self/status] } }")
    try place.opflow("run")
    let zero = String(repeating: "0", count: 16)
    let log = try place.log("a")
    for kind in ["Blk", "Ign", "Cgt"] { #expect(log.contains("Sig\(kind):\t\(zero)\n"), "\(log)") }
  }

  @Test func `a reader that goes away ends a writer in a pipe`() throws {
    let place = try Workplace("tasks: { a: { run: 'yes | head -n 1' } }")
    try place.opflow("run")
    #expect(try place.log("a") == "y\n")
  }

  @Test func `a task has a group of its own`() throws {
    let place = try Workplace(
      "tasks: { a: { run: [sh, -c, 'test \"$(ps -o pgid= -p $$ | tr -d \" \")\" = $$'] } }")
    try place.opflow("run")
  }

  @Test func `what a task leaves in the background is ended`() throws {
    let place = try Workplace(
      "tasks: { a: { run: 'tail -f /dev/null & until grep -q tail /proc/$!/comm; do :; done' } }")
    for mode in ["line", "group"] {
      let run = try place.opflow("run", "--output", mode, "--json")
      #expect(run.errorLines.contains("  ended 1 leftover process: tail"), "\(run)")
      #expect(run.output.contains(#""left_behind":1,"left_names":"tail""#), "\(run)")
      #expect(try place.text(place.runFolder() + "/journal.log").contains("\tleft=1 tail"))
      try place.remove(".opflow")
    }
    place.expectNothingAlive()
  }

  @Test func `what ends by itself, or is stopped with its task, was not left behind`() throws {
    let place = try Workplace(
      """
      max_failures: 0
      tasks:
        waits: { run: "true & wait" }
        stopped: { run: "tail -f /dev/null", timeout: 100ms }
      """)
    let run = try place.opflow("run", "--output", "line", status: 1)
    #expect(!run.errors.contains("leftover"), "\(run)")
  }

  /// A place that belongs to another user, as whom `./opflow` is run by `as`, and `./root` there is
  /// what `sudo` is to a person.
  private func foreignPlace(_ manifest: String) throws -> Workplace {
    let place = try Workplace(manifest)
    try place.shell(
      """
      cp "$opflow" . && cp "$(command -v setpriv)" root && chmod 4755 root
      cp "$(dirname "$opflow")/opflow-download" .
      chown 65534:65534 . opflow.yaml
      """)
    return place
  }

  private static let asOther = "setpriv --reuid=65534 --regid=65534 --clear-groups"
  private static let needsRoot: ConditionTrait = .enabled(
    if: geteuid() == 0, "another user's process needs another user")

  @Test(needsRoot)
  func `a process that opflow may not end is named, and its task ends once`() throws {
    let place = try foreignPlace(
      """
      tasks:
        upgrade:
          timeout: 200ms
          retry: 2
          stop: { grace: 0s }
          run: "test -e ok || ./root --reuid=0 sh -c 'echo start >> count; echo $$ > pid; exec tail -f /dev/null > /dev/null'"
      """)
    let run = try place.shell("\(Self.asOther) ./opflow run --json --output line", status: 1)
    let pid = try #require(place.lines("pid").last)
    let told = "  could not end 1 leftover process, which may still run: \(pid) (tail, user root)"
    #expect(run.errorLines.contains(told), "\(run)")
    #expect(run.output.contains(#""left_alive":true"#), "\(run)")
    #expect(run.errors.contains(/upgrade failed after \S+: timeout/), "\(run)")
    #expect(place.lines("count") == ["start"])
    try expectResumeRefused(place, pid)
    try place.write("ok", "")
    try place.shell("\(Self.asOther) ./opflow resume --take-over")
    try place.shell("kill -KILL \(pid)")
    place.expectNothingAlive()
  }

  @Test(needsRoot, arguments: ["", Self.onAgent])
  func `a task whose worker is killed does not start beside what opflow may not end`(
    _ on: String
  ) throws {
    let place = try foreignPlace(
      """
      tasks:
        upgrade:
          run: |
            echo $PPID > worker
            ./root --reuid=0 sh -c '
              echo start >> count; echo $$ > pid; echo here > here; exec tail -f /dev/null > /dev/null'
      """)
    let here = try place.gate("here")
    let live = try place.startShell("exec \(Self.asOther) ./opflow run --output line \(on)")
    _ = try here.next()
    try place.shell("kill -KILL $(cat worker)")
    let run = try live.finish()
    #expect(run.status == 1, "\(run)")
    #expect(run.errors.contains("(tail, user root)"), "\(run)")
    #expect(place.lines("count") == ["start"])
    try place.shell("kill -KILL $(cat pid)")
    place.expectNothingAlive()
  }

  /// Starts a run that leaves a process that opflow may not end when `killed` dies, and kills that.
  /// Returns how the run ended, and the pid of the process.
  private func killed(
    _ killed: String, _ flags: String, _ place: Workplace
  ) throws -> (Finished, pid: String) {
    let here = try place.gate("here")
    let live = try place.startShell(
      "echo $$ > coordinator; exec \(Self.asOther) ./opflow run --output line \(flags)")
    let pid = try here.next()
    try place.write("ok", "")
    try place.shell("kill -KILL $(cat \(killed))")
    return (try live.finish(), pid)
  }

  private func placeThatWaits(_ starter: String) throws -> Workplace {
    try foreignPlace(
      """
      tasks:
        upgrade:
          stop: { grace: 0s }
          run: |
            test -e ok && exit
            echo start >> count
            echo $PPID > worker
            ps -o ppid= -p $PPID > agent
            ./root --reuid=0 \(starter) -c 'echo $$ > here; exec tail -f /dev/null > /dev/null' &
            exec tail -f /dev/null
      """)
  }

  @Test(needsRoot, arguments: ["agent", "agent worker"])
  func `a task whose agent is killed does not start beside what opflow may not end`(
    _ killed: String
  ) throws {
    let place = try placeThatWaits("sh")
    let (run, pid) = try self.killed(killed, Self.onAgent, place)
    #expect(run.status == 1, "\(run)")
    #expect(run.errors.contains("may still run: \(pid) (tail, user root)"), "\(run)")
    try expectResumeRefused(place, pid, Self.onAgent)
    try place.shell("kill -KILL \(pid)")
    try place.shell("\(Self.asOther) ./opflow resume \(Self.onAgent)")
    #expect(place.lines("count") == ["start"])
    place.expectNothingAlive()
  }

  @Test(needsRoot, arguments: ["", Self.onAgent])
  func `a resume finds what a worker left in a session of its own after opflow was killed`(
    _ on: String
  ) throws {
    let place = try placeThatWaits("setsid sh")
    let (_, pid) = try killed("coordinator", on, place)
    try expectResumeRefused(place, pid, on)
    // Still, though nothing new was noted.
    try expectResumeRefused(place, pid, on)
    try place.shell("kill -KILL \(pid)")
    try place.shell("\(Self.asOther) ./opflow resume \(on)")
    #expect(try place.shell("ls .opflow/runs/*/survivors", status: 2).output == "")
    place.expectNothingAlive()
  }

  @Test(needsRoot, arguments: ["", "web: { service: {}, run: exec tail -f /dev/null }"])
  func `a watching run waits for a process that opflow may not end, then takes up the change`(
    _ service: String
  ) throws {
    let place = try foreignPlace(
      """
      tasks:
        upgrade:
          inputs: [in]
          outputs: []
          run: |
            echo start >> count
            test -e ok && exit
            ./root --reuid=0 sh -c 'echo $$ > pid; exec tail -f /dev/null > /dev/null' &
            until test -s pid; do sleep 0.01; done
        \(service)
      """)
    try place.write("in", "1")
    let live = try place.startShell("exec \(Self.asOther) ./opflow run --watch --output line")
    try live.waitForError("for changes (Ctrl-C to quit)")
    let pid = try #require(place.lines("pid").last)
    try place.write("in", "2")
    try live.waitForError(
      "waiting for the end of processes of an earlier session, so that no task runs twice:"
        + " \(pid) (tail, user root); to end them: sudo kill \(pid) (Ctrl-C to quit)")
    #expect(place.lines("count") == ["start"])
    try place.write("ok", "")
    try place.shell("kill -KILL \(pid)")
    try live.waitForError("upgrade succeeded", times: 2)
    #expect(place.lines("count") == ["start", "start"])
    live.send(SIGINT)
    _ = try live.finish()
    place.expectNothingAlive()
  }

  private static let onAgent = "--on 'exec:exec ./opflow agent'"

  /// Leaves a process that opflow may not end, and returns its pid. A resume does not start the
  /// task beside it.
  private func leftAlive(_ place: Workplace, _ flags: String) throws -> String {
    let run = try place.shell("\(Self.asOther) ./opflow run --output line \(flags)", status: 1)
    let pid = try #require(place.lines("pid").last)
    #expect(run.errors.contains("may still run: \(pid) (tail, user root)"), "\(run)")
    try expectResumeRefused(place, pid, flags)
    return pid
  }

  private func expectResumeRefused(
    _ place: Workplace, _ pid: String, _ flags: String = ""
  ) throws {
    let resumed = try place.shell("\(Self.asOther) ./opflow resume \(flags)", status: 5)
    #expect(resumed.errors.contains("of the run: \(pid) (tail, user root)"), "\(resumed)")
    #expect(resumed.errors.contains("`sudo kill \(pid)`"), "\(resumed)")
    #expect(place.lines("count") == ["start"])
  }

  private func placeThatLeaves(_ starter: String) throws -> Workplace {
    try foreignPlace(
      """
      tasks:
        upgrade:
          timeout: 200ms
          stop: { grace: 0s }
          run: |
            test -e ok || ./root --reuid=0 \(starter) -c '
              echo start >> count; echo $$ > pid; exec tail -f /dev/null > /dev/null'
      """)
  }

  @Test(needsRoot)
  func `a resume finds what opflow may not end, in a session of its own`() throws {
    let place = try placeThatLeaves("setsid sh")
    let pid = try leftAlive(place, "")
    try place.write("ok", "")
    try place.shell("kill -KILL \(pid)")
    try place.shell("\(Self.asOther) ./opflow resume")
    place.expectNothingAlive()
  }

  /// Makes the run one of an older version, which wrote neither boot nor host for a worker behind
  /// an agent on the same host, and no files about processes left alive.
  private func forgetBoots(_ place: Workplace) throws {
    try place.shell("rm -r .opflow/runs/*/survivors")
    var lines = place.lines(try place.journalName)
    for index in lines.indices where JournalLine(lines[index])?.event == "worker" {
      let rest = lines[index].drop { $0 != "\t" }.dropFirst()
        .split(separator: "\t", omittingEmptySubsequences: false)
        .filter { !$0.hasPrefix("host=") }
        .map { $0.hasPrefix("boot=") ? "boot=" : $0 }.joined(separator: "\t")
      let sum = String(CRC32C.checksum(Array(rest.utf8)), radix: 16)
      lines[index] = String(repeating: "0", count: 8 - sum.count) + sum + "\t" + rest
    }
    try place.write(try place.journalName, lines.joined(separator: "\n") + "\n")
  }

  @Test(needsRoot)
  func `a resume finds what opflow may not end, behind an agent`() throws {
    let (place, on) = (try placeThatLeaves("sh"), Self.onAgent)
    let pid = try leftAlive(place, on)
    try forgetBoots(place)
    let host = try place.shell("uname -n").output.dropLast()
    let older = try place.shell("\(Self.asOther) ./opflow resume \(on)", status: 5)
    #expect(older.errors.contains("of the run: \(pid) on \(host)"), "\(older)")
    #expect(older.errors.contains("`sudo kill \(pid)` on \(host)"), "\(older)")
    #expect(place.lines("count") == ["start"])
    try place.write("ok", "")
    try place.shell("kill -KILL \(pid)")
    try place.shell("\(Self.asOther) ./opflow resume --take-over \(on)")
    place.expectNothingAlive()
  }

  @Test(needsRoot)
  func `a command among inputs that opflow may not end is started once, and named`() throws {
    let place = try foreignPlace(
      """
      tasks:
        build:
          inputs:
            - run: [./root, --reuid=0, sh, -c, "echo start >> count; echo $$ > pid; exec tail -f /dev/null"]
          run: "true"
      """)
    let run = try place.shell("\(Self.asOther) ./opflow run --output line", status: 1)
    let pid = try #require(place.lines("pid").last)
    let told = "took longer than 8 seconds; opflow could not end process \(pid) (tail, user root)"
    #expect(run.errors.contains(told), "\(run)")
    #expect(place.lines("count") == ["start"])
    try place.shell("kill -KILL \(pid)")
    place.expectNothingAlive()
  }

  /// A place that belongs to a user who has no process, and what starts `./opflow` as that one
  /// where there may be so many.
  private func placeOfFew(_ manifest: String) throws -> (Workplace, start: (Int) -> String) {
    let place = try Workplace(manifest)
    // Nobody else's processes count.
    let user = UInt32.random(in: 100_000_000..<200_000_000)
    try place.shell(
      """
      cp "$opflow" . && cp "$(dirname "$opflow")/opflow-download" . && chown \(user) . opflow.yaml
      """
    )
    return (
      place,
      { "prlimit --nproc=\($0) setpriv --reuid=\(user) --regid=65534 --clear-groups " }
    )
  }

  @Test(needsRoot)
  func `where no process can be started for the first worker, a run waits for one`() throws {
    let (place, start) = try placeOfFew("tasks: { a: { run: echo a >> trace } }")
    let full = try place.gate("full")
    let end = try place.gate("end")
    try place.shell("chmod 666 full end")
    let others = try place.startShell(
      """
      exec \(start(11)) perl -e 'my @c; while (defined(my $q = fork())) { if (!$q) { sleep; exit } push @c, $q }
      open(F, ">", "full"); print F "full\\n"; close F; open(E, "<", "end"); <E>; kill 9, @c; 1 while wait() > 0'
      """)
    _ = try full.next()
    let live = try place.startShell("exec \(start(12)) ./opflow run --output line")
    try live.waitForError(
      "command tasks wait until opflow can start processes: cannot start a worker")
    try end.letGo()
    let run = try live.finish()
    #expect(run.status == 0, "\(run)")
    #expect(place.lines() == ["a"])
    _ = try others.finish()
  }

  @Test(needsRoot)
  func `where processes are few, a run goes on with fewer workers`() throws {
    let (place, start) = try placeOfFew(
      "tasks: { t: { matrix: { n: { range: [1, 20] } }, run: [sleep, '0.1'] } }")
    let run = try place.shell("\(start(12)) ./opflow run -j 8 --output line")
    #expect(run.errors.contains("the run continues with "), "\(run)")
    #expect(run.errors.contains("20 succeeded"), "\(run)")
  }

  @Test func `a daemon is ended with its task`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "setsid sh -c 'echo up > here; exec tail -f /dev/null > /dev/null' & read x < here" }
      """)
    _ = try place.gate("here")
    try place.opflow("run")
    place.expectNothingAlive()
  }

  @Test func `a double fork out of every group and session is ended`() throws {
    let place = try Workplace(
      """
      tasks:
        a:
          run: |
            (setsid sh -c '(setsid sh -c "exec >/dev/null 2>&1 </dev/null; echo up > here; exec tail -f /dev/null" &) ' &)
            read x < here
      """)
    _ = try place.gate("here")
    try place.opflow("run")
    place.expectNothingAlive()
  }

  @Test func `a killed shell whose child holds the pipe ends the task`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "tail -f /dev/null & kill -KILL $$" }
      """)
    try place.opflow("run", status: 1)
    #expect(try place.status()["a"]?.signal == 9)
    place.expectNothingAlive()
  }

  @Test func `two hundred children that ignore TERM are ended`() throws {
    let place = try Workplace(
      """
      tasks:
        a:
          run: |
            for i in $(seq 200); do (trap '' TERM HUP; exec tail -f /dev/null) & done
          stop: { grace: 50ms }
      """)
    try place.opflow("run")
    place.expectNothingAlive()
  }

  @Test func `output that a background process wrote before the end is kept`() throws {
    let place = try Workplace("tasks: { a: { run: '(echo one; echo two) & wait; echo three' } }")
    try place.opflow("run")
    #expect(try place.log("a") == "one\ntwo\nthree\n")
  }

  @Test func `tasks do not wait for the background process of another`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "tail -f /dev/null &" }
        b: { needs: [a], run: echo b >> trace }
      """)
    try place.opflow("run")
    #expect(place.lines() == ["b"])
  }

  @Test func `the umask is inherited, the limits too`() throws {
    let place = try Workplace("tasks: { a: { run: 'umask; ulimit -n' } }")
    try place.shell("umask 027; ulimit -n 500; \"$opflow\" run")
    #expect(try place.log("a") == "0027\n500\n")
  }
}
