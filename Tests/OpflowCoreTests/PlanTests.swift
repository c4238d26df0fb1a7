import OpflowCore
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

  @Test("what goes into a plan comes out of it")
  func roundTrip() throws {
    let (_, plan) = try sample()
    #expect(plan.taskCount == 3)
    #expect(plan.tasks.map { plan.nameString(TaskID($0)) } == ["a", "b", "c/d:1"])
    #expect(plan.task(named: "c/d:1") == TaskID(2))
    #expect(plan.task(named: "nobody") == nil)
    #expect(plan.needs(TaskID(2)).map { plan.needTargets[$0] } == [0, 1])
    #expect(plan.dependents(TaskID(0)).map { plan.dependentTargets[$0] } == [1, 2])
    #expect(plan.demandList(plan.demand[2]).map(\.amount) == [2, 1])
    #expect(Array(plan.codeList(plan.policy(TaskID(0)).retryCodes)) == [75, 3])
    #expect(plan.string(plan.resources[3].name) == "db")
    #expect(plan.key == PlanKey(high: 1, low: 2))
  }

  @Test("a ring of needs is told task by task")
  func cycle() {
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

  @Test("a plan file cut short, or with any byte flipped, is refused and never trapped on")
  func damage() throws {
    let bytes = try sampleBytes()
    for length in 0..<bytes.count {
      #expect(throws: PlanError.self) { try Plan(copying: Array(bytes[..<length])) }
    }
    for place in bytes.indices {
      var damaged = bytes
      damaged[place] ^= 0x41
      // The key and the bytes that are zero for now stand outside the checksum.
      if (32..<48).contains(place) || (52..<64).contains(place) { continue }
      #expect(throws: PlanError.self, "byte \(place)") { try Plan(copying: damaged) }
    }
  }

  @Test("a reference out of a plan with a sound checksum is found by validation")
  func badReferences() throws {
    let bytes = try sampleBytes()
    var found = 0
    // Every four bytes behind the section table become a number far too large for any reference.
    for place in stride(from: 64 + 36 * 24, to: bytes.count - 4, by: 4) {
      var damaged = bytes
      damaged.replaceSubrange(place..<(place + 4), with: [0xff, 0xff, 0xff, 0x7f])
      let checksum = damaged.withUnsafeBytes {
        Hash.xxh3(UnsafeRawBufferPointer(rebasing: $0[64...]))
      }
      withUnsafeBytes(of: checksum.littleEndian) { damaged.replaceSubrange(24..<32, with: $0) }
      guard let plan = try? Plan(copying: damaged) else { continue }
      do throws(PlanError) {
        try plan.validate()
        readAll(plan)
      } catch {
        found += 1
      }
    }
    #expect(found > 50)
  }

  /// Follows every reference; traps where validation let one through that leads out of the plan.
  func readAll(_ plan: Plan) {
    for index in plan.tasks {
      let task = TaskID(index)
      _ = plan.nameString(task)
      _ = plan.list(plan.shell[index]).map { plan.string($0) }
      _ = plan.environmentList(plan.environment[index]).map { plan.string($0.value) }
      _ = plan.demandList(plan.demand[index]).map { plan.resources[Int($0.resource)] }
      _ = plan.codeList(plan.policy(task).retryCodes).count
      _ = plan.codeList(plan.allowedCodes[index]).count
      _ = plan.kind(task) == .shell ? plan.script(task).count : 0
      _ = plan.task(named: plan.nameString(task))
    }
  }

  func sampleBytes() throws -> [UInt8] {
    let (maker, _) = try sample()
    return try maker.bytes()
  }
}
