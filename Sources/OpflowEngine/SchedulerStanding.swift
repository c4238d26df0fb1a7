internal import OpflowJournal
internal import OpflowPlan

/// Requests to a lost session that hold in the next one, whose first journal line repeats them.
extension Scheduler {
  mutating func obey(
    _ standing: StandingOrders, at now: Instant, into actions: inout StepQueue
  ) {
    for (resource, amount) in standing.capacities.sorted(by: { $0.key < $1.key }) {
      let most = resource == plan.gpuResource ? options.capacities(of: plan)[resource] : .max
      setCapacity(min(amount, most), of: resource, into: &actions)
    }
    for task in standing.cancelled where graph.state(task) == .waiting {
      graph.mark(task, .cancelling)
    }
    guard phase.stopCause == nil else { return }
    if standing.isPaused { pause(into: &actions) }
    suspend(standing.onHold.filter { graph.state($0) == .waiting }, at: now, into: &actions)
  }

  /// Continues failed attempts and delays of the previous session. Services start without delay.
  mutating func takeOver(_ tries: [TaskID: TriesUsed], at now: Instant) {
    for (task, used) in tries {
      triesUsed[task.index] = used.count
      guard used.delayMilliseconds > 0, phase.stopCause == nil, graph.state(task) == .waiting,
        !graph.hasOwnFate(task), !isService(task)
      else { continue }
      graph.mark(task, .delayed)
      timers.push(
        RetryTimer(at: now.advanced(byMilliseconds: used.delayMilliseconds), task: task))
    }
  }

  /// The previous session was stopping.
  mutating func stop(as standing: StandingOrders, at now: Instant, into actions: inout StepQueue) {
    if standing.isCancelled {
      stop(.request, letsFinallyGo: false, at: now, into: &actions)
    } else if let signal = standing.stopSignal {
      stop(.signal(signal), letsFinallyGo: false, at: now, into: &actions)
    }
  }
}
