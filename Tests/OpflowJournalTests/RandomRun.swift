import Fixtures
import OpflowBase
import OpflowJournal
import OpflowPlan
import OpflowWire

/// A run of a few tasks by random moves, in the lines of an engine: prefetched tasks, lost workers,
/// returned tasks, dynamic tasks, crashes and resumes. A view's events are replayed in parallel.
struct RandomRun {
  private(set) var plan: Plan
  let file: GrowingPlan
  /// The additions, each with the plan's number of tasks after it.
  private var segments: [(plan: Plan, taskCount: Int)] = []
  var random: SplitMix64
  /// The journal's file.
  private(set) var bytes: [UInt8] = []
  /// The newest session.
  private(set) var live: SessionModel
  /// The tasks that it is about, without those whose earlier result is taken over.
  private(set) var included: TaskSet
  private var encoder = JournalEncoder()
  private var now: Int64 = 1_700_000_000_000
  /// By worker: what it has, the first of which runs.
  private var queues: [[TaskID]] = []
  private var attempts: [Int32]
  private var ready: Set<TaskID>
  private var kept: Set<TaskID> = []
  /// Of the file when nothing had started.
  private var begunBytes = 0

  init(seed: UInt64) throws {
    var maker = PlanMaker()
    for name in ["a", "b/c", "d\te", "f", "g", "h", "i"] { maker.add(name) }
    plan = try maker.make()
    file = GrowingPlan(plan)
    random = SplitMix64(seed: seed)
    attempts = [Int32](repeating: 0, count: plan.taskCount)
    ready = Set(plan.tasks.map { TaskID($0) })
    included = .all(taskCount: plan.taskCount)
    live = Self.session(plan, kept: [])
    write(.open(.example))
    beginWorkers()
    begunBytes = bytes.count
  }

  private static func session(_ plan: Plan, kept: Set<TaskID>) -> SessionModel {
    SessionModel(
      plan: plan,
      scope: SessionScope(plan.tasks.map { kept.contains(TaskID($0)) ? .succeeded : .run }))
  }

  private mutating func beginWorkers() {
    queues = [[], []]
    for worker in queues.indices {
      write(
        .worker(
          WorkerEntry(
            worker: WorkerID(Int32(worker)), pid: 7 + Int32(worker), startTime: 1, bootID: "b")))
    }
  }

  mutating func write(_ entry: JournalEntry) {
    encoder.append(entry, at: now, plan: plan)
    bytes += encoder.bytes
    encoder.removeAll()
    if case .transition(let transition) = entry { live.apply(transition, atMilliseconds: now) }
    now += Int64(random.below(3))
  }

  mutating func step() throws {
    let worker = random.below(queues.count)
    switch random.below(21) {
    case 20: if random.chance(40) { try grow() }
    case 0..<9: start(on: worker)
    case 9..<15: end(on: worker)
    case 15: giveBack(on: worker)
    case 16: lose(worker)
    case 17: if let task = take(where: { $0.index % 2 == 0 }) { skip(task) }
    case 18: write(.transition(Transition(random.chance(50) ? .pause : .proceed, .none)))
    default: if random.chance(20) { resume() }
    }
  }

  /// Tasks are added; the process may die before it says so.
  private mutating func grow() throws {
    var maker = PlanMaker()
    for number in 0...random.below(4) {
      maker.add("added\(plan.taskCount + number)") { task in
        if random.chance(30) { task.outerNeeds = [("a", .finished)] }
      }
    }
    let segment = try maker.make()
    let grown = try file.add(segment)
    let new = plan.taskCount..<grown.taskCount
    if random.chance(10) {
      plan = grown
      try mend()
      return
    }
    guard let id = RequestID("\(encoder.nextSequence)") else { return }
    let entry = ExtendEntry(
      id: id, requester: Requester(pid: 9, user: 1, name: "opflow add"), taskCount: grown.taskCount,
      added: new.count)
    plan = grown
    segments.append((segment, plan.taskCount))
    write(.extend(entry))
    live.grow(to: plan, new.map { _ in .run })
    live.apply(entry)
    included.grow(to: plan.taskCount)
    for task in new.map({ TaskID($0) }) {
      included.insert(task)
      ready.insert(task)
      attempts.append(0)
    }
  }

  /// Cuts the file's last bytes and repairs it as a resume does.
  mutating func crash() {
    bytes.removeLast(random.below(max(1, min(300, bytes.count - begunBytes))))
    if random.chance(30) { bytes += Array("a torn line".utf8) + (random.chance(50) ? [10] : []) }
  }

  /// What the holder of the lock does before it writes.
  mutating func mend() throws {
    let told = try file.open(toldBy: bytes).taskCount
    segments = segments.filter { $0.taskCount <= told }
    plan = try file.replace(segments.map(\.plan))
    for worker in queues.indices { queues[worker].removeAll { $0.index >= plan.taskCount } }
    let (history, recovery) = try bytes.withUnsafeBytes { try RunModel.read($0, plan: plan) }
    if let length = recovery.repair.truncateTo { bytes.removeLast(bytes.count - length) }
    if recovery.repair.appendsLineFeed { bytes.append(10) }
    encoder = history.encoder
    attempts = plan.tasks.map { history[TaskID($0)].attempts }
    let ended = plan.tasks.map { TaskID($0) }.filter { history[$0].state.isTerminal }
    ready = Set(plan.tasks.map { TaskID($0) }).subtracting(ended)
    resume()
  }

  private mutating func take(where isFit: (TaskID) -> Bool = { _ in true }) -> TaskID? {
    let fit = ready.filter(isFit).sorted { $0.index < $1.index }
    if fit.isEmpty { return nil }
    let task = fit[random.below(fit.count)]
    ready.remove(task)
    return task
  }

  private mutating func start(on worker: Int) {
    guard queues[worker].count < 4, let task = take() else { return }
    attempts[task.index] += 1
    var start = Transition(.start, task, attempt: attempts[task.index])
    start.worker = WorkerID(Int32(worker))
    start.isPrefetched = !queues[worker].isEmpty
    write(.transition(start))
    queues[worker].append(task)
  }

  private mutating func end(on worker: Int) {
    guard let task = queues[worker].first else { return }
    queues[worker].removeFirst()
    let event: [TransitionEvent] = [.success, .success, .success, .failure, .retry, .cancel]
    var end = Transition(event[random.below(event.count)], task, attempt: attempts[task.index])
    end.allowed = end.event == .failure && random.chance(50)
    end.outcome = Outcome(status: .exit(end.event == .success ? 0 : 1))
    end.outcome.usage.wallMicroseconds = Int64(random.below(1000))
    if end.event == .success || end.allowed { end.fingerprint = plan.fingerprint(task) }
    if end.event == .failure { end.detail = "no luck" }
    if end.event == .retry { ready.insert(task) }
    write(.transition(end))
    guard end.event == .success else {
      // Tasks prefetched to follow a success are returned.
      while !queues[worker].isEmpty { giveBack(queues[worker].removeLast()) }
      return
    }
    // The start of the next one has no line, but a view hears of it.
    guard let next = queues[worker].first else { return }
    live.apply(Transition(.start, next, attempt: attempts[next.index]), atMilliseconds: now)
  }

  private mutating func giveBack(on worker: Int) {
    guard queues[worker].count > 1 else { return }
    giveBack(queues[worker].remove(at: 1 + random.below(queues[worker].count - 1)))
  }

  private mutating func giveBack(_ task: TaskID) {
    var line = Transition(.interrupt, task, reason: .revoked)
    line.attempt = attempts[task.index]
    write(.transition(line))
    attempts[task.index] -= 1
    ready.insert(task)
  }

  private mutating func lose(_ worker: Int) {
    for task in queues[worker] {
      var line = Transition(.interrupt, task, reason: .workerLost)
      line.attempt = attempts[task.index]
      write(.transition(line))
      ready.insert(task)
    }
    queues[worker] = []
  }

  private mutating func skip(_ task: TaskID) {
    write(.transition(Transition(.skip(.condition), task)))
  }

  /// Another session, which re-runs some of the ended tasks.
  private mutating func resume() {
    kept = Set(plan.tasks.map { TaskID($0) }).subtracting(ready)
      .subtracting(queues.joined())
    let retracted = kept.sorted { $0.index < $1.index }.filter { _ in random.chance(40) }
    kept.subtract(retracted)
    let cut = Set(queues.joined()).union(live.interrupted).filter { $0.index < plan.taskCount }
      .sorted { $0.index < $1.index }
    live = Self.session(plan, kept: kept)
    included = TaskSet(taskCount: plan.taskCount)
    for index in plan.tasks where !kept.contains(TaskID(index)) { included.insert(TaskID(index)) }
    var entry = ResumeEntry(planKey: "", opflowVersion: "0")
    entry.reused = kept.count
    entry.retracted = retracted.count + cut.count
    if !segments.isEmpty { entry.taskCount = plan.taskCount }
    write(.resume(entry))
    for task in retracted { write(.transition(Transition(.resume(.asked), task))) }
    for task in cut { write(.transition(Transition(.resume(.interrupted), task))) }
    ready.formUnion(retracted)
    ready.formUnion(cut)
    beginWorkers()
  }
}

extension RunModel {
  /// All that it tells.
  func brief(_ plan: Plan) -> String {
    let tasks = plan.tasks.map { index -> String in
      let task = TaskID(index)
      return "\(self[task]) \(String(describing: details.complaints[task]))"
        + " \(String(describing: tries.next[task]))"
    }
    return
      "\(tasks) \(sessions) \(isSuspended) \(hasStarts) \(String(describing: close)) \(removed)"
      + " \(selections) \(workers) \(openedMilliseconds) \(lastMilliseconds)"
      + " \(extensions) \(String(describing: taskCount)) \(encoder.nextSequence)"
      + " \(state(isHeld: true)) \(state(isHeld: false))"
  }
}

extension SplitMix64 {
  mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
}
