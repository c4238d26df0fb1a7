import Foundation
import Testing

/// `opflow run --watch`: it stays after the end, and goes on when what it was made of is another.
struct WatchedRunTests {
  private func begin(
    _ manifest: String, _ files: [String: String] = [:]
  ) throws -> (place: Workplace, run: LiveProcess) {
    let place = try Workplace(manifest)
    for (name, text) in files { try place.write(name, text) }
    let run = try place.start("run", "--watch")
    try run.waitForError(" for changes; Ctrl-C leaves")
    return (place, run)
  }

  /// What a person does who is done.
  private func leave(_ run: LiveProcess) throws -> String {
    run.send(SIGINT)
    let end = try run.finish()
    #expect(end.status == -SIGINT, "\(end)")
    return end.errors
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
    try run.waitForError(" for changes; Ctrl-C leaves", times: 2)
    _ = try leave(run)
    #expect(place.lines().sorted() == ["a", "b", "c"])
  }

  @Test func `what failed is mended while it stays, mistakes are told, and then mended too`() throws
  {
    let (place, run) = try begin("tasks: { a: { run: 'exit 3' }, b: { needs: a, run: 'true' } }")
    try place.write("opflow.yaml", "tasks: { a: { run: 'true' }, b: { needs: c, run: 'true' } }")
    try run.waitForError("unknown task `c`")
    try place.write("opflow.yaml", "tasks: { a: { run: 'true' }, b: { needs: a, run: 'true' } }")
    try place.waitForJournal { $0.contains { $0.event == "success" && $0.task == "b" } }
    try run.waitForError("for changes; Ctrl-C leaves", times: 2)
    _ = try leave(run)
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
    try run.waitForError("for changes; Ctrl-C leaves", times: 2)
    try place.write("in/two", "2")
    try run.waitForError("opflow: changed: in/*")
    try run.waitForError("for changes; Ctrl-C leaves", times: 3)
    _ = try leave(run)
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
    try run.waitForError("for changes; Ctrl-C leaves")
    _ = try leave(run)
    #expect(place.lines() == ["b", "c"])
  }

  @Test func `a run that is stopped is left, and what cannot change is refused`() throws {
    let place = try Workplace("tasks: { a: { run: 'echo in > in; read w < out' } }")
    let `in` = try place.gate("in")
    _ = try place.gate("out")
    let run = try place.start("run", "--watch")
    #expect(try `in`.next() == "in")
    run.send(SIGINT)
    #expect(try run.finish().status == 130)
    #expect(
      try place.opflow("run", "--watch", "-n", status: 2).errors.contains(
        "--watch is for a run, and --dry-run does not run anything"))
    #expect(
      try place.opflow("run", "--watch", "-f", "-", status: 2, input: "tasks: {}").errors.contains(
        "a manifest from standard input does not change"))
  }
}
