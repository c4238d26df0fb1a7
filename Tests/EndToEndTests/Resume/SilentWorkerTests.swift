import Foundation
import Glibc
import Testing

/// Workers that are stopped: they hold their tasks for some seconds, and never for ever.
struct SilentWorkerTests {
  /// A task that stops its worker in its first try.
  private static let stopsWorker =
    "echo try >> trace; test $OPFLOW_ATTEMPT -gt 1 || { kill -STOP $PPID; exec tail -f /dev/null; }"

  /// The same, once the coordinator knows that it runs.
  private static let stopsWorkerLater =
    """
    echo try >> trace; test $OPFLOW_ATTEMPT -gt 1 || { sleep 0.1; kill -STOP $PPID; \
    exec tail -f /dev/null; }
    """

  private func interrupts(_ place: Workplace) throws -> [JournalLine] {
    try place.journal().filter { $0.event == "interrupt" && $0.values["reason"] != "revoked" }
  }

  @Test func `the task of a stopped worker runs again, though it has no timeout`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "\(Self.stopsWorker)" }
        b: { needs: [a], run: echo b >> trace }
      """)
    try place.opflow("run")
    #expect(place.lines() == ["try", "try", "b"])
    let lost = try interrupts(place)
    #expect(lost.map(\.task) == ["a"])
    #expect(lost.first?.values["what"]?.contains("did not respond for 10 s") == true)
    place.expectNothingAlive()
  }

  @Test func `the task of a stopped worker runs again after its timeout and its grace`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "\(Self.stopsWorkerLater)", timeout: 1s, stop: { grace: 100ms } }
      """)
    try place.opflow("run")
    #expect(place.lines() == ["try", "try"])
    let lost = try interrupts(place)
    #expect(lost.first?.values["what"]?.contains("it did not end a task after the timeout") == true)
    place.expectNothingAlive()
  }

  @Test func `a task that always stops its worker fails after three more tries`() throws {
    let place = try Workplace(
      """
      tasks:
        a:
          run: "echo try >> trace; sleep 0.1; kill -STOP $PPID; exec tail -f /dev/null"
          timeout: 200ms
          stop: { grace: 0s }
      """)
    let run = try place.opflow("run", status: 1)
    #expect(place.lines().count == 4)
    #expect(try place.status()["a"]?.reason == "worker-lost")
    #expect(run.errors.contains("it did not end a task after the timeout"), "\(run)")
    place.expectNothingAlive()
  }

  @Test func `on_interrupted fail is heeded when a worker is stopped`() throws {
    let place = try Workplace(
      """
      tasks:
        a:
          run: "\(Self.stopsWorker)"
          on_interrupted: fail
          timeout: 10ms
          stop: { grace: 0s }
      """)
    try place.opflow("run", status: 1)
    #expect(place.lines() == ["try"])
  }

  @Test func `tasks handed ahead to a stopped worker run elsewhere`() throws {
    var manifest = "max_parallel: 1\ntasks:\n"
    for index in 0..<200 {
      manifest += "  t\(index): { run: echo t\(index) >> trace }\n"
    }
    manifest += "  stops: { run: '\(Self.stopsWorker)', priority: low, timeout: 1s }\n"
    for index in 0..<20 {
      manifest += "  u\(index): { run: echo u\(index) >> trace, priority: low }\n"
    }
    let place = try Workplace(manifest)
    try place.opflow("run")
    let names = place.lines().filter { $0 != "try" }
    #expect(names.count == 220)
    #expect(Set(names).count == 220)
    #expect(place.lines().filter { $0 == "try" }.count == 2)
    place.expectNothingAlive()
  }

  @Test func `a run that is told to stop waits for no stopped worker`() throws {
    let place = try Workplace(
      """
      tasks:
        a:
          run: "kill -STOP $PPID; echo here > here; exec tail -f /dev/null"
          stop: { grace: 10ms }
      """)
    let here = try place.gate("here")
    let live = try place.start("run")
    _ = try here.next()
    live.send(SIGINT)
    #expect(try live.finish().status == -SIGINT)
    place.expectNothingAlive()
  }

  @Test func `a worker that is stopped for a moment is not lost`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "echo try >> trace; kill -STOP $PPID; sleep 1; kill -CONT $PPID", timeout: 1m }
      """)
    try place.opflow("run")
    #expect(place.lines() == ["try"])
    #expect(try interrupts(place).isEmpty)
  }

  @Test(arguments: ["", ", timeout: 30s, stop: { grace: 0s }"])
  func `a stopped download worker is lost, and the download goes on in another`(
    policy: String
  ) throws {
    let place = try Workplace()
    let server = try place.startShell(
      "exec python3 \(Program.package)/jobs/serve.py --port 0 --speed 2000000")
    try server.waitForOutput("\n")
    let address = server.outputText.split(separator: " ").last.map { $0.dropLast() } ?? ""
    try place.write(
      "opflow.yaml",
      "tasks: { d: { download: { url: \"\(address)/north.tar\", to: copy }\(policy) } }")
    let live = try place.start("run", "--output", "line")
    try live.waitForError("d started")
    let worker = try #require(try place.journal().first { $0.event == "worker" })
    let pid = try #require(worker.values["pid"].flatMap { pid_t($0) })
    #expect(Glibc.kill(pid, SIGSTOP) == 0)
    let run = try live.finish()
    #expect(run.status == 0, "\(run)")
    #expect(place.exists("copy"))
    #expect(try interrupts(place).map(\.task) == ["d"])
  }

  @Test func `a worker that is stopped while it has nothing to do costs no task`() throws {
    let place = try Workplace(
      """
      max_parallel: 2
      tasks:
        long: { run: "echo long >> trace; sleep 22" }
        stops: { run: "(sleep 0.2; kill -STOP $PPID) & disown 2>/dev/null || true", shell: [bash, -c] }
        last: { needs: [long, stops], run: echo last >> trace }
      """)
    try place.opflow("run")
    #expect(place.lines() == ["long", "last"])
    place.expectNothingAlive()
  }
}
