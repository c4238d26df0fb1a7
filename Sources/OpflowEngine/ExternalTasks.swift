internal import OpflowPlan
internal import OpflowWire

/// External tasks (action `block`) and the clients that run them.
///
/// A client connects, offers tasks, retracts offers and disconnects at any time. Each attempt in it
/// is a worker of kind `block`, a *slot*. Free slots take the next attempts.
///
///     waiting ──offered──> ready ──> running in P ──> ended
///        ^  <──retracted───┘            │ │ │
///        │                              │ │ └─ grace is over: the task has ended, P is *draining*
///        ├──── P returns it ────────────┘ │
///        └──── P disconnects ─────────────┘
///
/// No client offers a *waiting* task. A *draining* attempt has not ended in time: its task cannot
/// start anywhere until that client ends the attempt or disconnects.
///
/// Crashes and races:
///
///     the client died after          journal    then the task
///     its offer                      nothing    waits for another offer
///     start journaled, not sent      start      is interrupted, which costs no attempt, and waits
///     start sent, not read           start      the same
///     it ran, or ended unread        start      the same: runs again, or fails by `on_interrupted`
///     `ended` was read               success, … has ended
///     its grace was over             cancel, …  has ended; nothing drains any more
///
///     opflow died                    start      is interrupted by the resume; the client stops it,
///                                               and offers the next session tasks that have ended
///
///     it ended, start not sent       start, …   has ended, and the start is never sent
///
///     two messages crossed
///     `withdraw` and `run`           start      comes back unstarted (`revoked`), costs nothing
///     `stop` and `ended`             its end    the client ignores the stop
///     `ended` and the end of grace   its end    the late message is ignored, by its attempt number
///
/// Messages about unknown attempts may be late, and are ignored.
struct ExternalTasks {
  private struct Program {
    var offers: Set<TaskID> = []
    var slots: [WorkerID] = []
    var free: [WorkerID] = []
  }

  private struct ExternalSlot {
    let program: ClientID
    var task = TaskID.none
    var since = Instant(nanoseconds: 0)
    var stop: EndReason?
  }

  private struct Draining: Equatable {
    let program: ClientID
    let attempt: Int32
  }

  private var programs: [ClientID: Program] = [:]
  private var offers: [TaskID: [ClientID]] = [:]
  private var slots: [WorkerID: ExternalSlot] = [:]
  private var holders: [TaskID: WorkerID] = [:]
  private var draining: [TaskID: Draining] = [:]
  private(set) var waiting: Set<TaskID> = []

  func isOffered(_ task: TaskID) -> Bool { offers[task] != nil && draining[task] == nil }

  // MARK: - Clients

  mutating func join(_ program: ClientID) { programs[program] = Program() }

  /// - Returns: True if the task can only now start.
  mutating func offer(_ task: TaskID, by program: ClientID) -> Bool {
    guard programs[program]?.offers.insert(task).inserted == true else { return false }
    offers[task, default: []].append(program)
    return offers[task]?.count == 1 && isOffered(task)
  }

  /// - Returns: True if the task could start before and cannot now.
  mutating func retract(_ task: TaskID, by program: ClientID) -> Bool {
    guard programs[program]?.offers.remove(task) != nil else { return false }
    return removeOffer(of: task, by: program)
  }

  private mutating func removeOffer(of task: TaskID, by program: ClientID) -> Bool {
    let wasOffered = isOffered(task)
    offers[task]?.removeAll { $0 == program }
    if offers[task]?.isEmpty == true { offers[task] = nil }
    return wasOffered && !isOffered(task)
  }

  struct Disconnect {
    var slots: [WorkerID] = []
    var unoffered: [TaskID] = []
    /// Tasks that were draining here.
    var offered: [TaskID] = []
  }

  mutating func remove(_ program: ClientID) -> Disconnect {
    var disconnect = Disconnect()
    guard let gone = programs.removeValue(forKey: program) else { return disconnect }
    disconnect.slots = gone.slots
    for task in gone.offers.sorted(by: { $0.rawValue < $1.rawValue })
    where removeOffer(of: task, by: program) { disconnect.unoffered.append(task) }
    for slot in gone.slots {
      if let task = slots.removeValue(forKey: slot)?.task, !task.isNone { holders[task] = nil }
    }
    let over = draining.filter { $0.value.program == program }.keys
    for task in over.sorted(by: { $0.rawValue < $1.rawValue }) {
      draining[task] = nil
      if isOffered(task) { disconnect.offered.append(task) }
    }
    return disconnect
  }

  // MARK: - Slots

  /// Returns the offering client with the fewest running tasks, and a free slot, if any.
  func place(for task: TaskID) -> (program: ClientID, slot: WorkerID?)? {
    guard isOffered(task) else { return nil }
    var best: (program: ClientID, slot: WorkerID?, busy: Int)?
    for number in offers[task] ?? [] {
      guard let program = programs[number] else { continue }
      let busy = program.slots.count - program.free.count
      if best.map({ busy < $0.busy }) ?? true { best = (number, program.free.last, busy) }
    }
    return best.map { ($0.program, $0.slot) }
  }

  mutating func sit(_ task: TaskID, on slot: WorkerID, in program: ClientID, at now: Instant) {
    if slots[slot] == nil { programs[program]?.slots.append(slot) }
    programs[program]?.free.removeAll { $0 == slot }
    slots[slot] = ExternalSlot(program: program, task: task, since: now)
    holders[task] = slot
  }

  mutating func free(_ slot: WorkerID) {
    guard let taken = slots[slot], !taken.task.isNone else { return }
    holders[taken.task] = nil
    slots[slot] = ExternalSlot(program: taken.program)
    programs[taken.program]?.free.append(slot)
  }

  func holder(of task: TaskID, in program: ClientID) -> WorkerID? {
    holders[task].flatMap { slots[$0]?.program == program ? $0 : nil }
  }

  func program(of slot: WorkerID) -> ClientID? { slots[slot]?.program }

  func since(_ slot: WorkerID) -> Instant { slots[slot]?.since ?? Instant(nanoseconds: 0) }

  mutating func note(stop reason: EndReason, of slot: WorkerID) {
    // A timeout stays the reason.
    if slots[slot]?.stop != .timeout { slots[slot]?.stop = reason }
  }

  func stopReason(_ slot: WorkerID) -> EndReason? { slots[slot]?.stop }

  // MARK: - Attempts that run beyond their end

  /// The client may still run an attempt whose task ends now.
  mutating func drain(_ slot: WorkerID, attempt: Int32) {
    guard let taken = slots[slot], !taken.task.isNone else { return }
    draining[taken.task] = Draining(program: taken.program, attempt: attempt)
  }

  /// Returns true if the task can start now.
  mutating func endDraining(_ task: TaskID, attempt: Int32, in program: ClientID) -> Bool {
    guard draining[task] == Draining(program: program, attempt: attempt) else { return false }
    draining[task] = nil
    return isOffered(task)
  }

  // MARK: - Waiting

  mutating func wait(_ task: TaskID) { waiting.insert(task) }

  mutating func stopWaiting(_ task: TaskID) -> Bool { waiting.remove(task) != nil }

  mutating func removeWaiting() -> [TaskID] {
    defer { waiting.removeAll() }
    return waiting.sorted { $0.rawValue < $1.rawValue }
  }

  // MARK: - Checks

  func checkInvariants(_ workforce: Workforce) -> String? {
    for (number, program) in programs {
      for task in program.offers where offers[task]?.contains(number) != true {
        return "an offer is recorded on one side only"
      }
      for slot in program.slots {
        guard let taken = slots[slot], taken.program == number else {
          return "a slot belongs to no client"
        }
        if program.free.contains(slot) != taken.task.isNone { return "a slot is free and taken" }
        let record = workforce.workers[slot.index]
        if record.current != taken.task || record.kind != .block {
          return "slot \(slot.rawValue) and its worker have different tasks"
        }
      }
    }
    for (task, numbers) in offers
    where numbers.isEmpty
      || numbers.contains(where: { programs[$0]?.offers.contains(task) != true })
    {
      return "an offer is recorded on one side only"
    }
    if slots.count != programs.values.reduce(0, { $0 + $1.slots.count }) {
      return "slots are miscounted"
    }
    let busy = slots.filter { !$0.value.task.isNone }
    if busy.count != holders.count || busy.contains(where: { holders[$0.value.task] != $0.key }) {
      return "an external task is held twice"
    }
    let living = workforce.living.count { workforce.workers[$0.index].kind == .block }
    if living != slots.count { return "\(slots.count) slots, \(living) workers" }
    for task in draining.keys where holders[task] != nil { return "an external task runs twice" }
    return nil
  }
}

extension Scheduler {
  @inline(__always)
  func isExternal(_ task: TaskID) -> Bool { plan.hasExternalTasks && plan.kind(task) == .block }

  mutating func take(_ fact: ExternalTaskFact, of program: ClientID) {
    switch fact {
    case .joined: blocks.join(program)
    case .offers(let task):
      guard plan.tasks.contains(task.index), isExternal(task) else { return }
      if blocks.offer(task, by: program) { admit(task) }
    case .retracts(let task): if blocks.retract(task, by: program) { keepWaiting(task) }
    case .ended(let task, let attempt, let outcome, let detail):
      externalTaskEnded(task, attempt, outcome, detail, in: program)
    case .gaveBack(let task, let attempt):
      if blocks.retract(task, by: program) { keepWaiting(task) }
      guard let slot = slot(of: task, attempt, in: program) else {
        if blocks.endDraining(task, attempt: attempt, in: program) { admit(task) }
        return
      }
      revoked(slot, task, attempt)
    case .gone(let complaint):
      let disconnect = blocks.remove(program)
      for task in disconnect.unoffered { keepWaiting(task) }
      for slot in disconnect.slots { lose(slot, complaint: complaint) }
      for task in disconnect.offered { admit(task) }
    }
  }

  private mutating func admit(_ task: TaskID) {
    if blocks.stopWaiting(task) { offer(task) }
  }

  private mutating func keepWaiting(_ task: TaskID) {
    // A held task is offered again when it is released.
    guard graph.state(task) == .ready, !graph.has(.held, task) else { return }
    ready.take(ranking.rank[task.index], demandClass: resources.demandClass(of: task))
    blocks.wait(task)
  }

  // MARK: - Starting

  mutating func slot(for task: TaskID) -> WorkerID {
    guard let place = blocks.place(for: task) else {
      preconditionFailure("no client offers the external task to start")
    }
    let slot: WorkerID
    if let free = place.slot {
      workforce.engage(free)
      slot = free
    } else {
      slot = workforce.enlist(.block, at: now)
      steps.append(.slot(slot, place.program))
    }
    blocks.sit(task, on: slot, in: place.program, at: now)
    let limit = plan.policy(task).timeoutMilliseconds
    if limit > 0, options.watchesWorkers {
      workforce.watch.setDeadline(
        of: slot, at: now.advanced(byMilliseconds: Int64(clamping: limit)))
    }
    return slot
  }

  mutating func dropUnsent(_ worker: WorkerID, _ task: TaskID, _ attempt: Int32, at now: Instant)
    -> Bool
  {
    let record = workforce.workers[worker.index]
    guard record.kind == .block, record.current != task || self.attempt[task.index] != attempt
    else { return false }
    guard let program = blocks.program(of: worker) else { return true }
    let never = Outcome(status: .unknown)
    handle(.block(program, .ended(task, attempt: attempt, never, detail: "")), at: now)
    return true
  }

  // MARK: - Ending

  private func slot(of task: TaskID, _ attempt: Int32, in program: ClientID) -> WorkerID? {
    guard plan.tasks.contains(task.index), self.attempt[task.index] == attempt else { return nil }
    return blocks.holder(of: task, in: program)
  }

  private mutating func externalTaskEnded(
    _ task: TaskID, _ attempt: Int32, _ told: Outcome, _ detail: String, in program: ClientID
  ) {
    guard let slot = slot(of: task, attempt, in: program) else {
      if blocks.endDraining(task, attempt: attempt, in: program) { admit(task) }
      return
    }
    var outcome = told
    outcome.errorNumber = 0
    // The engine knows why it stopped the attempt. A success is still one, except after a timeout.
    let stop = blocks.stopReason(slot)
    outcome.reason = stop == .timeout || outcome.status != .success ? stop : nil
    if outcome.usage.wallMicroseconds == 0 {
      outcome.usage.wallMicroseconds = wallMicroseconds(of: slot)
    }
    ended(slot, task, outcome, detail: detail)
  }

  private func wallMicroseconds(of slot: WorkerID) -> Int64 {
    max(0, now.nanoseconds - blocks.since(slot).nanoseconds) / 1000
  }

  mutating func blockIsDue(on slot: WorkerID) {
    let task = workforce.workers[slot.index].current
    guard workforce.workers[slot.index].isStopping else {
      blocks.note(stop: .timeout, of: slot)
      return stopCurrent(of: slot, .timeOver)
    }
    var outcome = Outcome(status: .unknown, reason: blocks.stopReason(slot))
    outcome.usage.wallMicroseconds = wallMicroseconds(of: slot)
    blocks.drain(slot, attempt: attempt[task.index])
    ended(slot, task, outcome, detail: "its client did not end it in time")
  }
}
