import Foundation
import Glibc
import Testing

/// `opflow run --watch`: it stays after the end, and runs again when its files change.
struct WatchedRunTests {
  private func begin(
    _ manifest: String, _ files: [String: String] = [:]
  ) throws -> (place: Workplace, run: LiveProcess) {
    let place = try Workplace(manifest)
    for (name, text) in files { try place.write(name, text) }
    let run = try place.watch()
    return (place, run)
  }

  @Test func `an edit runs what it concerns, and nothing else`() throws {
    let (place, run) = try begin(
      "tasks:\n  a: { run: echo a >> trace }\n  b: { run: echo b >> trace }\n")
    #expect(place.lines().sorted() == ["a", "b"])
    // The same once more is no change: the next one is the first that there is.
    try place.write(
      "opflow.yaml", "tasks:\n  a: { run: echo a >> trace }\n  b: { run: echo b >> trace }\n")
    try place.write(
      "opflow.yaml", "tasks:\n  a: { run: echo a >> trace }\n  b: { run: echo c >> trace }\n")
    try run.waitForError("opflow: changed: opflow.yaml")
    try place.waitForJournal { $0.count { $0.event == "success" && $0.task == "b" } == 2 }
    try run.waitForRounds(2)
    _ = try run.leave()
    #expect(place.lines().sorted() == ["a", "b", "c"])
  }

  @Test func `what failed is mended while it stays, mistakes are told, and then mended too`() throws
  {
    let (place, run) = try begin("tasks: { a: { run: 'exit 3' }, b: { needs: a, run: 'true' } }")
    try place.write("opflow.yaml", "tasks: { a: { run: 'true' }, b: { needs: c, run: 'true' } }")
    try run.waitForError("unknown task `c`")
    try place.write("opflow.yaml", "tasks: { a: { run: 'true' }, b: { needs: a, run: 'true' } }")
    try place.waitForJournal { $0.contains { $0.event == "success" && $0.task == "b" } }
    try run.waitForRounds(2)
    _ = try run.leave()
    #expect(try place.status()["b"]?.state == "succeeded")
  }

  @Test func `files that the manifest names count, and new ones that fit its patterns`() throws {
    let (place, run) = try begin(
      """
      include: [more.yaml]
      tasks:
        a: { matrix: { f: { glob: "in/*" } }, run: 'echo "a $F" >> trace', env: { F: "${{ matrix.f }}" } }
      """,
      ["in/one": "1", "more.yaml": "tasks: { m: { run: echo m >> trace } }"])
    #expect(place.lines().sorted() == ["a in/one", "m"])
    try place.write("more.yaml", "tasks: { m: { run: echo n >> trace } }")
    try run.waitForError("opflow: changed: more.yaml")
    try run.waitForRounds(2)
    try place.write("in/two", "2")
    try run.waitForError("opflow: changed: in/*")
    try run.waitForRounds(3)
    _ = try run.leave()
    #expect(place.lines().sorted() == ["a in/one", "a in/two", "m", "n"])
  }

  @Test func `a change while it runs is taken up at the end`() throws {
    let place = try Workplace(
      "tasks: { a: { run: 'echo in > in; read w < out' }, b: { run: echo b >> trace } }")
    let (`in`, out) = (try place.gate("in"), try place.gate("out"))
    let run = try place.start("run", "--watch")
    #expect(try `in`.next() == "in")
    try place.write(
      "opflow.yaml",
      "tasks: { a: { run: 'echo in > in; read w < out' }, b: { run: echo c >> trace } }")
    try out.letGo()
    try run.waitForError("opflow: changed: opflow.yaml")
    try place.waitForJournal { $0.count { $0.event == "success" && $0.task == "b" } == 2 }
    try run.waitForRounds(1)
    _ = try run.leave()
    #expect(place.lines() == ["b", "c"])
  }

  @Test func `a run that is stopped is left, and what cannot change is refused`() throws {
    let place = try Workplace("tasks: { a: { run: 'echo in > in; read w < out' } }")
    let `in` = try place.gate("in")
    _ = try place.gate("out")
    let run = try place.start("run", "--watch")
    #expect(try `in`.next() == "in")
    run.send(SIGINT)
    #expect(try run.finish().status == -SIGINT)
    #expect(
      try place.opflow("run", "--watch", "-n", status: 2).errors.contains(
        "--watch needs a run, but --dry-run runs nothing"))
    #expect(
      try place.opflow("run", "--watch", "-f", "-", status: 2, input: "tasks: {}").errors.contains(
        "--watch cannot watch a manifest on standard input"))
  }

  // MARK: What keeps it from going on

  private static let says = "tasks: { a: { run: 'echo SAID >> trace' } }"
  private func saying(_ word: String) -> String {
    Self.says.replacingOccurrences(of: "SAID", with: word)
  }

  @Test(arguments: ["ln -sfn b.yaml opflow.yaml", "mv b.yaml opflow.yaml"])
  func `a link that is aimed elsewhere, or a file in its place, is another manifest`(
    command: String
  ) throws {
    let place = try Workplace()
    try place.write("a.yaml", saying("a"))
    try place.write("b.yaml", saying("b"))
    try place.shell("ln -s a.yaml opflow.yaml")
    let run = try place.watch()
    try place.shell(command)
    try run.waitForError("opflow: opflow.yaml is now ")
    try run.waitForRounds(2)
    #expect(place.lines() == ["a", "b"])
    #expect(place.runs.count == 2)
    // The one that is there now is watched.
    try place.write(command.hasPrefix("ln") ? "b.yaml" : "opflow.yaml", saying("c"))
    try run.waitForRounds(3)
    _ = try run.leave()
    #expect(place.lines() == ["a", "b", "c"])
    #expect(place.runs.count == 2)
  }

  @Test func `a project that has another name for a moment is waited for`() throws {
    let place = try Workplace()
    try place.write("p/opflow.yaml", saying("one"))
    let run = try place.start("run", "--watch", "-f", "p/opflow.yaml")
    try run.waitForRounds(1)
    try place.shell("mv p q")
    try run.waitForError("opflow: p/opflow.yaml is missing; waiting for it (Ctrl-C to quit)")
    try place.shell("mv q p")
    try place.write("p/opflow.yaml", saying("two"))
    try run.waitForRounds(2)
    _ = try run.leave()
    #expect(place.lines("p/trace") == ["one", "two"])
    #expect(place.entries("p/.opflow/runs").count == 1)
  }

  @Test func `a run that was removed is begun anew`() throws {
    let (place, run) = try begin(saying("one"))
    let first = try #require(place.runs.first)
    try place.opflow("clean", "--keep", "0")
    try place.write("opflow.yaml", saying("two"))
    try run.waitForError("opflow: run \(first) was removed; starting a new run")
    try run.waitForRounds(2)
    _ = try run.leave()
    #expect(place.lines() == ["one", "two"])
    #expect(place.runs.count == 1)
  }

  @Test func `whoever drives the run meanwhile is waited for`() throws {
    let tasks = """
      tasks:
        slow: { run: 'test ! -e wait || { echo in > in; read w < out; }' }
        a: { run: echo SAID >> trace }
      """
    let (place, run) = try begin(tasks)
    let (`in`, out) = (try place.gate("in"), try place.gate("out"))
    try place.write("wait", "")
    let resume = try place.start("resume", "--rerun", "slow")
    _ = try `in`.next()
    try place.write("opflow.yaml", tasks.replacingOccurrences(of: "SAID", with: "two"))
    let id = try #require(place.runs.first)
    try run.waitForError(
      "opflow: waiting for process \(resume.pid), which holds run \(id) (Ctrl-C to quit)")
    try out.letGo()
    #expect(try resume.finish().status == 0)
    try run.waitForRounds(2)
    _ = try run.leave()
    #expect(place.lines() == ["SAID", "two"])
  }

  @Test func `a run beside which it is not to be live is waited for`() throws {
    let tasks = """
      if_running: fail
      tasks:
        slow: { manual: true, run: 'echo in > in; read w < out' }
        a: { run: echo SAID >> trace }
      """
    let (place, run) = try begin(tasks)
    let (`in`, out) = (try place.gate("in"), try place.gate("out"))
    let other = try place.start("run", "slow")
    _ = try `in`.next()
    let live = try #require(place.runs.last)
    try place.write("opflow.yaml", tasks.replacingOccurrences(of: "SAID", with: "two"))
    try run.waitForError("opflow: waiting for run \(live) of the same manifest")
    try out.letGo()
    #expect(try other.finish().status == 0)
    try run.waitForRounds(2)
    _ = try run.leave()
    #expect(place.lines() == ["SAID", "two"])
  }

  @Test func `a task that is there no more is told, and waited for`() throws {
    let place = try Workplace("tasks: { a: { run: echo a >> trace } }")
    let run = try place.watch("a")
    try place.write("opflow.yaml", "tasks: { b: { run: echo b >> trace } }")
    try run.waitForError("the manifest no longer has `a`, for which the run was started")
    try place.write("opflow.yaml", "tasks: { a: { run: echo again >> trace } }")
    try run.waitForRounds(2)
    _ = try run.leave()
    #expect(place.lines() == ["a", "again"])
  }

  @Test func `who wants to leave as the run ends is let go`() throws {
    let instances = (0..<900).map { "\($0)" }.joined(separator: ", ")
    let place = try Workplace("tasks: { a: { matrix: { i: [\(instances)] }, run: 'true' } }")
    // Nobody reads: what is printed is more than fits, so that it stays a while at the end.
    let out = try place.gate("out")
    let run = try place.startShell("exec $opflow run --watch --json > out")
    while place.runs.isEmpty { sched_yield() }
    try place.waitForJournal { $0.last?.event == "close" }
    run.send(SIGINT)
    #expect([130, -SIGINT].contains(try run.finish().status))
    _ = out
  }
}
