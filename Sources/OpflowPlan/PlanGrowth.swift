internal import OpflowBase

/// The writes that add a segment to a plan file, in order; then the plan is reopened.
///
/// Only the last write commits; a crash before it changes nothing for readers. After a failed
/// write, use `intoNewFile`, since the file may contain dangling names and links.
package struct PlanGrowth: Sendable {
  package struct Write: Sendable {
    package let offset: Int
    package let bytes: [UInt8]
  }

  package private(set) var writes: [Write] = []
  /// nil if the plan's own file is written.
  package private(set) var newFileByteCount: Int?

  /// `segment` must be validated.
  package init(of plan: Plan, by segment: Plan, intoNewFile: Bool = false) throws(SegmentError) {
    assert(!plan.isCut)
    let records = try SegmentRecords(segment, behind: plan)
    if plan.hasRoom, !intoNewFile, let place = GrowingFile(plan, for: records) {
      writes = place.writes(adding: records, of: segment)
    } else {
      let file = GrowingFile(roomFor: plan, and: records)
      newFileByteCount = file.byteCount
      writes = file.writes(all: records, of: segment)
    }
  }

  package var recordsAndHead: (ArraySlice<Write>, ArraySlice<Write>) {
    (writes.dropLast(2), writes.suffix(2))
  }

  package init(room plan: Plan) { self.init(room: plan, nil) }

  private init(room plan: Plan, _ renaming: RetractedNames?) {
    let records = SegmentRecords.none
    let file = GrowingFile(roomFor: plan, and: records, renaming)
    newFileByteCount = file.byteCount
    writes = file.writes(all: records, of: nil)
  }

  /// Complete matrices only. `attempt` added the tasks.
  package init(
    of plan: Plan, retracting tasks: some Sequence<Int>, attempt: Int32
  ) throws(SegmentError) {
    assert(!plan.isCut)
    self.init(room: plan, try RetractedNames(of: plan, tasks, attempt: attempt))
  }

  package func applied(to bytes: [UInt8]) -> [UInt8] {
    var bytes = newFileByteCount.map { [UInt8](repeating: 0, count: $0) } ?? bytes
    for write in writes {
      bytes.replaceSubrange(write.offset..<(write.offset + write.bytes.count), with: write.bytes)
    }
    return bytes
  }
}

/// A plan in memory that grows in place: an addition costs as much as its tasks.
package struct GrownPlan {
  package private(set) var plan: Plan
  private var room: Room?
  private var keys: [PlanKey] = []

  private final class Room: @unchecked Sendable {
    // SAFETY: @unchecked, because only the one `GrownPlan` writes to it, behind the bytes that
    // existing plans read.
    let bytes: UnsafeMutableRawBufferPointer

    init(byteCount: Int) {
      bytes = .allocate(byteCount: byteCount, alignment: 8)
      bytes.initializeMemory(as: UInt8.self, repeating: 0)
    }

    func write(_ write: PlanGrowth.Write) {
      UnsafeMutableRawBufferPointer(rebasing: bytes[write.offset...]).copyBytes(from: write.bytes)
    }

    func open() throws(PlanError) -> Plan {
      try Plan(bytes: UnsafeRawBufferPointer(bytes), checksum: false) { _ in
        withExtendedLifetime(self) {}
      }
    }

    deinit { bytes.deallocate() }
  }

  package init(_ first: Plan) { plan = first }

  package mutating func add(_ segment: Plan) throws(GrownPlanError) {
    let growth: PlanGrowth
    do throws(SegmentError) {
      growth = try PlanGrowth(of: plan, by: segment)
    } catch {
      throw .segment(error)
    }
    let room: Room
    if let count = growth.newFileByteCount {
      room = Room(byteCount: count)
    } else if let old = self.room {
      room = old
    } else {
      throw .plan(.notAPlan)
    }
    for write in growth.writes { room.write(write) }
    self.room = room
    keys.append(segment.key)
    do throws(PlanError) {
      plan = try room.open()
    } catch {
      throw .plan(error)
    }
  }

  /// A new key, since with other segments an index can mean another task.
  package func keyed() throws(PlanError) -> Plan {
    guard let room else { return plan }
    let text = ([plan.key] + keys).map(\.description).joined(separator: " ")
    let key = Hash.planKey(Array(text.utf8))
    room.write(.init(offset: PlanFormat.keyPlace, key.high))
    room.write(.init(offset: PlanFormat.keyPlace + 8, key.low))
    return try room.open()
  }
}

package enum GrownPlanError: Error, Equatable {
  case segment(SegmentError)
  case plan(PlanError)
}

struct GrowingFile {
  private let plan: Plan
  private var offsets: [Int]
  private let strides: [Int]
  private var counts: [Int]
  private let renaming: RetractedNames?
  private let nameTableSize: Int
  private(set) var byteCount: Int
  private let head: Int

  private static let firstHead =
    PlanFormat.headerBytes + PlanSection.allCases.count * PlanFormat.sectionEntryBytes

  /// Room for twice the records, plus this many.
  private static let leastRoom = 64
  private static let leastText = 4096
  private static let mostText = Int(UInt32.max)

  /// nil if the records do not fit into the plan's file.
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

  init(roomFor plan: Plan, and records: SegmentRecords, _ renaming: RetractedNames? = nil) {
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

  private func headWrites(_ records: SegmentRecords) -> [PlanGrowth.Write] {
    var head = [UInt8](repeating: 0, count: PlanFormat.headBytes)
    head.put(UInt64(plan.taskCount + records.taskCount), at: 8)
    for section in PlanSection.allCases {
      let index = Int(section.rawValue)
      head.putEntry(
        section, stride: strides[index], offset: offsets[index],
        count: count(section, with: records), at: 16 + index * PlanFormat.sectionEntryBytes)
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

/// Renames retracted tasks, so that new tasks can have their names and declare their files. They
/// keep indexes and dependencies. IDs cannot contain the `~` of the new names.
struct RetractedNames {
  private(set) var names: [Int32: [UInt8]] = [:]
  private(set) var sections: [PlanSection: [UInt8]] = [:]
  private var text: [UInt8] = []

  init(of plan: Plan, _ tasks: some Sequence<Int>, attempt: Int32) throws(SegmentError) {
    var refs = Array(plan.name)
    var flags = Array(plan.flagBits)
    var matrixGroups = Array(plan.matrixGroups)
    let retracted = Set(tasks.map { Int32(truncatingIfNeeded: $0) })
    var taken: Set<[UInt8]> = []
    for task in retracted.sorted() {
      let name = Self.freeName(plan.nameBytes(TaskID(task)), attempt) { name in
        taken.contains(name) || name.withUnsafeBytes { plan.task(named: $0) != nil }
      }
      taken.insert(name)
      names[task] = name
      refs[Int(task)] = add(name, behind: plan)
      flags[Int(task)] &= ~Self.declared.rawValue
    }
    var matrixGroupNames = Set(matrixGroups.map { Array(plan.text($0.name)) })
    for index in matrixGroups.indices where retracted.contains(matrixGroups[index].firstTask) {
      let name = Self.freeName(
        plan.text(matrixGroups[index].name), attempt, matrixGroupNames.contains)
      matrixGroupNames.insert(name)
      matrixGroups[index].name = add(name, behind: plan)
    }
    guard plan.arena.count + text.count < Int(UInt32.max) else { throw .tooLarge }
    sections[.arena] = Array(plan.arena) + text
    sections[.taskName] = Self.bytes(refs)
    sections[.taskFlags] = Self.bytes(flags)
    sections[.matrixGroups] = Self.bytes(matrixGroups)
    sections[.declarations] = Self.bytes(plan.declarations.filter { !retracted.contains($0.task) })
  }

  private static let declared = TaskFlags.declares.union(.cached)

  private static func bytes(_ records: [some BitwiseCopyable]) -> [UInt8] {
    records.withUnsafeBytes { Array($0) }
  }

  private mutating func add(_ name: [UInt8], behind plan: Plan) -> TextRef {
    let offset = UInt32(truncatingIfNeeded: plan.arena.count + text.count)
    text += name
    return TextRef(offset: offset, length: UInt32(truncatingIfNeeded: name.count))
  }

  private static func freeName(
    _ name: UnsafeRawBufferPointer, _ attempt: Int32, _ isTaken: ([UInt8]) -> Bool
  ) -> [UInt8] {
    var number = Int(attempt)
    while true {
      let free = Array(name) + Array("~\(number)".utf8)
      if !isTaken(free) { return free }
      number += 1
    }
  }
}
