import OpflowEngine
import OpflowPlan
import OpflowWire

/// Clients that connect, offer external tasks, run them and disconnect.
extension SimulatedSession {
  private var blocks: [TaskID] {
    plan.hasExternalTasks
      ? plan.tasks.lazy.map { TaskID($0) }.filter { plan.kind($0) == .block } : []
  }

  mutating func comeProgram() {
    programs.append(SimulatedProgram(ClientID(Int32(programs.count + 1))))
    log?("    program \(programs.count) comes")
  }

  func addMoves(ofPrograms moves: inout [Move]) {
    for index in programs.indices where !programs[index].isOver {
      let program = programs[index]
      if !program.outbox.isEmpty { moves.append(Move(kind: .programSays, worker: index)) }
      guard program.isThere else { continue }
      if !program.inbox.isEmpty { moves.append(Move(kind: .programReads, worker: index)) }
      // Ended attempts run for a while, to reveal a restart that comes too early.
      if program.running.contains(where: { endStatus(of: $0) != nil && !lingers($0) }) {
        moves.append(Move(kind: .blockEnds, worker: index))
      }
      if !openBlocks(of: program).isEmpty {
        moves.append(Move(kind: .programOffers, worker: index))
      }
    }
  }

  /// Returns the tasks that the client may offer: not those that still run in it.
  private func openBlocks(of program: SimulatedProgram) -> [TaskID] {
    blocks.filter { task in
      !program.offers.contains(task) && mayOffer(task, program)
        && !program.running.contains { $0.task == task }
    }
  }

  /// Undisturbed, each client offers all tasks; else clients have different subsets that overlap.
  private func mayOffer(_ task: TaskID, _ program: SimulatedProgram) -> Bool {
    injector.isNone || (task.index &* 7 &+ Int(program.id.rawValue) &* 3) % 5 < 3
  }

  private func endStatus(of tried: SimulatedProgram.Try) -> ExitStatus? {
    let task = tasks[tried.task.index]
    if tried.isAsked {
      // An attempt that ignores the request may end any time after its journaled end.
      if !task.ignoresStop { return .exit(1) }
      if oracle.lingers(tried.task, tried.attempt) { return .exit(1) }
    }
    return task.behaviour.status(attempt: tried.attempt)
  }

  mutating func make(ofProgram move: Move) throws(Finding) {
    let index = move.worker
    switch move.kind {
    case .programSays: try say(index)
    case .programReads: try read(index)
    case .programOffers:
      let open = openBlocks(of: programs[index])
      let task = open[random.below(open.count)]
      programs[index].offers.insert(task)
      programs[index].outbox.append(.offers(task))
    case .blockEnds:
      let able = programs[index].running.indices.filter {
        endStatus(of: programs[index].running[$0]) != nil && !lingers(programs[index].running[$0])
      }
      try end(able[random.below(able.count)], in: index)
    default: break
    }
  }

  private func lingers(_ tried: SimulatedProgram.Try) -> Bool {
    !injector.isNone && oracle.lingers(tried.task, tried.attempt)
  }

  private mutating func end(_ place: Int, in index: Int) throws(Finding) {
    let tried = programs[index].running.remove(at: place)
    guard let status = endStatus(of: tried) else { return }
    let outcome = Outcome(status: status)
    try oracle.endExternalTask(tried.task, tried.attempt, outcome)
    programs[index].outbox.append(.ended(tried.task, attempt: tried.attempt, outcome, detail: ""))
  }

  /// Called when only a deadline could follow. Returns whether a client connected, or an ended
  /// attempt ended in its client, too.
  mutating func letProgramsGoOn() throws(Finding) -> Bool {
    if bringProgram() { return true }
    for index in programs.indices {
      guard let place = programs[index].running.firstIndex(where: { lingers($0) }) else { continue }
      try end(place, in: index)
      return true
    }
    return false
  }

  private mutating func say(_ index: Int) throws(Finding) {
    let fact = programs[index].outbox.removeFirst()
    if case .gone = fact { programs[index].isOver = true }
    try tell(.block(programs[index].id, fact))
  }

  private mutating func read(_ index: Int) throws(Finding) {
    let (message, slot) = programs[index].inbox.removeFirst()
    switch message {
    case .run(let task, let attempt):
      guard programs[index].offers.contains(task) else {
        programs[index].outbox.append(.gaveBack(task, attempt: attempt))
        return
      }
      try oracle.startBlock(task, attempt, on: slot)
      programs[index].running.append(
        SimulatedProgram.Try(task: task, attempt: attempt, slot: slot))
    case .stop(let task, let attempt, _):
      for place in programs[index].running.indices
      where programs[index].running[place].task == task
        && programs[index].running[place].attempt == attempt
      {
        programs[index].running[place].isAsked = true
      }
    default: throw Finding("a program was told \(message)")
    }
  }

  /// Adds the worker that came with a client.
  mutating func takeSlot(_ worker: WorkerID, in program: ClientID) throws(Finding) {
    guard worker.index == workers.count else { throw Finding("a worker's number was given twice") }
    slots[worker] = program
    workers.append(
      SimulatedWorker(id: worker, kind: .block, node: .local, plan: source))
    workers[worker.index].phase = .gone
  }

  /// True if no process reads the worker's messages.
  func isUnheard(_ worker: WorkerID) -> Bool {
    if let program = slots[worker] {
      return !programs.contains { $0.id == program && $0.isThere }
    }
    return switch workers[worker.index].phase {
    case .launching, .talking, .frozen: false
    case .dead, .gone: true
    }
  }

  /// Queues a message for the client of a slot.
  mutating func send(_ message: WorkerMessage, toSlot slot: WorkerID, of program: ClientID) {
    guard let index = programs.firstIndex(where: { $0.id == program }), programs[index].isThere
    else { return }
    programs[index].inbox.append((message, slot))
  }

  /// Disconnects a client; its unread messages may be lost.
  mutating func loseProgram(_ index: Int) {
    log?("    program \(programs[index].id.rawValue) goes")
    programs[index].isThere = false
    for tried in programs[index].running { oracle.cutShort(tried.task, tried.attempt) }
    programs[index].running = []
    programs[index].inbox = []
    if random.chance(50), programs[index].outbox.first != .joined {
      programs[index].outbox.removeAll()
    }
    programs[index].outbox.append(.gone(complaint: "it is gone"))
  }

  /// Injects a client fault.
  mutating func disturbPrograms() throws(Finding) {
    let there = programs.indices.filter { programs[$0].isThere }
    switch random.below(4) {
    // A new client may offer all tasks again.
    case 0: if programs.count < 12 { comeProgram() }
    case 1:
      if let index = there.randomElement(using: &random) { loseProgram(index) }
    case 2:
      guard let index = there.randomElement(using: &random),
        let task = programs[index].offers.sorted(by: { $0.rawValue < $1.rawValue })
          .randomElement(using: &random)
      else { return }
      programs[index].offers.remove(task)
      programs[index].outbox.append(.retracts(task))
    default:
      // It reports a task that it does not run.
      guard let index = there.randomElement(using: &random),
        programs[index].outbox.first != .joined
      else { return }
      let task = TaskID(random.below(plan.taskCount + 2))
      let attempt = Int32(random.below(4))
      let isTrue = programs[index].running.contains { $0.task == task && $0.attempt == attempt }
      let isUnread = programs[index].inbox.contains {
        $0.message.start.map { $0.task == task && $0.attempt == attempt } ?? false
      }
      let isUnsent =
        plan.tasks.contains(task.index) && engine.state(task).isRunning
        && engine.attempt(of: task) == attempt
      if isTrue || isUnread || isUnsent { return }
      try tell(
        .block(
          programs[index].id, .ended(task, attempt: attempt, Outcome(status: .success), detail: ""))
      )
    }
  }

  /// Called when no other move is possible: adds a client or an offer if an external task lacks
  /// one. Returns whether it did.
  mutating func bringProgram() -> Bool {
    guard !engine.isClosing, blocks.contains(where: { engine.state($0) == .ready }) else {
      return false
    }
    let there = programs.indices.filter { programs[$0].isThere }
    for index in there {
      let open = blocks.first {
        engine.state($0) == .ready && !programs[index].offers.contains($0)
      }
      if let open, !programs[index].running.contains(where: { $0.task == open }) {
        programs[index].offers.insert(open)
        programs[index].outbox.append(.offers(open))
        return true
      }
    }
    guard there.count < 4 else { return false }
    comeProgram()
    return true
  }
}
