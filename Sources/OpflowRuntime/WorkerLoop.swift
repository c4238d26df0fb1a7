internal import OpflowCore
internal import OpflowSystem

/// A worker at work: waits, tells `WorkerState` what happened, and does what that decides.
///
/// Each call of the kernel counts, since most tasks of a large run are short: a silent task that ends
/// by itself costs a pipe, a clone, two waits, two reaps, one write and three closes.
final class WorkerLoop {
  /// For so long `started` may wait for company, so that a short task costs one write.
  private static let holdNanoseconds: Int64 = 5_000_000
  private static let chunkBytes = 65536
  /// What is read at a task's end at most: more than a pipe holds comes from somebody else.
  private static let finalChunks = 64

  private enum Slot {
    static let orders = 0, task = 1, output = 2, requests = 3, children = 4
    static let count = 5
  }

  private let plan: Plan
  private let launcher: WorkerLauncher
  private let logs: Descriptor
  private let orders: Descriptor
  private let reports: Descriptor
  /// TERM, INT and, where it is not ignored, HUP: somebody wants this worker gone.
  private let requests: SignalDescriptor
  /// CHLD. Looked at only while a task runs for longer, so that a short one is spared a read.
  private let children: SignalDescriptor

  private var poll = PollSet(slots: Slot.count)
  private var state: WorkerState
  private var watch = WorkerWatch()
  private var tree = WorkerTree()
  private var log = WorkerLog(attempt: 0)
  private var isLogFailureTold = false
  private var running: TaskID = .none
  private var process: SpawnedProcess?
  private var pipe: Pipe?
  private var input = LineBuffer()
  private var output = FieldWriter()
  /// When the first line of `output` must be sent at the latest.
  private var sendBy: Instant?
  private var actions: [WorkerAction] = []
  private var chunk = [UInt8](repeating: 0, count: WorkerLoop.chunkBytes)
  private var isPerforming = false
  private var isDone = false
  /// The coordinator reads no more.
  private var isDeaf = false

  init(
    plan: Plan, run: String, logs: consuming Descriptor, orders: consuming Descriptor,
    reports: consuming Descriptor
  ) throws(Errno) {
    self.plan = plan
    self.logs = logs
    self.orders = orders
    self.reports = reports
    launcher = WorkerLauncher(plan: plan, run: run)
    var requests: SignalSet = [.terminate, .interrupt]
    if !Dispositions.isIgnored(.hangup) { requests.insert(.hangup) }
    self.requests = try SignalDescriptor(requests)
    children = try SignalDescriptor([.child])
    state = WorkerState(policy: { plan.policy($0) })
    poll.set(Slot.orders, self.orders.rawValue)
    poll.set(Slot.requests, self.requests.rawValue)
  }

  /// Works until there is no more to do.
  func run(hello: WorkerHello) throws(Errno) {
    MessageCodec.encode(.hello(hello), into: &output)
    send()
    while !isDone {
      _ = try poll.wait(nanoseconds: timeout())
      let now = self.now
      if poll.isReady(Slot.requests) {
        while try requests.next() != nil { tell(.endOfOrders, now) }
      }
      if poll.isReady(Slot.output), readOutput() { checkLog(now) }
      if poll.isReady(Slot.task) || poll.isReady(Slot.children) { try reap(now) }
      if poll.isReady(Slot.orders) { try readOrders(now) }
      if let deadline = state.deadline, deadline <= now { tell(.timer, now) }
      passTime(now)
    }
    send()
  }

  private var now: Instant { Instant(nanoseconds: Clock.monotonicNanoseconds) }

  // MARK: Waiting

  private func timeout() -> Int64 {
    var next = sendBy
    if let deadline = state.deadline { next = min(next ?? deadline, deadline) }
    if let deadline = watch.deadline { next = min(next ?? deadline, deadline) }
    guard let next else { return -1 }
    return max(0, next.nanoseconds - now.nanoseconds)
  }

  private func passTime(_ now: Instant) {
    if let report = watch.takeReport(at: now) {
      MessageCodec.encode(report, into: &output)
      sendBy = now
    }
    if let sendBy, sendBy <= now {
      send()
      // The task takes its time: from now on watch what it leaves behind, or it would fill the
      // process table with what ended.
      if process != nil { poll.set(Slot.children, children.rawValue) }
    }
  }

  // MARK: Decisions

  private func tell(_ event: WorkerEvent, _ now: Instant) {
    state.handle(event, at: now, into: &actions)
    // What is done may add to what is to be done.
    if isPerforming { return }
    isPerforming = true
    defer { isPerforming = false }
    var next = 0
    while next < actions.count {
      perform(actions[next], now)
      next += 1
    }
    actions.removeAll(keepingCapacity: true)
  }

  private func perform(_ action: WorkerAction, _ now: Instant) {
    switch action {
    case .start(let task, let attempt): start(task, attempt, now)
    case .report(let report):
      MessageCodec.encode(report, into: &output)
      if case .started = report {
        if sendBy == nil { sendBy = Instant(nanoseconds: now.nanoseconds + Self.holdNanoseconds) }
      } else {
        sendBy = now
      }
    case .signal(let number): tree.signal(Signal(rawValue: number))
    case .suspend: tree.signal(.stop)
    case .proceed: tree.signal(.proceed)
    case .noteLeft: tree.noteLeft()
    case .kill:
      poll.set(Slot.children, children.rawValue)
      tree.signal(.kill)
    case .abandon: complainOfSurvivors()
    case .finish(let task, let attempt, let outcome): finish(task, attempt, outcome)
    case .leave: isDone = true
    }
  }

  private func start(_ task: TaskID, _ attempt: Int32, _ now: Instant) {
    // What ended before must not wait for the start of what comes next.
    send()
    running = task
    log = WorkerLog(attempt: attempt)
    isLogFailureTold = false
    // From before the spawn: it returns after the exec, when a short task is half done.
    let began = self.now
    do throws(WorkerRefusal) {
      let pipe = try makePipe()
      let process = try launcher.start(
        task, attempt: attempt, conclusion: state.conclusion, output: pipe.write.rawValue)
      let pid = process.pid
      tree.begin(mainPID: pid)
      poll.set(Slot.task, process.descriptor.rawValue)
      poll.set(Slot.output, pipe.read.rawValue)
      self.process = consume process
      // The writing end stays open here: the end of a task shows at its pidfd, and a hang-up before
      // it would only be one more thing to wake up for.
      self.pipe = consume pipe
      tell(.started(pid: pid), began)
    } catch {
      tell(.refused(errorNumber: error.errorNumber, what: error.what), now)
    }
  }

  private func makePipe() throws(WorkerRefusal) -> Pipe {
    do throws(Errno) {
      return try Pipe()
    } catch {
      throw WorkerRefusal(errorNumber: error.rawValue, what: "cannot make a pipe: \(error)")
    }
  }

  // MARK: The task that runs

  private func reap(_ now: Instant) throws(Errno) {
    if poll.isReady(Slot.children) {
      while try children.next() != nil {}
    }
    guard process != nil else { return }
    let reaped = try tree.reap()
    if reaped.isGone {
      // Nothing can have been written after the wait that found its one process ended, and the
      // output empty.
      let isSilent = reaped.count == 1 && !poll.isReady(Slot.output) && poll.isReady(Slot.task)
      if !isSilent {
        drainOutput()
        checkLog(now)
      }
    }
    tell(.reaped(status: reaped.status, isGone: reaped.isGone), now)
  }

  /// Reads once what a wait found to be there; whether there was anything. The pipe blocks, which
  /// spares every silent task the calls to change that.
  private func readOutput() -> Bool {
    chunk.withUnsafeMutableBytes { chunk in
      guard let count = try? pipe?.read.read(into: chunk), count > 0 else {
        return false
      }
      let bytes = UnsafeRawBufferPointer(rebasing: chunk[..<count])
      log.append(bytes, name: { LogName.of(plan.nameBytes(running)) }, in: logs)
      if watch.isWatched(running) { watch.note(bytes) }
      return true
    }
  }

  /// A task whose log cannot be written is stopped, once.
  private func checkLog(_ now: Instant) {
    guard let failure = log.failure, !isLogFailureTold else { return }
    isLogFailureTold = true
    complain("task \(plan.nameString(running)): its log cannot be written: \(failure)")
    tell(.outputFailed(errorNumber: failure.rawValue), now)
  }

  /// Reads all that is there, and waits for nothing more.
  private func drainOutput() {
    guard pipe != nil else { return }
    var set = PollSet(slots: 1)
    set.set(0, pipe?.read.rawValue ?? -1)
    for _ in 0..<Self.finalChunks {
      guard (try? set.wait(nanoseconds: 0)) == true, readOutput() else { return }
    }
  }

  private func finish(_ task: TaskID, _ attempt: Int32, _ outcome: Outcome) {
    poll.clear(Slot.task)
    poll.clear(Slot.output)
    poll.clear(Slot.children)
    log.close()
    process = nil
    pipe = nil
    running = .none
    var outcome = outcome
    let wall = outcome.usage.wallMicroseconds
    outcome.usage = tree.usage
    outcome.usage.wallMicroseconds = wall
    outcome.usage.outputBytes = log.byteCount
    if let failure = log.failure, outcome.reason == .none {
      outcome.reason = .output
      outcome.errorNumber = failure.rawValue
    }
    if let left = tree.left {
      MessageCodec.encode(.left(task, attempt: attempt, left), into: &output)
    }
    MessageCodec.encode(.ended(task, attempt: attempt, outcome), into: &output)
    sendBy = Instant(nanoseconds: 0)
  }

  private func complainOfSurvivors() {
    for left in tree.abandon() {
      complain(
        "task \(plan.nameString(running)): process \(left.pid) (\(left.name)) could not be ended")
    }
    drainOutput()
  }

  // MARK: Lines

  private func readOrders(_ now: Instant) throws(Errno) {
    let count = try input.fill { room throws(Errno) in try orders.read(into: room) }
    if count == 0 {
      poll.clear(Slot.orders)
      tell(.endOfOrders, now)
      return
    }
    while true {
      switch input.nextOrder() {
      case .message(let order):
        if let fault = order.fault(in: plan) {
          refuseOrders(fault, now)
          return
        }
        if case .watch(let task, let on) = order { watch.set(task, on: on) }
        tell(.order(order), now)
      case .needsMore: return
      case .malformed:
        refuseOrders("a line is no order", now)
        return
      }
    }
  }

  /// Whoever sends such lines is no coordinator of this version: end as if it were gone.
  private func refuseOrders(_ what: String, _ now: Instant) {
    complain("standard input: \(what)")
    poll.clear(Slot.orders)
    tell(.endOfOrders, now)
  }

  private func send() {
    sendBy = nil
    if output.isEmpty { return }
    defer { output.removeAll() }
    if isDeaf { return }
    do throws(Errno) {
      try output.bytes.withUnsafeBufferPointer { bytes throws(Errno) in
        try reports.writeAll(UnsafeRawBufferPointer(bytes))
      }
    } catch {
      isDeaf = true
      tell(.endOfOrders, now)
    }
  }

  private func complain(_ text: String) { WorkerMain.complain(text) }
}
