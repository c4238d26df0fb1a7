import Foundation
import Glibc
import Testing

/// Tasks that try to outlive opflow, and every way in which opflow lets a task end: nothing of them
/// may be alive afterwards.
struct HygieneTests {
  /// What a task does before it says that it is there.
  enum Trick: String, CaseIterable, Sendable {
    case forksTwice, leavesTheSession, ignoresSignals, stopsItself, forksHundreds, shedsItsMark,
      closesItsOutput, changesUser, isSetuid, shedsMarkAndSession

    /// Starts background processes that opflow has to find, before a process that never ends.
    var script: String {
      switch self {
      case .forksTwice: "(sh -c 'tail -f /dev/null & exec tail -f /dev/null' &)"
      case .leavesTheSession:
        "setsid sh -c 'trap \"\" TERM HUP INT; setsid tail -f /dev/null & exec tail -f /dev/null' &"
      case .ignoresSignals:
        "trap '' TERM INT HUP QUIT; tail -f /dev/null &"
      case .stopsItself: "sh -c 'kill -STOP $$; exec tail -f /dev/null' &"
      case .forksHundreds: "for i in $(seq 300); do tail -f /dev/null & done"
      case .shedsItsMark:
        "env -i /bin/sh -c 'exec tail -f /dev/null \"$0\"' \"$OPFLOW_TEST_MARK\" &"
      case .closesItsOutput: "exec >&- 2>&- </dev/null; sleep 100000 &"
      case .changesUser: "setpriv --reuid=65534 --clear-groups tail -f /dev/null &"
      case .isSetuid: "./helper -f /dev/null &"
      case .shedsMarkAndSession:
        "env -i setsid /bin/sh -c 'exec tail -f /dev/null \"$0\"' \"$OPFLOW_TEST_MARK\" &"
      }
    }

    var needsRoot: Bool { self == .changesUser || self == .isSetuid }
  }

  enum Ending: String, CaseIterable, Sendable {
    case ownEnd, cancel, timeout, deathOfWorker, deathOfCoordinator, deathOfBoth
  }

  static let isRoot = geteuid() == 0

  static let cases: [(Trick, Ending)] = Trick.allCases.flatMap { trick in
    Ending.allCases.map { (trick, $0) }
  }.filter { isRoot || !$0.0.needsRoot }
    .filter { $0 != .shedsMarkAndSession || $1 != .deathOfBoth }

  /// Whether a control group can be made here whose processes the kernel kills.
  static let hasGroups: Bool = {
    guard let place = try? Workplace() else { return false }
    let script = """
      path=$(sed -n 's/^0:://p' /proc/self/cgroup)
      for root in /sys/fs/cgroup /sys/fs/cgroup/unified; do
        test -e "$root/cgroup.controllers" || continue
        group=$root${path%/}/opflow-test-$$
        mkdir "$group" && test -e "$group/cgroup.kill" && rmdir "$group" && exit 0
      done
      exit 1
      """
    return (try? place.shell(script, status: nil))?.status == 0
  }()

  @Test(.enabled(if: hasGroups, "no control group of the second version can be made here"))
  func `where control groups can be killed, not even mark and session have to be kept`() throws {
    try endTask(.shedsMarkAndSession, .deathOfBoth)
  }

  @Test(.enabled(if: hasGroups, "no control group of the second version can be made here"))
  func `no control group is left of a run`() throws {
    let place = try Workplace("tasks: { a: { run: cat /proc/self/cgroup } }")
    try place.opflow("run")
    let run = try #require(place.runs.first)
    // It ran in one of its worker's.
    #expect(try place.log("a").contains("/opflow-\(run)-"))
    let left = try place.shell("find /sys/fs/cgroup -ignore_readdir_race -name 'opflow-\(run)-*'")
      .output
    #expect(left.isEmpty)
  }

  @Test(.enabled(if: hasGroups, "no control group of the second version can be made here"))
  func `the control group of a run that died goes with the next run that ends`() throws {
    let place = try Workplace(
      "tasks: { a: { run: 'echo $OPFLOW_RUN > here; exec tail -f /dev/null' } }")
    let here = try place.gate("here")
    let live = try place.start("run")
    let run = try here.next()
    live.send(SIGKILL)
    #expect(try live.finish().status == -SIGKILL)
    place.expectNothingAlive()
    try place.write("other.yaml", "tasks: { a: { run: 'true' } }")
    try place.opflow("run", "other.yaml")
    #expect(
      try place.shell("find /sys/fs/cgroup -ignore_readdir_race -name 'opflow-\(run)-*'").output
        .isEmpty)
  }

  /// By whichever run ends next: the one around it, or any.
  @Test(
    .enabled(if: hasGroups, "no control group of the second version can be made here"),
    arguments: [false, true])
  func `the control group of a run within a task that died goes too`(dies: Bool) throws {
    let place = try Workplace(
      """
      tasks:
        a:
          run: |
            mkfifo begun
            $opflow run inner.yaml & driver=$!
            read -r inner < begun
            kill -9 $driver
            wait $driver || true
            echo $inner > here
            \(dies ? "exec tail -f /dev/null" : "exit 0")
      """)
    try place.write(
      "inner.yaml", "tasks: { b: { run: 'echo $OPFLOW_RUN > begun; exec tail -f /dev/null' } }")
    let here = try place.gate("here")
    let live = try place.start("run")
    let inner = try here.next()
    if dies {
      live.send(SIGKILL)
      #expect(try live.finish().status == -SIGKILL)
      place.expectNothingAlive()
      try place.write("other.yaml", "tasks: { a: { run: 'true' } }")
      try place.opflow("run", "other.yaml")
    } else {
      #expect(try live.finish().status == 0)
    }
    #expect(
      try place.shell("find /sys/fs/cgroup -ignore_readdir_race -name 'opflow-\(inner)-*'").output
        .isEmpty)
  }

  @Test(arguments: cases)
  func `nothing of a task outlives its end`(trick: Trick, ending: Ending) throws {
    try endTask(trick, ending)
  }

  private func endTask(_ trick: Trick, _ ending: Ending) throws {
    let place = try Workplace()
    let main =
      switch ending {
      case .ownEnd: "exit 0"
      default: trick == .stopsItself ? "kill -STOP $$" : ":"
      }
    let timeout = ending == .timeout ? "timeout: 1s" : "timeout: 1h"
    // On a busy machine the time may be up in the middle of the trick.
    let begun = "echo $$ > here"
    let steps = ending == .timeout ? [begun, trick.script] : [trick.script, begun]
    try place.write(
      "opflow.yaml",
      """
      tasks:
        a:
          run: |
            test -e ended && exit 0
            \(steps[0])
            \(steps[1])
            \(main)
            exec sleep 100000
          stop: { grace: 200ms }
          \(timeout)
        after: { needs: [a], run: echo after >> trace }
      """)
    if trick == .isSetuid {
      try place.shell("cp $(command -v tail) helper && chown 65534 helper && chmod 4755 helper")
    }
    let here = try place.gate("here")
    let live = try place.start("run", "-j", "1", "--output", "quiet")
    let pid = try #require(pid_t(try here.next()))
    if ending != .ownEnd, ending != .timeout {
      #expect(!Survivors.find(mark: place.mark).isEmpty)
      if trick == .stopsItself { try ProcessState.wait(for: "T", of: pid) }
    }
    try place.write("ended", "")
    try bring(ending, to: live, place)
    place.expectNothingAlive()
    if ending == .ownEnd || ending == .deathOfWorker { #expect(place.lines() == ["after"]) }
  }

  private func bring(_ ending: Ending, to live: LiveProcess, _ place: Workplace) throws {
    let workers = Survivors.find(mark: place.mark).filter { $0.command.contains(" worker ") }
    switch ending {
    case .ownEnd: #expect(try live.finish().status == 0)
    case .timeout: #expect(try live.finish().status == 1)
    case .cancel:
      live.send(SIGINT)
      #expect(try live.finish().status == -SIGINT)
    case .deathOfWorker:
      #expect(!workers.isEmpty)
      for worker in workers { kill(worker.pid, SIGKILL) }
      #expect(try live.finish().status == 0)
    case .deathOfCoordinator:
      live.send(SIGKILL)
      #expect(try live.finish().status == -SIGKILL)
    case .deathOfBoth:
      live.send(SIGSTOP)
      for worker in workers { kill(worker.pid, SIGSTOP) }
      live.send(SIGKILL)
      for worker in workers { kill(worker.pid, SIGKILL) }
      #expect(try live.finish().status == -SIGKILL)
      try place.opflow("resume", "--output", "quiet")
      let run = try #require(place.runs.first)
      // It does not go into groups of others, which come and go meanwhile.
      let groups = "-name 'opflow-*' -prune -name 'opflow-\(run)-*' -print"
      #expect(
        try place.shell("find /sys/fs/cgroup -ignore_readdir_race \(groups)").output.isEmpty)
    }
  }

  /// A worker that does not answer holds up the end of its task until the coordinator kills it.
  @Test func `a stopped worker does not keep its task from being ended`() throws {
    let place = try Workplace(
      """
      tasks:
        a:
          run: "kill -STOP $PPID; setsid tail -f /dev/null & echo here > here; exec tail -f /dev/null"
          stop: { grace: 0s }
        b: { needs: [a], run: echo b >> trace }
      """)
    let here = try place.gate("here")
    let live = try place.start("run")
    _ = try here.next()
    live.send(SIGTERM)
    #expect(try live.finish().status == -SIGTERM)
    #expect(try place.journal().contains { $0.event == "interrupt" && $0.task == "a" })
    place.expectNothingAlive()
  }

  /// A process that cgroup v1 has frozen does not die until it is thawed.
  static let freezer = "/sys/fs/cgroup/freezer"
  static let canFreeze = isRoot && access("\(freezer)/tasks", W_OK) == 0

  @Test(
    .enabled(if: canFreeze, "this machine has no freezer to make a process that cannot be killed"))
  func `a worker that cannot be killed is named, and holds up the run for some seconds only`()
    throws
  {
    let place = try Workplace(
      """
      tasks:
        a: { run: "echo here > here; exec tail -f /dev/null", stop: { grace: 0s } }
      """)
    let group = "\(Self.freezer)/opflow-test-\(place.mark)"
    let here = try place.gate("here")
    let live = try place.start("run")
    _ = try here.next()
    let worker = try #require(
      Survivors.find(mark: place.mark).first { $0.command.contains(" worker ") })
    try place.shell(
      """
      mkdir \(group) && echo \(worker.pid) > \(group)/tasks && echo FROZEN > \(group)/freezer.state
      """
    )
    defer {
      _ = try? place.shell(
        """
        echo THAWED > \(group)/freezer.state
        until rmdir \(group) 2>&1; do :; done
        """)
    }
    live.send(SIGTERM)
    let run = try live.finish()
    #expect(run.status == -SIGTERM, "\(run)")
    #expect(run.errors.contains("cannot end worker \(worker.pid)"), "\(run)")
    #expect(try place.journal().last?.event == "close")
  }

  @Test func `the end of a task is noticed while a stranger holds its output`() throws {
    let place = try Workplace()
    // Passed out of the tree through a FIFO that a process of the test's own holds: no signal of
    // opflow reaches that one.
    let live = try place.startShell(
      """
      mkfifo pipes
      cat > holder.py <<'TEXT'
      import array, os, socket
      server = socket.socket(socket.AF_UNIX)
      server.bind("holder")
      server.listen()
      print("ready", flush=True)
      peer, _ = server.accept()
      held = array.array("i")
      _, extra, _, _ = peer.recvmsg(1, socket.CMSG_SPACE(4))
      held.frombytes(extra[0][2])
      peer.send(b"x")
      print("held", flush=True)
      peer.close()
      open("pipes").read()
      TEXT
      exec python3 holder.py
      """)
    try live.waitForOutput("ready")
    try place.write(
      "pass.py",
      """
      import array, socket
      peer = socket.socket(socket.AF_UNIX)
      peer.connect("holder")
      peer.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [1]))])
      peer.recv(1)
      print("passed")
      """)
    try place.write("opflow.yaml", "tasks: { a: { run: [python3, pass.py] } }")
    try place.opflow("run")
    #expect(try place.log("a") == "passed\n")
    try live.waitForOutput("held")
    try place.shell(": > pipes")
    #expect(try live.finish().status == 0)
  }

  @Test func `output of any size and kind takes no memory of opflow's`() throws {
    let place = try Workplace(
      """
      tasks:
        big: { run: head -c 60000000 /dev/zero }
        noise: { run: head -c 3000000 /dev/urandom | tee noise }
        lines: { run: yes | head -c 20000000 }
      """)
    // In kibibytes: what the programs map at their start, and a few megabytes.
    let before = try peak(place, "version")
    let after = try peak(place, "run", "--output", "quiet")
    #expect(after < before + 40_000, "\(before) KiB, then \(after) KiB")
    #expect(try place.bytes(place.runFolder() + "/logs/big.log").count == 60_000_000)
    #expect(try place.bytes(place.runFolder() + "/logs/noise.log") == place.bytes("noise"))
    #expect(try place.bytes(place.runFolder() + "/logs/lines.log").count == 20_000_000)
  }

  /// A plan with a copy of the environment in each task, or of the text in each matrix task, would
  /// take 700 or 1300 MiB.
  @Test func `memory for a plan grows as the manifest does`() throws {
    let place = try Workplace("tasks: { a: { run: x } }\n")
    let variables = (0..<10_000).map { "K\($0): v" }.joined(separator: ", ")
    let tasks = (0..<2500).map { "  t\($0): { run: x, env: { Z: '\($0)' } }\n" }.joined()
    try place.write("environment.yaml", "env: { \(variables) }\ntasks:\n" + tasks)
    #expect(try peak(place, "plan", "environment.yaml") < 100 << 10)
    try place.write(
      "matrix.yaml",
      "vars: { long: '\(String(repeating: "x", count: 300_000))' }\ntasks:\n  a:\n"
        + "    run: 'echo ${{ matrix.n }} ${{ vars.long }}'\n"
        + "    matrix: { n: { range: [1, 2000] } }\n"
    )
    let refused = try place.shell(
      "python3 peak.py sh -c '$opflow plan matrix.yaml 2> matrix.errors || test $? = 3'")
    #expect(try #require(Int(refused.outputLines.last ?? "")) < 100 << 10)
    #expect(try place.text("matrix.errors").contains("the plan is too large"))
  }

  /// The largest resident set of the program and of any process below it, in KiB.
  private func peak(_ place: Workplace, _ words: String...) throws -> Int {
    try place.write(
      "peak.py",
      """
      import resource, subprocess, sys
      subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
      print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
      """)
    let run = try place.shell("python3 peak.py $opflow " + words.joined(separator: " "))
    return try #require(Int(run.outputLines.last ?? ""))
  }
}
