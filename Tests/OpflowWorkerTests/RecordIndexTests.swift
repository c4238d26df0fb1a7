import Testing

@testable import OpflowBase
@testable import OpflowPlan
@testable import OpflowWorker

@Suite("Records of what tasks read and left")
struct RecordIndexTests {
  private static let stamp = FileStamp(
    device: 2050, inode: 77, sizeBytes: 12, modified: 1_700_000_000_123_456_789,
    changed: 1_700_000_000_123_456_790)

  private static func record(_ path: String, origin: UInt64 = 9) -> SuccessRecord {
    SuccessRecord(
      terms: SuccessRecord.Terms(fingerprint: 1, declaration: 2, with: nil, needs: 3),
      inputs: [
        SeenFile(
          path: Array(path.utf8), kind: .file, content: PlanKey(high: 4, low: 5), stamp: stamp)
      ],
      links: [
        SeenFile(
          path: [0xFF, 9, 10, 92, 13], kind: .link, content: PlanKey(high: 6, low: .max), stamp: nil
        )
      ],
      readings: [
        SuccessRecord.Reading(
          kind: .variable, name: Array("CC".utf8), content: PlanKey(high: 0, low: 1))
      ],
      outputs: [
        SeenFile(
          path: Array("out".utf8), kind: .folder, content: PlanKey(high: 0, low: 0), stamp: nil)
      ], origin: origin)
  }

  private static func block(_ record: SuccessRecord, of task: UInt64) -> [UInt8] {
    RecordLines.block(
      record, of: task, name: Array("t".utf8).withUnsafeBytes { Self.kept($0) },
      atMilliseconds: 1_700_000_000_000)
  }

  /// A name that stays.
  private static func kept(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let name: StaticString = "t"
    return UnsafeRawBufferPointer(start: name.utf8Start, count: bytes.count)
  }

  private static func void(_ task: UInt64) -> [UInt8] {
    RecordLines.void(task, atMilliseconds: 1_700_000_000_000)
  }

  /// The newest record of a task.
  private static func known(_ task: UInt64, in bytes: [UInt8]) -> SuccessRecord? {
    bytes.withUnsafeBytes { bytes in
      var index = RecordIndex()
      index.read(growing: bytes)
      guard let place = index[task] else { return nil }
      return RecordLines.record(UnsafeRawBufferPointer(rebasing: bytes[place.start..<place.end]))
    }
  }

  @Test func `a record is read as it was written, whatever bytes its paths have`() {
    let record = Self.record("src/a.c")
    #expect(Self.known(1, in: Self.block(record, of: 1)) == record)
  }

  @Test func `a failure that is allowed is read as one, and as nothing by who does not know it`() {
    var record = Self.record("src/a.c")
    record.isFailure = true
    let block = Self.block(record, of: 1)
    #expect(Self.known(1, in: block) == record)
    let other = Self.block(Self.record("b"), of: 2)
    let word = Array("\tfailed\t".utf8)
    let place = block.indices.first { block[$0...].starts(with: word) }!
    var older = block
    older.replaceSubrange(place..<place + word.count, with: "\tfuture\t".utf8)
    #expect(Self.known(1, in: Self.void(1) + older + other) == nil)
    #expect(Self.known(2, in: other + Self.void(1) + older) == Self.record("b"))
  }

  @Test func `values are part of a record, and that nobody looked at any is no value`() {
    var record = Self.record("a")
    #expect(Self.known(1, in: Self.block(record, of: 1))?.values == .some(nil))
    record.values = []
    #expect(Self.known(1, in: Self.block(record, of: 1))?.values == [])
    record.values = [
      SuccessRecord.Value(name: "v", bytes: Array("a\tb\\\r\nü\n\n".utf8)),
      SuccessRecord.Value(name: "empty", bytes: []),
      SuccessRecord.Value(
        name: String(repeating: "n", count: 128),
        bytes: [UInt8](repeating: 92, count: ValueRules.longestBytes) + [10]),
    ]
    let block = Self.block(record, of: 1)
    #expect(Self.known(1, in: block) == record)
    // A line less is another number than the end of the block says.
    var lines = block.split(separator: 10, omittingEmptySubsequences: false)
    lines.remove(at: lines.count - 3)
    #expect(Self.known(1, in: Array(lines.joined(separator: [10]))) == nil)
  }

  @Test(arguments: [
    SuccessRecord.Value(name: "no/name", bytes: [65]),
    SuccessRecord.Value(name: "v", bytes: [UInt8](repeating: 65, count: 65_537)),
    SuccessRecord.Value(name: "v", bytes: [0]), SuccessRecord.Value(name: "v", bytes: [0xFF]),
  ])
  func `what is no value makes no record`(_ value: SuccessRecord.Value) {
    var record = Self.record("a")
    record.values = [value]
    #expect(Self.known(1, in: Self.block(record, of: 1)) == nil)
  }

  @Test func `more values than a task may leave make no record`() {
    var record = Self.record("a")
    record.values = (0...100).map { SuccessRecord.Value(name: "v\($0)", bytes: []) }
    #expect(Self.known(1, in: Self.block(record, of: 1)) == nil)
    record.values?.removeLast()
    #expect(Self.known(1, in: Self.block(record, of: 1)) == record)
  }

  @Test func `the newest record of a task counts, and none that stands before its start`() {
    let (old, new) = (Self.record("a"), Self.record("b", origin: 10))
    let bytes = Self.block(old, of: 1) + Self.block(old, of: 2) + Self.block(new, of: 1)
    #expect(Self.known(1, in: bytes) == new)
    #expect(Self.known(2, in: bytes) == old)
    #expect(Self.known(1, in: bytes + Self.void(1)) == nil)
    #expect(Self.known(2, in: bytes + Self.void(1)) == old)
  }

  @Test func `cut off anywhere, a record is there whole or not at all`() {
    let (other, record) = (Self.record("other"), Self.record("a"))
    let before = Self.block(other, of: 2) + Self.void(1)
    let block = Self.block(record, of: 1)
    for count in 0..<block.count {
      let cut = before + block[..<count]
      #expect(Self.known(1, in: cut) == nil)
      #expect(Self.known(2, in: cut) == other)
      // The next one to write ends the line that was cut off. Of a first line nobody knows what it
      // was.
      let after = cut + [10] + Self.block(record, of: 3)
      #expect(Self.known(1, in: after) == (count == block.count - 1 ? record : nil))
      #expect(Self.known(3, in: after) == record)
    }
  }

  @Test func `a bit that is flipped anywhere lets no record hold that does no more`() {
    let (old, new) = (Self.record("old"), Self.record("new", origin: 10))
    let bytes =
      Self.block(old, of: 1) + Self.block(old, of: 2) + Self.void(1) + Self.void(2)
      + Self.block(new, of: 2)
    for place in bytes.indices {
      for bit in 0..<8 {
        var flipped = bytes
        flipped[place] ^= 1 << UInt8(bit)
        #expect(Self.known(1, in: flipped) == nil, "byte \(place), bit \(bit)")
        let second = Self.known(2, in: flipped)
        #expect(second == nil || second == new, "byte \(place), bit \(bit)")
      }
    }
  }

  // MARK: - Attempts without a success

  private static func left(_ record: SuccessRecord, of task: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    RecordLines.forEachPiece(
      record, isSuccess: false, of: task,
      name: Array("t".utf8).withUnsafeBytes { kept($0) }, atMilliseconds: 1_700_000_000_000
    ) { bytes += $0 }
    return bytes
  }

  private static func start(_ task: UInt64, strangers: [[UInt8]] = []) -> [UInt8] {
    RecordLines.void(task, strangers: strangers, atMilliseconds: 1_700_000_000_000)
  }

  private static func index(_ bytes: [UInt8]) -> RecordIndex {
    var index = RecordIndex()
    bytes.withUnsafeBytes { index.read(growing: $0) }
    return index
  }

  @Test func `what an attempt left is read as it was written, and is no success`() {
    var record = SuccessRecord(
      terms: SuccessRecord.Terms(fingerprint: 0, declaration: 0, with: nil, needs: 0), inputs: [],
      readings: [], outputs: Self.record("a").outputs)
    record.untouchedOutputs = [[0xFF, 9, 10]]
    record.changedOutputs = [Array("c".utf8)]
    record.knowsFound = true
    let bytes = Self.left(record, of: 1)
    let index = Self.index(bytes)
    #expect(index[1] == nil)
    #expect(index.attempt(1) == RecordIndex.Attempt(left: .init(start: 0, end: bytes.count)))
    #expect(bytes.withUnsafeBytes { RecordLines.record($0) } == record)
  }

  @Test func `a start keeps where it stands what was left before, until the attempt ends`() {
    let (success, left) = (Self.block(Self.record("a"), of: 1), Self.left(Self.record("b"), of: 1))
    var bytes = success + Self.start(1)
    let kept = RecordIndex.Place(start: 0, end: success.count, origin: 9)
    let start = RecordIndex.Place(start: success.count, end: bytes.count)
    #expect(Self.index(bytes).attempt(1) == .init(left: kept, start: start))
    // A second one that nobody saw the end of.
    let second = bytes + Self.start(1)
    #expect(
      Self.index(second).attempt(1)
        == .init(left: kept, start: .init(start: bytes.count, end: second.count)))
    #expect(Self.index(second).all == [kept, .init(start: bytes.count, end: second.count)])
    let ended = RecordIndex.Place(start: bytes.count, end: bytes.count + left.count)
    bytes += left
    #expect(Self.index(bytes).attempt(1) == .init(left: ended))
    #expect(Self.index(bytes + success).attempt(1) == nil)
    // Where nobody looked before a start, nothing is known.
    #expect(Self.index(bytes + Self.void(1)).attempt(1) == nil)
  }

  @Test func `the paths that a start names are read as they were written`() {
    let paths: [[UInt8]] = [Array("o/a".utf8), [0xFF, 9, 10, 92], Array("void".utf8)]
    for strangers in [paths, []] {
      let line = Self.start(1, strangers: strangers).dropLast()
      #expect(Array(line).withUnsafeBytes { RecordLines.strangers(ofVoid: $0) } == strangers)
    }
    for line in [Self.void(1), Self.start(1, strangers: [[UInt8](repeating: 65, count: 300_000)])] {
      #expect(Array(line.dropLast()).withUnsafeBytes { RecordLines.strangers(ofVoid: $0) } == nil)
    }
  }

  @Test func `a bit that is flipped anywhere has nothing taken for what an attempt left`() {
    let success = Self.block(Self.record("old"), of: 1)
    let left = Self.left(Self.record("new"), of: 1)
    let bytes = success + Self.start(1, strangers: [Array("o/mine".utf8)]) + left
    let known = Self.index(bytes).attempt(1)
    let lost = Self.index(Array(bytes.dropLast(left.count))).attempt(1)
    for place in bytes.indices {
      for bit in 0..<8 {
        var flipped = bytes
        flipped[place] ^= 1 << UInt8(bit)
        let attempt = Self.index(flipped).attempt(1)
        let isSafe =
          attempt == nil || attempt == known || attempt == lost
          || attempt == .init(left: nil, start: lost?.start)
        #expect(isSafe, "byte \(place), bit \(bit)")
      }
    }
  }

  @Test func `lines of two blocks that are mixed are no record`() {
    let lines = Self.block(Self.record("a"), of: 1).split(separator: 10).map { Array($0) + [10] }
    let others = Self.block(Self.record("b"), of: 2).split(separator: 10).map { Array($0) + [10] }
    let mixed = zip(lines, others).flatMap { $0 + $1 }
    #expect(Self.known(1, in: mixed) == nil)
    #expect(Self.known(2, in: mixed) == nil)
  }

  @Test func `a block that lacks a line, or has one twice or of another task, is no record`() {
    let lines = Self.block(Self.record("a"), of: 1).split(separator: 10).map { Array($0) + [10] }
    let others = Self.block(Self.record("a"), of: 2).split(separator: 10).map { Array($0) + [10] }
    for place in lines.indices {
      let (before, behind) = (lines[..<place], lines[(place + 1)...])
      #expect(Self.known(1, in: Array((before + behind).joined())) == nil)
      #expect(Self.known(1, in: Array((before + [others[place]] + behind).joined())) == nil)
      // After the last there is nothing more of it.
      let twice = Array((before + [lines[place], lines[place]] + behind).joined())
      let isHeld = place == lines.startIndex || place == lines.indices.last
      #expect((Self.known(1, in: twice) != nil) == isHeld, "line \(place)")
    }
  }

  @Test func `a file that grows is read on from where it was, at any length`() {
    let record = Self.record("a")
    let bytes = Self.block(record, of: 2) + Self.void(1) + Self.block(record, of: 1)
    for cut in 0...bytes.count {
      var index = RecordIndex()
      bytes[..<cut].withUnsafeBytes { index.read(growing: $0) }
      bytes[index.byteCount...].withUnsafeBytes { index.read(growing: $0) }
      #expect(index.byteCount == bytes.count)
      #expect(index[1]?.end == bytes.count)
      #expect(index[2]?.start == 0)
    }
  }

  @Test(arguments: [
    // Beside the state folder, in a folder below that, and from standard input.
    ("/p/opflow.yaml", "/p", "/p", "/q/opflow.yaml", "/q", "/q"),
    ("/p/a/m", "/p/a", "/p", "/far/q/a/m", "/far/q/a", "/far/q"),
    ("-", "/p/a", "/p", "-", "/q/a", "/q"),
    ("/m", "/", "/", "/q/m", "/q", "/q"),
    // Elsewhere it is what it is.
    ("/p/m", "/p", "/state", "/p/m", "/p", "/far"),
    ("/pq/m", "/pq", "/p", "/pq/m", "/pq", "/other"),
  ])
  func `a manifest has the same name where it was moved to with its records`(
    _ path: String, _ folder: String, _ home: String, _ newPath: String, _ newFolder: String,
    _ newHome: String
  ) {
    #expect(
      SuccessRecord.manifestName(path, in: folder, home: home)
        == SuccessRecord.manifestName(newPath, in: newFolder, home: newHome))
  }

  @Test func `other manifests have other names`() {
    let names = [
      SuccessRecord.manifestName("/p/m", in: "/p", home: "/p"),
      SuccessRecord.manifestName("/p/a/m", in: "/p/a", home: "/p"),
      SuccessRecord.manifestName("/m", in: "/", home: "/p"),
      SuccessRecord.manifestName("-", in: "/p", home: "/p"),
      SuccessRecord.manifestName("-", in: "/p/a", home: "/p"),
      SuccessRecord.manifestName("-", in: "/", home: "/p"),
    ]
    #expect(Set(names).count == names.count)
  }
}
