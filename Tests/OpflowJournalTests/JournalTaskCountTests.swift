import Fixtures
import OpflowJournal
import OpflowPlan
import Testing

@Suite("The count of tasks in a journal") struct JournalTaskCountTests {
  private func told(_ bytes: some Collection<UInt8>) -> Int? {
    Array(bytes).withUnsafeBytes { JournalReader.taskCount(atEndOf: $0) }
  }

  private func entry(_ taskCount: Int, files: [String] = []) throws -> ExtendEntry {
    var entry = ExtendEntry(
      id: try #require(RequestID("o\(taskCount)")),
      requester: Requester(pid: 9, user: 1, name: "opflow add"), taskCount: taskCount, added: 1)
    entry.files = files
    return entry
  }

  @Test func `it is that of the last line that has one, wherever the file is cut`() throws {
    var journal = JournalText(try TestPlan.make(names: ["a", "b", "c", "d"]))
    // The task count after each line, by the line's end.
    var expected: [(end: Int, count: Int?)] = [(0, nil), (journal.bytes.count, nil)]
    func note(_ count: Int?) { expected.append((journal.bytes.count, count)) }
    try journal.run("a")
    note(nil)
    journal.append(.extend(try entry(3)))
    note(3)
    try journal.run("b")
    var resume = ResumeEntry(planKey: "", opflowVersion: "0")
    resume.taskCount = 2
    journal.append(.resume(resume))
    note(2)
    // The line of a re-run task does not start a session.
    try journal.resume(("a", .asked))
    journal.append(.extend(try entry(4)))
    note(4)
    try journal.run("c", "d")
    for length in 0...journal.bytes.count {
      let file = journal.bytes.prefix(length)
      let last = expected.last { $0.end <= length }
      // The last line counts without its line feed.
      let torn = expected.last { $0.end <= length + 1 }
      let isTold = told(file) == last?.count || told(file) == torn?.count
      #expect(isTold, "\(length)")
      #expect(told(file + Array("\u{0}noise\n\n".utf8)) == last?.count, "\(length)")
    }
  }

  @Test func `damage hides no more than the lines that it is in`() throws {
    var journal = JournalText(try TestPlan.make(names: ["a", "b", "c"]))
    journal.append(.extend(try entry(2)))
    let second = journal.bytes.count
    journal.append(.extend(try entry(3)))
    try journal.run("c")
    for place in journal.bytes.indices {
      var file = journal.bytes
      file[place] ^= 1
      // Without the line feed between them both are one line, which is damaged.
      let possible = place == second - 1 ? [nil] : place < second ? [3] : [2, 3]
      let isPossible = possible.contains(told(file))
      #expect(isPossible, "\(place)")
    }
  }

  @Test func `it is found however far it is from the end, and however long lines are`() throws {
    for paths in [0, 1, 60_000] {
      var journal = JournalText(try TestPlan.make(names: ["a"]))
      let files = (0..<paths).map { "0123456789abcdef /srv/project/part-\($0).yaml" }
      journal.append(.extend(try entry(5)))
      for _ in 0..<12_000 { try journal.run("a") }
      #expect(told(journal.bytes) == 5)
      journal.append(.extend(try entry(6, files: files)))
      #expect(told(journal.bytes) == 6)
      for _ in 0..<6000 { try journal.run("a") }
      #expect(told(journal.bytes) == 6)
    }
  }
}
