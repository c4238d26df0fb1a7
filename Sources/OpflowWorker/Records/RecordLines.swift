internal import OpflowBase
internal import OpflowPlan

// The records of a state folder
// =============================
//
// One append-only text file for all runs of a state folder, in the journal's alphabet:
//
//   CRC <TAB> SEQ <TAB> TIME <TAB> EVENT <TAB> TASK <TAB> FIELD <TAB> FIELD ... <LF>
//
// CRC and TIME are as in the journal. SEQ counts from 1 within a block. TASK is a hash of the
// manifest's path and the task's ID, 16 hexadecimal digits.
//
//   void [looked PATH...]     the task is about to start: its earlier record is discarded
//   in    KIND CONTENT DEV INO SIZE MTIME CTIME PATH    an input before the start, or a symbolic
//                             link on the way to an input
//   read  KIND CONTENT NAME   another input; KIND `f` only in a scan before a start
//   out   KIND CONTENT DEV INO SIZE MTIME CTIME PATH    an output
//   target KIND CONTENT DEV INO SIZE MTIME CTIME PATH   the target of a link among the outputs
//                             when last read
//   found PATH [own|changed]  an output that existed before: untouched by the task; with `own`,
//                             from an earlier attempt and not rewritten; with `changed`, from
//                             before the first attempt and changed by the task
//   value NAME TEXT           an output value, as in its file
//   record  FINGERPRINT DECLARATION WITH NEEDS VALUES ORIGIN NAME [WORD...]    ends the block
//   left  NAME                ends the block of an attempt without success
//   failed  as `record`       ends the block of an allowed failure
//
// - A WORD is `sha256` if contents are hashed with the first half of SHA-256 instead of XXH3;
//   `asked` if a scan before a start must not be restored from a cache; or `looked` if every output
//   that existed before the start has a `found` line.
// - Numbers are hexadecimal, times are nanoseconds since the epoch, CONTENT has 32 digits.
// - VALUES is the number of values: at most a hundred, each at most 64 KiB.
// - `-` means unknown or missing: the five numbers of a stamp that cannot be trusted, WITH, and
//   VALUES if no task reads them.
//
// Owners of the files under `outputs`: `void looked` names the paths that are not the task's before
// a start. When an attempt ends, the `out` lines of its block are the task's files, except the
// paths of `found` lines without a word. After a kill there is only the `void` line: the files of
// the block before it are the task's if they are unchanged, and any other file that the line does
// not name may be from the attempt.
//
// A block is appended by one write under a lock of the file, so blocks do not mix. A block that a
// crash cut off or that has a flipped bit is ignored, and the `void` before it holds.
package enum RecordLines {
  package enum Event: Equatable, Sendable {
    case void, input, reading, output, target, found, value, record, left, failure
  }

  static let words: [(Event, StaticString)] = [
    (.void, "void"), (.input, "in"), (.reading, "read"), (.output, "out"),
    (.target, "target"),
    (.found, "found"), (.value, "value"), (.record, "record"), (.left, "left"),
    (.failure, "failed"),
  ]

  /// `strangers` are paths under the task's outputs that are not its own; nil if unknown.
  package static func void(
    _ task: UInt64, strangers: [[UInt8]]? = nil, atMilliseconds now: Int64
  ) -> [UInt8] {
    var lines = LineMaker(task: task, milliseconds: now)
    lines.begin("void")
    if let strangers, strangers.reduce(0, { $0 + $1.count + 1 }) <= mostStrangerBytes {
      lines.field(escaping: Array("looked".utf8))
      for path in strangers { lines.field(escaping: path) }
    }
    lines.end()
    return lines.bytes
  }

  /// Fits a reader's buffer even if every byte is escaped.
  private static let mostStrangerBytes = 256 << 10

  /// nil if the line does not list them.
  package static func strangers(ofVoid line: UnsafeRawBufferPointer) -> [[UInt8]]? {
    guard let line = RecordLine(line), line.event == .void else { return nil }
    var fields = line.fields
    guard fields.next()?.equals("looked") == true else { return nil }
    var paths: [[UInt8]] = []
    while !fields.isAtEnd {
      guard let path = fields.bytes() else { return nil }
      paths.append(path)
    }
    return paths
  }

  package static func block(
    _ record: SuccessRecord, of task: UInt64, name: UnsafeRawBufferPointer,
    atMilliseconds now: Int64
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    forEachPiece(record, of: task, name: name, atMilliseconds: now) { bytes += $0 }
    return bytes
  }

  /// Calls `body` with pieces, since a task may have millions of files. `isSuccess` is false for an
  /// attempt without success.
  package static func forEachPiece<Failure: Error>(
    _ record: SuccessRecord, isSuccess: Bool = true, of task: UInt64, name: UnsafeRawBufferPointer,
    atMilliseconds now: Int64, _ body: ([UInt8]) throws(Failure) -> Void
  ) throws(Failure) {
    var lines = LineMaker(task: task, milliseconds: now)
    for place in record.inputs.indices {
      lines.write("in", record.inputs, place)
      if lines.isLong { try body(lines.take()) }
    }
    for place in record.links.indices {
      lines.write("in", record.links, place)
      if lines.isLong { try body(lines.take()) }
    }
    for reading in record.readings {
      lines.begin("read")
      lines.field(reading.kind.rawValue)
      lines.field(reading.content)
      lines.field(escaping: reading.name)
      lines.end()
    }
    for place in record.outputs.indices {
      lines.write("out", record.outputs, place)
      if lines.isLong { try body(lines.take()) }
    }
    for place in record.targets.indices {
      lines.write("target", record.targets, place)
      if lines.isLong { try body(lines.take()) }
    }
    for (paths, word) in [
      (record.foundOutputs, ""), (record.untouchedOutputs, "own"),
      (record.changedOutputs, "changed"),
    ] {
      for path in paths {
        lines.begin("found")
        lines.field(escaping: path)
        if !word.isEmpty { lines.field(escaping: Array(word.utf8)) }
        lines.end()
        if lines.isLong { try body(lines.take()) }
      }
    }
    for value in record.values ?? [] {
      lines.begin("value")
      lines.field(escaping: Array(value.name.utf8))
      lines.field(escaping: value.bytes)
      lines.end()
    }
    if !isSuccess {
      lines.begin("left")
      lines.field(escaping: Array(name))
      lines.end()
      return try body(lines.take())
    }
    lines.begin(record.isFailure ? "failed" : "record")
    lines.field(record.terms.fingerprint)
    lines.field(record.terms.declaration)
    lines.field(optional: record.terms.with)
    lines.field(record.terms.needs)
    lines.field(optional: record.values.map { UInt64($0.count) })
    lines.field(record.origin)
    lines.field(escaping: Array(name))
    if record.hash == .strong { lines.field(escaping: Array("sha256".utf8)) }
    if record.isAsked { lines.field(escaping: Array("asked".utf8)) }
    if record.knowsFound { lines.field(escaping: Array("looked".utf8)) }
    lines.end()
    try body(lines.take())
  }

  package static func record(_ block: UnsafeRawBufferPointer) -> SuccessRecord? {
    var reader = RecordReader()
    var position = 0
    while position < block.count {
      let end = block.position(of: Field.lineFeed, from: position)
      guard reader.take(block.part(position, end)) else { return nil }
      position = end + 1
    }
    return reader.whole
  }
}

private struct LineMaker {
  private let task: UInt64
  private let milliseconds: Int64
  private var sequence = 0
  private var lineStart = 0
  private(set) var bytes: [UInt8] = []

  private static let longBytes = 256 << 10

  init(task: UInt64, milliseconds: Int64) {
    self.task = task
    self.milliseconds = milliseconds
  }

  var isLong: Bool { bytes.count >= Self.longBytes }

  mutating func take() -> [UInt8] {
    defer { bytes.removeAll(keepingCapacity: true) }
    return bytes
  }

  mutating func begin(_ word: StaticString) {
    sequence += 1
    lineStart = bytes.count
    bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: 8))
    bytes.append(Field.tab)
    bytes += "\(sequence)\t\(milliseconds)\t".utf8
    word.withUTF8Buffer { bytes.append(contentsOf: $0) }
    field(task)
  }

  mutating func field(_ byte: UInt8) {
    bytes.append(Field.tab)
    bytes.append(byte)
  }

  mutating func field(_ number: UInt64) {
    bytes.append(Field.tab)
    Hexadecimal.append(number, digitCount: 16, to: &bytes)
  }

  mutating func field(optional number: UInt64?) {
    if let number { field(number) } else { field(UInt8(ascii: "-")) }
  }

  mutating func field(_ content: PlanKey) {
    bytes.append(Field.tab)
    Hexadecimal.append(content.high, digitCount: 16, to: &bytes)
    Hexadecimal.append(content.low, digitCount: 16, to: &bytes)
  }

  private mutating func short(_ number: UInt64) {
    bytes.append(Field.tab)
    let digits = max(1, (67 - number.leadingZeroBitCount) / 4)
    Hexadecimal.append(number, digitCount: digits, to: &bytes)
  }

  mutating func field(escaping text: [UInt8]) {
    text.withUnsafeBytes { field(escaping: $0) }
  }

  private mutating func field(escaping text: UnsafeRawBufferPointer) {
    bytes.append(Field.tab)
    for byte in text {
      if let letter = Field.escapeLetter(byte) {
        bytes.append(Field.backslash)
        bytes.append(letter)
      } else {
        bytes.append(byte)
      }
    }
  }

  mutating func write(_ word: StaticString, _ files: SeenFiles, _ place: Int) {
    begin(word)
    field(files.kind(place).rawValue)
    field(files.content(place))
    if let stamp = files.stamp(place) {
      short(stamp.device)
      short(stamp.inode)
      short(UInt64(bitPattern: stamp.sizeBytes))
      short(UInt64(bitPattern: stamp.modified))
      short(UInt64(bitPattern: stamp.changed))
    } else {
      for _ in 0..<5 { field(UInt8(ascii: "-")) }
    }
    files.withPath(place) { field(escaping: $0) }
    end()
  }

  mutating func end() {
    let checksum = bytes.withUnsafeBytes { Hash.crc32c($0.part(lineStart + 9, bytes.count)) }
    var digits: [UInt8] = []
    Hexadecimal.append(UInt64(checksum), digitCount: 8, to: &digits)
    for place in 0..<8 { bytes[lineStart + place] = digits[place] }
    bytes.append(Field.lineFeed)
  }
}

package struct RecordReader {
  private var record = SuccessRecord(
    terms: SuccessRecord.Terms(fingerprint: 0, declaration: 0, with: nil, needs: 0), inputs: [],
    readings: [])
  private var values: [SuccessRecord.Value] = []
  private var isComplete = false

  /// `byteCount` reserves memory. A file's line has at least a hundred bytes.
  package init(byteCount: Int = 0) {
    record.inputs.reserve(count: byteCount / 100, pathBytes: byteCount / 3)
  }

  package var whole: SuccessRecord? { isComplete ? record : nil }

  /// `line` has no newline. False if it cannot continue the block.
  package mutating func take(_ line: UnsafeRawBufferPointer) -> Bool {
    guard !isComplete, let line = RecordLine(line) else { return false }
    var fields = line.fields
    switch line.event {
    case .input:
      var kind = fields
      return kind.byte() == SeenFile.Kind.link.rawValue
        ? fields.file(into: &record.links) : fields.file(into: &record.inputs)
    case .output: return fields.file(into: &record.outputs)
    case .target: return fields.file(into: &record.targets)
    case .reading:
      guard let kind = fields.byte().flatMap(SuccessRecord.Reading.Kind.init),
        let content = fields.content(), let name = fields.bytes()
      else { return false }
      record.readings.append(SuccessRecord.Reading(kind: kind, name: name, content: content))
    case .found:
      guard let path = fields.bytes() else { return false }
      let word = fields.next()
      if word?.equals("own") == true {
        record.untouchedOutputs.append(path)
      } else if word?.equals("changed") == true {
        record.changedOutputs.append(path)
      } else {
        record.foundOutputs.append(path)
      }
    case .value:
      guard let value = fields.value() else { return false }
      values.append(value)
    case .record, .failure:
      record.isFailure = line.event == .failure
      return end(&fields)
    case .left:
      record.knowsFound = true
      isComplete = true
    case .void: return false
    }
    return true
  }

  private mutating func end(_ fields: inout RecordFields) -> Bool {
    guard let fingerprint = fields.number(), let declaration = fields.number(),
      let with = fields.optionalNumber(), let needs = fields.number(),
      let count = fields.optionalNumber(), let origin = fields.number(),
      count.value ?? 0 == values.count, values.count <= ValueRules.mostValues
    else { return false }
    record.values = count.value == nil ? nil : values
    record.terms = SuccessRecord.Terms(
      fingerprint: fingerprint, declaration: declaration, with: with.value, needs: needs)
    record.origin = origin
    _ = fields.next()
    while let word = fields.next() {
      if word.equals("sha256") {
        record.hash = .strong
        // The word is newer than the scan.
        record.knowsFound = true
      }
      if word.equals("asked") { record.isAsked = true }
      if word.equals("looked") { record.knowsFound = true }
    }
    isComplete = true
    return true
  }
}

struct RecordLine {
  let sequence: Int
  let event: RecordLines.Event
  let task: UInt64
  let fields: RecordFields

  /// Without the newline.
  init?(_ line: UnsafeRawBufferPointer) {
    var fields = RecordFields(line)
    guard fields.next() != nil,
      let sequence = fields.next().flatMap({ Field.number($0, as: Int.self) }),
      fields.next() != nil, let word = fields.next(), let task = fields.number(),
      let event = RecordLines.words.first(where: { word.equals($0.1) })?.0
    else { return nil }
    self.sequence = sequence
    self.event = event
    self.task = task
    self.fields = fields
  }

  /// The number of the success whose block ends with the line.
  var origin: UInt64? {
    var fields = fields
    for _ in 0..<5 { _ = fields.next() }
    return fields.number()
  }
}

struct RecordFields {
  private let line: UnsafeRawBufferPointer
  private var position = 0

  init(_ line: UnsafeRawBufferPointer) { self.line = line }

  var isAtEnd: Bool { position > line.count }

  /// Inlined, since a line has thirteen fields: calls would take as long as the search.
  @inline(__always)
  mutating func next() -> UnsafeRawBufferPointer? {
    guard position <= line.count else { return nil }
    let end = line.position(of: Field.tab, from: position)
    defer { position = end + 1 }
    return line.part(position, end)
  }

  mutating func number() -> UInt64? { next().flatMap { Hexadecimal.value($0) } }

  struct Optional { let value: UInt64? }

  mutating func optionalNumber() -> Optional? {
    guard let field = next() else { return nil }
    if field.equals("-") { return Optional(value: nil) }
    return Hexadecimal.value(field).map { Optional(value: $0) }
  }

  mutating func byte() -> UInt8? {
    guard let field = next(), field.count == 1 else { return nil }
    return field[0]
  }

  mutating func content() -> PlanKey? {
    guard let field = next(), field.count == 32, let high = Hexadecimal.value(field.part(0, 16)),
      let low = Hexadecimal.value(field.part(16, 32))
    else { return nil }
    return PlanKey(high: high, low: low)
  }

  mutating func bytes() -> [UInt8]? {
    next().flatMap { field in
      field.position(of: Field.backslash, from: 0) == field.count
        ? Array(field) : Field.unescaped(field)
    }
  }

  mutating func value() -> SuccessRecord.Value? {
    guard let name = next(), ValueRules.isName(name), let bytes = bytes() else { return nil }
    let value = SuccessRecord.Value(name: String(decoding: name, as: UTF8.self), bytes: bytes)
    let isValue = value.text.count <= ValueRules.longestBytes && ValueRules.fault(in: bytes) == nil
    return isValue ? value : nil
  }

  mutating func file(into files: inout SeenFiles) -> Bool {
    guard let kind = byte().flatMap(SeenFile.Kind.init), let content = content(),
      let device = optionalNumber(), let inode = optionalNumber(), let size = optionalNumber(),
      let modified = optionalNumber(), let changed = optionalNumber(), let path = next()
    else { return false }
    var stamp: FileStamp?
    if let device = device.value, let inode = inode.value, let size = size.value,
      let modified = modified.value, let changed = changed.value
    {
      stamp = FileStamp(
        device: device, inode: inode, sizeBytes: Int64(bitPattern: size),
        modified: Int64(bitPattern: modified), changed: Int64(bitPattern: changed))
    }
    if path.position(of: Field.backslash, from: 0) == path.count {
      files.append(path: path, kind, content, stamp)
      return true
    }
    guard let bytes = Field.unescaped(path) else { return false }
    bytes.withUnsafeBytes { files.append(path: $0, kind, content, stamp) }
    return true
  }
}
