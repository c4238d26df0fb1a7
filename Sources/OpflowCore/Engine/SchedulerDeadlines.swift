/// What keeps a worker that hangs from holding its task for ever: deadlines, and pulses for those of
/// which nothing was heard.
extension Scheduler {
  /// The worker said something.
  mutating func hear(_ worker: WorkerID) {
    guard workers.indices.contains(worker.index) else { return }
    workers[worker.index].wasHeard = true
    workers[worker.index].answerBy = nil
  }

  /// A worker is to end its task by itself when the task's time is up; where it does not, nobody can
  /// say what it does.
  mutating func noteStart(of task: TaskID, on worker: WorkerID, at now: Instant) {
    let policy = plan.policy(task)
    guard policy.timeoutMilliseconds > 0, options.watchesWorkers,
      !workers[worker.index].isStopping
    else { return }
    let end = now.advanced(byMilliseconds: Int64(clamping: policy.timeoutMilliseconds))
      .advanced(byMilliseconds: Int64(policy.stopGraceMilliseconds))
      .advanced(byMilliseconds: SchedulerOptions.stopSlackMilliseconds)
    workers[worker.index].deadline.set(end)
    if isSuspended { workers[worker.index].deadline.pause(at: now) }
  }

  /// Silence is counted from now on.
  mutating func listenAnew(at now: Instant) {
    listenAt = now.advanced(byMilliseconds: SchedulerOptions.listenMilliseconds)
    for worker in aliveWorkers {
      workers[worker.index].wasHeard = true
      workers[worker.index].answerBy = nil
    }
  }

  /// The coordinator did not run: what was left to workers when it last did is left to them now, and
  /// a little more, since they may not have run either.
  mutating func postpone(by nanoseconds: Int64, at now: Instant) {
    let least = now.advanced(byMilliseconds: SchedulerOptions.stopSlackMilliseconds)
    for worker in aliveWorkers {
      workers[worker.index].deadline.postpone(by: nanoseconds, atLeastTo: least)
    }
    listenAnew(at: now)
  }

  /// Gives up workers that kept us waiting too long, and asks those of which nothing was heard.
  mutating func checkWorkers(at now: Instant, into actions: inout [EngineStep]) {
    for worker in aliveWorkers {
      guard let due = workers[worker.index].nextDue, due <= now else { continue }
      if let complaint = complaint(of: worker, at: now) {
        discard(worker, complaint: complaint, into: &actions)
      } else {
        workers[worker.index].deadline.clear()
        ask(worker, at: now, into: &actions)
      }
    }
    guard let listenAt, listenAt <= now, !isSuspended else { return }
    self.listenAt = now.advanced(byMilliseconds: SchedulerOptions.listenMilliseconds)
    for worker in aliveWorkers where workers[worker.index].isListenedTo {
      if !workers[worker.index].wasHeard { ask(worker, at: now, into: &actions) }
      workers[worker.index].wasHeard = false
    }
  }

  /// Why a worker that owes something is given up; nil where it is to be asked first.
  private func complaint(of worker: WorkerID, at now: Instant) -> String? {
    let record = workers[worker.index]
    if let answerBy = record.answerBy, answerBy <= now {
      return "it gave no sign of life for \(SchedulerOptions.pulseMilliseconds / 1000) s"
    }
    if record.phase == .launching { return "it said no hello in time" }
    if record.isStopping || record.current.isNone {
      return "it did not end a stopped task in time"
    }
    switch record.kind {
    case .command: return "it did not end a task whose time was up"
    // Its time is for the transfer. To make durable what was transferred may take longer.
    case .download: return nil
    }
  }

  /// Asks for a sign of life, once.
  private mutating func ask(
    _ worker: WorkerID, at now: Instant, into actions: inout [EngineStep]
  ) {
    guard workers[worker.index].answerBy == nil else { return }
    workers[worker.index].answerBy = now.advanced(
      byMilliseconds: SchedulerOptions.pulseMilliseconds)
    pulseCount = pulseCount == .max ? 1 : pulseCount + 1
    actions.append(.order(worker, .pulse(pulseCount)))
  }
}

/// A moment by which something must have happened, which can be made to stand still.
struct Deadline {
  /// nil: none, or it stands still.
  private(set) var at: Instant?
  /// What is left while it stands still, in nanoseconds.
  private var left: Int64?

  mutating func set(_ at: Instant) {
    self.at = at
    left = nil
  }

  mutating func clear() {
    at = nil
    left = nil
  }

  mutating func pause(at now: Instant) {
    guard let at else { return }
    left = at.nanoseconds - now.nanoseconds
    self.at = nil
  }

  mutating func proceed(at now: Instant) {
    guard let left else { return }
    set(now.advanced(byNanoseconds: left))
  }

  mutating func postpone(by nanoseconds: Int64, atLeastTo least: Instant) {
    guard let at else { return }
    self.at = max(at.advanced(byNanoseconds: nanoseconds), least)
  }
}
