import OpflowEngine
import OpflowJournal
import OpflowPlan

/// The options and requests of a session.
extension SimulatedRun {
  mutating func options(_ isUndisturbed: Bool) -> SchedulerOptions {
    var options = SchedulerOptions(
      maxParallel: UInt64(1 + random.below(5)), memoryBytes: 1 << 30,
      maxFailures: isUndisturbed ? 0 : random.below(4), seed: random.next())
    options.prefetches = random.chance(70)
    options.usesNodes = random.chance(isFarAlways ? 95 : isFar ? 75 : 25)
    options.gpus = 3 + options.seed % 2
    options.expectedWallMicroseconds = random.chance(70) ? 100 : 1_000_000
    return options
  }

  mutating func randomRequest(_ plan: Plan) -> ResumeRequest {
    var request = ResumeRequest()
    if goesOn { request.keepsEnds = random.chance(70) }
    if random.chance(15) { request.rerun = randomSet(plan) }
    if random.chance(10) { request.skip = randomSet(plan) }
    if random.chance(15) { request.outputMissing = randomSet(plan) }
    if random.chance(10) {
      // With all their dependencies.
      var selected = randomSet(plan)
      for index in plan.topologicalOrder.reversed() where selected.contains(TaskID(index)) {
        for edge in plan.needs(TaskID(index)) { selected.insert(TaskID(plan.needTargets[edge])) }
      }
      for index in plan.tasks where plan.flags(TaskID(index)).contains(.finally) {
        if random.chance(50) { selected.insert(TaskID(index)) }
      }
      request.selected = selected
      if random.chance(50) {
        request.scope = randomSet(plan)
        request.scope?.formUnion(selected)
      }
      request.finallyFollowsNeeds = random.chance(30)
      if random.chance(20) {
        var named = TaskSet(taskCount: plan.taskCount)
        for index in plan.tasks where plan.flags(TaskID(index)).contains(.finally) {
          if selected.contains(TaskID(index)) { named.insert(TaskID(index)) }
        }
        request.namedFinally = named
      }
    }
    return request
  }

  mutating func randomSet(_ plan: Plan) -> TaskSet {
    var set = TaskSet(taskCount: plan.taskCount)
    for index in plan.tasks where random.chance(30) { set.insert(TaskID(index)) }
    return set
  }
}
