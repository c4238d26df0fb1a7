internal import OpflowBase

// The compiled plan
// =================
//
// A plan is one file: a header, a table of sections, and the sections, each an array of records of
// a fixed size. It does not contain pointers, so all processes map it and use it in place. Numbers
// are little-endian; sections start at multiples of eight bytes.
//
//   offset  size
//        0     8  magic "OPFLPLAN"
//        8     4  format version
//       12     4  number of sections
//       16     8  length of the file in bytes
//       24     8  XXH3-64 of everything from byte 64 on; zero in a plan with room
//       32    16  the plan's key, by which messages to workers name the plan
//       48     4  number of tasks; in a plan with room, the number before any addition
//       52     4  zero
//       56     8  zero; in a plan with room, the offset of its active head
//       64        the section table: kind, record size, offset, record count (4, 4, 8, 8 bytes)
//
// The scheduler reads columns, one per property. All other properties of a task are one
// `PlanRecord`.
//
// Strings are in one arena, referred to by offset and length. Lists (command words, shells, tags,
// environments, demands) are runs of records, found through a column of offsets with one entry more
// than there are lists. List 0 of each kind is empty. Indexes are local to the file.
//
// A plan with room has space after each section, so tasks are added in place and indexes stay
// valid. It has two heads, one of them active. A head is an XXH3-64 of its rest, the number of
// tasks (8 bytes each) and a section table. An addition writes its records behind the counts of the
// active head, then the other head, then the offset in the header, which commits the addition.
// In-place changes (a slot of the name table, the end of a chain) point behind the counts of open
// readers, which ignore them. The records of such a plan do not have a checksum.
//
// A segment is a plan whose tasks also depend on tasks of other segments, by name (`outerNeeds`).
// In the plan these are rows of `needTargets`, after the segment's own rows. In the other
// direction, existing rows stay unchanged, and chains (`outerEdges`) hold the new dependents.
//
// Every change of the layout, the sections or a field's meaning raises the version. A resume that
// finds another version compiles the manifest again.

package enum PlanFormat {
  package static let magic: [UInt8] = Array("OPFLPLAN".utf8)
  package static let version: UInt32 = 27
  static let headerBytes = 64
  static let sectionEntryBytes = 24
  static let keyPlace = 32
  static let headPlace = 56
  static let headBytes = 16 + PlanSection.allCases.count * sectionEntryBytes
  /// Exclusive.
  package static let lineLimit: UInt32 = 1 << 30
}

package enum PlanSection: UInt32, CaseIterable, Sendable {
  case arena = 0
  case taskName, taskKind, taskFlags, taskPriority, taskPolicy, taskDemand, taskFingerprint
  case taskRecord
  case needOffsets, needTargets, needConditions
  case dependentOffsets, dependentTargets, dependentConditions
  case topologicalOrder
  case nameTable
  case listOffsets, listItems
  case environmentOffsets, environmentItems, environments
  case demandOffsets, demandItems
  case codeOffsets, codeItems
  case policies, resources, files, environmentNames
  case manifest
  case downloads
  case secrets
  case globs
  case matrixGroups, matrixGroupValues
  case lateOffsets, lateItems
  case stepOffsets, stepItems
  case declarations, declaredOffsets, declaredItems
  case services
  case outerNeeds
  case outerEdges, firstOuterEdge, lastOuterEdge
}

struct PlanSections {
  /// Committed tasks, or the limit.
  let taskCount: Int
  let isCut: Bool
  /// Counts the tasks of the run's first manifest.
  let firstTaskCount: Int
  let key: PlanKey
  let hasRoom: Bool
  /// 0 in a plan without room.
  let head: Int
  private let bytes: UnsafeRawBufferPointer
  private let table: [UInt8]

  init(bytes: UnsafeRawBufferPointer, verifyChecksum: Bool, limit: Int?) throws(PlanError) {
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
    let tableBytes = PlanSection.allCases.count * PlanFormat.sectionEntryBytes
    guard bytes.loadUnaligned(fromByteOffset: 12, as: UInt32.self) == PlanSection.allCases.count,
      bytes.count >= PlanFormat.headerBytes + tableBytes
    else { throw .notAPlan }
    hasRoom = bytes.loadUnaligned(fromByteOffset: PlanFormat.headPlace, as: UInt64.self) != 0
    let tasks: Int
    if hasRoom {
      (head, tasks, table) = try Self.head(of: bytes)
    } else {
      if verifyChecksum {
        let body = UnsafeRawBufferPointer(rebasing: bytes[PlanFormat.headerBytes...])
        guard Hash.xxh3(body) == bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self) else {
          throw .checksum
        }
      }
      head = 0
      tasks = Int(bytes.loadUnaligned(fromByteOffset: 48, as: Int32.self))
      table = Array(bytes[PlanFormat.headerBytes..<(PlanFormat.headerBytes + tableBytes)])
    }
    self.bytes = bytes
    guard tasks >= 0, tasks <= Int(Int32.max) else { throw .notAPlan }
    if let limit, limit < 0 || limit > tasks { throw .section(.taskName) }
    taskCount = limit ?? tasks
    isCut = taskCount < tasks
    firstTaskCount = min(
      max(0, Int(bytes.loadUnaligned(fromByteOffset: 48, as: Int32.self))), taskCount)
    key = PlanKey(
      high: bytes.loadUnaligned(fromByteOffset: 32, as: UInt64.self),
      low: bytes.loadUnaligned(fromByteOffset: 40, as: UInt64.self))
  }

  /// Bounds retries while a writer changes the head.
  private static let mostLooks = 1000

  private static func head(
    of bytes: UnsafeRawBufferPointer
  ) throws(PlanError) -> (place: Int, tasks: Int, table: [UInt8]) {
    for _ in 0..<mostLooks {
      let place = bytes.loadUnaligned(fromByteOffset: PlanFormat.headPlace, as: UInt64.self)
      guard place >= UInt64(PlanFormat.headerBytes), place <= UInt64(bytes.count),
        UInt64(bytes.count) - place >= UInt64(PlanFormat.headBytes)
      else { throw .notAPlan }
      let head = Array(bytes[Int(place)..<(Int(place) + PlanFormat.headBytes)])
      let found = head.withUnsafeBytes { head in
        (
          sum: head.loadUnaligned(as: UInt64.self),
          tasks: head.loadUnaligned(fromByteOffset: 8, as: UInt64.self),
          expected: Hash.xxh3(UnsafeRawBufferPointer(rebasing: head[8...]))
        )
      }
      if found.sum == found.expected, found.tasks <= UInt64(Int32.max) {
        return (Int(place), Int(found.tasks), Array(head[16...]))
      }
    }
    throw .checksum
  }

  func place(of section: PlanSection) -> (kind: UInt32, stride: Int, offset: Int, count: Int) {
    let entry = Int(section.rawValue) * PlanFormat.sectionEntryBytes
    return table.withUnsafeBytes { table in
      (
        table.loadUnaligned(fromByteOffset: entry, as: UInt32.self),
        Int(table.loadUnaligned(fromByteOffset: entry + 4, as: UInt32.self)),
        Int(clamping: table.loadUnaligned(fromByteOffset: entry + 8, as: UInt64.self)),
        Int(clamping: table.loadUnaligned(fromByteOffset: entry + 16, as: UInt64.self))
      )
    }
  }

  func bytes(of section: PlanSection) -> UnsafeRawBufferPointer {
    let place = place(of: section)
    return UnsafeRawBufferPointer(
      rebasing: bytes[place.offset..<(place.offset + place.count * place.stride)])
  }

  func column<Record: BitwiseCopyable>(_ section: PlanSection) throws(PlanError) -> Column<Record> {
    let (kind, stride, offset, count) = place(of: section)
    guard kind == section.rawValue, stride == MemoryLayout<Record>.stride, offset % 8 == 0,
      offset <= bytes.count, count <= (bytes.count - offset) / stride
    else { throw .section(section) }
    guard count > 0, let base = bytes.baseAddress else { return Column() }
    return Column(
      base: UnsafePointer((base + offset).assumingMemoryBound(to: Record.self)), count: count)
  }

  /// A plan with room may have more records.
  func column<Record: BitwiseCopyable>(
    _ section: PlanSection, count: Int
  ) throws(PlanError) -> Column<Record> {
    let column: Column<Record> = try column(section)
    guard hasRoom ? column.count >= count : column.count == count else { throw .section(section) }
    return column[0..<count]
  }

  func column<Record: BitwiseCopyable>(
    _ section: PlanSection, rows offsets: Column<UInt32>
  ) throws(PlanError) -> Column<Record> {
    let column: Column<Record> = try column(section)
    guard hasRoom, let end = offsets.last else { return column }
    guard Int(end) <= column.count else { throw .section(section) }
    return column[0..<Int(end)]
  }

  /// Sorted by task, up to the last committed task.
  func column<Record: BitwiseCopyable>(
    _ section: PlanSection, task: (Record) -> Int32
  ) throws(PlanError) -> Column<Record> {
    let column: Column<Record> = try column(section)
    guard hasRoom else { return column }
    return column[0..<column.partitioningIndex { Int(task($0)) >= taskCount }]
  }

  func nameTable() throws(PlanError) -> Column<Int32> {
    let column: Column<Int32> = try column(.nameTable)
    let least = PlanNames.tableSize(taskCount: taskCount)
    let isSound =
      hasRoom ? column.count >= least && column.count.nonzeroBitCount == 1 : column.count == least
    guard isSound else { throw .section(.nameTable) }
    return column
  }
}

extension Plan {
  /// The file ends in an uncommitted addition (the writer crashed); nothing can be appended.
  package var isCut: Bool { sections.isCut }
}

enum PlanNames {
  static func tableSize(taskCount: Int) -> Int {
    var size = 2
    while size < taskCount * 2 { size *= 2 }
    return size
  }
}

/// Has room for the header in front: the buffer becomes the file without a copy.
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

  func withText<Result>(_ ref: TextRef, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    let start = Self.start + Int(ref.offset)
    return bytes.withUnsafeBytes {
      body(UnsafeRawBufferPointer(rebasing: $0[start..<(start + Int(ref.length))]))
    }
  }
}

struct PlanWriter {
  private var bytes: [UInt8]
  private var entry = PlanFormat.headerBytes

  /// Excludes strings and lists.
  static let bytesPerTask = 128
  static let bytesPerEdge = 16

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
