import OpflowDownload
import OpflowEngine
import OpflowPlan
import OpflowWire
import OpflowWorker

/// A possible next event.
struct Move {
  enum Kind {
    case hello, message, endOfTree, endOfLeftovers, endOfTransfer, placed, workerTimer, thaw
    case recorded, broughtBack
    case ready, givesUp
    case tokens
    case programSays, programReads, programOffers, blockEnds
    case report, loss, sync
  }
  var kind: Kind
  var worker: Int

  var isOfProgram: Bool {
    switch kind {
    case .programSays, .programReads, .programOffers, .blockEnds: true
    default: false
    }
  }

  /// It can happen after the coordinator died.
  var isOfWorker: Bool {
    switch kind {
    case .message, .endOfTree, .endOfLeftovers, .endOfTransfer, .placed, .workerTimer, .thaw,
      .recorded, .broughtBack, .ready, .givesUp, .tokens, .programReads, .blockEnds:
      true
    case .programSays, .programOffers, .hello, .report, .loss, .sync: false
    }
  }
}

extension SimulatedSession {
  func enabledMoves() -> [Move] {
    var moves: [Move] = []
    if syncing != nil { moves.append(Move(kind: .sync, worker: -1)) }
    for index in workers.indices {
      let worker = workers[index]
      let isHeard = !isUnheard(worker)
      if !isHeard, worker.phase != .talking { continue }
      switch worker.phase {
      case .gone: continue
      case .dead: moves.append(Move(kind: worker.outbox.isEmpty ? .loss : .report, worker: index))
      case .frozen:
        if !worker.outbox.isEmpty { moves.append(Move(kind: .report, worker: index)) }
        if thaws(index) { moves.append(Move(kind: .thaw, worker: index)) }
      case .launching: if !isSilent(index) { moves.append(Move(kind: .hello, worker: index)) }
      case .talking:
        if isHeard, !worker.inbox.isEmpty { moves.append(Move(kind: .message, worker: index)) }
        if isHeard, !worker.outbox.isEmpty { moves.append(Move(kind: .report, worker: index)) }
        switch worker.kind {
        case .command, .terminal, .service: addMoves(ofCommands: index, to: &moves)
        case .download: addMoves(ofDownloads: index, to: &moves)
        case .check, .block: break
        }
      }
    }
    if plan.hasExternalTasks { addMoves(ofPrograms: &moves) }
    return moves
  }

  private func addMoves(ofCommands index: Int, to moves: inout [Move]) {
    let tree = workers[index].commands.tree
    let canEnd = tree.map { !$0.hasLeftovers && endStatus(of: $0) != nil } ?? false
    if !workers[index].commands.recording.isNone {
      return moves.append(Move(kind: .recorded, worker: index))
    }
    addTimer(of: index, canEnd: canEnd, to: &moves)
    guard let tree else { return }
    addMoves(ofService: tree, index, to: &moves)
    if mayGiveBack(tree) { moves.append(Move(kind: .tokens, worker: index)) }
    if tree.isBroughtBack {
      moves.append(Move(kind: .broughtBack, worker: index))
    } else if tree.hasLeftovers {
      if tree.isKilled || tree.isAskedToEnd, !outlivesKill(tree) {
        moves.append(Move(kind: .endOfLeftovers, worker: index))
      }
    } else if canEnd {
      moves.append(Move(kind: .endOfTree, worker: index))
    }
  }

  private func addMoves(ofService tree: SimulatedTree, _ index: Int, to moves: inout [Move]) {
    guard let service = tasks[tree.task.index].service, tree.exists, !tree.isReady,
      !tree.isAskedToEnd, !tree.isKilled, !tree.hasLeftovers, !tree.isStopped
    else { return }
    switch service {
    case .serves, .endsInUse: moves.append(Move(kind: .ready, worker: index))
    case .neverReady: moves.append(Move(kind: .givesUp, worker: index))
    case .endsBeforeReady: break
    }
  }

  private func addMoves(ofDownloads index: Int, to moves: inout [Move]) {
    let downloads = workers[index].downloads
    let end = downloads.active.flatMap { endOfTransfer($0) }
    addTimer(of: index, canEnd: end != nil, to: &moves)
    if end != nil { moves.append(Move(kind: .endOfTransfer, worker: index)) }
    if downloads.settling != nil { moves.append(Move(kind: .placed, worker: index)) }
  }

  private func addTimer(of index: Int, canEnd: Bool, to moves: inout [Move]) {
    guard let deadline = workers[index].deadline, deadline <= now, !(injector.isNone && canEnd)
    else { return }
    moves.append(Move(kind: .workerTimer, worker: index))
  }

  private func endOfTransfer(_ transfer: SimulatedDownloads.Transfer) -> Outcome? {
    tasks[transfer.task.index].behaviour.outcome(ofDownload: transfer.attempt)
  }

  /// The leftover processes belong to another user.
  private func outlivesKill(_ tree: SimulatedTree) -> Bool {
    tasks[tree.task.index].leavesDescendants && !injector.isNone
      && (Int(tree.task.rawValue) &* 7 &+ plan.taskCount) % 3 == 0
  }

  /// Half of the frozen workers continue at some time.
  private func thaws(_ worker: Int) -> Bool { (worker &* 5 &+ plan.taskCount) % 2 == 0 }

  private func isSilent(_ worker: Int) -> Bool {
    injector.silentOneIn > 0 && (worker &* 7 &+ plan.taskCount) % injector.silentOneIn == 0
  }

  /// Returns how the task's process may end now; nil if it cannot.
  private func endStatus(of tree: SimulatedTree) -> ExitStatus? {
    if tree.isBroughtBack { return nil }
    if tree.isKilled { return .signal(9) }
    if tree.isStopped { return nil }
    let task = tasks[tree.task.index]
    if tree.isAskedToEnd, !task.ignoresStop { return .signal(15) }
    switch task.service {
    case nil: return task.behaviour.status(attempt: tree.attempt)
    case .serves, .neverReady: return nil
    case .endsBeforeReady(let code): return .exit(code)
    case .endsInUse(let last, let code):
      return tree.isReady && tree.attempt <= last && !injector.isNone ? .exit(code) : nil
    }
  }

  mutating func make(_ move: Move) throws(Finding) {
    if move.kind == .sync { return endSync() }
    if move.isOfProgram { return try make(ofProgram: move) }
    let index = move.worker
    let id = workers[index].id
    switch move.kind {
    case .sync, .programSays, .programReads, .programOffers, .blockEnds: break
    case .hello:
      workers[index].phase = .talking
      // The hello is delivered as this event.
      try tell(.workerReady(id, offer(of: workers[index])))
    case .message:
      let message = try workers[index].takeMessage(overWire: injector.usesWire)
      switch (message, workers[index].kind) {
      // The common loop of all workers answers it.
      case (.pulse(let number), _): workers[index].outbox.append(.pulse(number))
      case (.tokens(let task, let count), .command), (.tokens(let task, let count), .terminal):
        try takeTokens(task, count, of: index)
      case (.jobs(let task, let own, _), _): workers[index].tokens = (task, own)
      case (_, .command), (_, .terminal), (_, .service):
        try tell(commands: index, .message(message))
      case (_, .download): try tell(downloads: index, .message(message))
      case (.check(let check), .check): answer(check, of: index)
      case (.bye, .check): workers[index].phase = .dead
      case (_, .check): throw Finding("who looks at files was told \(message)")
      case (_, .block): throw Finding("a seat was told \(message)")
      }
    case .report: try deliver(workers[index].takeReport(overWire: injector.usesWire), from: id)
    case .loss:
      oracle.endAll(on: id)
      let task = engine.runningTask(of: id)
      if let tree = workers[index].commands.tree, tree.exists, !tree.isBroughtBack,
        outlivesKill(tree), task == tree.task
      {
        oracle.outliving.insert(task)
      }
      // The worker's own report of survivors may have been lost.
      if !task.isNone, oracle.outliving.contains(task) {
        try tell(.survived(id, SimulatedTree.survivors))
      }
      workers[index].forgetTasks()
      workers[index].phase = .gone
      lostWorkers += 1
      try tell(.workerLost(id, complaint: "it is gone"))
    case .workerTimer:
      switch workers[index].kind {
      case .command, .terminal, .service: try tell(commands: index, .timer)
      case .download: try tell(downloads: index, .timer)
      case .check, .block: break
      }
    case .endOfTransfer:
      guard let transfer = workers[index].downloads.active, let end = endOfTransfer(transfer)
      else { return }
      // Sometimes the requested file already exists.
      let settles = end.isSuccess && random.chance(90)
      try tell(
        downloads: index, settles ? .settles(transfer.task) : .ended(transfer.task, end))
    case .placed:
      guard let transfer = workers[index].downloads.settling else { return }
      let fails = !injector.isNone && random.chance(4)
      try tell(
        downloads: index, .ended(transfer.task, fails ? Self.noRoom : Outcome(status: .success)))
    case .endOfTree:
      guard let tree = workers[index].commands.tree, let status = endStatus(of: tree) else {
        return
      }
      let leaves = tasks[tree.task.index].leavesDescendants
      if leaves { workers[index].commands.tree?.hasLeftovers = true }
      try tell(commands: index, .reaped(status: status, isGone: !leaves))
    case .thaw: workers[index].phase = .talking
    case .ready:
      workers[index].commands.tree?.isReady = true
      guard let tree = workers[index].commands.tree else { return }
      try tell(commands: index, .ready(ports: tree.ports(plan)))
    case .tokens: giveBackTokens(of: index)
    case .givesUp: try tell(commands: index, .unready(detail: "it is not ready"))
    case .endOfLeftovers: try tell(commands: index, .reaped(status: nil, isGone: true))
    case .recorded:
      let commands = workers[index].commands
      try tell(
        commands: index,
        .recorded(record(commands.recording, isSuccess: commands.recordsSuccess)))
    case .broughtBack:
      guard let tree = workers[index].commands.tree else { return }
      if !injector.isNone, random.chance(10) {
        try tell(commands: index, .notBroughtBack)
        _ = workers[index].tell(.started(pid: 4000 + tree.task.rawValue), at: now)
      } else {
        try tell(commands: index, .broughtBack(record(tree.task, isSuccess: true)))
      }
    }
  }

  /// The result if a file cannot be put in place.
  private static let noRoom = Outcome(status: .unknown, reason: .fetchFinal, errorNumber: 28)

  /// Passes an event to a command worker, which may start a task.
  private mutating func tell(commands index: Int, _ event: WorkerEvent) throws(Finding) {
    let id = workers[index].id
    for end in workers[index].tell(event, at: now) { try oracle.end(end, on: id) }
    if workers[index].phase == .dead { oracle.endAll(on: id) }
    guard let tree = workers[index].commands.tree, !tree.exists else { return }
    if try lacksValue(tree.task, told: workers[index].commands.told) {
      _ = workers[index].tell(.valueMissing(detail: "there is none"), at: now)
      oracle.refuse(tree.task, tree.attempt)
    } else if lacksProcess(tree) {
      shortages += 1
      _ = workers[index].tell(.lacking(detail: "there is no process"), at: now)
    } else if case .isRefused = tasks[tree.task.index].behaviour,
      tasks[tree.task.index].service == nil
    {
      _ = workers[index].tell(.refused(errorNumber: 2, detail: "no such program"), at: now)
      oracle.refuse(tree.task, tree.attempt)
      // A prefetched task is returned then, so no process follows.
    } else if hasRunElsewhere(tree.task)
      || plan.hasChecks && plan.isChecked(tree.task) && !injector.isNone && random.chance(3)
    {
      // Another run of the state folder has finished it or is running it.
      for end in workers[index].tell(.busy, at: now) { try oracle.end(end, on: id) }
    } else {
      try noteStart(of: tree.task)
      workers[index].commands.tree?.exists = true
      try oracle.start(tree.task, tree.attempt, on: id, at: workers[index].node)
      try checkTokens(of: tree.task, workers[index].tokens)
      if mayBringBack(tree) {
        workers[index].commands.tree?.isBroughtBack = true
        _ = workers[index].tell(.bringingBack, at: now)
        return
      }
      _ = workers[index].tell(.started(pid: 4000 + tree.task.rawValue), at: now)
    }
  }

  /// Process shortages vary over time; when processes are short, launches fail too.
  private func lacksProcess(_ tree: SimulatedTree) -> Bool {
    injector.launchFailsOneIn > 0 && shortages < SchedulerOptions.maxShortages
      && (Int(tree.task.rawValue) &+ steps) % (2 * injector.launchFailsOneIn) == 0
  }

  /// True if a value that the task reads is missing, according to the worker's messages.
  private func lacksValue(_ task: TaskID, told: [TaskID: Int32?]) throws(Finding) -> Bool {
    guard let name = tasks[task.index].reads, let need = plan.task(named: name) else {
      return false
    }
    guard let left = read[task], told[need] == .some(left?.attempt) else {
      throw Finding(
        "\(plan.nameString(task)): it was to read try \(text(read[task]??.attempt)) of \(name), "
          + "and was told of \(text(told[need] ?? nil))")
    }
    return plan.lateItems(task).contains { item in
      let result = plan.evaluate(item.program, of: task) { _, name in
        guard let left else { return .noSuccess }
        return left.values.contains { $0.name.utf8.elementsEqual(name) } ? .text([]) : .absent
      }
      // A condition has been decided before.
      return item.slot != .condition && result.text == nil
    }
  }

  private func text(_ attempt: Int32?) -> String { attempt.map { "\($0)" } ?? "none" }

  /// Passes an event to a download worker. Observers see a download start when the worker reports
  /// it.
  private mutating func tell(downloads index: Int, _ event: DownloadWorkerEvent) throws(Finding) {
    let id = workers[index].id
    let before = workers[index].downloads.transfers
    for sight in try workers[index].tell(event, at: now) {
      switch sight {
      case .start(let task, let attempt):
        try oracle.start(task, attempt, on: id, at: workers[index].node)
      case .end(let end): try oracle.end(end, on: id)
      case .leave:
        workers[index].phase = .dead
        oracle.endAll(on: id)
      }
    }
    guard let last = workers[index].downloads.transfers.last,
      !before.contains(where: { $0.task == last.task && $0.attempt == last.attempt })
    else { return }
    for other in workers.indices where other != index && workers[other].phase != .gone {
      if workers[other].downloads.transfers.contains(where: { $0.task == last.task }) {
        throw Finding("\(plan.nameString(last.task)): two workers write its file")
      }
    }
  }

  private mutating func deliver(_ report: WorkerReport, from id: WorkerID) throws(Finding) {
    switch report {
    case .started(let task, let attempt, _): try tell(.started(id, task, attempt: attempt))
    case .fetched(let task, let attempt, let record):
      try tell(.fetched(id, task, attempt: attempt, record))
    case .value(let task, let attempt, let value):
      try tell(.value(id, task, attempt: attempt, value))
    case .fault(let task, let attempt, let detail):
      try tell(.fault(id, task, attempt: attempt, detail: detail))
    case .ended(let task, let attempt, let outcome):
      try tell(.ended(id, task, attempt: attempt, outcome))
    case .refused(let task, let attempt, let errorNumber, let detail):
      try tell(.refused(id, task, attempt: attempt, errorNumber: errorNumber, detail: detail))
    case .revoked(let task, let attempt): try tell(.revoked(id, task, attempt: attempt))
    case .lacks(let task, let attempt, let detail):
      try tell(.lacks(id, task, attempt: attempt, detail: detail))
    case .kept(let task, let serial, let value):
      try tell(.keptValue(id, task, serial: serial, value))
    case .checked(let task, let serial, let result):
      try tell(.checked(id, task, serial: serial, result))
    case .recorded(let task, let attempt, let origin):
      try tell(.recorded(id, task, attempt: attempt, origin: origin))
    case .changed(let task, let attempt, let detail):
      try tell(.discarded(id, task, attempt: attempt, detail: detail))
    case .restored(let task, let attempt):
      try tell(.restored(id, task, attempt: attempt))
    case .ready(let task, let attempt, let ports):
      try tell(.ready(id, task, attempt: attempt, ports: ports))
    case .tokens(let task, let count): try tell(.tokens(id, task, count))
    case .pulse: try tell(.heard(id))
    case .left(let task, let attempt, let left):
      oracle.toldOutliving.insert(task)
      try tell(.left(id, task, attempt: attempt, left))
    case .hello, .progress, .awaits, .warning: break
    }
  }

  /// Injects a fault; returns true if it used up the step.
  mutating func disturb() throws(Finding) -> Bool {
    guard hasBegun, !engine.isClosing else { return false }
    let roll = random.below(1000)
    var limit = injector.losesWorker
    if roll < limit {
      let alive = workers.indices.filter {
        switch workers[$0].phase {
        case .talking, .launching, .frozen: true
        case .dead, .gone: false
        }
      }
      guard !alive.isEmpty else { return false }
      let victims = victims(among: alive)
      workers[victims[random.below(victims.count)]].phase = .dead
      return true
    }
    limit += injector.freezes
    if roll < limit {
      let talking = workers.indices.filter { workers[$0].phase == .talking }
      guard !talking.isEmpty else { return false }
      workers[talking[random.below(talking.count)]].phase = .frozen
      return true
    }
    limit += injector.suspends
    if roll < limit {
      try tell(oracle.isSuspended ? .proceed : .suspend)
      return true
    }
    limit += injector.cancels
    if roll < limit {
      let cause: StopCause = random.chance(50) ? .request : .signal(2)
      // A signal to a serving run ends it normally.
      if case .signal = cause, engine.isServing {
        try tell(.stop(cause))
        return true
      }
      if stopCause == nil { stopCause = cause }
      oracle.endHolds()
      try tell(.stop(cause))
      return true
    }
    limit += injector.kills
    if roll < limit {
      wasKilled = true
      if stopCause == nil { stopCause = .request }
      oracle.endHolds()
      try tell(.kill)
      return true
    }
    limit += injector.jumpsClock
    if roll < limit {
      let gap = Int64(random.below(4_000)) * 10_000_000
      now.nanoseconds += gap
      // The coordinator may have been frozen.
      if random.chance(50) { try tell(.late(nanoseconds: gap)) }
      wallMilliseconds += Int64(random.below(200_000)) - 100_000
      return true
    }
    limit += injector.changesNodes
    if roll < limit, options.usesNodes {
      try changeNodes()
      return true
    }
    limit += injector.exhaustsNodes
    if roll < limit, options.usesNodes {
      try exhaustNodes()
      return true
    }
    limit += injector.changesCapacities
    if roll < limit {
      try changeCapacity()
      return true
    }
    limit += injector.changesPriorities
    if roll < limit {
      try changePriorities()
      return true
    }
    limit += injector.requests
    if roll < limit {
      try request()
      return true
    }
    limit += injector.lies
    if roll < limit { return try lie() }
    // With endless client faults, a large plan's external tasks would never finish.
    if steps < mostSteps / 2 { limit += injector.troublesPrograms }
    if roll < limit {
      try disturbPrograms()
      return true
    }
    return false
  }

  /// A worker reports a task that it does not have.
  private mutating func lie() throws(Finding) -> Bool {
    let talking = workers.indices.filter { workers[$0].phase == .talking }
    guard !talking.isEmpty else { return false }
    let liar = workers[talking[random.below(talking.count)]].id
    let task = TaskID(random.below(plan.taskCount + 2))
    if plan.tasks.contains(task.index) {
      switch engine.state(task) {
      case .prefetched, .running, .suspended: return false
      default: break
      }
    }
    let attempt = Int32(random.below(4))
    switch random.below(3) {
    case 0: try tell(.started(liar, task, attempt: attempt))
    case 1: try tell(.ended(liar, task, attempt: attempt, Outcome(status: .success)))
    default: try tell(.revoked(liar, task, attempt: attempt))
    }
    return true
  }
}
