import Foundation
import Testing

/// The worker that is started before anybody asks for one.
struct WorkerAheadTests {
  private func workers(_ place: Workplace) throws -> [JournalLine] {
    place.lines(try place.runFolder() + "/journal.log").compactMap(JournalLine.init).filter {
      $0.event == "worker"
    }
  }

  @Test func `the first task has it, and no other is started`() throws {
    let place = try Workplace("tasks: { a: { run: 'echo $PPID > parent' } }")
    try place.opflow("run")
    let workers = try workers(place)
    #expect(workers.count == 1)
    #expect(workers.first?.values["pid"] == place.lines("parent").first)
  }

  @Test(arguments: ["tmp", "missing"])
  func `one that nobody asks for is gone with all that it made, and complains of nothing`(
    _ folder: String
  ) throws {
    // Nothing answers there, and with that the run has failed before the command's turn comes.
    let place = try Workplace(
      """
      resources: { turn: 1 }
      tasks:
        a: { run: touch ran, resources: { turn: 1 }, priority: very_low }
        b: { download: { url: "http://127.0.0.1:1/x", to: x }, resources: { turn: 1 }, priority: very_high, retry: 0 }
      """)
    try place.write("tmp/kept", "")
    try place.opflow("run", status: 1, environment: ["TMPDIR": place.file(folder)])
    #expect(!place.exists("ran"))
    #expect(try workers(place).count == 1)
    #expect(place.entries("tmp") == ["kept"])
    #expect(!place.exists(try place.runFolder() + "/worker.log"))
    place.expectNothingAlive()
  }

  @Test func `a resume and a run whose first task needs another start none ahead`() throws {
    let place = try Workplace(
      """
      tasks:
        b: { run: touch b, needs: a }
        a: { run: test -e allowed }
      """)
    try place.opflow("run", status: 1)
    try place.write("allowed", "")
    try place.opflow("resume")
    #expect(place.exists("b"))
    #expect(try workers(place).count == 2)
  }
}
