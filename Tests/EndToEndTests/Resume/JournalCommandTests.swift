import Foundation
import Testing

/// `opflow journal verify|export|repair`.
struct JournalCommandTests {
  private func chain() throws -> Workplace {
    let place = try Workplace(
      """
      tasks:
        a: { run: echo a >> trace }
        b: { needs: [a], run: echo b >> trace }
        c: { needs: [b], run: echo c >> trace }
      """)
    try place.opflow("run", "--set", "x=1", "--set", "y=2", status: nil)
    try place.opflow("run")
    return place
  }

  private func spoil(_ place: Workplace, _ change: (inout [UInt8]) throws -> Void) throws {
    let name = try place.journalName
    var bytes = try place.bytes(name)
    try change(&bytes)
    try Data(bytes).write(to: URL(fileURLWithPath: place.file(name)))
  }

  /// Flips a bit in the line of that event and task.
  private func flip(_ event: String, _ task: String, in place: Workplace) throws {
    try spoil(place) { bytes in
      let range = try #require(Data(bytes).range(of: Data("\t\(event)\t\(task)\t".utf8)))
      bytes[range.lowerBound + 1] ^= 1
    }
  }

  @Test func `a whole journal is intact`() throws {
    let place = try chain()
    let verified = try place.opflow("journal", "verify")
    #expect(verified.outputLines.count == 1)
    #expect(verified.output.hasSuffix("lines, intact\n"))
    #expect(try place.opflow("journal", "repair").output.hasSuffix("nothing to repair\n"))
  }

  @Test func `damage is told with its place and what it means for each task`() throws {
    let place = try chain()
    try flip("success", "b", in: place)
    let text = try place.opflow("journal", "verify", status: 4).output
    #expect(text.contains("1 damaged line"))
    #expect(text.contains(" damaged bytes (1 line)\n"))
    #expect(text.contains("It leaves 1 of 3 tasks as they are.\n"))
    #expect(text.contains("  b  re-run: the end of its last attempt is not recorded\n"))
    #expect(text.contains("  c  re-run: b is re-run\n"))
  }

  @Test func `every intact line is exported as an object`() throws {
    let place = try chain()
    let lines = try place.opflow("journal", "export").outputLines
    #expect(lines.count == (try place.journal().count))
    let objects = try lines.map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    #expect(objects.map { $0["seq"] as? Int } == (1...lines.count).map { $0 })
    #expect(objects.first?["event"] as? String == "open")
    #expect(objects.first?["format"] as? Int == 1)
    let success = try #require(objects.first { $0["event"] as? String == "success" })
    #expect(success["task"] as? String == "a")
    #expect(success["exit"] as? Int == 0)
  }

  @Test func `a repair leaves out what is damaged and keeps the old journal`() throws {
    let place = try chain()
    try spoil(place) { bytes in
      let middle = try #require(Data(bytes).range(of: Data("\tstart\tb\t".utf8))).lowerBound
      bytes.insert(
        contentsOf: [0, 1, 2, 10, 255, 10], at: try #require(bytes[..<middle].lastIndex(of: 10)) + 1
      )
      bytes.append(contentsOf: [1, 2, 3])
    }
    let old = try place.bytes(place.journalName)
    try place.opflow("journal", "verify", status: 4)
    let before = try place.status()
    #expect(
      try place.opflow("journal", "repair").output
        .contains(", removed 3 damaged lines; the old journal is "))
    #expect(try place.bytes(place.journalName + ".damaged") == old)
    #expect(try place.opflow("journal", "verify").output.hasSuffix("intact\n"))
    #expect(try place.status().counts == before.counts)
    try place.remove("trace")
    try place.opflow("resume")
    #expect(place.lines() == [])
  }

  @Test func `a repair of a run that is held is refused, and a look does not disturb it`() throws {
    let place = try Workplace(
      "tasks: { a: { run: 'echo here > here; read word < go' }, b: { needs: [a], run: 'true' } }")
    let here = try place.gate("here")
    let go = try place.gate("go")
    let live = try place.start("run")
    _ = try here.next()
    #expect(try place.opflow("journal", "repair", status: 5).errors.contains("\(live.pid)"))
    #expect(try place.opflow("journal", "verify").output.contains("intact"))
    #expect(try place.opflow("journal", "export").outputLines.count >= 3)
    try go.letGo()
    #expect(try live.finish().status == 0)
  }

  @Test func `a file that is no journal is told`() throws {
    let place = try chain()
    try spoil(place) { $0[0] ^= 1 }
    for command in ["verify", "export", "repair"] {
      #expect(try place.opflow("journal", command, status: 4).errors.contains("line 1 is damaged"))
    }
  }
}
