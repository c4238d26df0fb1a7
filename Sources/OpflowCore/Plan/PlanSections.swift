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

extension Plan {
  /// Checks every reference in the plan, so that no later access can leave it. Linear in its size.
  package func validate() throws(PlanError) {
    try validateOffsets(.needOffsets, needOffsets, end: needTargets.count)
    try validateOffsets(.dependentOffsets, dependentOffsets, end: dependentTargets.count)
    try validateOffsets(.listOffsets, listOffsets, end: listItems.count)
    try validateOffsets(.environmentOffsets, environmentOffsets, end: environmentItems.count)
    try validateOffsets(.demandOffsets, demandOffsets, end: demandItems.count)
    try validateOffsets(.codeOffsets, codeOffsets, end: codeItems.count)
    for targets in [
      (PlanSection.needTargets, needTargets), (.dependentTargets, dependentTargets),
      (.topologicalOrder, topologicalOrder),
    ] {
      for target in targets.1 where !tasks.contains(Int(target)) { throw .reference(targets.0) }
    }
    for task in nameTable where task >= Int32(taskCount) { throw .reference(.nameTable) }
    for condition in needConditions where NeedCondition(rawValue: condition) == nil {
      throw .reference(.needConditions)
    }
    for condition in dependentConditions where NeedCondition(rawValue: condition) == nil {
      throw .reference(.dependentConditions)
    }
    for task in tasks where !isSound(TaskID(task)) { throw .reference(.taskName) }
    for item in listItems where !isSound(item) { throw .reference(.listItems) }
    for item in environmentItems where !(isSound(item.name) && isSound(item.value)) {
      throw .reference(.environmentItems)
    }
    for item in demandItems where Int(item.resource) >= resources.count {
      throw .reference(.demandItems)
    }
    for policy in policies where Int(policy.retryCodes) + 1 >= codeOffsets.count {
      throw .reference(.policies)
    }
    for download in downloads where !isSound(download) { throw .reference(.downloads) }
    for resource in resources where !isSound(resource.name) { throw .reference(.resources) }
    for file in files where !isSound(file) { throw .reference(.files) }
    for name in environmentNames where !isSound(name) { throw .reference(.environmentNames) }
    guard isSound(manifest.name), isSound(manifest.description), isSound(manifest.folder) else {
      throw .reference(.manifest)
    }
  }

  /// Whether what a task's own columns refer to is there. Lists' own items are `validate`'s.
  private func isSound(_ task: TaskID) -> Bool {
    let index = task.index
    guard isSound(name[index]), isSound(directory[index]), isSound(taskDescription[index]),
      let kind = ActionKind(rawValue: kindByte[index]),
      Int(policyIndex[index]) < policies.count,
      Int(shell[index]) + 1 < listOffsets.count, Int(tags[index]) + 1 < listOffsets.count,
      Int(environment[index]) + 1 < environmentOffsets.count,
      Int(demand[index]) + 1 < demandOffsets.count,
      Int(allowedCodes[index]) + 1 < codeOffsets.count
    else { return false }
    switch kind {
    case .shell: return isSound(action[index])
    case .command: return Int(action[index].offset) + 1 < listOffsets.count
    case .download: return Int(action[index].offset) < downloads.count
    }
  }

  private func isSound(_ download: DownloadEntry) -> Bool {
    isSound(download.target) && isSound(download.sha256) && isSound(download.sha512)
      && download.sources != 0 && Int(download.sources) + 1 < listOffsets.count
      && Int(download.headers) + 1 < environmentOffsets.count
  }

  func isSound(_ ref: TextRef) -> Bool {
    Int(ref.offset) + Int(ref.length) <= arena.count
  }

  private func validateOffsets(
    _ section: PlanSection, _ offsets: Column<UInt32>, end: Int
  ) throws(PlanError) {
    guard let last = offsets.last, Int(last) == end, offsets.first == 0 else {
      throw .reference(section)
    }
    var previous: UInt32 = 0
    for offset in offsets {
      if offset < previous { throw .reference(section) }
      previous = offset
    }
  }
}
