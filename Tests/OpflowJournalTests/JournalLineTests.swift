import Fixtures
import Testing

@testable import OpflowBase
@testable import OpflowJournal
@testable import OpflowPlan

/// Lines of a journal, read in place.
@Suite struct JournalLineTests {
  private func sealed(_ text: String, end: String = "\n") -> [UInt8] {
    let body = Array(text.utf8)
    var line: [UInt8] = []
    Hexadecimal.append(
      UInt64(body.withUnsafeBytes { Hash.crc32c($0) }), digitCount: 8, to: &line)
    return line + [9] + body + Array(end.utf8)
  }

  private let open = "1\t5\topen\t\tformat=1"

  /// Reads the second line of a journal that begins with `open`; nil without one.
  private func second<Result>(
    _ rest: [UInt8], _ body: (JournalLine) -> Result
  ) throws -> Result? {
    try (sealed(open) + rest).withUnsafeBytes { bytes in
      var reader = try JournalReader(bytes)
      _ = reader.next()
      return reader.next().map(body)
    }
  }

  @Test func `checksum and end of a line are found in one look`() {
    for count in 0...80 {
      for end in 0...count {
        var text = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 | 16) }
        if end < count { text[end] = 10 }
        let line = text.withUnsafeBytes { Hash.crc32cOfLine($0) }
        #expect(line.length == end)
        #expect(line.checksum == text[..<end].withUnsafeBytes { Hash.crc32c($0) })
      }
    }
    // "123456789", the check value of the catalogue of parametrised CRC algorithms.
    #expect(Array("123456789".utf8).withUnsafeBytes { Hash.crc32c($0) } == 0xe306_9283)
  }

  @Test(arguments: [2, 9, 10, 98, 99, 999_998, 9_999_997, 99_999_998, 999_999_999_999])
  func `numbers are read whatever stood in the line before`(_ first: UInt64) throws {
    let times: [Int64] = [
      0, 1, 9_999_999_999_999, 9_999_999_999_999, 1_700_000_000_000, 17, 1 << 61,
    ]
    let journal = times.enumerated().reduce(sealed(open)) { journal, next in
      journal + sealed("\(first + UInt64(next.offset))\t\(next.element)\tstart\ta\tn=1")
    }
    try journal.withUnsafeBytes { bytes in
      var reader = try JournalReader(bytes)
      _ = reader.next()
      for (place, time) in times.enumerated() {
        let line = reader.next()
        #expect(line?.sequence == first + UInt64(place))
        #expect(line?.milliseconds == time)
      }
      #expect(reader.next() == nil)
    }
  }

  @Test func `a number that comes too soon is the one that it is`() throws {
    for first in [2, 8, 9, 18, 19, 28, 98, 99, 108, 109, 198, 199, 998, 999, 1098, 1099] as [UInt64]
    {
      for step in [1, 2, 3, 9, 10, 11, 90] as [UInt64] {
        let journal = [first, first + 1, first + 1 + step].reduce(sealed(open)) {
          $0 + sealed("\($1)\t5\tstart\ta\tn=1")
        }
        try journal.withUnsafeBytes { bytes in
          var reader = try JournalReader(bytes)
          while reader.next() != nil {}
          #expect(reader.recovery.lastSequence == first + 1 + step)
          #expect(reader.recovery.lineCount == 4)
        }
      }
    }
  }

  @Test(arguments: [
    "\0\0\0\0\0\0\0\0\t5", "2\t\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "\t5", "x2\t5", "2",
    "2\t\0\0\0\0\0\0\0\012345", "2:\t5", ":\t5", "2\t1234567:", "2\t12345678:1234", "2 \t5",
  ])
  func `what is no number is none though its checksum holds`(_ numbers: String) throws {
    #expect(try second(sealed("\(numbers)\tstart\ta\tn=1")) { $0.sequence } == nil)
  }

  @Test func `what follows a line as no number does is none`() throws {
    // One more than 9 is no byte behind it, and digits that begin as another time's end as they do.
    let journal = [
      "9\t1700000000000", ":\t1700000000000", "10\t170000000000:", "11\t1700000000", "12\t17000000",
      "013\t1700000000001", "14\t1700000000001x",
    ].reduce(sealed(open)) { $0 + sealed("\($1)\tstart\ta\tn=1") }
    try journal.withUnsafeBytes { bytes in
      var reader = try JournalReader(bytes)
      var lines: [[Int64]] = []
      while let line = reader.next() { lines.append([Int64(line.sequence), line.milliseconds]) }
      #expect(
        lines == [
          [1, 5], [9, 1_700_000_000_000], [11, 1_700_000_000], [12, 17_000_000],
          [13, 1_700_000_000_001],
        ])
    }
  }

  @Test func `a line of any length is read, the last one too`() throws {
    for count in 1...70 {
      let name = String(repeating: "x", count: count)
      for end in ["\n", "\r\n", ""] {
        let text = "2\t5\tsuccess\t\(name)\tn=3\texit=0\twall=1234567"
        let isRead = try second(sealed(text, end: end)) { line in
          let fields = TransitionFields(line)
          return line.task.elementsEqual(name.utf8) && fields.attempt == 3
            && fields.end.status == .exit(0) && fields.end.usage.wallMicroseconds == 1_234_567
        }
        #expect(isRead == true, "\(count) bytes of a name, then \(Array(end.utf8))")
      }
    }
  }

  @Test func `fields say the same in any order`() throws {
    let fields = [
      "n=2", "exit=0", "wall=12345678", "user=7", "sys=8", "rss=9", "out=10", "later=1",
      "fp=00000000000000ab.1f", "novalue", "d=3",
    ]
    for turn in fields.indices {
      let turned = Array(fields[turn...] + fields[..<turn])
      for list in [turned, turned.reversed()] {
        let text = "3\t5\tsuccess\ta\t" + list.joined(separator: "\t")
        let isSame = try second(sealed(text)) { line in
          let read = TransitionFields(line)
          return read.attempt == 2 && read.session == 3 && read.end.status == .exit(0)
            && read.end.usage.wallMicroseconds == 12_345_678 && read.fingerprint.hasWhole(0xab)
            && !read.fingerprint.hasWhole(0xac)
            && read.fingerprint.value == Fingerprint(whole: 0xab, parts: 0x1f)
        }
        #expect(isSame == true, "\(list)")
      }
    }
  }

  @Test(arguments: ["n=7\t", "exit=0\twall=5", "wall=5\n", "fp=00000000000000ab.1f", "7"])
  func `nothing behind a line is read as part of it`(_ noise: String) throws {
    for fields in ["", "\tn=1", "\tn=1\texit=0", "\tn=1\twall=4", "\tn=1\twall=4\tuser=2"] {
      let isAlone = try second(sealed("2\t5\tsuccess\ta" + fields) + Array(noise.utf8)) { line in
        let read = TransitionFields(line)
        return read.attempt == (fields.contains("n=1") ? 1 : 0)
          && read.end.status == (fields.contains("exit") ? .exit(0) : .unknown)
          && read.end.usage.wallMicroseconds == (fields.contains("wall") ? 4 : 0)
          && !read.fingerprint.hasWhole(0xab)
      }
      #expect(isAlone == true)
    }
  }

  @Test func `a line feed in the place of a checksum ends a damaged line`() throws {
    let journal = sealed(open) + Array("123\n5678\tx\n".utf8) + sealed("2\t5\tstart\ta\tn=1")
    try journal.withUnsafeBytes { bytes in
      var reader = try JournalReader(bytes)
      while reader.next() != nil {}
      #expect(reader.recovery.droppedLines == 2)
      #expect(reader.recovery.lineCount == 2)
    }
  }

  @Test func `a name that stands for another is not taken for it`() throws {
    // The first name is written as the second one is called.
    let plan = try TestPlan.make(names: [#"a\b"#, #"a\\b"#])
    var journal = JournalText(plan)
    try journal.run(#"a\b"#)
    let history = try RunModel.read(journal.bytes, plan)
    #expect(history[TaskID(0)].state == .succeeded)
    #expect(history[TaskID(1)].state == .waiting)
  }
}
