import Foundation
import Testing

/// `opflow run --watch` of tasks with `inputs`: what they read has them run again.
struct WatchedInputsTests {
  private static let manifest = """
    tasks:
      part: { inputs: ["src/**/*.c", inc], outputs: ["out/*.o"], run: "echo part >> trace; cat src/*.c > out/a.o" }
      all: { needs: part, inputs: ["out/*.o", gone], outputs: [out/app], run: "echo all >> trace; cat out/*.o > out/app" }
      note: { run: echo note >> trace }
    """

  private func begin(_ manifest: String = manifest) throws -> (Workplace, LiveProcess) {
    let place = try Workplace(manifest)
    try place.shell("mkdir -p src/deep out inc")
    try place.write("src/a.c", "a\n")
    try place.write("gone", "1\n")
    let run = try place.watch()
    return (place, run)
  }

  @Test func `an edit runs what reads it, and what tasks leave is no reason`() throws {
    let (place, run) = try begin()
    // The content is the same, and opflow does not watch outputs.
    try place.write("src/a.c", "a\n")
    try place.remove("out/app")
    try place.write("src/b.c", "b\n")
    try run.waitForError("opflow: changed: src/b.c\n")
    try run.waitForRounds(2)
    try place.remove("src/b.c")
    try run.waitForRounds(3)
    try place.write("inc/h", "head\n")
    try run.waitForError("opflow: changed: inc/h\n")
    try run.waitForRounds(4)
    let told = try run.leave()
    #expect(told.split(separator: "\n").count { $0.hasPrefix("opflow: changed: ") } == 3, "\(told)")
    #expect(
      place.lines() == ["part", "all", "note", "part", "all", "part", "all", "part"]
        || place.lines() == ["note", "part", "all", "part", "all", "part", "all", "part"]
        || place.lines() == ["part", "note", "all", "part", "all", "part", "all", "part"])
  }

  @Test func `what changes while it runs is taken up at the end`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { inputs: [x], run: "echo a >> trace; echo in > in; read w < out" }
        b: { inputs: [y], run: "echo b >> trace" }
      """)
    try place.write("x", "1")
    try place.write("y", "1")
    let (`in`, out) = (try place.gate("in"), try place.gate("out"))
    let run = try place.start("run", "--watch", "-j2")
    #expect(try `in`.next() == "in")
    try place.waitForJournal { $0.contains { $0.event == "success" && $0.task == "b" } }
    try place.write("y", "2")
    try out.letGo()
    try run.waitForError("opflow: changed: y\n")
    try run.waitForRounds(1)
    _ = try run.leave()
    #expect(place.lines().sorted() == ["a", "b", "b"])
  }

  // MARK: - With services that stay

  private static let served = """
    tasks:
      build: { inputs: [src], outputs: [page], run: "echo build >> trace; cp src page" }
      web:
        needs: [build]
        service: { ready: { log: up } }
        run: "echo web $(cat page) >> trace; echo up; exec tail -f /dev/null"
      note: { needs: [web], inputs: [page], run: echo note >> trace }
    """

  private func serve() throws -> (Workplace, LiveProcess) {
    let place = try Workplace(Self.served)
    try place.write("src", "1\n")
    let run = try place.start("run", "--watch", "web")
    try run.waitForError("web is ready")
    return (place, run)
  }

  private func leaveServices(_ run: LiveProcess) throws -> String {
    run.send(SIGINT)
    let end = try run.finish()
    #expect(end.status == -SIGINT, "\(end)")
    return end.errors
  }

  @Test func `a change has services that stay start again with what they need`() throws {
    let (place, run) = try serve()
    try place.write("src", "2\n")
    try run.waitForError("opflow: changed: src\n")
    try run.waitForError("web is ready", times: 2)
    // A manifest that is no good leaves them.
    try place.write("opflow.yaml", Self.served + "\nbad")
    try run.waitForError("error: this line has no `:`")
    #expect(try place.status()["web"]?.state == "running")
    try place.write("opflow.yaml", Self.served.replacingOccurrences(of: "web $", with: "now $"))
    try run.waitForError("web is ready", times: 3)
    try run.waitForRounds(3)
    let told = try leaveServices(run)
    #expect(place.lines() == ["build", "web 1", "build", "web 2", "now 2"], "\(told)")
    place.expectNothingAlive()
  }

  @Test func `what changes before services are all that is left is taken up then`() throws {
    let place = try Workplace(
      Self.served.replacingOccurrences(
        of: "echo note", with: "echo > in; read x < out; echo note"))
    try place.write("src", "1\n")
    let (`in`, out) = (try place.gate("in"), try place.gate("out"))
    let run = try place.start("run", "--watch", "web", "note")
    _ = try `in`.next()
    try place.write("src", "2\n")
    try out.letGo()
    try run.waitForError("opflow: changed: src\n")
    _ = try `in`.next()
    try out.letGo()
    try run.waitForRounds(2)
    _ = try leaveServices(run)
    #expect(place.lines() == ["build", "web 1", "note", "build", "web 2", "note"])
    place.expectNothingAlive()
  }

  @Test(arguments: ["echo $what > x", "ln -sfn $what x"])
  func `what changes while it runs and is as before in the end is read again`(
    _ change: String
  ) throws {
    let place = try Workplace(
      """
      tasks:
        a: { inputs: [x], outputs: [o], run: "[ -e o ] && wait=false || wait=true; $wait && echo a > in; $wait && read w < out; cat x > o; $wait && echo a > in; $wait && read w < out; true" }
        b: { needs: [a], inputs: [o], outputs: [p], run: "cat o > p" }
      """)
    for name in ["one", "two"] { try place.write(name, name + "\n") }
    try place.shell("what=one; \(change)")
    let (`in`, out) = (try place.gate("in"), try place.gate("out"))
    let run = try place.start("run", "--watch")
    _ = try `in`.next()
    try place.shell("what=two; \(change)")
    try out.letGo()
    _ = try `in`.next()
    try place.shell("what=one; \(change)")
    try out.letGo()
    try run.waitForRounds(1)
    #expect(try place.text("p") == "one\n")
    _ = try run.leave()
  }

  @Test func `an input that is missing is waited for`() throws {
    let (place, run) = try begin(
      "tasks: { a: { inputs: [later/x], run: echo a >> trace } }")
    try place.shell("mkdir later; echo x > later/x")
    try run.waitForError("opflow: changed: later/x\n")
    try run.waitForRounds(2)
    _ = try run.leave()
    #expect(place.lines() == ["a"])
  }

  @Test func `an empty folder that appears or vanishes in a folder is a change`() throws {
    let place = try Workplace("tasks: { a: { inputs: [inc], run: echo a >> trace } }")
    try place.shell("mkdir inc")
    let run = try place.watch()
    try place.shell("mkdir inc/new")
    try run.waitForError("opflow: changed: inc/new\n")
    try run.waitForRounds(2)
    try place.shell("rmdir inc/new")
    try run.waitForRounds(3)
    _ = try run.leave()
    #expect(place.lines() == ["a", "a", "a"])
  }

  @Test func `what cannot be looked at hides no change of what can`() throws {
    let place = try Workplace(
      """
      tasks:
        y: { inputs: [in], run: echo y >> trace }
        x: { manual: true, inputs: ["*.x"], run: "true" }
      """)
    try place.write("in", "1")
    try place.shell("ln -s loop.x loop.x")
    let run = try place.watch("y")
    try place.write("in", "2")
    try run.waitForError("opflow: changed: in\n")
    try run.waitForRounds(2)
    _ = try run.leave()
    #expect(place.lines() == ["y", "y"])
  }
}
