// The records of a state folder
// =============================
//
// One append-only text file for all runs of a state folder, in the journal's alphabet:
//
//   CRC <TAB> SEQ <TAB> TIME <TAB> EVENT <TAB> TASK <TAB> FIELD <TAB> FIELD ... <LF>
//
// CRC and TIME are as in the journal. SEQ counts from 1 within a block. TASK is a hash of the manifest's
// path and the task's id, 16 hexadecimal digits.
//
//   void                                          the task is about to start: what stood before is no record
//   in    KIND CONTENT DEV INO SIZE MTIME CTIME PATH    a file that it reads, as it was before the start
//   read  KIND CONTENT NAME                       what it reads besides
//   out   KIND CONTENT DEV INO SIZE MTIME CTIME PATH    a file that it left
//   found PATH                                    one of these that lay there before, as it is
//   value NAME TEXT                               a value that it left for others, as its file has it
//   record  FINGERPRINT DECLARATION WITH NEEDS VALUES ORIGIN NAME [WORD...]    ends the block
//
// A WORD is `sha256`, where contents are known by the first half of that and not by XXH3, or `asked`, where
// what was seen before a start is not to be brought back from a cache.
//
// Numbers are hexadecimal, times are nanoseconds since the epoch, CONTENT has 32 digits. VALUES is how many
// there are: at most a hundred, each of at most 64 KiB. `-` stands for what is not known or not there: the
// five numbers of a stamp that cannot be trusted, WITH, and VALUES where nobody was to read any.
//
// A block is appended by one write under a lock of the file, so that no other stands in between; where a
// crash cuts it off, or a bit of it is flipped, it is none, and the `void` before it holds.
package enum RecordLines {
  package enum Event: Equatable, Sendable {
    case void, input, reading, output, found, value, record
  }

  static let words: [(Event, StaticString)] = [
    (.void, "void"), (.input, "in"), (.reading, "read"), (.output, "out"),
    (.found, "found"), (.value, "value"), (.record, "record"),
  ]

  /// The line of a task that is about to start.
  package static func void(_ task: UInt64, atMilliseconds now: Int64) -> [UInt8] {
    var lines = LineMaker(task: task, milliseconds: now)
    lines.begin("void")
    lines.end()
    return lines.bytes
  }

  /// The lines of a success.
  ///
  /// - Parameter name: the task's, for people.
  package static func block(
    _ record: SuccessRecord, of task: UInt64, name: UnsafeRawBufferPointer,
    atMilliseconds now: Int64
  ) -> [UInt8] {
    var lines = LineMaker(task: task, milliseconds: now)
    for file in record.inputs { lines.write("in", file) }
    for reading in record.readings {
      lines.begin("read")
      lines.field(reading.kind.rawValue)
      lines.field(reading.content)
      lines.field(escaping: reading.name)
      lines.end()
    }
    for file in record.outputs { lines.write("out", file) }
    for path in record.foundOutputs {
      lines.begin("found")
      lines.field(escaping: path)
      lines.end()
    }
    for value in record.values ?? [] {
      lines.begin("value")
      lines.field(escaping: Array(value.name.utf8))
      lines.field(escaping: value.bytes)
      lines.end()
    }
    lines.begin("record")
    lines.field(record.terms.fingerprint)
    lines.field(record.terms.declaration)
    lines.field(optional: record.terms.with)
    lines.field(record.terms.needs)
    lines.field(optional: record.values.map { UInt64($0.count) })
    lines.field(record.origin)
    lines.field(escaping: Array(name))
    if record.hash == .strong { lines.field(escaping: Array("sha256".utf8)) }
    if record.isAsked { lines.field(escaping: Array("asked".utf8)) }
    lines.end()
    return lines.bytes
  }

  /// The record of a block; nil where its lines are none.
  package static func record(_ block: UnsafeRawBufferPointer) -> SuccessRecord? {
    var record = SuccessRecord(
      terms: SuccessRecord.Terms(fingerprint: 0, declaration: 0, with: nil, needs: 0), inputs: [],
      readings: [])
    var position = 0
    var values: [SuccessRecord.Value] = []
    var isComplete = false
    while position < block.count {
      let end = block.position(of: Field.lineFeed, from: position)
      guard !isComplete, let line = RecordLine(block.part(position, end)) else { return nil }
      var fields = line.fields
      switch line.event {
      case .input:
        guard let file = fields.file() else { return nil }
        record.inputs.append(file)
      case .output:
        guard let file = fields.file() else { return nil }
        record.outputs.append(file)
      case .reading:
        guard let kind = fields.byte().flatMap(SuccessRecord.Reading.Kind.init),
          let content = fields.content(), let name = fields.bytes()
        else { return nil }
        record.readings.append(SuccessRecord.Reading(kind: kind, name: name, content: content))
      case .found:
        guard let path = fields.bytes() else { return nil }
        record.foundOutputs.append(path)
      case .value:
        guard let value = fields.value() else { return nil }
        values.append(value)
      case .record:
        guard let fingerprint = fields.number(), let declaration = fields.number(),
          let with = fields.optionalNumber(), let needs = fields.number(),
          let count = fields.optionalNumber(), let origin = fields.number(),
          count.value ?? 0 == values.count, values.count <= ValueRules.mostValues
        else { return nil }
        record.values = count.value == nil ? nil : values
        record.terms = SuccessRecord.Terms(
          fingerprint: fingerprint, declaration: declaration, with: with.value, needs: needs)
        record.origin = origin
        _ = fields.next()
        while let word = fields.next() {
          if word.equals("sha256") { record.hash = .strong }
          if word.equals("asked") { record.isAsked = true }
        }
        isComplete = true
      case .void: return nil
      }
      position = end + 1
    }
    return isComplete ? record : nil
  }
}

/// Makes the lines of one block.
private struct LineMaker {
  private let task: UInt64
  private let milliseconds: Int64
  private var sequence = 0
  private var lineStart = 0
  private(set) var bytes: [UInt8] = []

  init(task: UInt64, milliseconds: Int64) {
    self.task = task
    self.milliseconds = milliseconds
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

  /// Without zeros in front.
  private mutating func short(_ number: UInt64) {
    bytes.append(Field.tab)
    let digits = max(1, (67 - number.leadingZeroBitCount) / 4)
    Hexadecimal.append(number, digitCount: digits, to: &bytes)
  }

  mutating func field(escaping text: [UInt8]) {
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

  mutating func write(_ word: StaticString, _ file: SeenFile) {
    begin(word)
    field(file.kind.rawValue)
    field(file.content)
    if let stamp = file.stamp {
      short(stamp.device)
      short(stamp.inode)
      short(UInt64(bitPattern: stamp.sizeBytes))
      short(UInt64(bitPattern: stamp.modified))
      short(UInt64(bitPattern: stamp.changed))
    } else {
      for _ in 0..<5 { field(UInt8(ascii: "-")) }
    }
    field(escaping: file.path)
    end()
  }

  mutating func end() {
    let checksum = bytes.withUnsafeBytes {
      Hash.crc32c($0.part(lineStart + 9, bytes.count))
    }
    var digits: [UInt8] = []
    Hexadecimal.append(UInt64(checksum), digitCount: 8, to: &digits)
    for place in 0..<8 { bytes[lineStart + place] = digits[place] }
    bytes.append(Field.lineFeed)
  }
}

/// A line, taken apart. Its checksum was looked at before.
struct RecordLine {
  let sequence: Int
  let event: RecordLines.Event
  let task: UInt64
  let fields: RecordFields

  /// Nil for bytes that are no such line. Given without its line feed.
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
}

/// What stands between the tabs of a line.
struct RecordFields {
  private let line: UnsafeRawBufferPointer
  private var position = 0

  init(_ line: UnsafeRawBufferPointer) { self.line = line }

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

  mutating func file() -> SeenFile? {
    guard let kind = byte().flatMap(SeenFile.Kind.init), let content = content(),
      let device = optionalNumber(), let inode = optionalNumber(), let size = optionalNumber(),
      let modified = optionalNumber(), let changed = optionalNumber(), let path = bytes()
    else { return nil }
    var file = SeenFile(path: path, kind: kind, content: content, stamp: nil)
    if let device = device.value, let inode = inode.value, let size = size.value,
      let modified = modified.value, let changed = changed.value
    {
      file.stamp = FileStamp(
        device: device, inode: inode, sizeBytes: Int64(bitPattern: size),
        modified: Int64(bitPattern: modified), changed: Int64(bitPattern: changed))
    }
    return file
  }
}
