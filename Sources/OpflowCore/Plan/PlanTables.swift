/// The plan's texts while they are collected, behind room for the file's header, so that the file
/// is laid out where they are.
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

/// Texts by content: an open-addressing table of references into the builder's arena.
struct InternTable {
  private var slots = [TextRef](repeating: .empty, count: 64)
  private var used = 0

  mutating func intern(_ bytes: UnsafeRawBufferPointer, arena: inout PlanArena) -> TextRef {
    if (used + 1) * 2 > slots.count { grow(arena: arena) }
    let mask = slots.count - 1
    var slot = Int(truncatingIfNeeded: Hash.xxh3(bytes)) & mask
    while slots[slot].length > 0 {
      if Int(slots[slot].length) == bytes.count,
        arena.withText(slots[slot], { Hash.areEqual($0, bytes) })
      {
        return slots[slot]
      }
      slot = (slot + 1) & mask
    }
    let ref = arena.append(bytes)
    slots[slot] = ref
    used += 1
    return ref
  }

  private mutating func grow(arena: PlanArena) {
    let old = slots
    slots = [TextRef](repeating: .empty, count: old.count * 2)
    let mask = slots.count - 1
    for ref in old where ref.length > 0 {
      var slot = Int(truncatingIfNeeded: arena.withText(ref) { Hash.xxh3($0) }) & mask
      while slots[slot].length > 0 { slot = (slot + 1) & mask }
      slots[slot] = ref
    }
  }
}

/// Lists by content: equal lists get one index. List 0 is the empty one.
struct ListTable<Item: BitwiseCopyable> {
  private(set) var offsets: [UInt32] = [0, 0]
  private(set) var items: [Item] = []
  /// Numbers of lists by the hash of their bytes, at most half full; 0 is free.
  private var slots = [UInt32](repeating: 0, count: 64)

  mutating func index(of list: [Item]) -> UInt32 {
    if list.isEmpty { return 0 }
    if offsets.count * 2 > slots.count { grow() }
    let slot = slot(of: list)
    if slots[slot] > 0 { return slots[slot] }
    let index = UInt32(truncatingIfNeeded: offsets.count - 1)
    items.append(contentsOf: list)
    offsets.append(UInt32(truncatingIfNeeded: items.count))
    slots[slot] = index
    return index
  }

  /// Where the list stands, or the free slot where it belongs. Items have no padding, so equal
  /// lists are equal bytes.
  private func slot(of list: [Item]) -> Int {
    list.withUnsafeBytes { bytes in
      items.withUnsafeBytes { items in
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: Hash.xxh3(bytes)) & mask
        while slots[slot] > 0, !Hash.areEqual(self.bytes(of: slots[slot], in: items), bytes) {
          slot = (slot + 1) & mask
        }
        return slot
      }
    }
  }

  private func bytes(
    of index: UInt32, in items: UnsafeRawBufferPointer
  ) -> UnsafeRawBufferPointer {
    let stride = MemoryLayout<Item>.stride
    let range = (Int(offsets[Int(index)]) * stride)..<(Int(offsets[Int(index) + 1]) * stride)
    return UnsafeRawBufferPointer(rebasing: items[range])
  }

  private mutating func grow() {
    slots = [UInt32](repeating: 0, count: slots.count * 2)
    let mask = slots.count - 1
    items.withUnsafeBytes { items in
      for index in 1..<UInt32(truncatingIfNeeded: offsets.count - 1) {
        var slot = Int(truncatingIfNeeded: Hash.xxh3(bytes(of: index, in: items))) & mask
        while slots[slot] > 0 { slot = (slot + 1) & mask }
        slots[slot] = index
      }
    }
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

  mutating func reserve(_ count: Int) {
    name.reserveCapacity(count)
    kind.reserveCapacity(count)
    flags.reserveCapacity(count)
    priority.reserveCapacity(count)
    action.reserveCapacity(count)
    shell.reserveCapacity(count)
    directory.reserveCapacity(count)
    environment.reserveCapacity(count)
    policy.reserveCapacity(count)
    demand.reserveCapacity(count)
    allowedCodes.reserveCapacity(count)
    description.reserveCapacity(count)
    tags.reserveCapacity(count)
    line.reserveCapacity(count)
    file.reserveCapacity(count)
    fingerprint.reserveCapacity(count)
    fingerprintParts.reserveCapacity(count)
  }

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

  /// Moves the columns into the file: with a million tasks they are not to be there twice.
  mutating func move(to writer: inout PlanWriter) {
    writer.move(.taskName, &name)
    writer.move(.taskKind, &kind)
    writer.move(.taskFlags, &flags)
    writer.move(.taskPriority, &priority)
    writer.move(.taskAction, &action)
    writer.move(.taskShell, &shell)
    writer.move(.taskDirectory, &directory)
    writer.move(.taskEnvironment, &environment)
    writer.move(.taskPolicy, &policy)
    writer.move(.taskDemand, &demand)
    writer.move(.taskAllowedCodes, &allowedCodes)
    writer.move(.taskDescription, &description)
    writer.move(.taskTags, &tags)
    writer.move(.taskLine, &line)
    writer.move(.taskFile, &file)
    writer.move(.taskFingerprint, &fingerprint)
    writer.move(.taskFingerprintParts, &fingerprintParts)
  }
}

/// Lays sections one after the other and seals the header over them.
struct PlanWriter {
  private var bytes: [UInt8]
  private var entry = PlanFormat.headerBytes

  /// What the sections take at most for each task and for each need, but for texts and lists.
  static let bytesPerTask = 128
  static let bytesPerEdge = 16

  /// Makes the arena the file's first section, and leaves it without texts: it is most of a plan,
  /// and not copied.
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

  /// The same, and lets go of the records.
  mutating func move<Record: BitwiseCopyable>(_ section: PlanSection, _ records: inout [Record]) {
    add(section, records)
    records = []
  }

  private mutating func addEntry(_ section: PlanSection, stride: Int, offset: Int, count: Int) {
    put(section.rawValue, at: entry)
    put(UInt32(stride), at: entry + 4)
    put(UInt64(offset), at: entry + 8)
    put(UInt64(count), at: entry + 16)
    entry += PlanFormat.sectionEntryBytes
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
