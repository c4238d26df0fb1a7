import Fixtures
import OpflowBase
import OpflowPlan
import OpflowWire
import Testing

@Suite("Plan")
struct PlanTests {
  func sample() throws -> (PlanMaker, Plan) {
    var maker = PlanMaker()
    maker.resources = [("db", 2)]
    maker.add("a") { $0.retryCodes = [75, 3] }
    maker.add("b", needs: ["a"]) { $0.allowed = [2] }
    maker.add("c/d:1", needs: ["a", "b"]) { $0.demand = [(0, 2), (3, 1)] }
    return (maker, try maker.make())
  }

  @Test func `what goes into a plan comes out of it`() throws {
    let (_, plan) = try sample()
    #expect(plan.taskCount == 3)
    #expect(plan.tasks.map { plan.nameString(TaskID($0)) } == ["a", "b", "c/d:1"])
    #expect(plan.task(named: "c/d:1") == TaskID(2))
    #expect(plan.task(named: "nobody") == nil)
    #expect(plan.needs(TaskID(2)).map { plan.needTargets[$0] } == [0, 1])
    #expect(plan.dependents(TaskID(0)).map { plan.dependent($0).index } == [1, 2])
    #expect(plan.demandList(plan.demand[2]).map(\.amount) == [2, 1])
    #expect(Array(plan.codeList(plan.policy(TaskID(0)).retryCodes)) == [75, 3])
    #expect(plan.string(plan.resources[3].name) == "db")
    #expect(plan.key == PlanKey(high: 1, low: 2))
  }

  @Test func `a dependency cycle is reported task by task`() {
    var maker = PlanMaker()
    maker.add("x", needs: ["z"])
    maker.add("y", needs: ["x"])
    maker.add("z", needs: ["y"])
    maker.add("free")
    do {
      _ = try maker.make()
      Issue.record("the ring was accepted")
    } catch PlanMaker.Problem.cycle(let ring) {
      #expect(ring == [TaskID(0), TaskID(2), TaskID(1)])
    } catch {
      Issue.record("\(error)")
    }
  }

  @Test func `a plan file cut short, or with any byte flipped, is refused and never trapped on`()
    throws
  {
    let bytes = try sampleBytes()
    for length in 0..<bytes.count {
      #expect(throws: PlanError.self) { try Plan(copying: Array(bytes[..<length])) }
    }
    for place in bytes.indices {
      var damaged = bytes
      damaged[place] ^= 0x41
      // The key and the bytes that are zero for now stand outside the checksum.
      if (32..<48).contains(place) || (52..<56).contains(place) { continue }
      #expect(throws: PlanError.self, "byte \(place)") { try Plan(copying: damaged) }
    }
  }

  @Test func `a reference out of a plan with a sound checksum is found by validation`() throws {
    let bytes = try sampleBytes()
    var found = 0
    // Every four bytes behind the section table become a number far too large for any reference.
    for place in stride(from: 64 + PlanSection.allCases.count * 24, to: bytes.count - 4, by: 4) {
      var patch = PlanPatch(bytes)
      patch.set(byte: place, to: UInt32(0x7fff_ffff))
      if patch.verdict == nil { readAll(try Plan(copying: patch.bytes)) } else { found += 1 }
    }
    #expect(found > 50)
  }

  /// A change of the sample under a checksum that holds, and the section that it makes unsound.
  private static let unsound: [(String, PlanSection, @Sendable (inout PlanPatch) -> Void)] = [
    (
      "a task twice in the order", .topologicalOrder, { $0.set(.topologicalOrder, 1, to: Int32(0)) }
    ),
    (
      "a task before what it needs", .topologicalOrder,
      {
        $0.set(.topologicalOrder, 0, to: Int32(1))
        $0.set(.topologicalOrder, 1, to: Int32(0))
      }
    ),
    ("a task that needs itself", .dependentTargets, { $0.set(.needTargets, 0, to: Int32(1)) }),
    (
      "a task that needs itself, told at both ends", .topologicalOrder,
      {
        $0.set(.needTargets, 0, to: Int32(1))
        $0.set(.dependentOffsets, 1, to: UInt32(1))
        $0.set(.dependentTargets, 0, to: Int32(2))
        $0.set(.dependentTargets, 1, to: Int32(1))
        for edge in 0..<3 {
          $0.set(.needConditions, edge, to: UInt8(0))
          $0.set(.dependentConditions, edge, to: UInt8(0))
        }
      }
    ),
    ("a need without its dependent", .dependentTargets, { $0.set(.needTargets, 2, to: Int32(0)) }),
    (
      "a dependent with another condition", .dependentTargets,
      { $0.set(.dependentConditions, 0, to: UInt8(1)) }
    ),
    ("a condition that is none", .needTargets, { $0.set(.needConditions, 0, to: UInt8(9)) }),
    (
      "a need for a `finally` task", .needTargets,
      { $0.set(.taskFlags, 0, to: TaskFlags.finally.rawValue) }
    ),
    ("needs that run backwards", .needOffsets, { $0.set(.needOffsets, 1, to: UInt32(9)) }),
    (
      "a resource twice in one demand", .demandItems,
      { $0.set(.demandItems, 2, to: UInt32(0)) }
    ),
    ("a resource that is not there", .demandItems, { $0.set(.demandItems, 0, to: UInt32(4)) }),
    ("an empty list that is not empty", .codeOffsets, { $0.set(.codeOffsets, 1, to: UInt32(1)) }),
    ("a signal that is none", .policies, { $0.set(.policies, 0, field: 32, to: UInt32(0)) }),
    ("more jitter than delay", .policies, { $0.set(.policies, 0, field: 24, to: UInt32(1001)) }),
    ("codes that are not there", .policies, { $0.set(.policies, 0, field: 28, to: UInt32(99)) }),
    ("a task without a name", .taskName, { $0.set(.taskName, 0, field: 4, to: UInt32(0)) }),
    ("a text that leaves the arena", .taskName, { $0.set(.taskName, 0, to: UInt32.max) }),
    ("an action of no kind", .taskKind, { $0.set(.taskKind, 0, to: UInt8(5)) }),
    ("a block in a plan that has none", .taskFlags, { $0.set(.taskKind, 0, to: UInt8(4)) }),
    ("an approval in a plan that has none", .taskFlags, { $0.set(.taskKind, 0, to: UInt8(3)) }),
    ("a flag that is none", .taskFlags, { $0.set(.taskFlags, 0, to: UInt16(1 << 5)) }),
    ("a download that is not there", .taskRecord, { $0.set(.taskKind, 0, to: UInt8(2)) }),
    ("a policy that is not there", .taskPolicy, { $0.set(.taskPolicy, 2, to: UInt32(77)) }),
    ("a demand that is not there", .taskDemand, { $0.set(.taskDemand, 2, to: UInt32(9)) }),
    ("a family without legs", .matrixGroups, { $0.set(.matrixGroups, 0, field: 12, to: Int32(0)) }),
    (
      "a family of other tasks", .matrixGroups,
      { $0.set(.matrixGroups, 0, field: 12, to: Int32(3)) }
    ),
    (
      "a family below all tasks", .matrixGroups,
      { $0.set(.matrixGroups, 0, field: 8, to: Int32(-1)) }
    ),
    (
      "a family without axes", .matrixGroups, { $0.set(.matrixGroups, 0, field: 16, to: UInt32(0)) }
    ),
    (
      "axes that are not there", .matrixGroups,
      { $0.set(.matrixGroups, 0, field: 16, to: UInt32(99)) }
    ),
    (
      "a family without a name", .matrixGroups,
      { $0.set(.matrixGroups, 0, field: 4, to: UInt32(0)) }
    ),
    (
      "values that are not there", .matrixGroupValues,
      { $0.set(.matrixGroups, 0, field: 20, to: UInt32(1)) }
    ),
    (
      "a value that leaves the arena", .matrixGroupValues,
      { $0.set(.matrixGroupValues, 1, to: UInt32.max) }
    ),
    ("a pattern that leaves the arena", .globs, { $0.set(.globs, 0, to: UInt32.max) }),
    ("a name that no search finds", .nameTable, { $0.swapNames() }),
    ("two tasks of one name", .nameTable, { $0.giveSecondTaskTheFirstName() }),
  ]

  @Test(arguments: unsound.indices)
  func `what a scheduler takes for granted is refused where it is not so`(_ number: Int) throws {
    let (detail, section, change) = Self.unsound[number]
    var patch = PlanPatch(try sampleBytes())
    #expect(patch.verdict == nil)
    change(&patch)
    #expect(patch.verdict == .reference(section), "\(detail)")
  }

  @Test
  func `each number in the record of a task that refers to nothing is found, by a worker too`()
    throws
  {
    let size = MemoryLayout<PlanRecord>.size
    // No padding, in which nothing would be looked at; and a million of them are mapped.
    #expect(size == MemoryLayout<PlanRecord>.stride && size == 64)
    for field in stride(from: 0, to: size, by: 4) {
      var patch = PlanPatch(try sampleBytes())
      // A download is looked at in the record of one alone.
      patch.set(.taskKind, 2, to: ActionKind.download.rawValue)
      patch.set(.taskRecord, 2, field: field, to: UInt32.max)
      #expect(patch.verdict == .reference(.taskRecord), "field at \(field)")
      let plan = try Plan(copying: patch.bytes)
      #expect(throws: PlanError.reference(.taskRecord)) { try plan.validate(TaskID(2)) }
    }
  }

  @Test(
    arguments: [
      (.taskKind, 0), (.taskRecord, 0), (.taskPolicy, 0), (.taskDemand, 0), (.taskName, 0),
      (.listOffsets, 1), (.environmentOffsets, 1),
    ] as [(PlanSection, Int)])
  func `what a worker takes for granted of its task is refused where it is not so`(
    _ section: PlanSection, _ index: Int
  ) throws {
    var patch = PlanPatch(try sampleBytes())
    #expect(
      WorkerMessage.run(TaskID(0), attempt: 1).fault(in: try Plan(copying: patch.bytes)) == nil)
    switch section {
    case .taskKind: patch.set(section, index, to: UInt8.max)
    default: patch.set(section, index, to: UInt32.max)
    }
    let plan = try Plan(copying: patch.bytes)
    #expect(throws: PlanError.self) { try plan.validate(TaskID(0)) }
    let fault = try #require(WorkerMessage.run(TaskID(0), attempt: 1).fault(in: plan))
    #expect(fault.hasPrefix("the plan of the run is invalid: "))
    #expect(
      WorkerMessage.run(TaskID(3), attempt: 1).fault(in: plan)
        == "a message is about a task that is not in the plan")
  }

  @Test func `a plan of another format is refused with both numbers, whatever else is in it`()
    throws
  {
    let current = PlanFormat.version
    for version in [current - 1, current + 1, 0] {
      var patch = PlanPatch(try sampleBytes())
      patch.set(byte: 8, to: version)
      #expect(patch.verdict == .version(found: version, expected: current))
    }
    #expect(
      PlanError.version(found: 1, expected: 2).message == "it has format 1, and opflow reads 2")
  }

  @Test func `checking a plan looks at each task and each need a bounded number of times`() throws {
    // Names whose searches are long are what would make it slow.
    var maker = PlanMaker()
    var slots: [Int: Int] = [:]
    var number = 0
    // All in the first 64 of 8192 slots.
    while maker.tasks.count < 4000 {
      let name = "t\(number)"
      number += 1
      let slot = Int(truncatingIfNeeded: Hash.xxh3(Array(name.utf8))) & 8191
      guard slot < 64 else { continue }
      slots[slot, default: 0] += 1
      maker.add(name)
    }
    #expect(PlanPatch(try maker.bytes()).verdict == .reference(.nameTable))
  }

  /// Follows every reference; traps where validation let one through that leads out of the plan.
  func readAll(_ plan: Plan) {
    for index in plan.tasks {
      let task = TaskID(index)
      _ = plan.nameString(task)
      _ = plan.list(plan.record(task).shell).map { plan.string($0) }
      _ = plan.environmentList(plan.record(task).environment).map { plan.string($0.value) }
      _ = plan.demandList(plan.demand[index]).map { plan.resources[Int($0.resource)] }
      _ = plan.codeList(plan.policy(task).retryCodes).count
      _ = plan.codeList(plan.record(task).allowedCodes).count
      _ = plan.kind(task) == .shell ? plan.script(task).count : 0
      _ = plan.task(named: plan.nameString(task))
      if let matrixGroup = plan.matrixGroup(of: task) {
        _ =
          plan.matrixGroupName(matrixGroup)
          + plan.axes(matrixGroup).map { plan.string($0) }.joined()
        _ = plan.instanceValues(task, of: matrixGroup).map { plan.string($0) }
      }
    }
  }

  func sampleBytes() throws -> [UInt8] {
    let (maker, _) = try sample()
    return try maker.bytes { builder in
      builder.addMatrixGroup(
        builder.intern("b"), firstTask: TaskID(1), instanceCount: 2, axes: [builder.intern("n")],
        values: [builder.intern("1"), builder.intern("2")])
      builder.reads(
        glob: PlanInputs.FoundNames(pattern: "*", folder: "/", hash: PlanKey(high: 0, low: 0)))
    }
  }
}

extension PlanPatch {
  /// Puts the first two tasks of the table of names in each other's places.
  fileprivate mutating func swapNames() {
    let taken = (0..<8).filter { value(.nameTable, $0, as: Int32.self) >= 0 }
    let first = value(.nameTable, taken[0], as: Int32.self)
    set(.nameTable, taken[0], to: value(.nameTable, taken[1], as: Int32.self))
    set(.nameTable, taken[1], to: first)
  }

  fileprivate mutating func giveSecondTaskTheFirstName() {
    set(.taskName, 1, to: value(.taskName, 0, as: UInt64.self))
  }
}
