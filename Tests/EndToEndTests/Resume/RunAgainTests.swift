import Foundation
import Glibc
import Testing

/// Which run `run --resume` continues, and who may when several want to.
struct RunAgainTests {
  private static let manifest = """
    vars: { v: x, w: y }
    tasks:
      a: { run: "echo a >> trace; test -e ok" }
      lint: { run: echo lint >> trace }
    """

  @Test func `a run of other tasks in between hides nothing`() throws {
    let place = try Workplace(Self.manifest)
    try place.opflow("run", "--resume", "-j1", "-k", status: 1)
    try place.opflow("run", "--only", "lint")
    try place.opflow("run", "--skip", "a")
    try place.opflow("run", "--set", "v=z", "--only", "lint")
    try place.write("trace", "")
    try place.opflow("run", "--resume", status: 1)
    #expect(place.lines() == ["a"])
    #expect(place.runs.count == 4)
    // The newest run of these tasks has succeeded, so this starts a new one.
    try place.opflow("run", "--resume", "--only", "lint")
    #expect(place.runs.count == 5)
  }

  @Test(arguments: [
    (["v=1", "w=2"], ["w=2", "v=1"]), (["v=1", "v=2"], ["v=2"]),
    (["v=2", "w=1", "v=3"], ["w=1", "v=3"]),
  ])
  func `the same values are the same however they are written`(
    first: [String], second: [String]
  ) throws {
    let place = try Workplace(Self.manifest)
    let words = { (values: [String]) in
      values.map { "--set \($0)" }.joined(separator: " ")
    }
    try place.shell("$opflow run --resume \(words(first))", status: 1)
    try place.shell("$opflow run --resume \(words(second))", status: 1)
    #expect(place.runs.count == 1)
    try place.shell("$opflow run --resume --set v=9", status: 1)
    #expect(place.runs.count == 2)
  }

  @Test func `--only in another order is the same`() throws {
    let place = try Workplace(Self.manifest)
    try place.opflow("run", "--resume", "--only", "a", "--only", "lint", status: 1)
    try place.opflow("run", "--resume", "--only", "lint", "--only", "a", status: 1)
    #expect(place.runs.count == 1)
  }

  @Test func `run --resume has the values of its call, also where a resume had others`() throws {
    let place = try Workplace(
      """
      vars: { v: x }
      tasks:
        a: { run: "echo ${{ vars.v }} >> trace; test -e ok" }
      """)
    try place.opflow("run", status: 1)
    try place.opflow("resume", "--set", "v=y", status: 1)
    try place.opflow("run", "--resume", status: 1)
    #expect(place.lines() == ["x", "y", "x"])
    #expect(place.runs.count == 1)
  }

  /// The process that the lock of the newest run names.
  private func holder(_ place: Workplace) throws -> Int32 {
    let line = try #require(place.lines(place.runFolder() + "/lock").first)
    let word = try #require(line.split(separator: " ").first)
    return try #require(Int32(word))
  }

  @Test func `of many that begin at once one drives, and the others are told of it`() throws {
    let place = try Workplace(
      "tasks: { a: { run: \"echo a >> trace; echo here > here; exec tail -f /dev/null\" } }")
    let here = try place.gate("here")
    let all = try (0..<5).map { _ in try place.start("run", "--resume") }
    _ = try here.next()
    let pid = try holder(place)
    for process in all where process.pid != pid {
      let held = try process.finish()
      #expect(held.status == 5, "\(held)")
      #expect(held.errors.contains("process \(pid)"), "\(held)")
    }
    #expect(place.lines() == ["a"])
    let owner = try #require(all.first { $0.pid == pid })
    owner.send(SIGINT)
    #expect(try owner.finish().status == -SIGINT)
    // The same with a run that is there.
    let resumes = try (0..<5).map { _ in try place.start("run", "--resume") }
    _ = try here.next()
    let second = try holder(place)
    for process in resumes where process.pid != second {
      #expect(try process.finish().status == 5)
    }
    #expect(place.runs.count == 1)
    let last = try #require(resumes.first { $0.pid == second })
    last.send(SIGINT)
    #expect(try last.finish().status == -SIGINT)
    place.expectNothingAlive()
  }

  @Test func `who waits for a choice is told, and goes on when its holder is gone`() throws {
    let place = try Workplace("tasks: { a: { run: echo a >> trace } }")
    try place.write(".opflow/lock", "")
    let here = try place.gate("here")
    let holder = try place.startShell(
      "exec 9< .opflow/lock; flock 9; echo here > here; exec tail -f /dev/null")
    _ = try here.next()
    let run = try place.start("run", "--resume")
    try run.waitForError("waiting for another process")
    holder.send(SIGKILL)
    _ = try holder.finish()
    #expect(try run.finish().status == 0)
    #expect(place.lines() == ["a"])
  }

  @Test func `a mistake of the manifest leaves no folder behind`() throws {
    let place = try Workplace("tasks: { a: { ran: x } }")
    try place.opflow("run", "--resume", status: 3)
    try place.opflow("run", "--resume", "-n", status: 3)
    #expect(!place.exists(".opflow"))
    try place.write("opflow.yaml", "tasks: { a: { run: echo a >> trace } }")
    try place.opflow("run", "--resume", "-n")
    #expect(!place.exists(".opflow"))
  }
}
