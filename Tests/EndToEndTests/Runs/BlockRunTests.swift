import Foundation
import Glibc
import Testing

/// External tasks. The clients are Python programs that implement the protocol.
struct BlockRunTests {
  /// `blocks.py HOW...`: connects to the only run, offers the tasks of its arguments, and prints
  /// each line from opflow. HOW is `N=ok`, `fail`, `hang` (until a `stop`), `deaf` (ignores a
  /// `stop`, too), or `=LINE`, which replaces the first line to opflow.
  private static let program = """
    import fcntl, glob, os, random, socket, sys, threading
    folder = glob.glob(".opflow/runs/*")[0]
    with open(folder + "/journal.log", errors="replace") as journal:
        lines = [line for line in journal if line.split("\\t")[3:5] in (["open", ""], ["resume", ""])]
    key = lines[-1].split("\\tplan=")[1].split("\\t")[0].strip()
    how = dict(word.split("=", 1) for word in sys.argv[1:])
    # Before the connection: when this process is killed, locks of lockf go as each file is closed, in the order in which
    # they were opened, and a connection ends after that (those of flock may go later than it).
    marks = {task: open("busy-" + task, "a") for task, does in how.items() if does == "work"}
    s = socket.socket(socket.AF_UNIX)
    s.connect(folder + "/control.sock")
    lock = threading.Lock()
    busy = set()
    def say(line):
        with lock: s.sendall((line + "\\n").encode())
    def twice(task):
        with open("twice", "a") as found: found.write(task + "\\n")
    def work(task, attempt):
        # Nobody else is at it, here or elsewhere.
        if task in busy: twice(task)
        busy.add(task)
        try: fcntl.lockf(marks[task], fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError: twice(task)
        sum(range(random.randrange(300_000)))
        with open("trace", "a") as trace: trace.write(task + "\\n")
        fcntl.lockf(marks[task], fcntl.LOCK_UN)
        busy.discard(task)
        say(f"ended\\t{task}\\t{attempt}\\texit=0")
    say(how.pop("", f"hello\\t10\\t{key}\\t{os.getpid()}\\tcores=1\\tactions=block"))
    for task in how: say(f"offer\\t{task}")
    heard = 0
    for line in s.makefile():
        print(line, end="", flush=True)
        heard += 1
        if "work" in how.values(): print(f"#{heard}", flush=True)
        word = line.rstrip("\\n").split("\\t")
        does = how.get(word[1]) if len(word) > 1 else None
        if word[0] == "run":
            if does == "ok": say(f"ended\\t{word[1]}\\t{word[2]}\\texit=0")
            if does == "fail": say(f"ended\\t{word[1]}\\t{word[2]}\\texit=1\\twhat=it threw")
            if does == "work": threading.Thread(target=work, args=word[1:3], daemon=True).start()
        if word[0] == "stop" and does == "hang":
            say(f"ended\\t{word[1]}\\t{word[2]}\\texit=1")
    if "work" in how.values(): print("".join(f"#{number}\\n" for number in range(99)))
    print("over", flush=True)
    """

  private func place(_ manifest: String) throws -> Workplace {
    let place = try Workplace(manifest)
    try place.write("blocks.py", Self.program)
    return place
  }

  private func begin(_ place: Workplace, _ words: String = "run -v") throws -> LiveProcess {
    let run = try place.startShell("exec $opflow \(words)")
    try run.waitForError(words.hasPrefix("resume") ? "resuming" : "task")
    return run
  }

  private func host(_ place: Workplace, _ how: String) throws -> LiveProcess {
    try place.startShell("exec python3 blocks.py \(how)")
  }

  @Test func `a client does external tasks in dependency order, between other tasks`() throws {
    let place = try place(
      """
      tasks:
        a: { block: true }
        b: { block: true, needs: [a] }
        c: { run: echo c >> trace, needs: [b] }
      """)
    let run = try begin(place)
    let why = try place.opflow("why", "a")
    #expect(why.output.contains("waits for a client that offers the external task a"), "\(why)")
    let status = try place.opflow("status")
    #expect(
      status.output.contains(try Regex(#"\na +pending +waits for a client that offers it"#)),
      "\(status)")
    let host = try host(place, "0=ok 1=ok")
    let end = try run.finish()
    #expect(end.status == 0, "\(end)")
    #expect(place.lines() == ["c"])
    let heard = try host.finish()
    #expect(heard.output == "run\t0\t1\nrun\t1\t1\nbye\nover\n")
    place.expectNothingAlive()
  }

  @Test func `a killed client costs its task no attempt`() throws {
    let place = try place("tasks: { a: { block: true } }")
    let run = try begin(place)
    for attempt in 1...5 {
      let host = try host(place, "0=hang")
      try host.waitForOutput("run\t0\t\(attempt)\n")
      host.send(SIGKILL)
      _ = try host.finish()
    }
    let last = try host(place, "0=ok")
    #expect(try run.finish().status == 0)
    _ = try last.finish()
    let interrupts = try place.journal().filter { $0.event == "interrupt" }
    #expect(interrupts.map { $0.values["reason"] } == Array(repeating: "worker-lost", count: 5))
    #expect(try place.status()["a"]?.attempts == 6)
  }

  @Test func `if opflow is killed, the client ends, and a resume repeats its task`() throws {
    let place = try place("tasks: { a: { block: true }, b: { block: true } }")
    let run = try begin(place)
    let host1 = try host(place, "0=hang 1=ok")
    try host1.waitForOutput("run\t0\t1\n")
    try host1.waitForOutput("run\t1\t1\n")
    _ = try place.opflow("wait", "--for", "b")
    run.send(SIGKILL)
    _ = try run.finish()
    #expect(try host1.finish().output.hasSuffix("over\n"))
    let again = try begin(place, "resume -v")
    let host2 = try host(place, "0=ok 1=ok")
    #expect(try again.finish().status == 0)
    #expect(try host2.finish().output == "run\t0\t2\nbye\nover\n")
  }

  @Test func `the error of an external task is printed`() throws {
    let place = try place("tasks: { a: { block: true, retry: { max: 1, delay: 0s } } }")
    let run = try begin(place)
    let host = try host(place, "0=fail")
    let end = try run.finish()
    #expect(end.status == 1)
    #expect(end.errors.contains("it threw"), "\(end)")
    #expect(try host.finish().output == "run\t0\t1\nrun\t0\t2\nbye\nover\n")
  }

  @Test(arguments: ["hang", "deaf"])
  func `an external task with a timeout gets a stop and fails`(_ how: String) throws {
    let place = try place(
      "tasks: { a: { block: true, timeout: 200ms, stop: { grace: 100ms } } }")
    let run = try begin(place)
    let host = try host(place, "0=\(how)")
    #expect(try run.finish().status == 1)
    #expect(try place.status()["a"]?.reason == "timeout")
    #expect(try host.finish().output == "run\t0\t1\nstop\t0\t1\ttime-over\nbye\nover\n")
  }

  @Test func `a signal stops external tasks, and a resume continues them`() throws {
    let place = try place("tasks: { a: { block: true }, b: { block: true, needs: [a] } }")
    let run = try begin(place)
    let host1 = try host(place, "0=hang 1=ok")
    try host1.waitForOutput("run\t0\t1\n")
    run.send(SIGTERM)
    #expect(try run.finish().status == -SIGTERM)
    #expect(try host1.finish().output.contains("stop\t0\t1\tsignal\n"))
    let again = try begin(place, "resume -v")
    let host2 = try host(place, "0=ok 1=ok")
    #expect(try again.finish().status == 0)
    _ = try host2.finish()
  }

  @Test func `requests cancel and skip external tasks, but cannot suspend them`() throws {
    let place = try place("tasks: { a: { block: true }, b: { block: true }, c: { block: true } }")
    let run = try begin(place)
    let host = try host(place, "2=hang")
    try host.waitForOutput("run\t2\t1\n")
    _ = try place.opflow("cancel", "a")
    _ = try place.opflow("skip", "b")
    let suspend = try place.opflow("suspend", "c", status: 2)
    #expect(
      suspend.errors.contains(
        "c runs in the client that offered it; opflow cannot suspend it there"), "\(suspend)")
    _ = try place.opflow("cancel", "c")
    #expect(try run.finish().status == 6)
    #expect(try host.finish().output == "run\t2\t1\nstop\t2\t1\tcancel\nbye\nover\n")
  }

  @Test func `a connection that is not a client of this run is refused`() throws {
    let place = try place("tasks: { a: { block: true } }")
    let run = try begin(place)
    let other = try host(place, "'=hello\t10\tanother\t7\tcores=1\tactions=block'")
    #expect(try other.finish().output.contains("what=it has plan another, but the run has plan"))
    let worker = try host(place, "'=hello\t10\tx\t7\tcores=1\tactions=run'")
    #expect(try worker.finish().output.contains("refused\t\twhat="))
    let beyond = try host(place, "0=hang 9=ok")
    #expect(try beyond.finish().output.hasSuffix("over\n"))
    let last = try host(place, "0=ok")
    #expect(try run.finish().status == 0)
    _ = try last.finish()
  }

  @Test func `a client can offer dynamic tasks`() throws {
    let place = try place("tasks: {}")
    let run = try place.start("serve", "--name", "q")
    try run.waitForError("0 tasks")
    try place.write("a.yaml", "tasks: { a: { block: true }, b: { block: true, needs: [a] } }")
    _ = try place.opflow("add", "--run", "q", "a.yaml")
    let host = try host(place, "0=ok 1=ok")
    _ = try place.opflow("wait", "q", "--for", "b")
    _ = try place.opflow("close", "--run", "q")
    #expect(try run.finish().status == 0)
    #expect(try host.finish().output == "run\t0\t1\nrun\t1\t1\nbye\nover\n")
  }

  @Test func `clients that are killed at random lose no task and run none twice at once`() throws {
    var random = SystemRandomNumberGenerator()
    for round in 1...3 {
      let place = try place(
        "max_parallel: 4\ntasks: { b: { block: true, matrix: { n: { range: [1, 24] } } } }")
      let run = try begin(place)
      var isOver = false
      while !isOver {
        let hosts = try (0..<2).map { _ in
          try host(place, (0..<24).map { "\($0)=work" }.joined(separator: " "))
        }
        for host in hosts {
          // A client that starts after the end of the run prints nothing.
          try? host.waitForOutput("#\(Int.random(in: 1...9, using: &random))\n")
          host.send(SIGKILL)
          _ = try host.finish()
        }
        isOver = try place.journal().contains { $0.event == "close" }
      }
      let end = try run.finish()
      #expect(end.status == 0, "round \(round): \(end)")
      #expect(!place.exists("twice"), "round \(round): \(place.lines("twice"))")
      #expect(Set(place.lines()).count == 24)
      let successes = try place.journal().filter { $0.event == "success" }
      #expect(successes.count == 24)
      place.expectNothingAlive()
    }
  }
}
