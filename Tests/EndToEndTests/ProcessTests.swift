import Testing

/// What a task's process finds, and what is left of its tree.
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
      #expect(run.errorLines.contains("  ended 1 process that it left behind: tail"), "\(run)")
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
    #expect(!run.errors.contains("left behind"), "\(run)")
  }

  @Test func `a daemon is ended with its task`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "setsid sh -c 'echo up > here; exec tail -f /dev/null' & read x < here" }
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
