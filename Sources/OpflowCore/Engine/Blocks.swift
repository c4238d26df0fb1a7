/// Tasks that run inside programs which offer them (action `block`), and those programs.
///
/// A program is no worker that is launched: it comes, offers tasks, takes offers back and goes, whenever it likes.
/// Each try that it has is a worker of kind `block`, a *seat* in it, so that what a worker holds and frees is the same
/// for all kinds. A free seat is used again by the same program; it has as many as it runs blocks at once.
///
/// Who has a task
/// --------------
///
///     waiting ──offered──> ready ──> running in P ──> ended
///        ^  <──withdrawn──   │         │  │  │
///        │                             │  │  └─ its grace is over: its end stands, and P *lingers* with it
///        ├──────── P gives it back ────┘  │
///        └──────── P is gone ─────────────┘
///
/// *waiting* is what may start and is offered by nobody. A block of which a try may still go on in a program that did
/// not end it in time is not offered for as long, whoever does: it is over when that program says so, or is gone.
///
/// Who dies between two steps
/// --------------------------
///
///     the program died after               the journal has   then the task
///     its offer                            nothing           waits for another offer
///     start was journaled, order unsent    start             is interrupted, which costs no try, and waits
///     the order was sent, not read         start             the same
///     the block ran, or had ended unread   start             the same: it runs again, or fails by `on_interrupted`
///     `ended` was read                     success, …        has its end
///     its grace was over                   cancel, …         has its end; nothing lingers any more
///
///     the server died                      start             is interrupted as a resume finds it. The program sees the
///                                                            end of its connection, ends what runs, and offers again
///                                                            to the next drive what has ended
///
///     its end, while the order was unsent  start, cancel …   has its end, and the order is never sent
///
///     crossing on the way
///     `withdraw` and `run`                 start             comes back unstarted (`revoked`), and costs nothing
///     `stop` and `ended`                   its end           the order is about nothing, and passed over there
///     `ended` and the end of its grace     its end           the late word is passed over, by its try
///
/// What comes from a program about a try that it has not is passed over: it may be late.
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
    /// Why the try that it has was told to end; nil where it was not.
    var stop: EndReason?
  }

  private struct Lingering: Equatable {
    let program: HostID
    let attempt: Int32
  }

  private var programs: [HostID: Program] = [:]
  /// Who offers a task, in the order in which they did.
  private var offers: [TaskID: [HostID]] = [:]
  private var seats: [WorkerID: Seat] = [:]
  /// Who has a task that runs.
  private var holders: [TaskID: WorkerID] = [:]
  private var lingering: [TaskID: Lingering] = [:]
  /// Ready, and offered by nobody.
  private(set) var waiting: Set<TaskID> = []

  /// Whether it could start now in some program.
  func isOffered(_ task: TaskID) -> Bool { offers[task] != nil && lingering[task] == nil }

  // MARK: - Programs

  mutating func join(_ program: HostID) { programs[program] = Program() }

  /// - Returns: whether the task is offered since now.
  mutating func offer(_ task: TaskID, by program: HostID) -> Bool {
    guard programs[program]?.offers.insert(task).inserted == true else { return false }
    offers[task, default: []].append(program)
    return offers[task]?.count == 1 && isOffered(task)
  }

  /// - Returns: whether nobody offers the task since now.
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

  /// What changes when a program is gone.
  struct Parting {
    var seats: [WorkerID] = []
    /// What nobody offers any more.
    var unoffered: [TaskID] = []
    /// What others offer, and lingered in it.
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

  // MARK: - Seats

  /// Where a task that is offered starts: in the program that runs fewest, and a seat there that is free.
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

  /// A task has that seat in a program, which may be a new one.
  mutating func sit(_ task: TaskID, on seat: WorkerID, in program: HostID, at now: Instant) {
    if seats[seat] == nil { programs[program]?.seats.append(seat) }
    programs[program]?.free.removeAll { $0 == seat }
    seats[seat] = Seat(program: program, task: task, since: now)
    holders[task] = seat
  }

  /// The seat has no task any more.
  mutating func free(_ seat: WorkerID) {
    guard let taken = seats[seat], !taken.task.isNone else { return }
    holders[taken.task] = nil
    seats[seat] = Seat(program: taken.program)
    programs[taken.program]?.free.append(seat)
  }

  /// Who has the task, where that is this program.
  func holder(of task: TaskID, in program: HostID) -> WorkerID? {
    holders[task].flatMap { seats[$0]?.program == program ? $0 : nil }
  }

  /// Where a seat is; nil once that is gone.
  func program(of seat: WorkerID) -> HostID? { seats[seat]?.program }

  func since(_ seat: WorkerID) -> Instant { seats[seat]?.since ?? Instant(nanoseconds: 0) }

  mutating func note(stop reason: EndReason, of seat: WorkerID) {
    // That its time was up is what it ends by, whatever else follows.
    if seats[seat]?.stop != .timeout { seats[seat]?.stop = reason }
  }

  func stopReason(_ seat: WorkerID) -> EndReason? { seats[seat]?.stop }

  // MARK: - Tries that went on beyond their end

  /// The task that a seat has gets its end, and may go on in its program.
  mutating func linger(_ seat: WorkerID, attempt: Int32) {
    guard let taken = seats[seat], !taken.task.isNone else { return }
    lingering[taken.task] = Lingering(program: taken.program, attempt: attempt)
  }

  /// The program says that such a try is over.
  ///
  /// - Returns: whether the task is offered since now.
  mutating func endLingering(_ task: TaskID, attempt: Int32, in program: HostID) -> Bool {
    guard lingering[task] == Lingering(program: program, attempt: attempt) else { return false }
    lingering[task] = nil
    return isOffered(task)
  }

  // MARK: - Waiting

  mutating func wait(_ task: TaskID) { waiting.insert(task) }

  /// - Returns: whether it waited.
  mutating func stopWaiting(_ task: TaskID) -> Bool { waiting.remove(task) != nil }

  mutating func removeWaiting() -> [TaskID] {
    defer { waiting.removeAll() }
    return waiting.sorted { $0.rawValue < $1.rawValue }
  }

  // MARK: - Checks

  /// What is wrong with it; nil when nothing is. Looks at everything.
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
