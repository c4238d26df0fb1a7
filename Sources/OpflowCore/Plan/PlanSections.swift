/// The section table of a plan file, checked against the file's length.
struct PlanSections {
  let taskCount: Int
  let key: PlanKey
  private let bytes: UnsafeRawBufferPointer

  init(bytes: UnsafeRawBufferPointer, verifyChecksum: Bool) throws(PlanError) {
    guard bytes.count >= PlanFormat.headerBytes else { throw .tooShort }
    guard bytes.prefix(8).elementsEqual(PlanFormat.magic) else { throw .notAPlan }
    let version = bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self)
    guard version == PlanFormat.version else {
      throw .version(found: version, expected: PlanFormat.version)
    }
    let length = bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
    guard length == UInt64(bytes.count) else {
      throw .length(found: UInt64(bytes.count), expected: length)
    }
    let tableEnd =
      PlanFormat.headerBytes + PlanSection.allCases.count * PlanFormat.sectionEntryBytes
    guard bytes.loadUnaligned(fromByteOffset: 12, as: UInt32.self) == PlanSection.allCases.count,
      bytes.count >= tableEnd
    else { throw .notAPlan }
    if verifyChecksum {
      let body = UnsafeRawBufferPointer(rebasing: bytes[PlanFormat.headerBytes...])
      guard Hash.xxh3(body) == bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self) else {
        throw .checksum
      }
    }
    self.bytes = bytes
    taskCount = Int(bytes.loadUnaligned(fromByteOffset: 48, as: Int32.self))
    guard taskCount >= 0 else { throw .notAPlan }
    key = PlanKey(
      high: bytes.loadUnaligned(fromByteOffset: 32, as: UInt64.self),
      low: bytes.loadUnaligned(fromByteOffset: 40, as: UInt64.self))
  }

  func column<Record: BitwiseCopyable>(
    _ section: PlanSection, count expected: Int? = nil
  ) throws(PlanError) -> Column<Record> {
    let entry =
      PlanFormat.headerBytes + Int(section.rawValue) * PlanFormat.sectionEntryBytes
    let kind = bytes.loadUnaligned(fromByteOffset: entry, as: UInt32.self)
    let stride = bytes.loadUnaligned(fromByteOffset: entry + 4, as: UInt32.self)
    let offset = bytes.loadUnaligned(fromByteOffset: entry + 8, as: UInt64.self)
    let count = bytes.loadUnaligned(fromByteOffset: entry + 16, as: UInt64.self)
    guard kind == section.rawValue, stride == MemoryLayout<Record>.stride, offset % 8 == 0,
      offset <= UInt64(bytes.count),
      count <= (UInt64(bytes.count) - offset) / UInt64(stride),
      expected == nil || UInt64(expected ?? 0) == count
    else { throw .section(section) }
    guard count > 0 else { return Column(base: nil, count: 0) }
    let start = bytes.baseAddress.map { $0 + Int(offset) }
    return Column(base: start?.assumingMemoryBound(to: Record.self), count: Int(count))
  }
}
