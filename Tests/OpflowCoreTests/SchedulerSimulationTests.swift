import OpflowCore
import Testing

/// Random plans under random events: after each, every invariant of the scheduler holds, and the
/// run comes to an end in which each task's fate is the one that its needs leave it.
@Suite("Scheduler simulation")
struct SchedulerSimulationTests {
  @Test("random plans, outcomes, losses, stops and suspensions break no invariant")
  func random() throws {
    for seed in 1...400 { try simulate(seed: UInt64(seed)) }
  }

  func simulate(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let plan = try randomPlan(&random)
    let parallel = UInt64(Int.random(in: 1...5, using: &random))
    let maxFailures = Int.random(in: 0...2, using: &random)
    var run = ImaginedRun(
      plan, parallel: parallel, maxFailures: maxFailures, seed: seed,
      handsAhead: Bool.random(using: &random))
    let allowsDisturbance = Bool.random(using: &random)
    var steps = 0
    while run.close == nil {
      steps += 1
      if steps > 20_000 {
        Issue.record("seed \(seed): the run does not come to an end")
        return
      }
      step(&run, &random, disturb: allowsDisturbance)
    }
    if let problem = fateProblem(run) { Issue.record("seed \(seed): \(problem)") }
  }

  func step(_ run: inout ImaginedRun, _ random: inout SplitMix64, disturb: Bool) {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<2 where disturb: run.tell(.suspend)
    case 2..<8 where disturb: run.tell(.proceed)
    case 8..<9 where disturb: run.tell(.stop(.signal(2)))
    case 9 where disturb && Int.random(in: 0..<8, using: &random) == 0: run.tell(.kill)
    case 10..<13 where disturb:
      let workers = run.running.keys.sorted { $0.rawValue < $1.rawValue }
      if let worker = workers.randomElement(using: &random) {
        run.running[worker] = nil
        run.ahead[worker] = nil
        run.inbox[worker] = nil
        run.tell(.workerLost(worker, complaint: "lost"))
      }
    case 13..<40:
      if !run.launched.isEmpty { run.tell(.workerReady(run.launched.removeFirst())) }
    case 40..<60:
      let waiting = run.inbox.filter { !$0.value.isEmpty }.keys
        .sorted { $0.rawValue < $1.rawValue }
      if let worker = waiting.randomElement(using: &random),
        let order = run.inbox[worker]?.removeFirst()
      {
        run.obey(worker, order)
      }
    case 60..<95:
      let workers = run.running.keys.sorted { $0.rawValue < $1.rawValue }
      if let worker = workers.randomElement(using: &random) {
        let isGood = Int.random(in: 0..<10, using: &random) > 0
        var outcome = Outcome(status: .exit(isGood ? 0 : Int32.random(in: 1...3, using: &random)))
        if !isGood, Bool.random(using: &random) {
          outcome = Outcome(status: .signal(15), reason: .timeout)
        }
        outcome.usage.wallMicroseconds = Int64.random(in: 100...30_000, using: &random)
        run.end(worker, outcome)
      }
    default:
      if run.running.isEmpty, run.inbox.allSatisfy({ $0.value.isEmpty }), run.launched.isEmpty {
        if let wake = run.scheduler.nextWake {
          run.now = max(run.now, wake)
          run.tell(.timer)
        } else {
          run.tell(.proceed)
        }
      }
    }
  }

  func randomPlan(_ random: inout SplitMix64) throws -> Plan {
    var maker = PlanMaker()
    maker.resources = [("db", 2)]
    let count = Int.random(in: 1...30, using: &random)
    let density = Int.random(in: 0...3, using: &random)
    for index in 0..<count {
      let earlier = maker.tasks
      maker.add("t\(index)") { task in
        if index > 0 {
          for need in Set((0..<density).map { _ in Int.random(in: 0..<index, using: &random) }) {
            let needsFinally = earlier[need].flags.contains(.finally)
            let condition: NeedCondition =
              Int.random(in: 0..<5, using: &random) > 0
              ? .success : (Bool.random(using: &random) ? .failure : .finished)
            task.needs.append(("t\(need)", condition))
            if needsFinally { task.flags.insert(.finally) }
          }
        }
        switch Int.random(in: 0..<12, using: &random) {
        case 0: task.flags.insert(.allowAnyFailure)
        case 1: task.flags.insert(.finally)
        case 2: task.flags.insert(.conditionFalse)
        case 3: task.flags.insert(.failWhenInterrupted)
        case 4: task.policy.retryMax = 2
        case 5: task.demand = [(0, UInt64.random(in: 1...4, using: &random))]
        case 6: task.demand = [(0, 1), (3, UInt64.random(in: 1...2, using: &random))]
        case 7: task.demand = []
        default: break
        }
        task.priority = Int16.random(in: -2...2, using: &random)
      }
    }
    return try maker.make()
  }

  /// Compares each task's end with what its needs' ends allow.
  func fateProblem(_ run: ImaginedRun) -> String? {
    let scheduler = run.scheduler
    for index in run.plan.tasks {
      let task = TaskID(index)
      let name = run.plan.nameString(task)
      let starts = run.journal.filter { $0.event == .start && $0.task == task }
      let ends = run.journal.filter {
        $0.task == task && [.success, .failure, .skip, .cancel].contains($0.event)
      }
      if ends.count > 1 { return "\(name) ended \(ends.count) times" }
      if (ends.count == 1) != scheduler.state(task).isTerminal {
        return "\(name): end not journaled"
      }
      switch scheduler.state(task) {
      case .succeeded, .failedAllowed, .cancelled:
        if starts.isEmpty { return "\(name) ended well and never started" }
      case .skipped:
        if !starts.isEmpty, run.journal.last(where: { $0.task == task })?.event != .skip {
          return "\(name) was skipped after it ran"
        }
      case .running, .suspended: return "\(name) still runs"
      case .waiting, .ready, .failed, .upToDate: break
      }
      for start in starts {
        guard let place = run.journal.firstIndex(of: start) else { continue }
        for edge in run.plan.needs(task) {
          let need = TaskID(run.plan.needTargets[edge])
          let settled = run.journal[..<place].contains {
            $0.task == need && [.success, .failure, .skip, .cancel].contains($0.event)
          }
          let isFinally = run.plan.flags(task).contains(.finally)
          if !settled, !isFinally { return "\(name) started before \(run.plan.nameString(need))" }
        }
      }
    }
    return nil
  }
}
