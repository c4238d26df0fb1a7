import Foundation
import OpflowBase
import OpflowSystem
import Testing

@testable import OpflowWorker

@Suite("The records of a state folder")
final class RecordBookTests {
  private let state: String

  init() throws {
    state = NSTemporaryDirectory() + "opflow-records-" + UUID().uuidString
    try Path.makeDirectories(state)
  }

  deinit { try? FileManager.default.removeItem(atPath: state) }

  private func add(_ task: UInt64, files: Int, to book: RecordBook) throws {
    let files = (0..<files).map { number in
      SeenFile(
        path: Array("src/file-\(1_000_000 + number)".utf8), kind: .file,
        content: PlanKey(high: 1, low: 2), stamp: nil)
    }
    let record = SuccessRecord(
      terms: SuccessRecord.Terms(fingerprint: 1, declaration: 2, with: nil, needs: 3),
      inputs: SeenFiles(files), readings: [], origin: task)
    try Array("t".utf8).withUnsafeBytes {
      try book.append(record, of: task, name: $0, atMilliseconds: 1_700_000_000_000)
    }
  }

  @Test func `read a little at a time they are the same, however they grow`() throws {
    let (writer, reader) = (try RecordBook(state: state), try RecordBook(state: state))
    for task in UInt64(1)...3 { try add(task, files: 30_000, to: writer) }
    #expect(try !reader.followALittle())
    try add(4, files: 1, to: writer)
    try writer.void(1, atMilliseconds: 1_700_000_000_001)
    var turns = 1
    while try !reader.followALittle() { turns += 1 }
    #expect(turns > 1)
    for task in UInt64(1)...4 {
      let known = try reader.record(of: task)
      #expect(known?.origin == (task == 1 ? nil : task))
      #expect(known?.inputs.count == (task == 1 ? nil : task == 4 ? 1 : 30_000))
    }
    // All at once from the middle on, and once more.
    let other = try RecordBook(state: state)
    _ = try other.followALittle()
    try other.follow()
    #expect(try other.record(of: 4)?.origin == 4)
    #expect(try other.followALittle())
  }

  @Test func `what attempts left is known as before when the file was shortened`() throws {
    let book = try RecordBook(state: state)
    var record = SuccessRecord(
      terms: SuccessRecord.Terms(fingerprint: 1, declaration: 2, with: nil, needs: 3), inputs: [],
      readings: [],
      outputs: [
        SeenFile(
          path: Array("o/a".utf8), kind: .file, content: PlanKey(high: 1, low: 2), stamp: nil)
      ])
    record.knowsFound = true
    let name = Array("t".utf8)
    try name.withUnsafeBytes { name in
      for task in UInt64(1)...3 {
        try book.append(record, of: task, name: name, atMilliseconds: 0)
        try book.void(task, strangers: [Array("o/mine".utf8)], atMilliseconds: 0)
      }
      try book.append(record, isSuccess: false, of: 2, name: name, atMilliseconds: 0)
      try book.append(record, of: 3, name: name, atMilliseconds: 0)
    }
    for isShort in [false, true] {
      if isShort { try book.shorten() }
      try book.follow()
      for task in UInt64(1)...3 {
        let left = try book.leftFiles(of: task)
        #expect(left.made == record.outputs, "\(task) \(isShort)")
        #expect(left.strangersOfLost == (task == 1 ? [Array("o/mine".utf8)] : nil))
        #expect(left.mayBeOfLost(Array("o/b".utf8)) == (task == 1))
      }
      #expect(try book.record(of: 1) == nil && book.record(of: 2) == nil)
      #expect(try book.record(of: 3) == record)
    }
  }

  @Test(arguments: ["5dea4532\t1\t17959", "x", String(repeating: "x", count: 100_000)])
  func `what a crash cut off at the end is gone with the next line, and all before it holds`(
    _ tail: String
  ) throws {
    let writer = try RecordBook(state: state)
    for task in UInt64(1)...2 { try add(task, files: 2, to: writer) }
    let path = RecordBook.path(in: state)
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    try (whole + Data(tail.utf8)).write(to: URL(fileURLWithPath: path))
    let before = try RecordBook(state: state)
    try before.follow()
    try writer.void(2, atMilliseconds: 1_700_000_000_001)
    try add(3, files: 1, to: writer)
    let after = try RecordBook(state: state)
    for book in [before, after, writer] {
      try book.follow()
      #expect((1...3).map { book.origin(of: $0) } == [1, 0, 3])
      #expect(try book.record(of: 1)?.inputs.count == 2)
    }
  }

  @Test func `whether others have any task is known without asking for each`() throws {
    let (book, other) = (try RecordBook(state: state), try RecordBook(state: state))
    #expect(try !book.isAnyTaken())
    for task: UInt64 in [0, 5 << 40, .max] {
      #expect(try other.take(task))
      #expect(try book.isAnyTaken())
      #expect(try book.isTaken(task))
      // Its own lock does not count.
      #expect(try !other.isAnyTaken())
      try other.give(task)
      #expect(try !book.isAnyTaken())
    }
  }
}
