internal import OpflowPlan
internal import OpflowWire

/// External tasks (action `block`) and the clients that run them.
///
/// A client connects, offers tasks, retracts offers and disconnects at any time. Each attempt in it
/// is a worker of kind `block`, a *slot*. Free slots are reused.
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
///                                               and offers the next session what has ended
///
///     it ended, start not sent       start, …   has ended, and the start is never sent
///
///     two messages crossed
///     `withdraw` and `run`           start      comes back unstarted (`revoked`), costs nothing
///     `stop` and `ended`             its end    the client ignores the stop
///     `ended` and the end of grace   its end    the late message is ignored, by its attempt number
///
/// Messages about unknown attempts may be late, and are ignored.
struct Blocks {
  private struct Program {
    var offers: Set<TaskID> = []
    var seats: [WorkerID] = []
    var free: [WorkerID] = []
  }

  private struct Seat {
    let program: HostID
    var task = TaskID.none
    var since = Instant(nanoseconds: 0)
    var stop: EndReason?
  }

  private struct Lingering: Equatable {
    let program: HostID
    let attempt: Int32
  }

  private var programs: [HostID: Program] = [:]
  /// The clients that offer a task, in offer order.
  private var offers: [TaskID: [HostID]] = [:]
  private var seats: [WorkerID: Seat] = [:]
  private var holders: [TaskID: WorkerID] = [:]
  private var lingering: [TaskID: Lingering] = [:]
  /// Ready tasks without an offer.
  private(set) var waiting: Set<TaskID> = []

  func isOffered(_ task: TaskID) -> Bool { offers[task] != nil && lingering[task] == nil }

  // MARK: - Clients

  mutating func join(_ program: HostID) { programs[program] = Program() }

  /// - Returns: whether the task can start now and could not before.
  mutating func offer(_ task: TaskID, by program: HostID) -> Bool {
    guard programs[program]?.offers.insert(task).inserted == true else { return false }
    offers[task, default: []].append(program)
    return offers[task]?.count == 1 && isOffered(task)
  }

  /// - Returns: whether the task could start before and cannot now.
  mutating func withdraw(_ task: TaskID, by program: HostID) -> Bool {
    guard programs[program]?.offers.remove(task) != nil else { return false }
    return removeOffer(of: task, by: program)
  }

  private mutating func removeOffer(of task: TaskID, by program: HostID) -> Bool {
    let wasOffered = isOffered(task)
    offers[task]?.removeAll { $0 == program }
    if offers[task]?.isEmpty == true { offers[task] = nil }
    return wasOffered && !isOffered(task)
  }

  struct Parting {
    var seats: [WorkerID] = []
    /// No client offers them now.
    var unoffered: [TaskID] = []
    /// They were draining here; others offer them.
    var offered: [TaskID] = []
  }

  mutating func remove(_ program: HostID) -> Parting {
    var parting = Parting()
    guard let gone = programs.removeValue(forKey: program) else { return parting }
    parting.seats = gone.seats
    for task in gone.offers.sorted(by: { $0.rawValue < $1.rawValue })
    where removeOffer(of: task, by: program) {
      parting.unoffered.append(task)
    }
    for seat in gone.seats {
      if let task = seats.removeValue(forKey: seat)?.task, !task.isNone { holders[task] = nil }
    }
    let over = lingering.filter { $0.value.program == program }.keys
    for task in over.sorted(by: { $0.rawValue < $1.rawValue }) {
      lingering[task] = nil
      if isOffered(task) { parting.offered.append(task) }
    }
    return parting
  }

  // MARK: - Slots

  /// Returns the offering client with the fewest running tasks, and a free slot, if any.
  func place(for task: TaskID) -> (program: HostID, seat: WorkerID?)? {
    guard isOffered(task) else { return nil }
    var best: (program: HostID, seat: WorkerID?, busy: Int)?
    for number in offers[task] ?? [] {
      guard let program = programs[number] else { continue }
      let busy = program.seats.count - program.free.count
      if best.map({ busy < $0.busy }) ?? true { best = (number, program.free.last, busy) }
    }
    return best.map { ($0.program, $0.seat) }
  }

  mutating func sit(_ task: TaskID, on seat: WorkerID, in program: HostID, at now: Instant) {
    if seats[seat] == nil { programs[program]?.seats.append(seat) }
    programs[program]?.free.removeAll { $0 == seat }
    seats[seat] = Seat(program: program, task: task, since: now)
    holders[task] = seat
  }

  mutating func free(_ seat: WorkerID) {
    guard let taken = seats[seat], !taken.task.isNone else { return }
    holders[taken.task] = nil
    seats[seat] = Seat(program: taken.program)
    programs[taken.program]?.free.append(seat)
  }

  func holder(of task: TaskID, in program: HostID) -> WorkerID? {
    holders[task].flatMap { seats[$0]?.program == program ? $0 : nil }
  }

  func program(of seat: WorkerID) -> HostID? { seats[seat]?.program }

  func since(_ seat: WorkerID) -> Instant { seats[seat]?.since ?? Instant(nanoseconds: 0) }

  mutating func note(stop reason: EndReason, of seat: WorkerID) {
    // A timeout stays the reason.
    if seats[seat]?.stop != .timeout { seats[seat]?.stop = reason }
  }

  func stopReason(_ seat: WorkerID) -> EndReason? { seats[seat]?.stop }

  // MARK: - Attempts that went on beyond their end

  /// The client may still run an attempt whose task ends now.
  mutating func linger(_ seat: WorkerID, attempt: Int32) {
    guard let taken = seats[seat], !taken.task.isNone else { return }
    lingering[taken.task] = Lingering(program: taken.program, attempt: attempt)
  }

  /// The client has ended a draining attempt; returns whether the task can start now.
  mutating func endLingering(_ task: TaskID, attempt: Int32, in program: HostID) -> Bool {
    guard lingering[task] == Lingering(program: program, attempt: attempt) else { return false }
    lingering[task] = nil
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
        return "an offer is known of one side alone"
      }
      for seat in program.seats {
        guard let taken = seats[seat], taken.program == number else {
          return "a seat is in no program"
        }
        if program.free.contains(seat) != taken.task.isNone { return "a seat is free and taken" }
        let record = workforce.workers[seat.index]
        if record.current != taken.task || record.kind != .block {
          return "seat \(seat.rawValue) has another task than its worker"
        }
      }
    }
    for (task, numbers) in offers
    where numbers.isEmpty
      || numbers.contains(where: { programs[$0]?.offers.contains(task) != true })
    {
      return "an offer is known of one side alone"
    }
    if seats.count != programs.values.reduce(0, { $0 + $1.seats.count }) {
      return "seats are miscounted"
    }
    let busy = seats.filter { !$0.value.task.isNone }
    if busy.count != holders.count || busy.contains(where: { holders[$0.value.task] != $0.key }) {
      return "a block is held twice"
    }
    let living = workforce.living.count { workforce.workers[$0.index].kind == .block }
    if living != seats.count { return "\(seats.count) seats, \(living) workers" }
    for task in lingering.keys where holders[task] != nil { return "a block runs beside itself" }
    return nil
  }
}

extension Scheduler {
  @inline(__always)
  func isBlock(_ task: TaskID) -> Bool { plan.hasBlocks && plan.kind(task) == .block }

  mutating func take(_ fact: BlockFact, of program: HostID) {
    switch fact {
    case .joined: blocks.join(program)
    case .offers(let task):
      guard plan.tasks.contains(task.index), isBlock(task) else { return }
      if blocks.offer(task, by: program) { admit(task) }
    case .withdraws(let task): if blocks.withdraw(task, by: program) { keepWaiting(task) }
    case .ended(let task, let attempt, let outcome, let what):
      blockEnded(task, attempt, outcome, what, in: program)
    case .gaveBack(let task, let attempt):
      if blocks.withdraw(task, by: program) { keepWaiting(task) }
      guard let seat = seat(of: task, attempt, in: program) else {
        if blocks.endLingering(task, attempt: attempt, in: program) { admit(task) }
        return
      }
      revoked(seat, task, attempt)
    case .gone(let complaint):
      let parting = blocks.remove(program)
      for task in parting.unoffered { keepWaiting(task) }
      for seat in parting.seats { lose(seat, complaint: complaint) }
      for task in parting.offered { admit(task) }
    }
  }

  private mutating func admit(_ task: TaskID) {
    if blocks.stopWaiting(task) { offer(task) }
  }

  private mutating func keepWaiting(_ task: TaskID) {
    // A held task is offered again when it is released.
    guard graph.state(task) == .ready, !graph.has(.held, task) else { return }
    ready.take(ranking.rank[task.index], lane: resources.lane(of: task))
    blocks.wait(task)
  }

  // MARK: - Starting

  mutating func seat(for task: TaskID) -> WorkerID {
    guard let place = blocks.place(for: task) else {
      preconditionFailure("a block was to start that nobody offers")
    }
    let seat: WorkerID
    if let free = place.seat {
      workforce.engage(free)
      seat = free
    } else {
      seat = workforce.enlist(.block, at: now)
      steps.append(.seat(seat, place.program))
    }
    blocks.sit(task, on: seat, in: place.program, at: now)
    let limit = plan.policy(task).timeoutMilliseconds
    if limit > 0, options.watchesWorkers {
      workforce.watch.setDeadline(
        of: seat, at: now.advanced(byMilliseconds: Int64(clamping: limit)))
    }
    return seat
  }

  /// Drops an unsent start if its task has ended or was interrupted since.
  mutating func dropUnsent(_ worker: WorkerID, _ task: TaskID, _ attempt: Int32, at now: Instant)
    -> Bool
  {
    let record = workforce.workers[worker.index]
    guard record.kind == .block, record.current != task || self.attempt[task.index] != attempt
    else { return false }
    guard let program = blocks.program(of: worker) else { return true }
    let never = Outcome(status: .unknown)
    handle(.block(program, .ended(task, attempt: attempt, never, what: "")), at: now)
    return true
  }

  // MARK: - Ending

  private func seat(of task: TaskID, _ attempt: Int32, in program: HostID) -> WorkerID? {
    guard plan.tasks.contains(task.index), self.attempt[task.index] == attempt else { return nil }
    return blocks.holder(of: task, in: program)
  }

  private mutating func blockEnded(
    _ task: TaskID, _ attempt: Int32, _ told: Outcome, _ what: String, in program: HostID
  ) {
    guard let seat = seat(of: task, attempt, in: program) else {
      if blocks.endLingering(task, attempt: attempt, in: program) { admit(task) }
      return
    }
    var outcome = told
    outcome.errorNumber = 0
    // The engine knows why it stopped the attempt. A success counts nevertheless, except after a
    // timeout.
    let stop = blocks.stopReason(seat)
    outcome.reason = stop == .timeout || outcome.status != .success ? stop : nil
    if outcome.usage.wallMicroseconds == 0 {
      outcome.usage.wallMicroseconds = wallMicroseconds(of: seat)
    }
    ended(seat, task, outcome, what: what)
  }

  private func wallMicroseconds(of seat: WorkerID) -> Int64 {
    max(0, now.nanoseconds - blocks.since(seat).nanoseconds) / 1000
  }

  /// The timeout or the stop grace is over.
  mutating func blockIsDue(on seat: WorkerID) {
    let task = workforce.workers[seat.index].current
    guard workforce.workers[seat.index].isStopping else {
      blocks.note(stop: .timeout, of: seat)
      return stopCurrent(of: seat, .timeOver)
    }
    var outcome = Outcome(status: .unknown, reason: blocks.stopReason(seat))
    outcome.usage.wallMicroseconds = wallMicroseconds(of: seat)
    blocks.linger(seat, attempt: attempt[task.index])
    ended(seat, task, outcome, what: "its program did not end it in time")
  }
}
