import Foundation
import Testing

/// The journal file: its contents, and resumes from a damaged one.
struct JournalTests {
  /// `a`, then `b`, then `c`, which fails until a file `ok` is there.
  private static let chain = """
    tasks:
      a: { run: echo a >> trace }
      b: { needs: [a], run: echo b >> trace }
      c: { needs: [b], run: "echo c >> trace; test -e ok" }
    """

  private func failedChain() throws -> Workplace {
    let place = try Workplace(Self.chain)
    try place.opflow("run", status: 1)
    #expect(place.lines() == ["a", "b", "c"])
    try place.write("ok", "")
    try place.remove("trace")
    return place
  }

  private func rewriteJournal(_ place: Workplace, _ change: (inout [UInt8]) throws -> Void) throws {
    let name = try place.journalName
    var bytes = try place.bytes(name)
    try change(&bytes)
    try Data(bytes).write(to: URL(fileURLWithPath: place.file(name)))
  }

  private func offset(of text: String, in bytes: [UInt8]) throws -> Int {
    let range = try #require(Data(bytes).range(of: Data(text.utf8)))
    return range.lowerBound
  }

  @Test func `every line has its checksum and its number`() throws {
    let place = try Workplace(
      """
      max_failures: 0
      tasks:
        good: { run: echo x }
        bad: { run: exit 3, retry: { max: 1, delay: 1ms } }
        below: { needs: [bad], run: "true" }
      """)
    try place.opflow("run", status: 1)
    let journal = try place.journal()
    #expect(journal.filter { !$0.isIntact }.isEmpty)
    #expect(journal.map(\.sequence) == Array(1...journal.count))
    #expect(journal.first?.event == "open")
    #expect(journal.last?.event == "close")
    let events = Set(journal.map(\.event))
    #expect(
      events.isSuperset(of: ["open", "worker", "start", "success", "failure", "retry", "skip"]))
    #expect(journal.allSatisfy { $0.event == "open" || $0.text.utf8.count < 200 })
    #expect(zip(journal, journal.dropFirst()).allSatisfy { $0.milliseconds <= $1.milliseconds })
  }

  @Test func `the first line says what the run is of`() throws {
    let place = try Workplace("vars: { v: x }\ntasks: { a: { run: 'true', tags: [t] } }")
    try place.opflow("run", "--set", "v=a\tb", "--only", "tag:t")
    let line = try place.text(place.journalName).split(separator: "\n")[0]
    #expect(line.contains(place.file("opflow.yaml")))
    #expect(line.contains("v=a\\tb"))
    #expect(line.contains("tag:t"))
    #expect(line.contains(try #require(place.runs.first)))
  }

  @Test func `a success stands in the journal before what needs it starts`() throws {
    let place = try Workplace(Self.chain)
    try place.write("ok", "")
    try place.opflow("run")
    let steps = try place.journal().filter { ["start", "success"].contains($0.event) }
    #expect(
      steps.map { "\($0.event) \($0.task)" } == [
        "start a", "success a", "start b", "success b", "start c", "success c",
      ])
  }

  @Test func `a torn last line is cut off and its task runs again`() throws {
    let place = try failedChain()
    try rewriteJournal(place) { bytes in
      let success = try offset(of: "\tsuccess\tb", in: bytes)
      bytes.removeSubrange((success + 14)...)
    }
    let resume = try place.opflow("resume")
    #expect(place.lines() == ["b", "c"])
    #expect(resume.errors.contains("warning"))
    #expect(try place.journal().allSatisfy(\.isIntact))
  }

  @Test func `a journal cut at any line resumes, and no success in it runs again`() throws {
    let place = try failedChain()
    let whole = try place.bytes(place.journalName)
    let ends = whole.indices.filter { whole[$0] == 10 }
    for end in ends {
      try rewriteJournal(place) { $0 = Array(whole[...end]) }
      let done = try place.journal().filter { $0.event == "success" }.map(\.task)
      try place.write("trace", "")
      try place.opflow("resume")
      #expect(Set(place.lines()).isDisjoint(with: done))
      #expect(try place.status().state == "succeeded")
    }
  }

  @Test func `a flipped bit takes its line's word and no other's`() throws {
    let place = try failedChain()
    try rewriteJournal(place) { bytes in
      bytes[try offset(of: "\tsuccess\tb", in: bytes) + 3] ^= 1
    }
    let resume = try place.opflow("resume")
    #expect(place.lines() == ["b", "c"])
    #expect(resume.errors.contains("warning"))
  }

  @Test func `a block of zeros in the middle is told and survived`() throws {
    let place = try failedChain()
    try rewriteJournal(place) { bytes in
      let line = try offset(of: "\tsuccess\tb", in: bytes)
      bytes.insert(contentsOf: repeatElement(0, count: 4096), at: line)
    }
    let resume = try place.opflow("resume")
    #expect(place.lines() == ["b", "c"])
    #expect(resume.errors.contains("warning"))
  }

  @Test func `line endings that an editor added do no harm`() throws {
    let place = try failedChain()
    try rewriteJournal(place) { bytes in
      bytes = bytes.flatMap { $0 == 10 ? [13, 10] : [$0] }
    }
    try place.opflow("resume")
    #expect(place.lines() == ["c"])
  }

  @Test func `a doubled tail is dropped`() throws {
    let place = try failedChain()
    try rewriteJournal(place) { bytes in
      let start = try offset(of: "\tstart\tb", in: bytes)
      let line = (bytes[..<start].lastIndex(of: 10) ?? 0) + 1
      bytes.append(contentsOf: bytes[line...])
    }
    try place.opflow("resume")
    #expect(place.lines() == ["c"])
  }

  @Test func `a journal without its first line, or of another version, is refused`() throws {
    let place = try failedChain()
    let whole = try place.bytes(place.journalName)
    try rewriteJournal(place) { $0.removeFirst(($0.firstIndex(of: 10) ?? 0) + 1) }
    try place.opflow("resume", status: 4)
    try rewriteJournal(place) { $0 = Array("this is no journal\n".utf8) }
    try place.opflow("resume", status: 4)
    try rewriteJournal(place) { $0 = whole }
    try place.opflow("resume")
    #expect(place.lines() == ["c"])
  }

  @Test func `a run that was killed before its first line is none`() throws {
    let place = try failedChain()
    try rewriteJournal(place) { $0 = [] }
    try place.opflow("resume", status: 2)
    try place.opflow("run", "--resume", "-j", "1")
    #expect(place.lines() == ["a", "b", "c"])
  }

  @Test func `a view of a damaged journal repairs nothing`() throws {
    let place = try failedChain()
    try rewriteJournal(place) { $0.append(contentsOf: "torn".utf8) }
    let before = try place.bytes(place.journalName)
    #expect(try place.status()["a"]?.state == "succeeded")
    try place.opflow("resume", "--dry-run")
    #expect(try place.bytes(place.journalName) == before)
  }

  @Test(arguments: ["none", "group", "each"])
  func `with every durability a run ends and its journal is whole`(mode: String) throws {
    let place = try Workplace(Self.chain)
    try place.write("ok", "")
    try place.opflow("run", "--durability", mode)
    #expect(place.lines() == ["a", "b", "c"])
    #expect(try place.journal().last?.event == "close")
  }
}
