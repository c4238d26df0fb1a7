package import OpflowBase

/// Lays out a plan file. The caller adds all tasks, then their dependencies, in manifest order.
package struct PlanBuilder: ~Copyable {
  private var arena = PlanArena()
  private var texts = InternTable()
  private var lists = ListTable<TextRef>()
  private var variables = ListTable<EnvironmentItem>()
  private var environments = [EnvironmentEntry(base: 0, own: 0)]
  /// Per own list: the last environment with it.
  private var environmentsOfOwn: [UInt32] = [0]
  private var demands = ListTable<DemandItem>()
  private var codes = ListTable<Int32>()
  private var lateItems = ListTable<LateItem>()
  private var steps = ListTable<LateStep>()
  private var declaredItems = ListTable<DeclaredItem>()
  private var declarations: [DeclarationEntry] = []
  private var policies: [TaskPolicy] = []
  private var policyIndex: [TaskPolicy: UInt32] = [:]
  private var tasks = TaskColumns()
  private var needOffsets: [UInt32] = [0]
  private var needTargets: [Int32] = []
  private var needConditions: [UInt8] = []
  private var outerNeeds: [OuterNeed] = []
  private var hasManual = false
  private var hasInteractive = false
  private var hasApprovals = false
  private var hasExternalTasks = false
  private var hasChecks = false
  private var hasCaches = false
  private var hasJobservers = false
  private var hasInstanceMakers = false
  private var hasMemoryLimits = false
  private var services: [ServiceEntry] = []
  private var files: [TextRef] = []
  private var environmentNames: [TextRef] = []
  private var downloads: [DownloadEntry] = []
  package var secrets: [SecretEntry] = []
  private var globs: [GlobEntry] = []
  private var matrixGroups: [MatrixGroupEntry] = []
  private var matrixGroupValues: [TextRef] = []

  package var resources: [ResourceEntry] = []

  package init() {}

  package var taskCount: Int { tasks.name.count }
  package var edgeCount: Int { needTargets.count }

  /// A short manifest with many tasks can make strings and lists large.
  package var byteCount: Int {
    arena.count + lists.byteCount + variables.byteCount + declaredItems.byteCount
      + lateItems.byteCount + steps.byteCount
  }

  /// Unused memory is never touched, so a generous guess does not cost anything.
  package mutating func reserve(taskCount: Int, edgeCount: Int, textByteCount: Int) {
    arena.reserve(
      textByteCount + taskCount * PlanWriter.bytesPerTask + edgeCount * PlanWriter.bytesPerEdge)
    tasks.reserve(taskCount)
    needOffsets.reserveCapacity(taskCount + 1)
    needTargets.reserveCapacity(edgeCount)
    needConditions.reserveCapacity(edgeCount)
  }

  /// The string is probably unique.
  package mutating func append(_ bytes: UnsafeRawBufferPointer) -> TextRef {
    arena.append(bytes)
  }

  package mutating func intern(_ bytes: UnsafeRawBufferPointer) -> TextRef {
    if bytes.isEmpty { return .empty }
    return texts.intern(bytes, arena: &arena)
  }

  package mutating func intern(_ text: String) -> TextRef {
    var text = text
    return text.withUTF8 { intern(UnsafeRawBufferPointer($0)) }
  }

  package mutating func intern(_ bytes: [UInt8]) -> TextRef {
    bytes.withUnsafeBytes { intern($0) }
  }

  /// The bytes are valid during the call only.
  package func withText<Result>(
    _ ref: TextRef, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    arena.withText(ref, body)
  }

  package mutating func list(_ items: [TextRef]) -> ListIndex { lists.index(of: items) }

  package mutating func list(ofOne item: TextRef) -> ListIndex {
    item.length == 0 ? 0 : lists.add(item)
  }

  package mutating func variables(_ items: [EnvironmentItem]) -> UInt32 {
    variables.index(of: items)
  }

  package mutating func environment(_ items: [EnvironmentItem], over base: UInt32 = 0) -> UInt32 {
    let entry = EnvironmentEntry(base: base, own: variables.index(of: items))
    let own = Int(entry.own)
    while environmentsOfOwn.count <= own { environmentsOfOwn.append(0) }
    let known = environmentsOfOwn[own]
    if environments[Int(known)] == entry { return known }
    let index = UInt32(truncatingIfNeeded: environments.count)
    environments.append(entry)
    environmentsOfOwn[own] = index
    return index
  }
  package mutating func demand(_ items: [DemandItem]) -> UInt32 { demands.index(of: items) }

  package var wantedResources: Set<UInt32> { Set(demands.items.map(\.resource)) }

  package mutating func codes(_ items: [Int32]) -> UInt32 { codes.index(of: items) }

  package mutating func late(_ items: [LateItem]) -> UInt32 { lateItems.index(of: items) }
  package mutating func steps(_ steps: [LateStep]) -> ListIndex { self.steps.index(of: steps) }

  package mutating func policy(_ policy: TaskPolicy) -> UInt32 {
    if let known = policyIndex[policy] { return known }
    let index = UInt32(truncatingIfNeeded: policies.count)
    policies.append(policy)
    policyIndex[policy] = index
    return index
  }

  package mutating func reads(file path: String) { files.append(intern(path)) }

  package mutating func reads(glob: PlanInputs.FoundNames) {
    globs.append(GlobEntry(pattern: intern(glob.pattern), folder: intern(glob.folder)))
  }

  /// `values` has one value per axis, matrix task by matrix task.
  package mutating func addMatrixGroup(
    _ name: TextRef, firstTask: TaskID, instanceCount: Int, axes: [TextRef], values: [TextRef]
  ) {
    matrixGroups.append(
      MatrixGroupEntry(
        name: name, firstTask: firstTask.rawValue,
        instanceCount: Int32(truncatingIfNeeded: instanceCount),
        axes: list(axes), firstValue: UInt32(truncatingIfNeeded: matrixGroupValues.count)))
    matrixGroupValues += values
  }

  package mutating func readsEnvironment(_ names: [String]) {
    environmentNames = names.map { intern($0) }
  }

  package mutating func download(_ entry: DownloadEntry) -> UInt32 {
    downloads.append(entry)
    return UInt32(truncatingIfNeeded: downloads.count - 1)
  }

  package mutating func service(_ entry: ServiceEntry) -> UInt32 {
    services.append(entry)
    return UInt32(truncatingIfNeeded: services.count - 1)
  }

  /// Adds services to the fingerprints of all direct and indirect dependents. Call it once, after
  /// all dependencies are added.
  package mutating func addServicesToFingerprints(behind base: Plan? = nil) {
    let outer = outerServices(in: base)
    if services.isEmpty, outer.isEmpty { return }
    // Excludes dependencies, so it is taken before the changes below.
    let own = (0..<taskCount).map { tasks.isService($0) ? tasks.fingerprint($0).whole : 0 }
    for task in 0..<taskCount where tasks.isService(task) {
      services[tasks.service(task)].definition = own[task]
    }
    for task in 0..<taskCount {
      var digest: UInt64 = 0
      var open = [task]
      var seen: Set<Int> = []
      var outerOpen: [TaskID] = []
      while let next = open.popLast() {
        for edge in Int(needOffsets[next])..<Int(needOffsets[next + 1]) {
          let need = Int(needTargets[edge])
          guard own[need] != 0 || tasks.isService(need), seen.insert(need).inserted else {
            continue
          }
          digest &+= Hash.combine(own[need], 1)
          open.append(need)
        }
        if let services = outer[next] { outerOpen += services }
      }
      var outerSeen: Set<TaskID> = []
      while let base, let next = outerOpen.popLast() {
        guard outerSeen.insert(next).inserted else { continue }
        digest &+= Hash.combine(base.definition(ofService: next), 1)
        outerOpen += base.services(neededBy: next)
      }
      if !seen.isEmpty || !outerSeen.isEmpty { tasks.combine(task, with: digest) }
    }
  }

  private func outerServices(in base: Plan?) -> [Int: [TaskID]] {
    guard let base, base.hasServices else { return [:] }
    var services: [Int: [TaskID]] = [:]
    for need in outerNeeds {
      let target = withText(need.name) { base.task(named: $0) }
      guard let target, base.isService(target) else { continue }
      services[Int(need.task), default: []].append(target)
    }
    return services
  }

  package mutating func add(_ task: TaskEntry) -> TaskID {
    let id = TaskID(taskCount)
    if task.flags.contains(.manual) { hasManual = true }
    if task.flags.contains(.interactive) { hasInteractive = true }
    if task.kind == .approve { hasApprovals = true }
    if task.kind == .block { hasExternalTasks = true }
    if task.flags.contains(.cached) { hasCaches = true }
    if task.record.processes[.jobserver] != 0 { hasJobservers = true }
    if task.flags.makesInstances { hasInstanceMakers = true }
    if task.record.processes[.memoryLimit] != 0 { hasMemoryLimits = true }
    tasks.append(task)
    return id
  }

  /// Announces matrix tasks that are generated later.
  package mutating func expect(caches: Bool, memoryLimits: Bool) {
    if caches { hasCaches = true }
    if memoryLimits { hasMemoryLimits = true }
  }

  package mutating func mark(_ task: TaskID, _ flags: TaskFlags) { tasks.mark(task, flags) }

  /// Call it in task order. `inputs` is nil if the task has none.
  package mutating func declare(_ task: TaskID, inputs: [DeclaredItem]?, outputs: [DeclaredItem]) {
    if inputs == nil, outputs.isEmpty { return }
    if inputs != nil {
      tasks.mark(task, .checked)
      hasChecks = true
    }
    if !outputs.isEmpty { tasks.mark(task, .declaresOutputs) }
    declarations.append(
      DeclarationEntry(
        task: task.rawValue, inputs: declaredItems.index(of: inputs ?? []),
        outputs: declaredItems.index(of: outputs)))
  }

  /// `endNeeds()` moves to the next task.
  package mutating func addNeed(_ target: TaskID, on condition: NeedCondition) {
    needTargets.append(target.rawValue)
    needConditions.append(condition.rawValue)
  }

  /// A dependency on a task of the base plan; added after `addNeed`.
  package mutating func addOuterNeed(_ name: TextRef, on condition: NeedCondition) {
    outerNeeds.append(OuterNeed(task: TaskID(needOffsets.count - 1), name: name, on: condition))
  }

  package mutating func endNeeds() {
    needOffsets.append(UInt32(truncatingIfNeeded: needTargets.count))
  }

  package enum Outcome: Sendable {
    case plan([UInt8])
    /// Each task depends on the next, the last on the first.
    case cycle([TaskID])
  }

  package consuming func finish(manifest: ManifestEntry, key: PlanKey) -> Outcome {
    precondition(needOffsets.count == taskCount + 1, "needs of every task must be ended")
    var dependents = Graph.reversed(offsets: needOffsets, targets: needTargets)
    let order: [Int32]
    switch Graph.order(
      needOffsets: needOffsets, needTargets: needTargets,
      dependentOffsets: dependents.offsets, dependentTargets: dependents.sources)
    {
    case .topological(let topological): order = topological
    case .cycle(let tasks): return .cycle(tasks.map { TaskID($0) })
    }

    let names = nameTable()
    let count = taskCount
    var writer = PlanWriter(taking: &arena)
    tasks.move(to: &writer)
    writer.move(.needOffsets, &needOffsets)
    writer.move(.needTargets, &needTargets)
    writer.add(.needConditions, needConditions)
    writer.move(.dependentOffsets, &dependents.offsets)
    writer.move(.dependentTargets, &dependents.sources)
    writer.add(.dependentConditions, dependents.edges.map { needConditions[Int($0)] })
    writer.add(.topologicalOrder, order)
    writer.add(.nameTable, names)
    writer.add(.listOffsets, lists.offsets)
    writer.add(.listItems, lists.items)
    writer.add(.environmentOffsets, variables.offsets)
    writer.add(.environmentItems, variables.items)
    writer.add(.environments, environments)
    writer.add(.demandOffsets, demands.offsets)
    writer.add(.demandItems, demands.items)
    writer.add(.codeOffsets, codes.offsets)
    writer.add(.codeItems, codes.items)
    writer.add(.policies, policies)
    writer.add(.resources, resources)
    writer.add(.files, files)
    writer.add(.environmentNames, environmentNames)
    var manifest = manifest
    manifest.hasManual = hasManual ? 1 : 0
    manifest.hasInteractive = hasInteractive ? 1 : 0
    manifest.hasApprovals = hasApprovals ? 1 : 0
    manifest.hasExternalTasks = hasExternalTasks ? 1 : 0
    manifest.hasChecks = hasChecks ? 1 : 0
    manifest.hasCaches = hasCaches ? 1 : 0
    manifest.hasServices = services.isEmpty ? 0 : 1
    manifest.hasJobservers = hasJobservers ? 1 : 0
    manifest.hasInstanceMakers = hasInstanceMakers ? 1 : 0
    manifest.hasMemoryLimits = hasMemoryLimits ? 1 : 0
    writer.add(.manifest, [manifest])
    writer.add(.downloads, downloads)
    writer.add(.secrets, secrets)
    writer.add(.globs, globs)
    writer.add(.matrixGroups, matrixGroups)
    writer.move(.matrixGroupValues, &matrixGroupValues)
    writer.add(.lateOffsets, lateItems.offsets)
    writer.add(.lateItems, lateItems.items)
    writer.add(.stepOffsets, steps.offsets)
    writer.add(.stepItems, steps.items)
    writer.add(.declarations, declarations)
    writer.add(.declaredOffsets, declaredItems.offsets)
    writer.add(.declaredItems, declaredItems.items)
    writer.add(.services, services)
    writer.add(.outerNeeds, outerNeeds)
    writer.add(.outerEdges, [OuterEdge]())
    writer.add(.firstOuterEdge, [UInt32]())
    writer.add(.lastOuterEdge, [UInt32]())
    return .plan(writer.finish(taskCount: count, key: key))
  }

  /// Open addressing, at most half full.
  private borrowing func nameTable() -> [Int32] {
    let size = PlanNames.tableSize(taskCount: taskCount)
    var table = [Int32](repeating: -1, count: size)
    for task in 0..<taskCount {
      var slot = Int(truncatingIfNeeded: withText(tasks.name[task]) { Hash.xxh3($0) }) & (size - 1)
      while table[slot] >= 0 { slot = (slot + 1) & (size - 1) }
      table[slot] = Int32(truncatingIfNeeded: task)
    }
    return table
  }
}

struct TaskColumns {
  private(set) var name: [TextRef] = []
  private var kind: [UInt8] = []
  private var flags: [UInt16] = []
  private var priority: [Int16] = []
  private var policy: [UInt32] = []
  private var demand: [UInt32] = []
  private var fingerprint: [Fingerprint] = []
  private var record: [PlanRecord] = []

  mutating func reserve(_ count: Int) {
    name.reserveCapacity(count)
    kind.reserveCapacity(count)
    flags.reserveCapacity(count)
    priority.reserveCapacity(count)
    policy.reserveCapacity(count)
    demand.reserveCapacity(count)
    fingerprint.reserveCapacity(count)
    record.reserveCapacity(count)
  }

  mutating func append(_ task: TaskEntry) {
    name.append(task.name)
    kind.append(task.kind.rawValue)
    flags.append(task.flags.rawValue)
    priority.append(task.priority)
    policy.append(task.policy)
    demand.append(task.demand)
    fingerprint.append(task.fingerprint)
    record.append(task.record)
  }

  mutating func mark(_ task: TaskID, _ marks: TaskFlags) { flags[task.index] |= marks.rawValue }

  func isService(_ task: Int) -> Bool {
    TaskFlags(rawValue: flags[task]).contains(.service)
  }

  func service(_ task: Int) -> Int { Int(record[task].service) }

  func fingerprint(_ task: Int) -> Fingerprint { fingerprint[task] }

  mutating func combine(_ task: Int, with digest: UInt64) {
    fingerprint[task].whole = Hash.combine(fingerprint[task].whole, digest)
    fingerprint[task].parts ^= (digest & 255) << (Fingerprint.Part.needs.rawValue * 8)
  }

  /// One by one: a million tasks must not be in memory twice.
  mutating func move(to writer: inout PlanWriter) {
    writer.move(.taskName, &name)
    writer.move(.taskKind, &kind)
    writer.move(.taskFlags, &flags)
    writer.move(.taskPriority, &priority)
    writer.move(.taskPolicy, &policy)
    writer.move(.taskDemand, &demand)
    writer.move(.taskFingerprint, &fingerprint)
    writer.move(.taskRecord, &record)
  }
}

/// Open addressing over references into the builder's arena.
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

/// Deduplicates lists; list 0 is empty.
struct ListTable<Item: BitwiseCopyable> {
  private(set) var offsets: [UInt32] = [0, 0]
  private(set) var items: [Item] = []
  /// By hash of a list's bytes, at most half full; 0 is a free slot.
  private var slots = [UInt32](repeating: 0, count: 64)

  var byteCount: Int { items.count * MemoryLayout<Item>.stride }

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

  mutating func add(_ item: Item) -> UInt32 {
    items.append(item)
    offsets.append(UInt32(truncatingIfNeeded: items.count))
    return UInt32(truncatingIfNeeded: offsets.count - 2)
  }

  /// Items have no padding, so equal lists have equal bytes.
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

  private func bytes(of index: UInt32, in items: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let stride = MemoryLayout<Item>.stride
    let range = (Int(offsets[Int(index)]) * stride)..<(Int(offsets[Int(index) + 1]) * stride)
    return UnsafeRawBufferPointer(rebasing: items[range])
  }

  /// Includes lists that were added without a slot.
  private mutating func grow() {
    var count = slots.count
    while offsets.count * 2 > count { count *= 2 }
    slots = [UInt32](repeating: 0, count: count)
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
