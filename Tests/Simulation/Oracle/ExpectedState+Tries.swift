import OpflowJournal
import OpflowPlan
import OpflowWire

extension ExpectedState {
  /// Returns the attempts that tasks have used in sessions that continue each other, as defined in
  /// the journal reference.
  func triesUsed(_ plan: Plan, _ request: ResumeRequest) -> [TaskID: TriesUsed] {
    if case .close = items.last?.entry { return [:] }
    if !request.keepsEnds { return [:] }
    var counts: [String: Int32] = [:]
    var due: [String: Int64] = [:]
    for item in items {
      switch item.entry {
      case .resume(let entry):
        if !entry.continues { (counts, due) = ([:], [:]) }
        for name in entry.removed { (counts[name], due[name]) = (nil, nil) }
      case .request(let request):
        for name in item.named where [.retry, .cancel, .skip].contains(request.verb) {
          due[name] = nil
          if request.verb == .retry { counts[name] = nil }
        }
      case .transition(let line):
        due[item.name] = nil
        let isFree = line.outcome.reason == .fetch && (line.fetch?.report.gainedBytes ?? 0) > 0
        switch line.event {
        case .retry:
          if !isFree { counts[item.name, default: 0] += 1 }
          due[item.name] = item.milliseconds + line.delayMilliseconds
        case .failure where line.allowed: if !isFree { counts[item.name, default: 0] += 1 }
        case .skip(.retracted): counts[item.name] = nil
        default: break
        }
      default: break
      }
    }
    var used: [TaskID: TriesUsed] = [:]
    func note(_ name: String, _ change: (TaskID, inout TriesUsed) -> Void) {
      guard let task = plan.task(named: name), request.rerun?.contains(task) != true else { return }
      change(task, &used[task, default: TriesUsed()])
    }
    for (name, count) in counts { note(name) { $1.count = count } }
    for (name, at) in due {
      note(name) { task, used in
        // A service restarts at once.
        if plan.isService(task) { return }
        let most = Int64(plan.policy(task).retryMaxDelayMilliseconds)
        used.delayMilliseconds = min(max(0, at - SimulatedSession.firstWallMilliseconds), most)
      }
    }
    return used
  }
}
