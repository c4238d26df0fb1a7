internal import OpflowBase

/// The section table, checked against the file's length.
struct PlanSections {
  /// Committed tasks, or the limit.
  let taskCount: Int
  /// The file has tasks beyond `taskCount`.
  let isCut: Bool
  /// Tasks of the run's first manifest.
  let firstTaskCount: Int
  let key: PlanKey
  let hasRoom: Bool
  /// Of the active head; 0 in a plan without room.
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

  /// While a writer changes the head.
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

  /// For a column that was checked before.
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

  /// One record per committed task. A plan with room may have more.
  func column<Record: BitwiseCopyable>(
    _ section: PlanSection, count: Int
  ) throws(PlanError) -> Column<Record> {
    let column: Column<Record> = try column(section)
    guard hasRoom ? column.count >= count : column.count == count else { throw .section(section) }
    return column[0..<count]
  }

  /// As many records as the rows of committed tasks.
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
  /// The file ends in an uncommitted addition (the writer crashed). Nothing can be appended to it.
  package var isCut: Bool { sections.isCut }
}
