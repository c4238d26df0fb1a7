import Foundation
import Testing

/// Runs whose tasks go to other machines, which here are agents that a command starts.
struct NodeRunTests {
  private static let agent = "exec:exec $opflow agent"

  /// Tells where it ran by the agent above its worker.
  private static let pipeline = """
    tasks:
      a: { run: 'echo a >> trace; ps -o ppid= -p $PPID >> agents' }
      b: { run: 'echo b >> trace; ps -o ppid= -p $PPID >> agents', needs: a }
      c: { run: 'echo c >> trace; ps -o ppid= -p $PPID >> agents', needs: a }
      d: { run: 'echo d >> trace; ps -o ppid= -p $PPID >> agents', needs: [b, c] }

    """

  @Test func `a pipeline runs behind an agent, with logs, and nothing is left`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: 'echo a >> trace; echo hello' }
        b: { run: 'echo b >> trace', needs: a }
        c: { run: 'exit 3', needs: a, allow_failure: true }
      """)
    let run = try place.opflow("run", "--on", Self.agent)
    #expect(place.lines() == ["a", "b"], "\(run)")
    #expect(run.errors.contains("a | hello"), "\(run)")
    #expect(run.errors.contains("exit 3"), "\(run)")
    // Nothing was complained of.
    #expect(try place.shell("ls .opflow/runs/*/").output.contains("sites.log") == false)
    place.expectNothingAlive()
  }

  @Test func `two agents share the tasks, and what needs another one goes where that ran`() throws {
    let place = try Workplace(Self.pipeline)
    try place.opflow("run", "--on", Self.agent, "--on", Self.agent, "-j", "4")
    #expect(place.lines().first == "a" && place.lines().last == "d" && place.lines().count == 4)
    let run = try place.opflow("run", "--on", Self.agent, "--json")
    #expect(run.status == 0, "\(run)")
    let host = try place.shell("uname -n").output.trimmingCharacters(in: .whitespacesAndNewlines)
    #expect(run.output.contains(#""event":"machine","host":"\#(host)","state":"joined""#), "\(run)")
    #expect(run.output.contains(#""task":"d","attempt":1,"host":"\#(host)""#), "\(run)")
    let status = try place.opflow("status").output
    #expect(status.contains("\nnodes: 1 (\(host))\n") && status.contains("NODE"), "\(status)")
    #expect(try place.opflow("why", "d").output.contains("ran on node \(host)\n"))
    place.expectNothingAlive()
  }

  @Test func `no two tasks have one GPU where an agent is on this machine`() throws {
    let place = try Workplace(
      DeviceTasks.manifest(mark: "$OPFLOW_TASK", seconds: 0.05))
    try place.shell("mkdir locks")
    let run = try place.opflow(
      "run", "--on", Self.agent, "-j", "8", environment: ["CUDA_VISIBLE_DEVICES": "0,1"])
    #expect(place.lines().count == 24, "\(run)")
    #expect(place.lines("twice") == [])
    #expect(try place.shell("ls locks").output == "0\n1\n")
    place.expectNothingAlive()
  }

  @Test
  func `what a shell's start-up files print does no harm, and is told where nothing else comes`()
    throws
  {
    let place = try Workplace("tasks:\n  a: { run: 'echo a >> trace' }\n")
    try place.opflow(
      "run", "--on", "exec:echo Welcome to node7; echo; printf 'bye\\nnow\\n'; exec $opflow agent")
    #expect(place.lines() == ["a"])
    let run = try place.opflow(
      "run", "--on", "exec:echo Welcome; echo 'no route to host' >&2; exit 255", status: 143)
    #expect(run.errors.contains(", tried 3 times: "), "\(run)")
    #expect(
      run.errors.contains(" before an agent answered; it printed: Welcome; no route to host\n"))
    #expect(run.errors.contains(" interrupted (no node was left) in "), "\(run)")
    #expect(
      run.errors.contains("to continue when nodes are available: opflow resume "), "\(run)")
    #expect(run.errors.contains(" --on 'exec:echo Welcome; echo "), "\(run)")
    // Once, and nobody sent a signal.
    #expect(run.errors.components(separatedBy: "cannot reach node").count == 2, "\(run)")
    #expect(!run.errors.contains("SIGTERM"), "\(run)")
    #expect(place.lines() == ["a"])
    place.expectNothingAlive()
  }

  @Test func `whatever tells how a run goes on names the machines that it was given`() throws {
    let place = try Workplace("tasks:\n  a: { run: 'exit 3' }\n")
    let (first, other) = ("exec:exit 255", "exec:exit 254")
    let on = " --on '\(first)' --on '\(other)'"
    let run = try place.opflow("run", "--on", first, "--on", other, status: 143)
    #expect(
      run.errors.contains("to continue when nodes are available: opflow resume "), "\(run)")
    #expect(run.errors.contains("\(on)\n"), "\(run)")
    let status = try place.opflow("status").output
    #expect(status.contains("to continue: opflow resume "), "\(status)")
    #expect(status.contains("\(on)\n"), "\(status)")
    try place.opflow("report", "html", "-o", "report.html")
    #expect(try place.text("report.html").contains("--on "))
    let again = try place.opflow("run", "--on", first, "--on", other, status: 143)
    #expect(again.errors.contains("\(on)\n"), "\(again)")
    // A resume without `--on` runs tasks for nodes on this machine, with a warning.
    let id = try #require(place.runs.last)
    let warning =
      "opflow: warning: run \(id) continues on this machine only; to use its nodes again:"
      + " opflow resume \(id)\(on)\n"
    let local = try place.opflow("resume", "--on", "local", "-n")
    #expect(!local.errors.contains("this machine only"))
    #expect(try place.opflow("resume", "-n").errors.contains(warning))
    #expect(try place.opflow("resume", status: 1).errors.contains(warning))
    // The newest session had no nodes, and neither has the next.
    #expect(try place.opflow("status").output.contains("--on") == false)
    #expect(try place.opflow("resume", status: 1).errors.contains("this machine only") == false)
    place.expectNothingAlive()
  }

  @Test func `an agent that leaves at the end, while the journal is synced, is not started again`()
    throws
  {
    let place = try Workplace("tasks: { a: { run: echo a >> trace } }")
    for _ in 0..<10 { try place.opflow("run", "--on", "exec:echo x >> starts; exec $opflow agent") }
    #expect(place.lines().count == 10)
    #expect(place.lines("starts").count == 10)
    place.expectNothingAlive()
  }

  @Test(arguments: [("slurm", "salloc"), ("slurm:-N 2", "salloc"), ("ssh:host", "ssh")])
  func `without the program that leads to other machines nothing starts`(
    _ transport: String, _ program: String
  ) throws {
    let place = try Workplace("tasks: { a: { run: 'exit 1' } }")
    try place.shell("mkdir empty")
    for command in ["run", "resume"] {
      if command == "resume" { try place.opflow("run", status: 1) }
      let run = try place.opflow(
        command, "--on", transport, status: 2, environment: ["PATH": place.file("empty")])
      let subject =
        program == "salloc" ? "Slurm is not available here" : "--on \(transport)"
      let message = "opflow: \(subject): `\(program)` not found in PATH"
      #expect(run.errors.contains(message), "\(run)")
    }
    #expect(place.runs.count == 1)
  }

  @Test func `without an answer from the controller of Slurm no run begins`() throws {
    let place = try Workplace("tasks: { a: { run: 'exit 1' } }")
    try place.shell(
      """
      mkdir bin; echo 'exit 1' > bin/salloc
      printf '%s\\n' '#!/bin/sh' 'echo "Slurmctld(primary) at n1 is DOWN"; exit 1' > bin/scontrol
      chmod +x bin/*
      """)
    let run = try place.opflow(
      "run", "--on", "slurm", status: 74,
      environment: ["PATH": "\(place.file("bin")):/usr/bin:/bin"])
    #expect(
      run.errors
        == "opflow: Slurm is not available here: its controller does not answer "
        + "(Slurmctld(primary) at n1 is DOWN)\n")
    #expect(place.runs.isEmpty)
  }

  @Test(arguments: ["", "soon", "50ms", "2h"])
  func `a lease that is none is a mistake before anything starts`(_ text: String) throws {
    let place = try Workplace("tasks:\n  a: { run: 'echo a >> trace' }\n")
    let run = try place.opflow(
      "run", "--on", Self.agent, status: 2, environment: ["OPFLOW_LEASE": text])
    #expect(
      run.errors.contains(
        "OPFLOW_LEASE: `\(text)` is not a valid heartbeat timeout; use a duration from 100ms to 1h,"
          + " such as 20s"), "\(run)")
    // On this machine alone nobody reads it.
    try place.opflow("run", environment: ["OPFLOW_LEASE": text])
    #expect(place.lines() == ["a"])
  }

  @Test func `tasks that stay here have the GPUs of this machine, and a mistake is told at once`()
    throws
  {
    let place = try Workplace(
      """
      tasks:
        there: { run: 'echo there >> trace' }
        here: { resources: { gpu: 2 }, local: true, needs: [there], run: 'echo here >> trace' }
      """)
    let run = try place.opflow(
      "run", "--on", Self.agent, status: 3, environment: ["CUDA_VISIBLE_DEVICES": "0"])
    #expect(
      run.errors.contains("task here needs 2 GPUs; this machine has 1 (opflow looked at "),
      "\(run)")
    #expect(place.lines() == [])
    try place.opflow("run", "--on", Self.agent, environment: ["CUDA_VISIBLE_DEVICES": "0,1"])
    #expect(place.lines() == ["there", "here"])
  }

  @Test func `more GPUs than any machine has is told as soon as all have been there`() throws {
    let place = try Workplace(
      """
      tasks:
        big: { resources: { gpu: 3 }, run: 'echo big >> trace' }
        small: { resources: { gpu: 1 }, run: 'echo small >> trace' }
      """)
    let run = try place.opflow(
      "run", "-k", "--on", Self.agent, "--on", Self.agent, status: 1,
      environment: ["CUDA_VISIBLE_DEVICES": "0,1"])
    #expect(
      run.errors.contains("it needs 3 GPUs; no node of the run has more than 2"), "\(run)")
    #expect(place.lines() == ["small"])
    place.expectNothingAlive()
  }

  @Test func `what leads to a machine and does not end though it was killed holds up no run`()
    throws
  {
    let place = try Workplace(
      "tasks:\n  a: { run: 'until test -s seized; do sleep 0.01; done; echo a >> trace' }\n")
    // Who is traced has ended for its parent only when the tracer has seen that, which this one
    // never does.
    try place.write(
      "tracer.py",
      """
      import ctypes
      trace = ctypes.CDLL(None).ptrace
      trace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
      seized = trace(0x4206, int(open('pid').read()), None, None)
      with open('seized', 'w') as file: file.write(str(seized))
      open('go').read()
      """)
    try place.write(
      "held.py",
      """
      import ctypes, os, signal
      # Who has the stream's other end keeps it from ending.
      if os.fork() == 0:
        os.setsid()
        open('go').read()
        os._exit(0)
      ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_ulong(2 ** 64 - 1), 0, 0, 0)
      with open('pid', 'w') as file: file.write(str(os.getpid()))
      signal.pause()
      """)
    try place.shell("mkfifo pid go")
    let tracer = try place.startShell("exec python3 tracer.py")
    let run = try place.opflow("run", "--on", Self.agent, "--on", "exec:exec python3 held.py")
    #expect(place.lines() == ["a"], "\(run)")
    // Not everywhere may a process trace another one.
    if try place.text("seized") == "0" {
      #expect(run.errors.contains(", but it has not ended\n"), "\(run)")
    }
    try place.shell("echo > go")
    _ = try tracer.finish()
    place.expectNothingAlive()
  }

  @Test func `all that a transport started ends with it`() throws {
    let place = try Workplace("tasks: { a: { run: echo a >> trace } }\n")
    // A shell stays above the process that holds the connection: before an agent answers, and after
    // it left.
    for command in ["$opflow agent; tail -f /dev/null; :", "$opflow agent; (tail -f /dev/null); :"]
    {
      try place.opflow("run", "--on", "exec:\(command)")
      place.expectNothingAlive()
    }
    let held = try place.gate("held")
    let run = try place.start("run", "--on", "exec:echo there > held; tail -f /dev/null; :")
    #expect(try held.next() == "there")
    run.send(SIGINT)
    #expect(try run.finish().status == -SIGINT)
    place.expectNothingAlive()
    #expect(place.lines() == ["a", "a"])
  }

  @Test func `a machine that does not answer is what a task waits for`() throws {
    let place = try Workplace("tasks: { a: { run: echo a >> trace } }\n")
    let run = try place.start("run", "--on", "exec:tail -f /dev/null")
    try run.waitForError("node `tail -f /dev/null` has not answered yet")
    let why = try place.opflow("why", "a").output
    #expect(why.contains("node `tail -f /dev/null` has not answered yet"), "\(why)")
    #expect(try place.opflow("status").output.contains("has not answered yet"))
    run.send(SIGINT)
    let end = try run.finish()
    #expect(
      end.errors.contains("did not join the run: it did not answer before the run ended"),
      "\(end)")
    place.expectNothingAlive()
  }

  @Test func `a machine that cannot be reached is reported, however short the run is`() throws {
    let place = try Workplace(
      "tasks: { a: { run: 'until test -e failed; do sleep 0.01; done; echo a >> trace' } }\n")
    // Its stream ends after the command, so that opflow knows the exit code when it sees that.
    let after = "until grep -q ') Z' /proc/$$/stat; do :; done; echo > failed"
    let run = try place.opflow(
      "run", "--on", Self.agent, "--on", "exec:echo no route >&2; (\(after)) & exit 255")
    #expect(place.lines() == ["a"])
    let lines = run.errorLines.filter { $0.contains("exec:") || $0.contains("no route") }
    #expect(lines.count == 1 && lines[0].contains("(exit 255)"), "\(run)")
  }

  @Test func `the exit code of a transport is reported, though its stream ends first`() throws {
    let place = try Workplace("tasks: { a: { run: 'echo a >> trace' } }\n")
    // It ends when opflow has seen the end of its output and closes its input.
    let run = try place.opflow(
      "run", "--on", "exec:exec >&-; cat > /dev/null; exit 255", status: 143)
    #expect(run.errors.contains("ended (exit 255) before an agent answered"), "\(run)")
    place.expectNothingAlive()
  }

  @Test func `an agent that is killed loses its tasks, which run behind another`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: 'mkdir held; echo "$(ps -o ppid= -p $PPID)" > agent; read word < go; rmdir held; echo a >> trace' }
      """)
    try place.shell("mkfifo go")
    let run = try place.start(
      "run", "--on", Self.agent, environment: ["OPFLOW_LEASE": "300ms"])
    try place.shell("until test -s agent; do :; done; kill -9 $(cat agent); rmdir held; rm agent")
    try place.shell("until test -s agent; do :; done; echo on > go")
    let end = try run.finish()
    #expect(end.status == 0, "\(end)")
    #expect(place.lines() == ["a"])
    #expect(end.errors.contains(" is lost (its connection was closed): 1 task "), "\(end)")
    #expect(end.errors.contains(": a\n") && !end.errors.contains("a interrupted"), "\(end)")
    place.expectNothingAlive()
  }

  @Test(arguments: ["", "setsid"])
  func `a task whose agent and worker are killed starts when its processes have ended`(
    _ starter: String
  ) throws {
    let place = try Workplace(
      """
      tasks:
        a:
          run: |
            exec 9>> held; flock -n 9 || echo twice >> trace
            echo run >> trace
            test -e again && exit
            ps -o ppid= -p $PPID > agent
            trap '' TERM
            \(starter) sh -c "echo $PPID > up; exec tail -f /dev/null" &
            wait
      """)
    let up = try place.gate("up")
    let run = try place.start("run", "--on", Self.agent, environment: ["OPFLOW_LEASE": "2s"])
    let worker = try up.next()
    try place.shell("touch again; kill -9 $(cat agent) \(worker)")
    let end = try run.finish()
    #expect(end.status == 0, "\(end)")
    #expect(place.lines() == ["run", "run"])
    place.expectNothingAlive()
  }

  @Test func `a worker of this machine that is killed costs no other machine`() throws {
    let place = try Workplace(
      """
      tasks:
        there: { run: 'echo there > up; read word < go; echo there >> trace' }
        here:
          local: true
          run: 'test -e again || { echo $PPID > up; touch again; exec tail -f /dev/null; }'
      """)
    let up = try place.gate("up")
    try place.shell("mkfifo go")
    let run = try place.start("run", "--output", "line", "--on", Self.agent)
    let worker = try #require(try up.next(2).first { $0 != "there" })
    try place.shell("kill -9 \(worker)")
    try run.waitForError("here succeeded")
    try place.shell("echo on > go")
    let end = try run.finish()
    #expect(end.status == 0 && !end.errors.contains(" is lost "), "\(end)")
    #expect(place.lines() == ["there"])
    place.expectNothingAlive()
  }

  @Test func `when the coordinator is killed its agents end what runs, and a resume goes on`()
    throws
  {
    let place = try Workplace(
      """
      tasks:
        a: { run: 'echo a >> trace' }
        b: { run: 'echo b >> trace; echo up > up; test -e again || exec sleep 1000', needs: a }
      """)
    let up = try place.gate("up")
    let run = try place.start("run", "--on", Self.agent)
    #expect(try up.next() == "up")
    run.send(SIGKILL)
    _ = try run.finish()
    place.expectNothingAlive()
    try place.shell("rm up; touch up again")
    try place.opflow("resume", "--on", Self.agent)
    #expect(place.lines() == ["a", "b", "b"])
    place.expectNothingAlive()
  }

  @Test func `a stop ends tasks behind agents by their stop rules`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "trap 'echo ended >> trace; exit 1' TERM; echo up > up; while :; do sleep 0.01; done" }
      """)
    let up = try place.gate("up")
    let run = try place.start("run", "--on", Self.agent)
    #expect(try up.next() == "up")
    run.send(SIGINT)
    let end = try run.finish()
    #expect(end.status == -SIGINT, "\(end)")
    #expect(place.lines() == ["ended"])
    place.expectNothingAlive()
  }

  @Test func `arguments and secrets reach tasks behind agents`() throws {
    let place = try Workplace(
      """
      secrets: { TOKEN: { env: TOKEN } }
      tasks:
        a: { run: 'printf "%s\\n" "$@" > words; echo "$TOKEN" > token; echo "$TOKEN"', secrets: [TOKEN] }
      """)
    let long = String(repeating: "x", count: 3_000)
    let run = try place.opflow(
      "run", "--on", Self.agent, "a", "--", "one two", "", long,
      environment: ["TOKEN": "s3cret-value-of-it"])
    #expect(try place.text("words") == "one two\n\n\(long)\n")
    #expect(try place.text("token") == "s3cret-value-of-it\n")
    #expect(!run.errors.contains("s3cret-value-of-it"), "\(run)")
    place.expectNothingAlive()
  }

  @Test func `what leads to another machine is written down, and so holds no secret`() throws {
    let place = try Workplace(
      """
      secrets: { TOKEN: { env: TOKEN } }
      tasks:
        a: { run: 'echo a >> trace', secrets: [TOKEN] }
      """)
    let run = try place.opflow(
      "run", "--on", "exec:env KEY=s3cret-value-of-it opflow agent", status: 2,
      environment: ["TOKEN": "s3cret-value-of-it"])
    #expect(run.errors.contains("--on: it contains a secret, and opflow records it"), "\(run)")
    #expect(!run.errors.contains("s3cret-value-of-it"), "\(run)")
    #expect(place.lines() == [])
  }

  @Test func `agent is no command of a person's`() throws {
    let place = try Workplace()
    let run = try place.opflow("agent", "now", status: 2)
    #expect(run.errors.contains("`opflow run --on` starts it"), "\(run)")
  }
}

/// What becomes of tasks when the stream to their machine dies in one direction or both.
struct NodeLossTests {
  /// Carries a stream, and stops to carry lines one way or the other for good behind one that
  /// begins so.
  private static let carrier = """
    import os, subprocess, sys, threading
    up, down, broken = (os.environ.get(n, '-') for n in ('CUT_UP', 'CUT_DOWN', 'BREAK'))
    if os.path.exists('cut'): up = down = broken = '-'
    agent = subprocess.Popen([os.environ['opflow'], 'agent'], stdin=subprocess.PIPE,
      stdout=subprocess.PIPE, start_new_session=True)
    # The task's script comes to its first lines before the agent hears of the end.
    def breakUp():
      while not os.path.exists('second'): threading.Event().wait(0.01)
      open('cut', 'w').close()
      os._exit(0)
    def carry(source, sink, cut):
      passing = True
      for line in iter(source.readline, b''):
        if passing:
          sink.write(line); sink.flush()
        if cut != '-' and cut.encode() in line:
          open('cut', 'w').close()
          passing = False
        if broken != '-' and broken.encode() in line:
          threading.Thread(target=breakUp, daemon=True).start()
      if passing: sink.close()
    threading.Thread(target=carry, args=(sys.stdin.buffer, agent.stdin, down), daemon=True).start()
    carry(agent.stdout, sys.stdout.buffer, up)
    agent.wait()
    """

  /// Each try holds a lock, which no two could at once, and the first one lasts until it is ended.
  private static let manifest = """
    tasks:
      a:
        run: |
          exec 9> held; flock -n 9 || echo twice >> trace
          echo run >> trace
          if test "$OPFLOW_ATTEMPT" != 1; then exit 0; fi
          touch second
          while :; do sleep 0.01; done

    """

  @Test(arguments: [
    ("CUT_UP", "\tstarted\t"), ("CUT_DOWN", "\trun\t"), ("BREAK", "\tstarted\t"),
  ])
  func `the task runs again once, and never beside its own orphan, after`(
    way: String, mark: String
  ) throws {
    let place = try Workplace(Self.manifest)
    try place.write("carrier.py", Self.carrier)
    let run = try place.opflow(
      "run", "--on", "exec:exec python3 carrier.py",
      environment: [way: mark, "OPFLOW_LEASE": "500ms"])
    #expect(place.lines() == ["run", "run"], "\(run)")
    #expect(run.errors.contains(": 1 task "), "\(run)")
    let isTold = run.errors.contains(" is lost (") || run.errors.contains(" is gone (")
    #expect(isTold && !run.errors.contains("a interrupted"), "\(run)")
    place.expectNothingAlive()
  }

  @Test func `an agent that is told nothing any more ends its tasks, though nobody hears of it`()
    throws
  {
    let place = try Workplace(Self.manifest)
    try place.write("carrier.py", Self.carrier)
    let run = try place.start(
      "run", "--on", "exec:exec python3 carrier.py",
      environment: ["CUT_UP": "\tstarted\t", "OPFLOW_LEASE": "500ms"])
    try place.shell("until test -e second; do :; done")
    run.send(SIGKILL)
    _ = try run.finish()
    place.expectNothingAlive()
    #expect(place.lines() == ["run"])
  }
}
