internal import OpflowJournal
internal import OpflowPlan
internal import OpflowRuntime
internal import OpflowSystem
internal import Synchronization

extension QueueReader {
  func look() throws(QueueError) {
    // Avoids copies on changes.
    guard var run = self.run.take() else { return }
    let isFirst = !hasLooked
    hasLooked = true
    defer { lookedAt = Clock.monotonicNanoseconds }
    defer { self.run = run }
    do throws(RunFolderError) {
      // A connected coordinator holds the run.
      try run.look(isHeld: link?.hasEnded == false ? true : nil, tellsAnew: true) {
        line, model, plan in
        let isAnew = line.sequence <= lastTold
        lastTold = line.sequence
        if isFirst {
          lastSequence = max(lastSequence, line.sequence)
          return
        }
        // The journal is being reread with another plan.
        if isAnew { placedPlan = nil }
        if line.sequence <= lastSequence, unheard.remove(line.sequence) == nil { return }
        lastSequence = max(lastSequence, line.sequence)
        take(line, model, plan)
      }
    } catch {
      throw QueueError(error)
    }
    place(run.plan)
    if isFirst {
      takeAll(run.model, run.plan)
      changes = []
      finished = []
      isPlacedAnew = false
    }
    if isPlacedAnew {
      takeAll(run.model, run.plan)
      withdrawRest(run.model.lastMilliseconds)
    }
    lookAtProgress(run)
    let isPaused = run.model.orders.ofRun(.pause) != nil
    for place in finished where board.table.withLock({ $0[place].state.isSuccess }) {
      blocks.forget(place)
    }
    board.tell(changes, finished, isPaused: isPaused)
    changes.removeAll(keepingCapacity: changes.capacity <= 1 << 14)
    finished.removeAll(keepingCapacity: true)
  }

  private func take(_ line: JournalLine, _ model: RunModel, _ plan: Plan) {
    place(plan)
    switch line.event {
    case .transition:
      if let task = plan.task(escapedName: line.task) {
        update(task, model, line.milliseconds)
      } else if !line.task.isEmpty {
        unheard.insert(line.sequence)
      }
      if model.begun.sequence == line.sequence, !model.begun.task.isNone {
        update(model.begun.task, model, line.milliseconds)
      }
    case .order:
      guard let order = line.order(plan: plan) else { return }
      if order.lacksTasks { unheard.insert(line.sequence) }
      for task in order.tasks { update(task, model, line.milliseconds) }
      for task in order.back { update(task, model, line.milliseconds) }
    case .extend:
      guard let entry = line.extend(plan: plan) else { return }
      if entry.taskCount > places.count { unheard.insert(line.sequence) }
      let range = max(0, entry.taskCount - entry.added)..<min(entry.taskCount, places.count)
      if isOurs(entry.id), range.lowerBound <= range.upperBound {
        added[entry.id] = Array(places[range])
      }
    // Skips have their own lines; new tasks with the names take their places.
    case .withdraw: break
    // Reruns have their own lines; earlier successes are of an earlier session now.
    case .resume: takeAll(model, plan)
    case .open, .close, .worker, .stop, .site, .unknown: break
    }
  }

  private func isOurs(_ id: OrderID) -> Bool { addOnItsWay?.id == id }

  private func place(_ plan: Plan) {
    if placedPlan === plan { return }
    // A grown plan keeps its numbers; a resume's may not.
    let from = placedPlan == nil ? 0 : min(places.count, plan.taskCount)
    if from == 0 {
      places = []
      isPlacedAnew = true
    }
    places.reserveCapacity(plan.taskCount)
    board.table.withLock { table in
      for number in from..<plan.taskCount {
        places.append(table.insert(plan.nameString(TaskID(number))))
      }
      for number in from..<plan.taskCount {
        let needs = plan.needs(TaskID(number)).map { edge in
          EntryNeed(
            place: places[Int(plan.needTargets[edge])], condition: plan.needCondition(edge))
        }
        if !needs.isEmpty { table.update(places[number]) { $0.needs = needs } }
      }
    }
    placedPlan = plan
  }

  private func takeAll(_ model: RunModel, _ plan: Plan) {
    for number in plan.tasks { update(TaskID(number), model, model.lastMilliseconds) }
  }

  /// Marks tasks as skipped that the run lost on a resume.
  private func withdrawRest(_ milliseconds: Int64) {
    isPlacedAnew = false
    let known = Set(places)
    let withdrawn = board.table.withLock { table in
      table.entries.indices.map { Int32(truncatingIfNeeded: $0) }.filter { place in
        !known.contains(place) && table.update(place) { $0.withdraw() }
      }.map {
        RawChange(
          place: $0, attempt: table[$0].attempts, state: .skipped, milliseconds: milliseconds)
      }
    }
    changes += withdrawn
    finished += withdrawn.map(\.place)
  }

  private func update(_ task: TaskID, _ model: RunModel, _ milliseconds: Int64) {
    guard task.index < places.count else { return }
    let place = places[task.index]
    let record = model[task]
    let change = board.table.withLock { table -> RawChange? in
      let isOther = table.update(place) { $0.take(record, in: model, task) }
      guard isOther else { return nil }
      let entry = table[place]
      return RawChange(
        place: place, attempt: entry.attempts, state: entry.state, milliseconds: milliseconds,
        progress: entry.progress)
    }
    guard let change else { return }
    changes.append(change)
    if change.state.isFinished { finished.append(place) }
  }

  // MARK: - Downloads

  /// The file is replaced once a second.
  private func lookAtProgress(_ run: FollowedRun) {
    guard run.plan.hasDownloads, let status = try? Path.status(run.folder.progress),
      status.identity != progressIdentity
    else { return }
    progressIdentity = status.identity
    for (task, entry) in run.folder.readProgress(plan: run.plan) {
      guard task.index < places.count, run.model[task].attempts == entry.attempt else { continue }
      let place = places[task.index]
      let told = TaskProgress(
        doneBytes: entry.progress.doneBytes, totalBytes: entry.progress.totalBytes,
        bytesPerSecond: entry.progress.bytesPerSecond, resumedBytes: entry.progress.resumedBytes)
      let state = board.table.withLock { table -> TaskStatus? in
        guard table[place].state == .running, table[place].progress != told else { return nil }
        table.update(place) { $0.progress = told }
        return .running
      }
      guard let state else { continue }
      changes.append(
        RawChange(
          place: place, attempt: entry.attempt, state: state,
          milliseconds: entry.progress.toldMilliseconds, progress: told))
    }
  }
}
