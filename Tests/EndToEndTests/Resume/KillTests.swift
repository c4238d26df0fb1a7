import Foundation
import Testing

/// SIGKILL of any process of opflow.
struct KillTests {
  @Test func `a killed coordinator leaves nothing alive and resumes`() throws {
    let place = try Workplace(
      """
      max_parallel: 3
      x-long: &long { run: "echo $OPFLOW_TASK >> trace; test -e ok || { echo here > here; tail -f /dev/null; }" }
      tasks:
        done: { run: echo done >> trace }
        a: { needs: [done], <<: *long }
        b: { needs: [done], <<: *long }
        c: { needs: [done], run: "echo c >> trace; test -e ok || { setsid tail -f /dev/null & trap '' TERM; echo here > here; tail -f /dev/null; }" }
        end: { needs: [a, b, c], run: echo end >> trace }
      """)
    let here = try place.gate("here")
    let live = try place.start("run")
    _ = try here.next(3)
    live.send(SIGKILL)
    #expect(try live.finish().status == -9)
    place.expectNothingAlive()
    #expect(try place.status().state == "interrupted")
    try place.write("ok", "")
    try place.write("trace", "")
    try place.opflow("run", "--resume", "-j", "1")
    #expect(place.lines() == ["a", "b", "c", "end"])
    #expect(place.runs.count == 1)
  }

  @Test func `a worker that is stopped leaves when opflow is killed`() throws {
    let place = try Workplace(
      "tasks: { a: { run: 'kill -STOP $PPID; echo here > here; exec tail -f /dev/null' } }")
    let here = try place.gate("here")
    let live = try place.start("run")
    _ = try here.next()
    live.send(SIGKILL)
    #expect(try live.finish().status == -SIGKILL)
    place.expectNothingAlive()
  }

  @Test func `a killed worker's task runs again in the same run`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "echo try >> trace; test $OPFLOW_ATTEMPT -gt 1 || kill -KILL $PPID; echo end >> trace" }
        b: { needs: [a], run: echo b >> trace }
      """)
    try place.opflow("run")
    #expect(place.lines().last == "b")
    #expect(place.lines().filter { $0 == "try" }.count == 2)
    #expect(try place.journal().contains { $0.event == "interrupt" && $0.task == "a" })
    place.expectNothingAlive()
  }

  @Test func `a task that keeps losing its worker fails with that reason`() throws {
    let place = try Workplace(
      """
      max_failures: 0
      tasks:
        killer: { run: "echo try >> trace; kill -KILL $PPID; tail -f /dev/null", retry: 9 }
        other: { run: echo other > out }
      """)
    try place.opflow("run", "-j", "2", status: 1)
    #expect(place.lines().count == 4, "one attempt, and three more")
    #expect(try place.status()["killer"]?.reason == "worker-lost")
    #expect(place.lines("out") == ["other"])
    place.expectNothingAlive()
  }

  @Test func `a killed worker leaves no process of its task alive`() throws {
    let place = try Workplace(
      """
      tasks:
        a:
          run: |
            test $OPFLOW_ATTEMPT = 1 || exit 0
            setsid tail -f /dev/null &
            (trap '' TERM; exec tail -f /dev/null) &
            kill -KILL $PPID
            tail -f /dev/null
      """)
    try place.opflow("run")
    place.expectNothingAlive()
  }

  @Test func `everything killed in one instant resumes`() throws {
    let place = try Workplace(
      """
      max_parallel: 2
      tasks:
        done: { run: echo done >> trace }
        a: { needs: [done], run: "echo a >> trace; test -e ok || { echo here > here; exec tail -f /dev/null; }" }
        b: { needs: [done], run: "echo b >> trace; test -e ok || { echo here > here; setsid tail -f /dev/null & wait; }" }
      """)
    let here = try place.gate("here")
    let live = try place.start("run")
    _ = try here.next(2)
    // The workers first: each is stopped, so that none sees the coordinator's end and cleans up.
    let workers = Survivors.find(mark: place.mark).filter { $0.command.contains(" worker") }
    #expect(!workers.isEmpty)
    live.send(SIGSTOP)
    for worker in workers { kill(worker.pid, SIGSTOP) }
    live.send(SIGKILL)
    for worker in workers { kill(worker.pid, SIGKILL) }
    #expect(try live.finish().status == -9)
    try place.write("ok", "")
    try place.opflow("resume", "-j", "1")
    #expect(place.lines().filter { $0 == "done" }.count == 1)
    #expect(place.lines().suffix(2) == ["a", "b"])
    place.expectNothingAlive()
  }

  @Test func `a killed task fails like any other`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "echo $$ > here; tail -f /dev/null" }
      """)
    let here = try place.gate("here")
    let live = try place.start("run")
    let pid = try #require(pid_t(try here.next()))
    kill(pid, SIGKILL)
    #expect(try live.finish().status == 1)
    #expect(try place.status()["a"]?.signal == 9)
  }

  @Test func `the group's death by SIGKILL is survived by the journal`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: echo a >> trace }
        b: { needs: [a], run: "echo b >> trace; test -e ok || { echo here > here; tail -f /dev/null; }" }
      """)
    let here = try place.gate("here")
    let live = try place.start("run")
    _ = try here.next()
    live.sendToGroup(SIGKILL)
    #expect(try live.finish().status == -9)
    place.expectNothingAlive()
    try place.write("ok", "")
    try place.opflow("resume")
    #expect(place.lines() == ["a", "b", "b"])
  }

  /// A graph in layers of ten, whose coordinator is killed by one task after another, then resumed:
  /// every task writes its id once it is done, so a journaled success that ran twice shows.
  @Test func `killed at forty places, a run ends right and repeats no journaled success`() throws {
    var manifest = "max_parallel: 4\ntasks:\n"
    for layer in 0..<8 {
      for index in 0..<10 {
        let id = "t\(layer)-\(index)"
        let needs =
          layer == 0 ? "" : "needs: [t\(layer - 1)-\(index), t\(layer - 1)-\((index + 3) % 10)], "
        // Every other task kills its run once, some before and some after their work.
        let killer =
          "test -e k-\(id) || { : > k-\(id); kill -KILL $(cat .opflow/runs/$OPFLOW_RUN/lock); }; "
        let kills = (layer * 10 + index) % 2 == 0
        manifest +=
          "  \(id): { \(needs)run: \"\(kills && index < 5 ? killer : "")echo \(id) >> trace; "
          + "\(kills && index >= 5 ? killer : ":")\" }\n"
      }
    }
    let place = try Workplace(manifest)
    var sessions = 0
    var status: Int32 = -9
    while status == -9 && sessions < 60 {
      let before =
        place.runs.isEmpty ? [] : try place.journal().filter { $0.event == "success" }.map(\.task)
      let had = place.lines()
      let run = try place.opflow("run", "--resume", "--output", "quiet", status: nil)
      status = run.status
      sessions += 1
      let ran = Set(place.lines().dropFirst(had.count))
      #expect(
        ran.isDisjoint(with: before), "session \(sessions) repeated \(ran.intersection(before))")
      if status != -9 { #expect(status == 0, "\(run)") }
    }
    #expect(status == 0)
    #expect(sessions > 5)
    #expect(try place.status().counts["succeeded"] == 80)
    #expect(Set(place.lines()).count == 80)
    #expect(try place.journal().allSatisfy(\.isIntact))
    place.expectNothingAlive()
  }
}
