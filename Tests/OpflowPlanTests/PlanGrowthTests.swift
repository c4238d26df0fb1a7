import Fixtures
import OpflowBase
import OpflowPlan
import Testing

@Suite("Growth of plans")
struct PlanGrowthTests {
  // MARK: - The grown plan

  @Test(arguments: 0..<60)
  func `a plan that grew has what one of all tasks has`(_ seed: UInt64) throws {
    var numbers = SplitMix64(seed: seed)
    let segments = Self.segments(&numbers)
    var bytes = try segments[0].bytes()
    var plan = try Self.open(bytes)
    var whole = segments[0]
    for segment in segments.dropFirst() {
      let added = try Plan(copying: segment.bytes())
      try added.validate()
      let growth = try PlanGrowth(
        of: plan, by: added, intoNewFile: Int.random(in: 0..<8, using: &numbers) == 0)
      let before = Self.description(plan)
      bytes = growth.applied(to: bytes)
      let count = plan.taskCount
      plan = try Self.open(bytes)
      whole.tasks += segment.tasks.map { task in
        var task = task
        task.needs += task.outerNeeds
        task.outerNeeds = []
        return task
      }
      #expect(Self.description(plan) == Self.description(try whole.make()))
      // Who knows of less sees less.
      #expect(Self.description(try Self.open(bytes, limit: count)) == before)
    }
  }

  @Test func `who has a plan open sees as much as before when it grows in its file`() throws {
    var maker = PlanMaker()
    maker.add("first")
    var bytes = PlanGrowth(room: try maker.make()).applied(to: [])
    let file = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
    file.copyBytes(from: bytes)
    let open = try Plan(bytes: UnsafeRawBufferPointer(file), checksum: true) { $0.deallocate() }
    let before = Self.description(open)
    for round in 0..<20 {
      var segment = PlanMaker()
      segment.add("task\(round)") { $0.outerNeeds = [("first", .success)] }
      let growth = try PlanGrowth(of: Self.open(bytes), by: segment.make())
      try #require(growth.newFileByteCount == nil)
      for write in growth.writes {
        for (place, byte) in write.bytes.enumerated() { file[write.offset + place] = byte }
        #expect(Self.description(open) == before)
      }
      bytes = Array(file)
    }
    try open.validate()
    #expect(try Self.open(bytes).taskCount == 21)
  }

  @Test func `what is new is checked by itself`() throws {
    for seed in UInt64(100)..<112 {
      var numbers = SplitMix64(seed: seed)
      let segments = Self.segments(&numbers)
      var bytes = PlanGrowth(room: try segments[0].make()).applied(to: [])
      for segment in segments.dropFirst() {
        let plan = try Self.open(bytes)
        let growth = try PlanGrowth(of: plan, by: segment.make())
        let before = bytes
        bytes = growth.applied(to: bytes)
        try Self.open(bytes).validate(grownFrom: plan)
        if bytes.count != before.count { continue }
        // No bytes there crash a reader.
        for place in bytes.indices where bytes[place] != before[place] {
          var broken = bytes
          broken[place] ^= UInt8.random(in: 1...255, using: &numbers)
          guard let grown = try? Plan(copying: broken),
            (try? grown.validate(grownFrom: plan)) != nil
          else { continue }
          for task in grown.tasks {
            for edge in grown.needs(TaskID(task)) { _ = grown.needCondition(edge) }
            for edge in grown.dependents(TaskID(task)) { _ = grown.dependent(edge) }
          }
        }
      }
    }
  }

  @Test func `one that dies between two writes leaves what was there`() throws {
    var numbers = SplitMix64(seed: 7)
    let segments = Self.segments(&numbers)
    var bytes = try segments[0].bytes()
    for segment in segments.dropFirst() {
      let plan = try Self.open(bytes)
      let before = Self.description(plan)
      let growth = try PlanGrowth(of: plan, by: segment.make())
      if growth.newFileByteCount == nil {
        var torn = bytes
        for write in growth.writes.dropLast() {
          // Half of it first.
          for part in [write.bytes.prefix(write.bytes.count / 2), write.bytes[...]] {
            torn.replaceSubrange(write.offset..<(write.offset + part.count), with: part)
            #expect(Self.description(try Self.open(torn)) == before)
          }
        }
        // A run continues in a new file.
        let again = try PlanGrowth(of: Self.open(torn), by: segment.make(), intoNewFile: true)
        #expect(
          Self.description(try Self.open(again.applied(to: torn)))
            == Self.description(try Self.open(growth.applied(to: bytes))))
      }
      bytes = growth.applied(to: bytes)
    }
  }

  @Test func `room is made seldom`() throws {
    var maker = PlanMaker()
    maker.add("first")
    var bytes = try maker.bytes()
    var files = 0
    for round in 0..<600 {
      var segment = PlanMaker()
      segment.add("task\(round)") { $0.outerNeeds = [("first", .finished)] }
      let growth = try PlanGrowth(of: Plan(copying: bytes), by: segment.make())
      if growth.newFileByteCount != nil { files += 1 }
      bytes = growth.applied(to: bytes)
    }
    let plan = try Self.open(bytes)
    #expect(plan.dependents(TaskID(0)).map { plan.dependent($0).index } == Array(1...600))
    #expect(files <= 6)
  }

  // MARK: - Refused segments

  private static let refused: [(SegmentError, @Sendable (inout PlanMaker) -> Void)] = [
    (.taken("a"), { $0.add("a") }),
    (
      .unknownNeed(of: "x", "nobody"),
      { $0.add("x") { $0.outerNeeds = [("nobody", .success)] } }
    ),
    (
      .unfitNeed(of: "x", "last"),
      { $0.add("x") { $0.outerNeeds = [("last", .success)] } }
    ),
    (
      .unfitNeed(of: "x", "database"),
      { $0.add("x") { $0.outerNeeds = [("database", .finished)] } }
    ),
    (.resources, { $0.resources = [("net", 1)] }),
  ]

  @Test(arguments: refused.indices)
  func `a segment that does not fit is refused`(_ number: Int) throws {
    var maker = PlanMaker()
    maker.add("a")
    maker.add("last") { $0.flags = .finally }
    maker.addService("database")
    var segment = PlanMaker()
    Self.refused[number].1(&segment)
    let (plan, added) = (try maker.make(), try segment.make())
    #expect(throws: Self.refused[number].0) { try PlanGrowth(of: plan, by: added) }
  }

  @Test func `any byte of a plan with room may be another and nothing traps`() throws {
    var numbers = SplitMix64(seed: 3)
    var bytes = try Self.segments(&numbers)[0].bytes()
    var segment = PlanMaker()
    segment.add("x") { $0.outerNeeds = [("s0t0", .finished)] }
    segment.add("y", needs: ["x"]) { $0.outerNeeds = [("s0t0", .finished)] }
    bytes = try PlanGrowth(of: Plan(copying: bytes), by: segment.make()).applied(to: bytes)
    let sound = try Self.open(bytes)
    let before = Self.description(sound)
    var differences = 0
    for place in bytes.indices where bytes[place] != 0 || place % 16 == 0 {
      var damaged = bytes
      damaged[place] ^= UInt8.random(in: 1...255, using: &numbers)
      guard let plan = try? Self.open(damaged) else { continue }
      if Self.description(plan) != before { differences += 1 }
    }
    // No checksum covers names, scripts and the like.
    #expect(differences > 0)
  }

  // MARK: -

  private static func open(_ bytes: [UInt8], limit: Int? = nil) throws -> Plan {
    let plan = try Plan(copying: bytes, limit: limit)
    try plan.validate()
    return plan
  }

  /// A plan and its segments: needs within a segment and on earlier ones, policies, demands,
  /// exit codes, services, downloads, declared files.
  private static func segments(_ numbers: inout SplitMix64) -> [PlanMaker] {
    var earlier: [(name: String, isService: Bool)] = []
    return (0..<Int.random(in: 2...6, using: &numbers)).map { segment in
      var maker = PlanMaker()
      var own: [(name: String, isService: Bool)] = []
      for index in 0..<Int.random(in: 1...9, using: &numbers) {
        let name = "s\(segment)t\(index)"
        let needs = own.filter { _ in Int.random(in: 0..<4, using: &numbers) == 0 }
        let outer = earlier.filter { _ in Int.random(in: 0..<5, using: &numbers) == 0 }
        let isService = Int.random(in: 0..<6, using: &numbers) == 0
        if isService {
          maker.addService(name, restarts: UInt32.random(in: 0...3, using: &numbers))
        } else if Int.random(in: 0..<6, using: &numbers) == 0 {
          maker.addDownload(name)
        } else {
          maker.add(name)
        }
        let last = maker.tasks.count - 1
        maker.tasks[last].needs = needs.map { condition(of: $0, &numbers) }
        maker.tasks[last].outerNeeds = outer.map { condition(of: $0, &numbers) }
        maker.tasks[last].priority = Int16.random(in: -9...9, using: &numbers)
        maker.tasks[last].policy.retryMax = UInt32.random(in: 0...2, using: &numbers)
        if Bool.random(using: &numbers) { maker.tasks[last].retryCodes = [75, Int32(index)] }
        if Bool.random(using: &numbers) { maker.tasks[last].allowed = [Int32(segment + 1)] }
        if maker.tasks[last].kind == .shell, !isService, Bool.random(using: &numbers) {
          maker.tasks[last].demand = [(0, UInt64(index + 1))]
          maker.tasks[last].inputs = [.path("\(name).in"), .command(["date", name])]
          maker.tasks[last].outputs = [.glob("\(name).*")]
        }
        own.append((name, isService))
      }
      earlier += own
      return maker
    }
  }

  private static func condition(
    of need: (name: String, isService: Bool), _ numbers: inout SplitMix64
  ) -> (String, NeedCondition) {
    let any = NeedCondition.allCases.randomElement(using: &numbers) ?? .success
    return (need.name, need.isService ? .success : any)
  }

  /// All that a plan says, by names.
  private static func description(_ plan: Plan) -> [String] {
    plan.tasks.map { index in
      let task = TaskID(index)
      func names(_ list: Column<TextRef>) -> String {
        list.map { plan.string($0) }.joined(separator: ",")
      }
      let needs = plan.needs(task).map {
        "\(plan.nameString(TaskID(plan.needTargets[$0])))/\(plan.needCondition($0))"
      }
      let dependents = plan.dependents(task).map {
        "\(plan.nameString(plan.dependent($0)))/\(plan.dependentCondition($0))"
      }
      let record = plan.record(task)
      let policy = plan.policy(task)
      var parts = [
        plan.nameString(task), "\(plan.kind(task))", "\(plan.flags(task))",
        "\(plan.priority[index])", "\(plan.fingerprint(task))", "needs \(needs)",
        "dependents \(dependents)", "\(Array(plan.demandList(plan.demand[index])))",
        "\(policy.retryMax) \(Array(plan.codeList(policy.retryCodes)))",
        "\(Array(plan.codeList(record.allowedCodes)))", plan.string(record.script),
        plan.string(record.directory), names(plan.list(record.shell)),
        "\(plan.inputs(of: task)) \(plan.outputs(of: task))",
        "\(plan.task(named: plan.nameString(task)) == task)",
      ]
      if plan.kind(task) == .download { parts.append("\(plan.download(task))") }
      if plan.isService(task) {
        parts.append("\(plan.readiness(of: task)) \(plan.restarts(of: task))")
      }
      return parts.joined(separator: "; ")
    }
  }
}
