import Foundation
import Testing

/// Tasks with `manual: true`, and needs with `on: ran`, from the command line.
struct ManualTaskTests {
  private func project() throws -> Workplace {
    try Workplace(
      """
      tasks:
        build: { run: "echo build >> trace" }
        setup: { manual: true, run: "echo setup >> trace" }
        test: { needs: [build, setup], run: "echo test >> trace; test -e ok" }
        deploy: { desc: to production, manual: true, needs: [build], run: "echo deploy >> trace; test -e ok" }
      """)
  }

  @Test func `a run leaves out what nobody named and nothing needs, and views say so`() throws {
    let place = try project()
    try place.write("ok", "")
    let check = try place.opflow("check")
    #expect(check.output == "opflow.yaml: 4 tasks, 2 of them manual, no errors\n")
    let plan = try place.opflow("plan")
    #expect(
      plan.output.contains("test: 3 tasks, 3 to run") || plan.output.contains("3 tasks, 3 to run"),
      "\(plan)")
    #expect(plan.output.contains("not selected (manual): deploy\n"), "\(plan)")
    #expect(try place.opflow().output.contains("to production (manual)"))
    try place.opflow("run")
    #expect(Set(place.lines()) == ["build", "setup", "test"])
    let status = try place.status()
    #expect(status.state == "succeeded")
    #expect(
      status["deploy"] == nil || status["deploy"]?.state == "pending"
        || status["deploy"]?.state == "skipped")
    #expect(status.counts["succeeded"] == 3)
    #expect(try !place.opflow("plan", "deploy").output.contains("not selected"))
  }

  @Test func `a resume does not start it by itself, and goes on with it where it was named`() throws
  {
    let place = try project()
    try place.opflow("run", status: 1)
    try place.write("ok", "")
    try place.opflow("resume")
    #expect(!place.lines().contains("deploy"))
    try place.opflow("resume")
    #expect(!place.lines().contains("deploy"))
    try place.opflow("resume", "--only", "deploy")
    #expect(place.lines().filter { $0 == "deploy" }.count == 1)
    #expect(place.lines().filter { $0 == "build" }.count == 1)
  }

  @Test func `one that was named and failed is resumed`() throws {
    let place = try project()
    try place.opflow("run", "deploy", status: 1)
    try place.write("ok", "")
    try place.opflow("resume")
    #expect(place.lines() == ["build", "deploy", "deploy"])
    try place.opflow("run", "--only", "deploy")
    #expect(place.lines().suffix(2) == ["build", "deploy"])
  }

  @Test func `where all are manual nothing runs unless one is named`() throws {
    let place = try Workplace("tasks: { a: { manual: true, run: 'echo a >> trace' } }")
    let run = try place.opflow("run", status: 2)
    #expect(run.errors.contains("every task is `manual`; name one: a\n"), "\(run)")
    try place.opflow("run", "a")
    #expect(place.lines() == ["a"])
    try place.opflow("run", "*")
    #expect(place.lines() == ["a", "a"])
  }

  @Test func `what waits for a task to have run is skipped with it, and the run succeeds`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { if: env.WANT, run: "echo a >> trace" }
        b: { needs: [{ task: a, on: ran }], run: "echo b >> trace" }
        c: { needs: [a], run: "echo c >> trace" }
        d: { needs: [b], run: "echo d >> trace" }
      """)
    try place.opflow("run")
    #expect(place.lines() == ["c"])
    let status = try place.status()
    #expect(status.state == "succeeded")
    #expect(status["b"]?.state == "skipped" && status["d"]?.state == "skipped")
    #expect(try place.opflow("plan", environment: ["WANT": "1"]).output.contains("a (ran)"))
    try place.opflow("run", environment: ["WANT": "1"])
    #expect(Set(place.lines().dropFirst()) == ["a", "b", "c", "d"])
    try place.opflow("run", "--skip", "a", environment: ["WANT": "1"])
    #expect(place.lines().dropFirst(5) == ["c"])
  }

  @Test func `a resume that leaves out what ran still meets a need of it`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "echo a >> trace" }
        b: { run: "echo b >> trace; test -e ok" }
        end: { finally: true, needs: [{ task: a, on: ran }], run: "echo end >> trace" }
      """)
    try place.opflow("run", status: 1)
    try place.write("ok", "")
    try place.opflow("resume", "--only", "b")
    #expect(place.lines().filter { $0 == "end" }.count == 2)
    #expect(place.lines().filter { $0 == "a" }.count == 1)
  }
}
