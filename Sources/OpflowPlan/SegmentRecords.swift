internal import OpflowBase

/// The compiler of segments reports these errors earlier, with the line.
package enum SegmentError: Error, Equatable, Sendable {
  case taken(String)
  /// The first task depends on the second, which does not exist.
  case unknownNeed(of: String, String)
  /// The first task may not depend on the second in this way.
  case unfitNeed(of: String, String)
  /// They must equal the plan's.
  case resources
  /// The segment declares secrets.
  case secrets
  /// Too many tasks, edges or bytes of strings.
  case tooLarge
}

/// A segment's records, renumbered for a plan.
struct SegmentRecords {
  private(set) var counts = [Int](repeating: 0, count: PlanSection.allCases.count)
  private(set) var bytes = [[UInt8]](repeating: [], count: PlanSection.allCases.count)
  private(set) var outerEdges: [OuterEdge] = []
  private(set) var outerTargets: [TaskID] = []

  private init() {}

  static let none = SegmentRecords()

  var taskCount: Int { counts[Int(PlanSection.taskName.rawValue)] }

  init(_ segment: Plan, behind base: Plan) throws(SegmentError) {
    guard base.resources.count == segment.resources.count,
      zip(base.resources, segment.resources).allSatisfy({
        $0.capacity == $1.capacity && base.text($0.name).equals(segment.text($1.name))
      })
    else { throw .resources }
    if segment.hasSecrets { throw .secrets }
    guard base.taskCount + segment.taskCount < Int(Int32.max),
      base.arena.count + segment.arena.count < Int(UInt32.max),
      base.written.needTargets.count + segment.needTargets.count + segment.outerNeeds.count
        < Int(UInt32.max)
    else { throw .tooLarge }
    let numbers = SegmentNumbers(base: base)
    addLists(of: segment, numbers)
    let demands = addDemands(of: segment, behind: base)
    let policies = addPolicies(of: segment, numbers)
    addTasks(of: segment, numbers, demands: demands, policies: policies)
    try addNeeds(of: segment, numbers)
    addFurther(of: segment, numbers)
  }

  private mutating func add<Record: BitwiseCopyable>(_ section: PlanSection, _ records: [Record]) {
    let index = Int(section.rawValue)
    counts[index] = records.count
    records.withUnsafeBytes { bytes[index] = Array($0) }
  }

  // MARK: - Lists

  private mutating func addLists(of segment: Plan, _ numbers: SegmentNumbers) {
    let base = numbers.base
    addOffsets(.listOffsets, segment.listOffsets, behind: base.listItems.count)
    add(.listItems, segment.listItems.map { numbers.text($0) })
    addOffsets(
      .environmentOffsets, segment.environmentOffsets, behind: base.environmentItems.count)
    add(.environmentItems, segment.environmentItems.map { numbers.variable($0) })
    add(.environments, segment.environments.dropFirst().map { numbers.environment($0) })
    addOffsets(.codeOffsets, segment.codeOffsets, behind: base.codeItems.count)
    add(.codeItems, Array(segment.codeItems))
    addOffsets(.lateOffsets, segment.lateOffsets, behind: base.lateItems.count)
    add(.lateItems, segment.lateItems.map { numbers.late($0) })
    addOffsets(.stepOffsets, segment.stepOffsets, behind: base.stepItems.count)
    add(.stepItems, segment.stepItems.map { numbers.step($0) })
    addOffsets(.declaredOffsets, segment.declaredOffsets, behind: base.declaredItems.count)
    add(.declaredItems, segment.declaredItems.map { numbers.declared($0) })
  }

  /// Omits the empty list.
  private mutating func addOffsets(
    _ section: PlanSection, _ offsets: Column<UInt32>, behind count: Int
  ) {
    add(section, offsets.dropFirst(2).map { $0 + UInt32(truncatingIfNeeded: count) })
  }

  /// Reuses equal demands, since the engine has a queue per demand.
  private mutating func addDemands(of segment: Plan, behind base: Plan) -> [UInt32] {
    var known: [[DemandItem]: UInt32] = [:]
    for index in 0..<UInt32(truncatingIfNeeded: base.demandCount) {
      known[Array(base.demandList(index))] = index
    }
    var offsets: [UInt32] = []
    var items: [DemandItem] = []
    let numbers = (0..<UInt32(truncatingIfNeeded: segment.demandCount)).map { index in
      let demand = Array(segment.demandList(index))
      if let number = known[demand] { return number }
      let number = UInt32(truncatingIfNeeded: base.demandCount + offsets.count)
      known[demand] = number
      items += demand
      offsets.append(UInt32(truncatingIfNeeded: base.demandItems.count + items.count))
      return number
    }
    add(.demandOffsets, offsets)
    add(.demandItems, items)
    return numbers
  }

  private mutating func addPolicies(of segment: Plan, _ numbers: SegmentNumbers) -> [UInt32] {
    let base = numbers.base
    var known: [TaskPolicy: UInt32] = [:]
    for (index, policy) in base.policies.enumerated() {
      known[policy] = UInt32(truncatingIfNeeded: index)
    }
    var added: [TaskPolicy] = []
    let found = segment.policies.map { policy in
      let policy = numbers.policy(policy)
      if let number = known[policy] { return number }
      let number = UInt32(truncatingIfNeeded: base.policies.count + added.count)
      known[policy] = number
      added.append(policy)
      return number
    }
    add(.policies, added)
    return found
  }

  // MARK: - Tasks and needs

  private mutating func addTasks(
    of segment: Plan, _ numbers: SegmentNumbers, demands: [UInt32], policies: [UInt32]
  ) {
    add(.arena, Array(segment.arena))
    add(.taskName, segment.name.map { numbers.text($0) })
    add(.taskKind, Array(segment.kindByte))
    add(.taskFlags, Array(segment.flagBits))
    add(.taskPriority, Array(segment.priority))
    add(.taskPolicy, segment.policyIndex.map { policies[Int($0)] })
    add(.taskDemand, segment.demand.map { demands[Int($0)] })
    add(.taskFingerprint, Array(segment.fingerprint))
    let records = segment.tasks.map { index in
      let task = TaskID(index)
      return numbers.record(
        segment.record(task), of: segment.kind(task), isService: segment.isService(task))
    }
    add(.taskRecord, records)
    add(.topologicalOrder, segment.topologicalOrder.map { numbers.task($0) })
    add(.dependentTargets, segment.written.dependentTargets.map { numbers.task($0) })
    add(.dependentConditions, Array(segment.written.dependentConditions))
    let before = UInt32(truncatingIfNeeded: numbers.base.written.dependentTargets.count)
    add(.dependentOffsets, segment.written.dependentOffsets.dropFirst().map { $0 + before })
  }

  /// Dependencies in the segment come first, then those in the plan.
  private mutating func addNeeds(of segment: Plan, _ numbers: SegmentNumbers) throws(SegmentError) {
    let base = numbers.base
    var offsets: [UInt32] = []
    var targets: [Int32] = []
    var conditions: [UInt8] = []
    var outer = segment.outerNeeds[...]
    for index in segment.tasks {
      let task = TaskID(index)
      if base.task(named: segment.nameBytes(task)) != nil {
        throw .taken(segment.nameString(task))
      }
      for edge in segment.needs(task) {
        targets.append(numbers.task(segment.needTargets[edge]))
        conditions.append(segment.needConditions[edge])
      }
      while let need = outer.first, need.task == task.rawValue {
        outer = outer.dropFirst()
        let target = try Self.target(of: need, task, segment, base)
        targets.append(target.rawValue)
        conditions.append(UInt8(truncatingIfNeeded: need.condition))
        outerTargets.append(target)
        outerEdges.append(
          OuterEdge(dependent: numbers.task(task.rawValue), condition: need.condition))
      }
      offsets.append(UInt32(truncatingIfNeeded: base.written.needTargets.count + targets.count))
    }
    add(.needOffsets, offsets)
    add(.needTargets, targets)
    add(.needConditions, conditions)
  }

  private static func target(
    of need: OuterNeed, _ task: TaskID, _ segment: Plan, _ base: Plan
  ) throws(SegmentError) -> TaskID {
    guard let target = base.task(named: segment.text(need.name)) else {
      throw .unknownNeed(of: segment.nameString(task), segment.string(need.name))
    }
    let isOfOthers = segment.flags(task).contains(.finally)
    let isLate = base.flags(target).contains(.finally) && !isOfOthers
    let isNoEnd = base.isService(target) && need.condition != UInt32(NeedCondition.success.rawValue)
    if isLate || isNoEnd {
      throw .unfitNeed(of: segment.nameString(task), segment.string(need.name))
    }
    return target
  }

  // MARK: - Other records

  private mutating func addFurther(of segment: Plan, _ numbers: SegmentNumbers) {
    add(.files, segment.files.map { numbers.text($0) })
    add(.environmentNames, segment.environmentNames.map { numbers.text($0) })
    add(.manifest, [numbers.base.manifest.joined(with: segment.manifest)])
    add(.downloads, segment.downloads.map { numbers.download($0) })
    add(.services, segment.services.map { numbers.service($0) })
    add(.globs, segment.globs.map { numbers.glob($0) })
    add(.matrixGroups, segment.matrixGroups.map { numbers.matrixGroup($0) })
    add(.matrixGroupValues, segment.matrixGroupValues.map { numbers.text($0) })
    add(.declarations, segment.declarations.map { numbers.declaration($0) })
  }
}

struct SegmentNumbers {
  let base: Plan

  func task(_ number: Int32) -> Int32 { number + Int32(truncatingIfNeeded: base.taskCount) }

  func text(_ ref: TextRef) -> TextRef {
    if ref.length == 0 { return .empty }
    return TextRef(
      offset: ref.offset + UInt32(truncatingIfNeeded: base.arena.count), length: ref.length)
  }

  private func list(_ number: UInt32, behind offsets: Column<UInt32>) -> UInt32 {
    number == 0 ? 0 : number + UInt32(truncatingIfNeeded: offsets.count - 2)
  }

  func list(_ number: ListIndex) -> ListIndex { list(number, behind: base.listOffsets) }
  func variables(_ number: UInt32) -> UInt32 { list(number, behind: base.environmentOffsets) }
  /// List 0 and environment 0 are empty and already in the plan.
  func environment(_ number: UInt32) -> UInt32 {
    number == 0 ? 0 : number + UInt32(truncatingIfNeeded: base.environments.count - 1)
  }
  func codes(_ number: UInt32) -> UInt32 { list(number, behind: base.codeOffsets) }
  func late(_ number: UInt32) -> UInt32 { list(number, behind: base.lateOffsets) }
  func steps(_ number: ListIndex) -> ListIndex { list(number, behind: base.stepOffsets) }
  func declared(_ number: UInt32) -> UInt32 { list(number, behind: base.declaredOffsets) }

  func record(_ record: PlanRecord, of kind: ActionKind, isService: Bool) -> PlanRecord {
    var record = record
    record.script = text(record.script)
    record.directory = text(record.directory)
    record.words = list(record.words)
    record.shell = list(record.shell)
    record.environment = environment(record.environment)
    record.allowedCodes = codes(record.allowedCodes)
    for text in TaskText.allCases { record.texts[text] = list(record.texts[text]) }
    record.late = late(record.late)
    record.file = list(record.file)
    if kind == .download {
      record.download += UInt32(truncatingIfNeeded: base.downloads.count)
    } else if isService {
      record.service += UInt32(truncatingIfNeeded: base.services.count)
    }
    return record
  }

  func policy(_ policy: TaskPolicy) -> TaskPolicy {
    var policy = policy
    policy.retryCodes = codes(policy.retryCodes)
    return policy
  }

  func environment(_ entry: EnvironmentEntry) -> EnvironmentEntry {
    EnvironmentEntry(base: variables(entry.base), own: variables(entry.own))
  }

  func variable(_ item: EnvironmentItem) -> EnvironmentItem {
    EnvironmentItem(name: text(item.name), value: text(item.value))
  }

  func download(_ entry: DownloadEntry) -> DownloadEntry {
    var entry = entry
    entry.target = text(entry.target)
    entry.sha256 = text(entry.sha256)
    entry.sha512 = text(entry.sha512)
    entry.sources = list(entry.sources)
    entry.headers = variables(entry.headers)
    return entry
  }

  func service(_ entry: ServiceEntry) -> ServiceEntry {
    var entry = entry
    entry.text = text(entry.text)
    entry.words = list(entry.words)
    entry.ports = list(entry.ports)
    return entry
  }

  func glob(_ entry: GlobEntry) -> GlobEntry {
    GlobEntry(pattern: text(entry.pattern), folder: text(entry.folder))
  }

  func matrixGroup(_ entry: MatrixGroupEntry) -> MatrixGroupEntry {
    MatrixGroupEntry(
      name: text(entry.name), firstTask: task(entry.firstTask), instanceCount: entry.instanceCount,
      axes: list(entry.axes),
      firstValue: entry.firstValue + UInt32(truncatingIfNeeded: base.matrixGroupValues.count))
  }

  func late(_ item: LateItem) -> LateItem {
    var item = item
    item.program = steps(item.program)
    return item
  }

  func step(_ step: LateStep) -> LateStep {
    var step = step
    step.text = text(step.text)
    return step
  }

  func declaration(_ entry: DeclarationEntry) -> DeclarationEntry {
    DeclarationEntry(
      task: task(entry.task), inputs: declared(entry.inputs), outputs: declared(entry.outputs))
  }

  func declared(_ item: DeclaredItem) -> DeclaredItem {
    var item = item
    item.text = text(item.text)
    item.words = list(item.words)
    return item
  }
}
