import Glibc
import Testing

/// Runs that are on their way to their end, as others see them, and runs within tasks that are
/// stopped.
struct StopTests {
  @Test func `a signal is journaled as it begins to end the run, and others see it`() throws {
    let place = try Workplace(
      """
      tasks:
        slow: { run: "trap 'echo asked > here; read x < go; exit 1' INT TERM; echo up > here; read y < never" }
        next: { needs: [slow], run: 'true' }
        last: { finally: true, run: 'true' }
      """)
    let (here, go) = (try place.gate("here"), try place.gate("go"))
    _ = try place.gate("never")
    let run = try place.start("run", "--json")
    #expect(try here.next() == "up")
    let watching = try place.start("status", "--watch")
    try watching.waitForError("still running")
    run.send(SIGINT)
    #expect(try here.next() == "asked")
    #expect(try place.opflow("status").output.contains("running for "))
    #expect(try place.opflow("status").output.contains(", stopping: SIGINT\n"))
    #expect(try place.opflow("status", "--json").output.contains(#""stop_signal":2,"#))
    #expect(
      try place.opflow("why", "next").output.contains("the run is being stopped by SIGINT\n"))
    try watching.waitForError("stopping (SIGINT): opflow ends the running tasks")
    let lines = try place.journal()
    #expect(lines.last?.event == "stop")
    #expect(lines.last?.values["signal"] == "2")
    try go.letGo()
    let end = try run.finish()
    #expect(end.status == -SIGINT)
    #expect(end.output.contains(#""event":"stop","signal":2}"#), "\(end)")
    #expect(try watching.finish().status == 130)
    #expect(try !place.opflow("status").output.contains("stopping"))
    #expect(try !place.opflow("status", "--json").output.contains("stop_signal"))
  }

  @Test(arguments: [true, false])
  func `a run within a task that is stopped is stopped, and none of its tasks failed`(
    byRequest: Bool
  ) throws {
    let place = try Workplace("tasks: { outer: { run: 'cd inner && exec $opflow run' } }")
    try place.write(
      "inner/opflow.yaml",
      """
      tasks: { in: { run: 'echo in > ../here; exec sleep 1000' }, b: { needs: [in], run: 'true' } }
      """
    )
    let here = try place.gate("here")
    let run = try place.start("run")
    _ = try here.next()
    if byRequest { try place.opflow("cancel", "outer") } else { run.send(SIGTERM) }
    #expect(try run.finish().status == (byRequest ? 6 : -SIGTERM))
    let inner = try place.opflow("status", "--json", in: place.file("inner")).output
    #expect(inner.contains(#""state":"interrupted""#), "\(inner)")
    #expect(inner.contains(#""failed":0"#), "\(inner)")
    #expect(inner.contains(#""cancelled":1"#), "\(inner)")
    place.expectNothingAlive()
  }
}
