import Drill
import Foundation
import Testing

/// The manifests in `jobs` that have services do what their comments say.
struct ServiceJobsTests {
  @Test(.enabled(if: ServiceDrill.isPossible, "PostgreSQL is not there"))
  func `a database is made, brought up to date, tested in shards and ended`() throws {
    let place = try Workplace.ofJob("integration.yaml")
    let run = try place.opflow("run", "--output", "line")
    #expect(try place.status().counts["succeeded"] == 10, "\(run)")
    #expect(try place.log("report") == "1200 of 1200 customers tested\n")
    #expect(
      try place.log("migrate")
        == "1-tables.sql applied\n2-customers.sql applied\n3-totals.sql applied\n")
    // Its output after the stop signal is shown too.
    #expect(run.errors.contains("db | LOG:  database system is shut down"), "\(run)")
    let ends = try place.journal().filter { $0.event == "success" }.map(\.task)
    #expect(ends.last == "db")
    #expect(!place.exists("out/integration/data/postmaster.pid"))
    place.expectNothingAlive()
  }

  @Test(.enabled(if: ServiceDrill.isPossible, "PostgreSQL is not there"))
  func `a shard that fails shows what the database said, and a resume does what is left`() throws {
    let place = try Workplace.ofJob("integration.yaml")
    let run = try place.opflow(
      "run", "-k", "--output", "group", "--set", "broken=4", status: 1)
    let begin = try #require(
      run.errorLines.firstIndex { $0 == "  last lines of db, a service that it needs:" }, "\(run)")
    // As far as it had come by then: what it says and when its shard ends are told by two
    // processes.
    let said = run.errorLines[(begin + 1)...].prefix { $0.hasPrefix("  db | ") }
    let log = try place.log("db")
    #expect(!said.isEmpty, "\(run)")
    #expect(log.contains(said.map { $0.dropFirst(7) + "\n" }.joined()), "\(run)\n\(log)")
    #expect(
      log.contains("shard-4 ERROR:  column \"nothing_of_that_name\" does not exist"), "\(log)")
    let before = try place.journal().count
    let resume = try place.opflow("resume", "--set", "broken=none")
    let starts = try place.journal().dropFirst(before).filter { $0.event == "start" }.map(\.task)
    #expect(starts == ["db", "test[shard=4]", "report"], "\(resume)")
    place.expectNothingAlive()
  }

  @Test func `a set-up to work with goes on until it is told to end`() throws {
    let place = try Workplace.ofJob("dev.yaml")
    let run = try place.start("run", "--output", "line")
    try run.waitForError("reader is ready")
    try run.waitForError("watch is ready")
    try place.write("dev/pages.txt", "# Closed\nBecause of the weather, until it gets better.\n")
    try run.waitForError("watch | built a page of 2 lines")
    try run.waitForError("reader | the new page has 11 words")
    run.send(SIGINT)
    let end = try run.finish()
    #expect(end.status == 0, "\(end)")
    let ends = try place.journal().filter { $0.event == "success" }.map(\.task)
    #expect(try #require(ends.firstIndex(of: "reader")) < #require(ends.firstIndex(of: "web")))
    #expect(end.errors.contains(" succeeded in "), "\(end)")
    place.expectNothingAlive()
  }
}
