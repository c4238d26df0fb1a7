/// Texts by content: an open-addressing table of references into the builder's arena.
struct InternTable {
  private var slots = [TextRef](repeating: .empty, count: 64)
  private var used = 0

  mutating func intern(_ bytes: UnsafeRawBufferPointer, arena: inout [UInt8]) -> TextRef {
    if (used + 1) * 2 > slots.count { grow(arena: arena) }
    let mask = slots.count - 1
    var slot = Int(truncatingIfNeeded: Hash.xxh3(bytes)) & mask
    while slots[slot].length > 0 {
      if Self.equal(slots[slot], bytes, arena: arena) { return slots[slot] }
      slot = (slot + 1) & mask
    }
    let ref = TextRef(
      offset: UInt32(truncatingIfNeeded: arena.count),
      length: UInt32(truncatingIfNeeded: bytes.count))
    arena.append(contentsOf: bytes)
    slots[slot] = ref
    used += 1
    return ref
  }

  private static func equal(
    _ ref: TextRef, _ bytes: UnsafeRawBufferPointer, arena: [UInt8]
  ) -> Bool {
    guard Int(ref.length) == bytes.count else { return false }
    return arena.withUnsafeBytes {
      $0[Int(ref.offset)..<Int(ref.offset + ref.length)].elementsEqual(bytes)
    }
  }

  private mutating func grow(arena: [UInt8]) {
    let old = slots
    slots = [TextRef](repeating: .empty, count: old.count * 2)
    let mask = slots.count - 1
    arena.withUnsafeBytes { arena in
      for ref in old where ref.length > 0 {
        let text = UnsafeRawBufferPointer(
          rebasing: arena[Int(ref.offset)..<Int(ref.offset + ref.length)])
        var slot = Int(truncatingIfNeeded: Hash.xxh3(text)) & mask
        while slots[slot].length > 0 { slot = (slot + 1) & mask }
        slots[slot] = ref
      }
    }
  }
}

/// Lists by content: equal lists get one index. List 0 is the empty one.
struct ListTable<Item: Hashable> {
  private(set) var offsets: [UInt32] = [0, 0]
  private(set) var items: [Item] = []
  private var known: [[Item]: UInt32] = [:]

  mutating func index(of list: [Item]) -> UInt32 {
    if list.isEmpty { return 0 }
    if let index = known[list] { return index }
    let index = UInt32(truncatingIfNeeded: offsets.count - 1)
    items.append(contentsOf: list)
    offsets.append(UInt32(truncatingIfNeeded: items.count))
    known[list] = index
    return index
  }
}

/// The columns of a plan's tasks while they are collected.
struct TaskColumns {
  private(set) var name: [TextRef] = []
  private var kind: [UInt8] = []
  private var flags: [UInt16] = []
  private var priority: [Int16] = []
  private var action: [TextRef] = []
  private var shell: [UInt32] = []
  private var directory: [TextRef] = []
  private var environment: [UInt32] = []
  private var policy: [UInt32] = []
  private var demand: [UInt32] = []
  private var allowedCodes: [UInt32] = []
  private var description: [TextRef] = []
  private var tags: [UInt32] = []
  private var line: [UInt32] = []
  private var file: [UInt16] = []
  private var fingerprint: [UInt64] = []
  private var fingerprintParts: [UInt64] = []

  mutating func append(_ task: TaskEntry) {
    name.append(task.name)
    kind.append(task.kind.rawValue)
    flags.append(task.flags.rawValue)
    priority.append(task.priority)
    switch task.kind {
    case .shell: action.append(task.script)
    case .command: action.append(TextRef(offset: task.words, length: 0))
    case .download: action.append(TextRef(offset: task.download, length: 0))
    }
    shell.append(task.shell)
    directory.append(task.directory)
    environment.append(task.environment)
    policy.append(task.policy)
    demand.append(task.demand)
    allowedCodes.append(task.allowedCodes)
    description.append(task.description)
    tags.append(task.tags)
    line.append(task.line)
    file.append(task.file)
    fingerprint.append(task.fingerprint.whole)
    fingerprintParts.append(task.fingerprint.parts)
  }

  func write(to writer: inout PlanWriter) {
    writer.add(.taskName, name)
    writer.add(.taskKind, kind)
    writer.add(.taskFlags, flags)
    writer.add(.taskPriority, priority)
    writer.add(.taskAction, action)
    writer.add(.taskShell, shell)
    writer.add(.taskDirectory, directory)
    writer.add(.taskEnvironment, environment)
    writer.add(.taskPolicy, policy)
    writer.add(.taskDemand, demand)
    writer.add(.taskAllowedCodes, allowedCodes)
    writer.add(.taskDescription, description)
    writer.add(.taskTags, tags)
    writer.add(.taskLine, line)
    writer.add(.taskFile, file)
    writer.add(.taskFingerprint, fingerprint)
    writer.add(.taskFingerprintParts, fingerprintParts)
  }
}

/// Lays sections one after the other and seals the header over them.
struct PlanWriter {
  private var bytes: [UInt8]
  private var entry = PlanFormat.headerBytes

  init(arena: [UInt8]) {
    let tableEnd =
      PlanFormat.headerBytes + PlanSection.allCases.count * PlanFormat.sectionEntryBytes
    bytes = [UInt8](repeating: 0, count: tableEnd)
    bytes.reserveCapacity(tableEnd + arena.count * 2)
    add(.arena, arena)
  }

  mutating func add<Record: BitwiseCopyable>(_ section: PlanSection, _ records: [Record]) {
    while bytes.count % 8 != 0 { bytes.append(0) }
    put(section.rawValue, at: entry)
    put(UInt32(MemoryLayout<Record>.stride), at: entry + 4)
    put(UInt64(bytes.count), at: entry + 8)
    put(UInt64(records.count), at: entry + 16)
    entry += PlanFormat.sectionEntryBytes
    records.withUnsafeBytes { bytes.append(contentsOf: $0) }
  }

  mutating func finish(taskCount: Int, key: PlanKey) -> [UInt8] {
    bytes.replaceSubrange(0..<8, with: PlanFormat.magic)
    put(PlanFormat.version, at: 8)
    put(UInt32(PlanSection.allCases.count), at: 12)
    put(UInt64(bytes.count), at: 16)
    put(key.high, at: 32)
    put(key.low, at: 40)
    put(UInt32(truncatingIfNeeded: taskCount), at: 48)
    let checksum = bytes.withUnsafeBytes {
      Hash.xxh3(UnsafeRawBufferPointer(rebasing: $0[PlanFormat.headerBytes...]))
    }
    put(checksum, at: 24)
    return bytes
  }

  private mutating func put<Value: FixedWidthInteger>(_ value: Value, at offset: Int) {
    bytes.withUnsafeMutableBytes {
      $0.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
    }
  }
}
