import Foundation
import Testing

/// `jobserver`: makes that share the slots of the run.
struct JobserverTests {
  /// Three jobs that finish only if all run at once: opening a fifo waits for the other end.
  private static let three = """
    all: a b c
    a: ; @read x < ab
    b: ; @echo >ab; read x <bc
    c: ; @echo >bc
    .PHONY: all a b c

    """

  private func workplace(_ manifest: String, makefile: String = three) throws -> Workplace {
    let place = try Workplace(manifest)
    try place.write("Makefile", makefile)
    try place.shell("mkfifo ab bc")
    return place
  }

  @Test(arguments: ["true", "pipe"])
  func `a make gets the idle slots`(style: String) throws {
    let place = try workplace("tasks: { build: { jobserver: \(style), run: make } }")
    try place.opflow("run", "-j", "3")
    place.expectNothingAlive()
  }

  @Test func `a make gets the slots that its task holds`() throws {
    let place = try workplace(
      "tasks: { build: { jobserver: true, resources: { cpu: 3 }, run: [make] } }")
    try place.opflow("run", "-j", "3")
  }

  @Test func `makes never exceed the limit together`() throws {
    let place = try workplace(
      """
      tasks:
        build: { jobserver: true, run: make }
        other: { jobserver: true, run: make -f other }
      """,
      makefile: """
        JOBS = 1 2 3 4 5 6 7 8
        all: $(JOBS)
        $(JOBS): ; @flock lock ./count 1; echo $@ >>done; flock lock ./count -1
        .PHONY: all $(JOBS)

        """)
    try place.write("other", try place.text("Makefile"))
    try place.write(
      "count",
      """
      #!/bin/sh
      n=$(($(cat number) + $1)); echo $n > number
      [ $n -le 3 ] || echo "$n at once" >> trace

      """)
    try place.shell("chmod +x count; echo 0 > number")
    try place.opflow("run", "-j", "3")
    #expect(place.lines() == [])
    #expect(try place.text("done").split(separator: "\n").count == 16)
  }

  @Test func `lent slots return to a waiting task`() throws {
    let place = try workplace(
      """
      tasks:
        build: { jobserver: true, run: make }
        ok: { approve: "Now?" }
        late: { needs: [ok], run: echo late >> trace; echo > ab }
      """,
      makefile: """
        all: a b
        a: ; @read x <ab
        b: ; @echo b > here
        .PHONY: all a b

        """)
    let here = try place.gate("here")
    let run = try place.start("run", "-j", "2")
    #expect(try here.next() == "b")
    try place.opflow("approve", "ok")
    #expect(try run.finish().status == 0)
    #expect(place.lines() == ["late"])
  }

  @Test func `the tokens of a killed make return`() throws {
    let place = try workplace(
      """
      tasks:
        bad: { jobserver: true, run: "make -f bad || true" }
        build: { needs: [bad], jobserver: true, run: make }
      """)
    try place.write(
      "bad",
      """
      all: a b
      a: ; @read x <ab
      b: ; @kill -KILL $$PPID; echo >ab
      .PHONY: all a b

      """)
    try place.opflow("run", "-j", "3")
    place.expectNothingAlive()
  }

  @Test func `a program takes tokens from a fifo and returns them`() throws {
    let place = try Workplace(
      """
      tasks:
        build:
          jobserver: fifo
          resources: { cpu: 3 }
          run: [python3, client.py]
      """)
    try place.write(
      "client.py",
      """
      import os
      flags = os.environ["MAKEFLAGS"]
      assert os.environ["CARGO_MAKEFLAGS"] == flags, os.environ["CARGO_MAKEFLAGS"]
      assert flags.startswith(" -j3 --jobserver-auth=fifo:/"), flags
      path = flags.split("fifo:")[1]
      tokens = os.read(os.open(path, os.O_RDONLY), 2)
      while len(tokens) < 2: tokens += os.read(os.open(path, os.O_RDONLY), 1)
      ours = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
      try:
        assert not os.read(ours, 1), "there are more"
      except BlockingIOError:
        pass
      os.write(os.open(path, os.O_WRONLY), tokens)
      print("took", len(tokens))

      """)
    #expect(try place.opflow("run", "-j", "3", "--output", "group").errors.contains("took 2"))
  }

  @Test func `other make flags stay, and tasks without jobserver see no tokens`() throws {
    let place = try Workplace(
      """
      env: { MAKEFLAGS: "k -j9 -- A=b" }
      tasks:
        with: { jobserver: pipe, run: 'echo "$MAKEFLAGS" > with' }
        without: { run: 'echo "$MAKEFLAGS$CARGO_MAKEFLAGS" > without' }
      """)
    try place.opflow("run", "-j", "1")
    #expect(try place.text("with") == "k -j1 --jobserver-auth=3,4 -- A=b\n")
    #expect(try place.text("without") == "k -j9 -- A=b\n")
  }

  // MARK: - Under a make

  /// Runs `recipe` in a make, as a makefile starts another make.
  @discardableResult
  private func make(
    _ place: Workplace, _ recipe: String, _ flags: String
  ) throws -> Finished {
    try place.write(
      "top",
      """
      all: ; \(recipe)
      .PHONY: all

      """)
    return try place.shell("make -s -f top \(flags) OPFLOW=\(Program.path)")
  }

  @Test func `a run gets the free slots of its make and no more`() throws {
    let place = try Workplace(
      """
      tasks:
        t: { matrix: { n: [1, 2, 3, 4, 5, 6] }, run: flock lock ./count 1; flock lock ./count -1 }
        all: { run: make -f three, jobserver: true, needs: [t] }
      """)
    try place.shell("mkfifo ab bc; echo 0 > number")
    try place.write("three", Self.three)
    try place.write(
      "count",
      """
      #!/bin/sh
      n=$(($(cat number) + $1)); echo $n > number
      [ $n -le 3 ] || echo "$n at once" >> trace

      """)
    try place.shell("chmod +x count")
    let made = try make(place, "+$(OPFLOW) run -q", "-j3")
    #expect(!made.errors.contains("warning"), "\(made)")
    #expect(place.lines() == [])
  }

  @Test func `a run returns the slots of its make`() throws {
    let place = try Workplace("tasks: { t: { matrix: { n: [1, 2, 3, 4, 5, 6] }, run: \":\" } }")
    try place.shell("mkfifo ab bc")
    try place.write("three", Self.three)
    // The second make finishes only if its three jobs run at once.
    try make(place, "+$(OPFLOW) run -q && $(MAKE) -f three", "-j3")
  }

  @Test func `opflow removes tokens that a program invented`() throws {
    let place = try Workplace(
      "tasks: { build: { jobserver: pipe, resources: { cpu: 2 }, run: [python3, giver.py] } }")
    try place.write(
      "giver.py",
      """
      import array, fcntl, os, termios
      os.write(4, b"+" * 20)
      count = array.array("i", [0])
      while count[0] != 2:
        fcntl.ioctl(3, termios.FIONREAD, count)
        os.sched_yield()

      """)
    // The task has one more slot than its first job needs, and borrows another.
    try place.opflow("run", "-j", "3")
  }

  @Test func `a run within make -j1 runs one task at a time`() throws {
    let place = try Workplace(
      """
      max_parallel: 4
      tasks:
        t: { matrix: { n: [1, 2, 3, 4, 5, 6, 7, 8] }, run: mkdir alone && ls -R . > list && rmdir alone }
      """)
    let made = try make(place, "+$(OPFLOW) run -q", "-j1")
    #expect(!made.errors.contains("warning"), "\(made)")
  }

  @Test func `a run within a task gets the slots of that task and no more`() throws {
    let place = try workplace(
      """
      tasks: { inner: { jobserver: true, run: [OPFLOW, run, -q, -f, inner/opflow.yaml] } }
      """.replacingOccurrences(of: "OPFLOW", with: Program.path))
    // These tasks finish only if all three run at once.
    try place.write(
      "inner/opflow.yaml",
      """
      tasks:
        a: { run: "read x < ../ab" }
        b: { run: "echo > ../ab; read x < ../bc" }
        c: { run: "echo > ../bc" }
      """)
    try place.opflow("run", "-j", "3")
    place.expectNothingAlive()
  }

  @Test func `opflow warns if make shares no jobs, unless -j is given`() throws {
    let place = try Workplace("tasks: { t: { run: 'echo \"$MAKEFLAGS\" > flags' } }")
    let made = try make(place, "$(OPFLOW) run", "-j3")
    #expect(made.errors.contains("warning: make does not share its jobs with opflow"), "\(made)")
    #expect(try !place.text("flags").contains("jobserver-auth"))
    let told = try make(place, "$(OPFLOW) run -j 2", "-j3")
    #expect(!told.errors.contains("warning"), "\(told)")
  }
}
