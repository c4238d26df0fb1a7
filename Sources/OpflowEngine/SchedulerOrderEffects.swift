internal import OpflowJournal
internal import OpflowPlan
internal import OpflowWire

extension Scheduler {
  mutating func pause(into actions: inout StepQueue) {
    phase.isPaused = true
    for worker in workforce.living { takeBackAll(of: worker, into: &actions) }
  }

  mutating func cancel(
    _ tasks: [TaskID], at now: Instant, into actions: inout StepQueue
  ) {
    let pending = tasks.filter { !graph.state($0).isRunning }
    for (task, worker) in workersRunning(tasks) {
      graph.mark(task, .cancelling)
      let record = workforce.workers[worker.index]
      if record.isDiscarded || record.isStopping { continue }
      stopCurrent(of: worker, .cancel, at: now, into: &actions)
    }
    forget(pending)
    for task in pending {
      cancelled += 1
      graph.set(task, .cancelled)
    }
    // Closed before the first end, which could withdraw them.
    let questions = takeQuestions(of: tasks)
    for task in pending { spread(from: task, into: &actions) }
    for (task, open) in questions { end(task, open, .cancelled, at: now, into: &actions) }
  }

  mutating func takeBackResults(of tasks: [TaskID], into actions: inout StepQueue) {
    for task in tasks { takeBack(task, .asked, into: &actions) }
  }

  mutating func skip(_ tasks: [TaskID], into actions: inout StepQueue) {
    forget(tasks)
    for task in tasks { graph.set(task, .skipped) }
    for task in tasks { spread(from: task, into: &actions) }
  }

  /// Ends the delays and holds of tasks that get their end.
  mutating func forget(_ tasks: [TaskID]) {
    var delayed: Set<TaskID> = []
    for task in tasks {
      if graph.has(.delayed, task) { delayed.insert(task) }
      graph.unmark(task, .delayed)
      graph.unmark(task, .held)
      release(task)
      withheld[task] = nil
    }
    if !delayed.isEmpty { timers.remove { delayed.contains($0.task) } }
  }

  mutating func release(_ task: TaskID) {
    graph.unmark(task, .onHold)
    onHold.remove(task)
  }

  mutating func suspend(
    _ tasks: [TaskID], at now: Instant, into actions: inout StepQueue
  ) {
    for task in tasks {
      graph.mark(task, .onHold)
      onHold.insert(task)
    }
    for (task, worker) in workersRunning(tasks) {
      workforce.watch.pause(worker, at: now)
      workforce.noteStandstill(true, of: worker)
      takeBackAll(of: worker, into: &actions)
      if graph.state(task) == .running { graph.set(task, .suspended) }
      keepBack(task)
      if workforce.workers[worker.index].isDiscarded { continue }
      actions.append(.order(worker, .suspend(task, attempt: attempt[task.index])))
    }
  }

  mutating func proceed(
    _ tasks: [TaskID], at now: Instant, into actions: inout StepQueue
  ) {
    for task in tasks { release(task) }
    for (task, worker) in workersRunning(tasks) {
      workforce.noteStandstill(false, of: worker)
      if phase.isSuspended { continue }
      workforce.watch.proceed(worker, at: now)
      if graph.state(task) == .suspended { graph.set(task, .running) }
      if workforce.workers[worker.index].isDiscarded { continue }
      actions.append(.order(worker, .proceed(task, attempt: attempt[task.index])))
    }
  }

  /// Continues suspended `finally` tasks, to which a stop must lead.
  mutating func letFinallyGo(at now: Instant, into actions: inout StepQueue) {
    let tasks = onHold.filter { plan.flags($0).contains(.finally) }
      .sorted { $0.rawValue < $1.rawValue }
    if tasks.isEmpty { return }
    proceed(tasks, at: now, into: &actions)
    for task in tasks { letGo(task) }
  }

  private func workersRunning(_ tasks: [TaskID]) -> [(TaskID, WorkerID)] {
    let running = tasks.filter { graph.state($0).isRunning }
    if running.isEmpty { return [] }
    let wanted = Set(running)
    return workforce.living.compactMap { worker in
      let task = workforce.workers[worker.index].current
      return wanted.contains(task) ? (task, worker) : nil
    }
  }
}
