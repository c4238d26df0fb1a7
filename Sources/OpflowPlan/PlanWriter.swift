internal import OpflowBase

/// The strings, with room for the header in front: the buffer becomes the file uncopied.
struct PlanArena {
  fileprivate var bytes: [UInt8]

  static let start =
    PlanFormat.headerBytes + PlanSection.allCases.count * PlanFormat.sectionEntryBytes

  init() { bytes = [UInt8](repeating: 0, count: Self.start) }

  var count: Int { bytes.count - Self.start }

  mutating func reserve(_ byteCount: Int) { bytes.reserveCapacity(Self.start + byteCount) }

  mutating func append(_ text: UnsafeRawBufferPointer) -> TextRef {
    let ref = TextRef(
      offset: UInt32(truncatingIfNeeded: count), length: UInt32(truncatingIfNeeded: text.count))
    bytes.append(contentsOf: text)
    return ref
  }

  func withText<Result>(
    _ ref: TextRef, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    let start = Self.start + Int(ref.offset)
    return bytes.withUnsafeBytes {
      body(UnsafeRawBufferPointer(rebasing: $0[start..<(start + Int(ref.length))]))
    }
  }
}

struct PlanWriter {
  private var bytes: [UInt8]
  private var entry = PlanFormat.headerBytes

  /// Upper bounds, without strings and lists.
  static let bytesPerTask = 128
  static let bytesPerEdge = 16

  /// The arena becomes the first section, uncopied.
  init(taking arena: inout PlanArena) {
    let count = arena.count
    bytes = []
    swap(&bytes, &arena.bytes)
    addEntry(.arena, stride: 1, offset: PlanArena.start, count: count)
  }

  mutating func add<Record: BitwiseCopyable>(_ section: PlanSection, _ records: [Record]) {
    while bytes.count % 8 != 0 { bytes.append(0) }
    addEntry(
      section, stride: MemoryLayout<Record>.stride, offset: bytes.count, count: records.count)
    records.withUnsafeBytes { bytes.append(contentsOf: $0) }
  }

  /// Frees the records.
  mutating func move<Record: BitwiseCopyable>(_ section: PlanSection, _ records: inout [Record]) {
    add(section, records)
    records = []
  }

  private mutating func addEntry(_ section: PlanSection, stride: Int, offset: Int, count: Int) {
    bytes.putEntry(section, stride: stride, offset: offset, count: count, at: entry)
    entry += PlanFormat.sectionEntryBytes
  }

  mutating func finish(taskCount: Int, key: PlanKey) -> [UInt8] {
    Self.putHeader(into: &bytes, byteCount: bytes.count, key: key)
    bytes.put(UInt32(truncatingIfNeeded: taskCount), at: 48)
    let checksum = bytes.withUnsafeBytes {
      Hash.xxh3(UnsafeRawBufferPointer(rebasing: $0[PlanFormat.headerBytes...]))
    }
    bytes.put(checksum, at: 24)
    return bytes
  }

  static func putHeader(into bytes: inout [UInt8], byteCount: Int, key: PlanKey) {
    bytes.replaceSubrange(0..<8, with: PlanFormat.magic)
    bytes.put(PlanFormat.version, at: 8)
    bytes.put(UInt32(PlanSection.allCases.count), at: 12)
    bytes.put(UInt64(byteCount), at: 16)
    bytes.put(key.high, at: PlanFormat.keyPlace)
    bytes.put(key.low, at: PlanFormat.keyPlace + 8)
  }
}

extension [UInt8] {
  mutating func put<Value: FixedWidthInteger>(_ value: Value, at offset: Int) {
    withUnsafeMutableBytes {
      $0.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
    }
  }

  mutating func putEntry(
    _ section: PlanSection, stride: Int, offset: Int, count: Int, at entry: Int
  ) {
    put(section.rawValue, at: entry)
    put(UInt32(stride), at: entry + 4)
    put(UInt64(offset), at: entry + 8)
    put(UInt64(count), at: entry + 16)
  }
}
