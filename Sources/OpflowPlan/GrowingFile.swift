internal import OpflowBase

/// The layout of a plan file with room for dynamic tasks, and the writes that add them.
struct GrowingFile {
  private let plan: Plan
  private var offsets: [Int]
  private let strides: [Int]
  /// Per section, before the addition.
  private var counts: [Int]
  /// Of retracted tasks.
  private let renaming: WithdrawnNames?
  private let nameTableSize: Int
  private(set) var byteCount: Int
  /// Of the inactive head, which the writes fill and then activate.
  private let head: Int

  private static let firstHead =
    PlanFormat.headerBytes + PlanSection.allCases.count * PlanFormat.sectionEntryBytes

  /// A section gets room for twice its records, plus this many.
  private static let leastRoom = 64
  private static let leastText = 4096
  private static let mostText = Int(UInt32.max)

  /// Uses the plan's own file; nil if the records do not fit.
  init?(_ plan: Plan, for records: SegmentRecords) {
    self.plan = plan
    renaming = nil
    let sections = PlanSection.allCases.map { plan.sections.place(of: $0) }
    offsets = sections.map(\.offset)
    strides = sections.map(\.stride)
    counts = sections.map(\.count)
    nameTableSize = plan.nameTable.count
    byteCount = plan.byteCount
    head =
      plan.sections.head == Self.firstHead
      ? Self.firstHead + PlanFormat.headBytes : Self.firstHead
    let ends = offsets.sorted() + [byteCount]
    for section in PlanSection.allCases {
      let index = Int(section.rawValue)
      let end = ends.first { $0 > offsets[index] } ?? byteCount
      if offsets[index] + count(section, with: records) * strides[index] > end { return nil }
    }
    if (plan.taskCount + records.taskCount) * 2 > nameTableSize { return nil }
  }

  init(roomFor plan: Plan, and records: SegmentRecords, _ renaming: WithdrawnNames? = nil) {
    self.plan = plan
    self.renaming = renaming
    let sections = PlanSection.allCases.map { plan.sections.place(of: $0) }
    strides = sections.map(\.stride)
    counts = sections.map(\.count)
    for (section, bytes) in renaming?.sections ?? [:] {
      let index = Int(section.rawValue)
      counts[index] = bytes.count / strides[index]
    }
    head = Self.firstHead
    nameTableSize = PlanNames.tableSize(
      taskCount: (plan.taskCount + records.taskCount) * 2 + Self.leastRoom)
    offsets = []
    byteCount = Self.firstHead + 2 * PlanFormat.headBytes
    for section in PlanSection.allCases {
      let needed = count(section, with: records)
      let room =
        switch section {
        case .nameTable: needed
        case .arena: min(needed * 2 + Self.leastText, Self.mostText)
        default: needed * 2 + Self.leastRoom
        }
      byteCount = (byteCount + 7) & ~7
      offsets.append(byteCount)
      byteCount += room * strides[Int(section.rawValue)]
    }
  }

  private func count(_ section: PlanSection, with records: SegmentRecords) -> Int {
    let index = Int(section.rawValue)
    return switch section {
    case .nameTable: nameTableSize
    case .outerEdges: counts[index] + records.outerEdges.count
    case .firstOuterEdge, .lastOuterEdge: plan.taskCount + records.taskCount
    default: counts[index] + records.counts[index]
    }
  }

  private func place(_ section: PlanSection, _ index: Int) -> Int {
    offsets[Int(section.rawValue)] + index * strides[Int(section.rawValue)]
  }

  // MARK: - Additions to the file

  func writes(adding records: SegmentRecords, of segment: Plan) -> [PlanGrowth.Write] {
    var writes: [PlanGrowth.Write] = []
    for section in PlanSection.allCases where !records.bytes[Int(section.rawValue)].isEmpty {
      let index = Int(section.rawValue)
      writes.append(.init(offset: place(section, counts[index]), bytes: records.bytes[index]))
    }
    writes += linkWrites(records)
    writes += nameWrites(of: segment)
    writes += headWrites(records)
    return writes
  }

  /// New links, and the pointers to them in earlier links and in the first-link column.
  private func linkWrites(_ records: SegmentRecords) -> [PlanGrowth.Write] {
    let before = plan.written.outerEdges.count
    var edges = records.outerEdges
    var last: [TaskID: UInt32] = [:]
    var writes: [PlanGrowth.Write] = []
    for (index, target) in records.outerTargets.enumerated() {
      let link = UInt32(truncatingIfNeeded: before + index + 1)
      switch last[target] ?? plan.lastOuterEdge[target.index] {
      case 0: writes.append(.init(offset: place(.firstOuterEdge, target.index), link))
      case let earlier where Int(earlier) > before: edges[Int(earlier) - 1 - before].next = link
      case let earlier:
        let offset = place(.outerEdges, Int(earlier) - 1) + OuterEdge.placeOfNext
        writes.append(.init(offset: offset, link))
      }
      last[target] = link
    }
    writes += last.map { .init(offset: place(.lastOuterEdge, $0.key.index), $0.value) }
    if !edges.isEmpty {
      writes.insert(.init(offset: place(.outerEdges, before), records: edges), at: 0)
    }
    return writes
  }

  private func nameWrites(of segment: Plan) -> [PlanGrowth.Write] {
    var filled: Set<Int> = []
    return segment.tasks.map { index in
      let task = TaskID(index)
      let mask = nameTableSize - 1
      var slot = Int(truncatingIfNeeded: Hash.xxh3(segment.nameBytes(task))) & mask
      while plan.nameTable[slot] >= 0 || filled.contains(slot) { slot = (slot + 1) & mask }
      filled.insert(slot)
      return .init(
        offset: place(.nameTable, slot), Int32(truncatingIfNeeded: plan.taskCount + index))
    }
  }

  // MARK: - A new file

  func writes(all records: SegmentRecords, of segment: Plan?) -> [PlanGrowth.Write] {
    var writes: [PlanGrowth.Write] = []
    for section in PlanSection.allCases {
      let index = Int(section.rawValue)
      switch section {
      case .nameTable:
        writes.append(.init(offset: offsets[index], records: nameTable(with: segment)))
      case .outerEdges, .firstOuterEdge, .lastOuterEdge: continue
      default:
        let before = renaming?.sections[section] ?? Array(plan.sections.bytes(of: section))
        let bytes = before + records.bytes[index]
        if !bytes.isEmpty { writes.append(.init(offset: offsets[index], bytes: bytes)) }
      }
    }
    writes += chainWrites(records)
    writes.append(.init(offset: 0, bytes: header))
    return writes + headWrites(records)
  }

  private func nameTable(with segment: Plan?) -> [Int32] {
    var table = [Int32](repeating: -1, count: nameTableSize)
    let mask = nameTableSize - 1
    func insert(_ name: UnsafeRawBufferPointer, _ task: Int) {
      var slot = Int(truncatingIfNeeded: Hash.xxh3(name)) & mask
      while table[slot] >= 0 { slot = (slot + 1) & mask }
      table[slot] = Int32(truncatingIfNeeded: task)
    }
    for task in plan.tasks {
      if let name = renaming?.names[Int32(truncatingIfNeeded: task)] {
        name.withUnsafeBytes { insert($0, task) }
      } else {
        insert(plan.nameBytes(TaskID(task)), task)
      }
    }
    for task in segment?.tasks ?? 0..<0 {
      if let segment { insert(segment.nameBytes(TaskID(task)), plan.taskCount + task) }
    }
    return table
  }

  private func chainWrites(_ records: SegmentRecords) -> [PlanGrowth.Write] {
    var edges = plan.written.outerEdges + records.outerEdges
    let targets = plan.written.outerTargets + records.outerTargets
    let tasks = plan.taskCount + records.taskCount
    var first = [UInt32](repeating: 0, count: tasks)
    var last = first
    for (index, target) in targets.enumerated() {
      let link = UInt32(truncatingIfNeeded: index + 1)
      edges[index].next = 0
      let earlier = last[target.index]
      if earlier == 0 { first[target.index] = link } else { edges[Int(earlier) - 1].next = link }
      last[target.index] = link
    }
    return [
      .init(offset: place(.outerEdges, 0), records: edges),
      .init(offset: place(.firstOuterEdge, 0), records: first),
      .init(offset: place(.lastOuterEdge, 0), records: last),
    ]
  }

  private var header: [UInt8] {
    var header = [UInt8](repeating: 0, count: PlanFormat.headerBytes)
    PlanWriter.putHeader(into: &header, byteCount: byteCount, key: plan.key)
    header.put(UInt32(truncatingIfNeeded: plan.firstTaskCount), at: 48)
    return header
  }

  // MARK: - The head

  /// The head, then the pointer in the header that activates it.
  private func headWrites(_ records: SegmentRecords) -> [PlanGrowth.Write] {
    var head = [UInt8](repeating: 0, count: PlanFormat.headBytes)
    head.put(UInt64(plan.taskCount + records.taskCount), at: 8)
    for section in PlanSection.allCases {
      let index = Int(section.rawValue)
      head.putEntry(
        section, stride: strides[index], offset: offsets[index],
        count: count(section, with: records),
        at: 16 + index * PlanFormat.sectionEntryBytes)
    }
    let sum = head.withUnsafeBytes { Hash.xxh3(UnsafeRawBufferPointer(rebasing: $0[8...])) }
    head.put(sum, at: 0)
    return [
      .init(offset: self.head, bytes: head), .init(offset: PlanFormat.headPlace, UInt64(self.head)),
    ]
  }
}

extension PlanGrowth.Write {
  init(offset: Int, _ number: some FixedWidthInteger) {
    self.init(offset: offset, bytes: withUnsafeBytes(of: number.littleEndian) { Array($0) })
  }

  init<Record: BitwiseCopyable>(offset: Int, records: [Record]) {
    self.init(offset: offset, bytes: records.withUnsafeBytes { Array($0) })
  }
}
