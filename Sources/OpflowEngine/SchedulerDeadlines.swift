internal import OpflowPlan
internal import OpflowWire

/// Deadlines of workers: one that hangs must not hold its task for ever.
extension Scheduler {
  @inline(__always)
  mutating func hear(_ worker: WorkerID) {
    if workforce.isAlive(worker) { workforce.watch.hear(worker) }
  }

  /// Sets a deadline if the worker must stop the task at its timeout.
  mutating func noteStart(of task: TaskID, on worker: WorkerID, at now: Instant) {
    let policy = plan.policy(task)
    let limit =
      isService(task)
      ? services.isUp(task) ? 0 : plan.readiness(of: task).timeoutMilliseconds
      : policy.timeoutMilliseconds
    guard limit > 0, options.watchesWorkers,
      !workforce.workers[worker.index].isStopping
    else { return }
    let end = now.advanced(byMilliseconds: Int64(clamping: limit))
      .advanced(byMilliseconds: Int64(policy.stopGraceMilliseconds))
      .advanced(byMilliseconds: SchedulerOptions.stopSlackMilliseconds)
    workforce.watch.setDeadline(of: worker, at: end)
    if phase.isSuspended || workforce.workers[worker.index].standsStill {
      workforce.watch.pause(worker, at: now)
    }
  }

  /// Extends all deadlines after a pause of the coordinator, with slack for the workers' own pause.
  mutating func postpone(by nanoseconds: Int64, at now: Instant) {
    let least = now.advanced(byMilliseconds: SchedulerOptions.stopSlackMilliseconds)
    for worker in workforce.living {
      workforce.watch.postpone(worker, by: nanoseconds, atLeastTo: least)
    }
    workforce.watch.listenAnew(at: now)
  }

  mutating func timer(at now: Instant, into actions: inout StepQueue) {
    if !phase.isSuspended {
      while let timer = timers.first, timer.at <= now {
        _ = timers.pop()
        endDelay(of: timer.task, into: &actions)
      }
    }
    endShortage(at: now)
    heedEnds(at: now, into: &actions)
    for task in gates.overdue(at: now) { closeGate(task, .timeout, at: now, into: &actions) }
    for kind in WorkerKind.allCases where workforce.noteTime(of: kind, now) {
      takeBackAll(of: kind, into: &actions)
    }
    checkWorkers(at: now, into: &actions)
  }

  private mutating func checkWorkers(at now: Instant, into actions: inout StepQueue) {
    while let worker = workforce.watch.firstDue(at: now) {
      if workforce.workers[worker.index].kind == .block {
        blockIsDue(on: worker, at: now, into: &actions)
        continue
      }
      if let complaint = complaint(of: worker, at: now) {
        discard(worker, complaint: complaint, into: &actions)
      } else {
        workforce.watch.clearDeadline(of: worker)
        ask(worker, at: now, into: &actions)
      }
    }
    if phase.isSuspended { return }
    for worker in workforce.watch.silent(at: now) { ask(worker, at: now, into: &actions) }
  }

  /// Returns why an overdue worker is given up; nil: ping it first.
  private func complaint(of worker: WorkerID, at now: Instant) -> String? {
    let record = workforce.workers[worker.index]
    if workforce.watch.isMute(worker, at: now) {
      return "it gave no sign of life for \(SchedulerOptions.pulseMilliseconds / 1000) s"
    }
    if record.phase == .launching { return "it said no hello in time" }
    if record.isStopping || record.current.isNone {
      return "it did not end a stopped task in time"
    }
    return record.kind.row.overdue
  }

  private mutating func ask(
    _ worker: WorkerID, at now: Instant, into actions: inout StepQueue
  ) {
    guard workforce.watch.ask(worker, at: now) else { return }
    pulseCount = pulseCount == .max ? 1 : pulseCount + 1
    actions.append(.order(worker, .pulse(pulseCount)))
  }
}
