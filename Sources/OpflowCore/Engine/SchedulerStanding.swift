/// Orders to a drive that was lost, in the one that goes on with it. No line tells of them again: that of the drive's
/// beginning says that they hold, so that none is lost wherever this one may die.
extension Scheduler {
  /// Comes before anything is ready.
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
    // The drive may be told to end before it begins.
    guard phase.stopCause == nil else { return }
    if standing.isPaused { pause(into: &actions) }
    suspend(standing.onHold.filter { graph.state($0) == .waiting }, at: now, into: &actions)
  }

  /// Tries that failed count on, and what waited for its next one goes on waiting, but for services, which are there
  /// for others from the beginning. Comes before anything is ready.
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

  /// Somebody was ending the run: it is ended. What is on hold by now was suspended after that.
  mutating func stop(as standing: StandingOrders, at now: Instant, into actions: inout StepQueue) {
    if standing.isCancelled {
      stop(.request, letsFinallyGo: false, at: now, into: &actions)
    } else if let signal = standing.stopSignal {
      stop(.signal(signal), letsFinallyGo: false, at: now, into: &actions)
    }
  }
}
