import Testing

/// Commands that control a live run.
struct SteeringTests {
  /// `work` reports its process ID and waits; the other tasks wait for the one processor.
  private static let manifest = """
    max_parallel: 1
    max_failures: 0
    resources: { net: 2 }
    tasks:
      work: { run: 'echo $$ > in; read w < out', priority: very_high, stop: { grace: 100ms } }
      b: { run: echo b >> trace }
      c: { run: echo c >> trace }
      last: { needs: [b], run: echo last >> trace }
    """

  /// A run whose task `work` runs, with the number of its process.
  private func begin(
    _ manifest: String = manifest, _ flags: String...
  ) throws -> (place: Workplace, run: LiveProcess, pid: Int32) {
    let place = try Workplace(manifest)
    let (`in`, _) = (try place.gate("in"), try place.gate("out"))
    let run = try place.start("run")
    return (place, run, try #require(Int32(try `in`.next())))
  }

  // MARK: - Tasks and the run

  @Test func `a task that runs is cancelled, and the rest goes on`() throws {
    let (place, run, _) = try begin()
    let cancel = try place.opflow("cancel", "work")
    #expect(cancel.output == "cancelled 1 task\n")
    let end = try run.finish()
    #expect(place.lines().sorted() == ["b", "c", "last"])
    #expect(try place.status()["work"]?.state == "cancelled")
    #expect(end.status == 6, "\(end)")
    let again = try place.opflow("cancel", "work", status: 2)
    #expect(again.errors.contains("is not live: it "), "\(again)")
  }

  @Test func `a task that waits never starts when it is cancelled, nor does what needs it`() throws
  {
    let (place, run, _) = try begin()
    #expect(try place.opflow("cancel", "b", "c").output == "cancelled 2 tasks\n")
    let twice = try place.opflow("cancel", "b", status: 2)
    #expect(twice.errors == "opflow: cancel: b was already cancelled\n")
    try place.gate("out").letGo()
    _ = try run.finish()
    #expect(place.lines() == [])
    let status = try place.status()
    #expect(status["b"]?.state == "cancelled")
    #expect(status["last"]?.state == "skipped")
    #expect(status["work"]?.state == "succeeded")
  }

  @Test func `the whole run is cancelled, and a resume continues it`() throws {
    let (place, run, _) = try begin()
    let cancel = try place.opflow("cancel")
    #expect(
      try cancel.output
        == "cancelled the run; opflow ends its running tasks; to continue: opflow resume"
        + " \(#require(place.runs.first))\n")
    #expect(try run.finish().status == 6)
    #expect(place.lines() == [])
    let over = try place.opflow("cancel", status: 2)
    let name = try #require(place.runs.first)
    #expect(
      over.errors
        == "opflow: run \(name) is not live: it was cancelled just now; to continue: opflow"
        + " resume \(name)\n")
    try place.gate("out").letGo()
    try place.opflow("resume")
    #expect(place.lines().sorted() == ["b", "c", "last"])
  }

  @Test func `a paused run starts nothing, and goes on`() throws {
    let (place, run, _) = try begin()
    #expect(try place.opflow("pause").output == "paused the run; to continue: opflow continue\n")
    #expect(
      try place.opflow("pause", status: 2).errors == "opflow: pause: the run is already paused\n")
    try place.gate("out").letGo()
    try place.waitForJournal { $0.contains { $0.event == "success" && $0.task == "work" } }
    #expect(try !place.journal().contains { $0.event == "start" && $0.task != "work" })
    #expect(try place.opflow("continue").output == "continued the run\n")
    #expect(try run.finish().status == 0)
    #expect(place.lines().count == 3)
  }

  @Test func `a task that is suspended stands still, and goes on`() throws {
    let (place, run, pid) = try begin()
    #expect(
      try place.opflow("suspend", "work").output
        == "suspended 1 task; to continue: opflow continue work\n")
    try ProcessState.wait(for: "T", of: pid)
    #expect(
      try place.opflow("suspend", "work", status: 2).errors
        == "opflow: suspend: work is already suspended\n")
    #expect(try place.opflow("continue", "work").output == "continued 1 task\n")
    try place.gate("out").letGo()
    #expect(try run.finish().status == 0)
  }

  @Test func `status tells what was requested and by whom`() throws {
    let (place, run, pid) = try begin()
    try place.opflow("suspend", "work", "b")
    try ProcessState.wait(for: "T", of: pid)
    try place.opflow("cancel", "c")
    try place.opflow("parallel", "net=0")
    let table = try place.opflow("status").output.split(separator: "\n").map(String.init)
    func row(_ name: String) -> String { table.first { $0.hasPrefix(name) } ?? "" }
    #expect(row("limit of net is 0, set by opflow parallel (pid ") != "", "\(table)")
    #expect(row("work ").contains("by opflow suspend (pid "))
    #expect(row("b ").contains("held by opflow suspend (pid "))
    #expect(row("c ").contains("by opflow cancel (pid "))
    let json = try place.opflow("status", "--json").output
    #expect(
      json.contains(#""capacities":[{"resource":"net","value":"0","by":{"by":"opflow parallel""#))
    #expect(json.contains(#""paused_by":null"#))
    try place.opflow("continue", "work", "b")
    try place.gate("out").letGo()
    #expect(try run.finish().status == 6)
    #expect(try !place.opflow("status").output.contains("limit of net is"))
  }

  @Test func `what is set to start first does`() throws {
    let (place, run, _) = try begin()
    #expect(
      try place.opflow("priority", "c", "very_high").output
        == "priority of 1 task is now very_high\n")
    #expect(
      try place.opflow("priority", "b", "l*", "-5").output
        == "priority of 2 tasks is now -5\n")
    try place.gate("out").letGo()
    #expect(try run.finish().status == 0)
    #expect(place.lines() == ["c", "b", "last"])
  }

  @Test func `more runs at once when there is more, and named resources can be closed`() throws {
    let (place, run, _) = try begin()
    #expect(try place.opflow("parallel", "2").output == "limit of cpu is now 2\n")
    try place.waitForJournal { lines in
      ["b", "c", "last"].allSatisfy { name in
        lines.contains { $0.event == "success" && $0.task == name }
      }
    }
    #expect(try place.opflow("parallel", "net=0.5").output == "limit of net is now 0.5\n")
    #expect(try place.opflow("parallel", "net=1GiB").output == "limit of net is now 1GiB\n")
    #expect(try place.opflow("parallel", "net=0").output == "limit of net is now 0\n")
    #expect(
      try place.opflow("parallel", "memory=1GiB").output == "limit of memory is now 1GiB\n")
    for (word, complaint) in [
      ("0", "`cpu` cannot be 0; to start no more tasks, use `opflow pause`"),
      ("many", "`cpu` must be a whole number from 1 to 1000000, not `many`"),
      ("nett=1", "the run has no resource `nett`; did you mean `net`?"),
      ("memory=lots", "`memory` must be a size, such as 16GiB, not `lots`"),
      ("net=0.0001", "`net` must be a number with up to three decimals, or a size, not `0.0001`"),
    ] {
      #expect(
        try place.opflow("parallel", word, status: 2).errors == "opflow: parallel: \(complaint)\n")
    }
    try place.gate("out").letGo()
    #expect(try run.finish().status == 0)
  }

  @Test func `what failed runs again, with what was skipped for want of it`() throws {
    let (place, run, _) = try begin(
      """
      max_failures: 0
      tasks:
        work: { run: 'echo $$ > in; read w < out' }
        bad: { run: test -e ok }
        child: { needs: [bad], run: echo child >> trace }
      """)
    try place.waitForJournal { $0.contains { $0.event == "skip" && $0.task == "child" } }
    #expect(
      try place.opflow("retry", "work", status: 2).errors
        == "opflow: retry: work is running (attempt 1)\n")
    try place.write("ok", "")
    #expect(try place.opflow("retry", "bad").output == "1 task will run again\n")
    try place.waitForJournal { $0.contains { $0.event == "success" && $0.task == "child" } }
    try place.gate("out").letGo()
    #expect(try run.finish().status == 0)
    #expect(place.lines() == ["child"])
    #expect(try place.status()["bad"]?.attempts == 2)
  }

  @Test func `what is skipped is left out, and what needs it runs, also in a resume`() throws {
    let (place, run, _) = try begin()
    #expect(try place.opflow("skip", "b").output == "skipped 1 task\n")
    #expect(
      try place.opflow("skip", "work", status: 2).errors
        == "opflow: skip: work is running (attempt 1)\n")
    try place.opflow("cancel")
    #expect(try run.finish().status == 6)
    try place.gate("out").letGo()
    try place.opflow("resume")
    #expect(place.lines().sorted() == ["c", "last"])
  }

  // MARK: - Who asks, and which run

  @Test func `a task steers its own run where it says so, and only there`() throws {
    let place = try Workplace(
      """
      max_parallel: 1
      tasks:
        other: { run: '"$opflow" cancel > out1 2>&1 || echo "$?" >> out1', priority: 2 }
        own: { control: true, run: 'sh -c "sh -c \\"$opflow skip a\\"" > out2', priority: 1 }
        a: { run: echo a >> trace }
      """)
    try place.opflow("run")
    #expect(place.lines() == [])
    #expect(try place.text("out2") == "skipped 1 task\n")
    #expect(
      try place.text("out1")
        == "opflow: cancel: `other` is a task of this run; to control the run, it needs"
        + " `control: true`\n2\n")
    let request = try #require(try place.journal().first { $0.event == "order" })
    #expect(request.values["by"] == "task own")
  }

  @Test func `the journal tells who asked`() throws {
    let (place, run, _) = try begin()
    try place.opflow("skip", "b", "c")
    try place.gate("out").letGo()
    _ = try run.finish()
    let requests = try place.journal().filter { $0.event == "order" }
    #expect(requests.map { $0.values["verb"] } == ["skip"])
    #expect(requests.map { $0.values["by"] } == ["opflow skip"])
    #expect(requests.allSatisfy { $0.isIntact && Int($0.values["pid"] ?? "") ?? 0 > 0 })
  }

  @Test func `an answer as JSON is one object, and so is a refusal`() throws {
    let (place, run, _) = try begin()
    let name = try #require(place.runs.first)
    let done = try place.opflow("skip", "--json", "b")
    #expect(done.output.hasPrefix("{\"run\":\"\(name)\",\"order\":\""), "\(done)")
    #expect(
      done.output.hasSuffix("\",\"verb\":\"skip\",\"done\":true,\"tasks\":1}\n"), "\(done)")
    let refused = try place.opflow("skip", "--json", "b", status: 2)
    #expect(
      refused.output.hasSuffix(
        "\",\"verb\":\"skip\",\"done\":false,\"what\":\"b was already skipped\"}\n"), "\(refused)")
    try place.gate("out").letGo()
    _ = try run.finish()
  }

  @Test func `without a live run nothing can be asked`() throws {
    let place = try Workplace("tasks: { a: { run: 'true' } }")
    #expect(
      try place.opflow("pause", status: 2).errors
        == "opflow: no runs: there is no folder .opflow here or above; `opflow run` starts a"
        + " run, -C or --state-dir names another folder\n")
    try place.opflow("run")
    let name = try #require(place.runs.first)
    #expect(
      try place.opflow("cancel", status: 2).errors
        == "opflow: run \(name) is not live: it succeeded just now\n")
    #expect(
      try place.opflow("cancel", "--run", "opflow.yaml", status: 2).errors
        == "opflow: run \(name) is not live: it succeeded just now\n")
    #expect(try place.opflow("cancel", status: 2, environment: ["OPFLOW_RUN": name]).status == 2)
    #expect(try !place.exists(place.runFolder() + "/control.sock"))
  }

  @Test func `of several live runs one has to be named`() throws {
    let (place, first, _) = try begin()
    let second = try place.start("run")
    _ = try place.gate("in").next()
    let runs = place.runs
    #expect(
      try place.opflow("pause", status: 2).errors
        == "opflow: 2 runs are live here: \(runs[1]), \(runs[0]); name one with `--run ID`\n")
    try place.opflow("skip", "--run", runs[0], "b", "c")
    try place.opflow("skip", "b", "c", environment: ["OPFLOW_RUN": runs[1]])
    try place.gate("out").letGo(2)
    #expect(try first.finish().status == 0)
    #expect(try second.finish().status == 0)
    #expect(place.lines() == ["last", "last"])
  }

  @Test func `what fits no task is a mistake with what was likely meant`() throws {
    let (place, run, _) = try begin()
    #expect(
      try place.opflow("cancel", "lst", status: 2).errors
        == "opflow: cancel: no task matches `lst`; did you mean `last`?\n")
    #expect(
      try place.opflow("priority", "b", "urgent", status: 2).errors
        == "opflow: priority: N must be very_low, low, normal, high, very_high or a number from"
        + " -1000 to 1000, not `urgent`\n")
    try place.gate("out").letGo()
    _ = try run.finish()
  }

  @Test func `a run whose socket is gone says who drives it`() throws {
    let (place, run, _) = try begin()
    try place.remove(place.runFolder() + "/control.sock")
    let name = try #require(place.runs.first)
    #expect(
      try place.opflow("pause", status: 2).errors
        == "opflow: run \(name) takes no requests: process \(run.pid) has no socket, perhaps"
        + " because the file system of the run's folder does not support sockets\n")
    try place.gate("out").letGo()
    #expect(try run.finish().status == 0)
  }

  @Test func `who waits for a run that stands still is told, and that it was killed`() throws {
    let (place, run, _) = try begin()
    run.send(19)
    try ProcessState.wait(for: "T", of: run.pid)
    let pause = try place.start("pause")
    try pause.waitForError(
      "opflow: waiting for an answer from process \(run.pid), which is stopped; to"
        + " continue it: kill -CONT \(run.pid)\n")
    run.send(9)
    let end = try pause.finish()
    #expect(end.status == 2)
    #expect(end.errors.contains("is not live: it was interrupted"), "\(end)")
  }

  /// Some of those who come find no descriptor left for them.
  @Test func `who says nothing keeps nobody out of a run that has few descriptors`() throws {
    let place = try Workplace(Self.manifest)
    let (`in`, out) = (try place.gate("in"), try place.gate("out"))
    let run = try place.startShell("ulimit -n 40; exec \"$opflow\" run")
    _ = try `in`.next()
    let silent = try (0..<60).map { _ in try SilentPeer(place.file(place.runFolder())) }
    try place.opflow("skip", "b", "c")
    try out.letGo()
    #expect(try run.finish().status == 0)
    #expect(silent.count == 60)
  }

  @Test(arguments: ["wait", "wait --for a", "status --watch", "logs -f", "logs -f a"])
  func `a task does not wait for itself`(command: String) throws {
    let place = try Workplace("tasks: { a: { run: '$opflow \(command)' } }")
    let run = try place.opflow("run", status: 1)
    #expect(run.errors.contains(/a failed after \S+: exit 5/), "\(run)")
    #expect(run.errors.contains("would never end"), "\(run)")
  }

  @Test func `a socket that a dead run left is replaced by a resume`() throws {
    let (place, run, _) = try begin()
    run.send(9)
    _ = try run.finish()
    let socket = try place.runFolder() + "/control.sock"
    #expect(place.exists(socket))
    #expect(try place.opflow("pause", status: 2).errors.contains("is not live"))
    let resumed = try place.start("resume")
    _ = try place.gate("in").next()
    try place.opflow("skip", "b", "c")
    try place.gate("out").letGo()
    #expect(try resumed.finish().status == 0)
    #expect(!place.exists(socket))
    #expect(place.lines() == ["last"])
  }
}
