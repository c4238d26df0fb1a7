import Foundation
import Glibc
import Testing

/// Several of opflow on one state folder, and limits that a machine sets.
struct TwoAtOnceTests {
  private static let waiting = """
    tasks:
      a: { run: "echo a >> trace; test -e go-on || { echo here > here; exec tail -f /dev/null; }" }
      b: { needs: [a], run: echo b >> trace }
    """

  @Test func `of two resumes at once one gets the run, and the other names it`() throws {
    let place = try Workplace(Self.waiting)
    let here = try place.gate("here")
    let first = try place.start("run")
    _ = try here.next()
    first.send(SIGINT)
    #expect(try first.finish().status == -SIGINT)
    let resumes = [try place.start("resume"), try place.start("resume")]
    _ = try here.next()
    // The owner of the run still runs; the other process has ended, or will.
    let pid = try #require(
      Int32(place.lines(place.runFolder() + "/lock").first?.split(separator: " ").first ?? ""))
    let owner = try #require(resumes.first { $0.pid == pid })
    let other = try #require(resumes.first { $0.pid != pid })
    let held = try other.finish()
    #expect(held.status == 5, "\(held)")
    #expect(held.errors.contains("process \(owner.pid)"), "\(held)")
    owner.send(SIGINT)
    #expect(try owner.finish().status == -SIGINT)
    place.expectNothingAlive()
  }

  @Test func `a lock is free the moment its holder is killed`() throws {
    let place = try Workplace(Self.waiting)
    let here = try place.gate("here")
    var live = try place.start("run")
    for round in 0..<6 {
      _ = try here.next()
      live.send(SIGKILL)
      // On a busy machine it takes a moment to end.
      _ = try live.finish()
      live = try round % 2 == 0 ? place.start("resume") : place.start("run", "--resume")
    }
    _ = try here.next()
    try place.write("go-on", "")
    live.send(SIGKILL)
    _ = try live.finish()
    try place.opflow("resume")
    #expect(place.lines().last == "b")
    #expect(place.runs.count == 1)
    place.expectNothingAlive()
  }

  @Test func `looking at a live run changes nothing of it`() throws {
    let place = try Workplace(
      "tasks: { a: { run: 'echo said; echo here > here; read x < go; echo more' } }")
    let here = try place.gate("here")
    let go = try place.gate("go")
    let live = try place.start("run")
    _ = try here.next()
    try place.waitForJournal { $0.contains { $0.event == "start" } }
    let before = try contents(of: place)
    for _ in 0..<3 {
      for words in [
        ["status"], ["status", "--json"], ["logs", "a"], ["runs"], ["journal", "verify"],
        ["journal", "export"], ["resume", "--dry-run"],
      ] {
        let view = try place.shell("$opflow " + words.joined(separator: " "), status: nil)
        #expect(view.status == 0, "\(words): \(view)")
      }
    }
    #expect(try contents(of: place) == before)
    try go.letGo()
    #expect(try live.finish().status == 0)
    #expect(try place.log("a") == "said\nmore\n")
    #expect(try place.journal().allSatisfy(\.isIntact))
  }

  /// Every file of the only run, by name.
  private func contents(of place: Workplace) throws -> [String: [UInt8]] {
    let folder = try place.runFolder()
    var contents: [String: [UInt8]] = [:]
    for name in try place.shell("cd \(folder) && find . -type f").outputLines {
      contents[name] = try place.bytes(folder + "/" + name)
    }
    return contents
  }

  @Test func `runs that begin in one instant have folders of their own`() throws {
    let place = try Workplace("tasks: { a: { run: 'echo $OPFLOW_RUN >> trace' } }")
    let lives = try (0..<8).map { _ in try place.start("run") }
    for live in lives { #expect(try live.finish().status == 0) }
    #expect(Set(place.lines()).count == 8)
    #expect(place.runs.count == 8)
  }

  @Test(arguments: ["", "exit 1", "kill -9 $PPID"])
  func `a task that another run ran since it was checked is checked again`(_ end: String) throws {
    let place = try Workplace(
      """
      max_parallel: 1
      tasks:
        slow: { priority: high, run: 'echo here > here; read x < go' }
        a:
          inputs: [in, { run: [sh, -c, "test ! -p checked || echo x > checked"] }]
          outputs: [o]
          run: |
            echo a >> trace
            echo half > o
            \(end.isEmpty ? ":" : "test -e going || { echo > going; \(end); }")
            cp in o
        b: { needs: [a], inputs: [o], run: 'grep -q half o && echo half >> trace; true' }
      """)
    try place.write("in", "1\n")
    let (here, go) = (try place.gate("here"), try place.gate("go"))
    let checked = try place.gate("checked")
    let first = try place.start("run", "--output", "line")
    _ = try here.next()
    // The record was checked before.
    _ = try checked.next()
    try place.remove("checked")
    let second = try place.opflow("run", "a", status: end == "exit 1" ? 1 : 0)
    try go.letGo()
    let ended = try first.finish()
    #expect(ended.status == 0, "\(ended) \(second)")
    // It runs here only where it has not succeeded there.
    #expect(place.lines() == (end.isEmpty ? ["a"] : ["a", "a"]), "\(ended) \(second)")
    #expect(ended.errors.contains("a is up to date") == (end != "exit 1"), "\(ended)")
    place.expectNothingAlive()
  }

  @Test func `a task whose worker is killed is not run by another run beside its processes`() throws
  {
    let place = try Workplace(
      """
      tasks:
        a:
          inputs: []
          run: |
            test ! -e child || ! kill -0 $(cat child) 2> no || echo beside >> trace
            echo a >> trace
            test -e child && exit
            echo $PPID > worker
            sh -c 'echo $$ > child; echo here > here; exec tail -f /dev/null'
            exit
      """)
    let here = try place.gate("here")
    let first = try place.start("run", "--output", "line")
    _ = try here.next()
    // While it is stopped, it cannot end the processes that its worker left.
    first.send(SIGSTOP)
    try place.shell("kill -KILL $(cat worker)")
    let second = try place.start("run", "--output", "line")
    try second.waitForError("task a waits: another run in this state folder is running it")
    #expect(place.lines() == ["a"])
    first.send(SIGCONT)
    for live in [first, second] {
      let ended = try live.finish()
      #expect(ended.status == 0, "\(ended)")
    }
    #expect(place.lines() == ["a", "a"])
    place.expectNothingAlive()
  }

  @Test func `a clock that was set back gives no run an older place`() throws {
    let place = try Workplace("tasks: { a: { run: 'echo $OPFLOW_RUN >> trace; test -e ok' } }")
    try place.opflow("run", status: 1)
    // As if that run had begun when the clock was far ahead.
    let ahead = "20991231-235959-0001"
    try place.shell("mv .opflow/runs/* .opflow/runs/\(ahead) && touch ok")
    try place.opflow("run")
    let run = try #require(place.lines().last)
    #expect(run > ahead)
    #expect(try place.opflow("runs").outputLines.contains { $0.contains(run) })
    #expect(try place.status().run == run)
  }

  @Test func `a thousand tasks at once run with the few descriptors that there are`() throws {
    var manifest = "max_parallel: 1025\ntasks:\n"
    for index in 0..<1025 { manifest += "  t\(index): { run: [touch, out/\(index)] }\n" }
    let place = try Workplace(manifest)
    let run = try place.shell("mkdir out && ulimit -n 100 && exec $opflow run")
    #expect(place.entries("out").count == 1025)
    let told = run.errors.split(separator: "\n").filter {
      $0.contains("workers for command tasks: cannot start a worker: Too many open files")
    }
    #expect(told.count == 1, "\(run)")
    place.expectNothingAlive()
  }

  @Test(arguments: [9, 12, 16, 17])
  func `descriptors that suffice for no worker are a clear error`(count: Int) throws {
    let place = try Workplace("tasks: { a: { run: echo a >> trace } }")
    let run = try place.shell("ulimit -n \(count) && exec $opflow run", status: 74)
    #expect(
      run.errors
        == "opflow: a run needs at least 15 open files in addition to those of opflow: Too many "
        + "open files; `ulimit -n` shows and raises the limit\n")
    #expect(place.runs.isEmpty)
    #expect(place.lines().isEmpty)
    place.expectNothingAlive()
    try place.opflow("run", "--resume")
    #expect(place.lines() == ["a"])
  }

  @Test func `a run that was killed before its first line is named as what it is`() throws {
    let place = try Workplace("tasks: { a: { run: 'true' } }")
    try place.opflow("run")
    let run = try place.status().run
    let journal = "\(try place.runFolder())/journal.log"
    for spoil in [": > \(journal)", "rm \(journal)"] {
      try place.shell(spoil)
      let row = try #require(place.opflow("runs").outputLines.first { $0.hasPrefix(run) })
      #expect(row.contains("not started"))
      let status = try place.opflow("status", run, status: 4)
      #expect(status.errors.contains("this run never began"))
    }
    try place.opflow("run", "--resume")
    #expect(try place.opflow("runs").outputLines.count { $0.contains("succeeded") } == 1)
  }

  @Test(.enabled(if: DiskTests.canMount, "mounting a file system needs root"))
  func `a run on a disk that became read-only can be looked at and not driven`() throws {
    let place = try Workplace()
    try place.write("m/x", "")
    try place.shell("mount -t tmpfs none m")
    defer { _ = try? place.shell("umount m") }
    try place.write("m/opflow.yaml", "tasks: { a: { run: 'test -e ../ok' } }")
    try place.opflow("run", "-C", "m", status: 1)
    try place.write("ok", "")
    try place.shell("mount -o remount,ro m")
    #expect(try place.opflow("status", "-C", "m").output.contains("failed"))
    try place.opflow("journal", "verify", "-C", "m")
    let resume = try place.opflow("resume", "-C", "m", status: 74)
    #expect(resume.errors.lowercased().contains("read-only file system"), "\(resume)")
    try place.shell("mount -o remount,rw m")
    try place.opflow("resume", "-C", "m")
  }
}
