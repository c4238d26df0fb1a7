internal import OpflowBase
internal import OpflowPlan

package struct RecordReader {
  private var record = SuccessRecord(
    terms: SuccessRecord.Terms(fingerprint: 0, declaration: 0, with: nil, needs: 0), inputs: [],
    readings: [])
  private var values: [SuccessRecord.Value] = []
  private var isComplete = false

  /// - Parameter byteCount: the block's length, to reserve memory. A file's line has at least a
  /// hundred bytes.
  package init(byteCount: Int = 0) {
    record.inputs.reserve(count: byteCount / 100, pathBytes: byteCount / 3)
  }

  package var whole: SuccessRecord? { isComplete ? record : nil }

  /// The line is without its line feed. False if it cannot continue the block.
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

  /// Without its line feed; nil if invalid.
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

  /// Of the success whose block it ends.
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

  /// A line has thirteen fields: calls would take as long as the search.
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
