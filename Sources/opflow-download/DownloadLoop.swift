internal import OpflowCore
internal import OpflowDownload
internal import OpflowSystem

/// A download worker at work: takes orders, works on one download while those before it are put in
/// place, and reports.
///
/// A download is no process, so an order to stop or to suspend it is done as soon as it is read: what
/// has come is written, and the part is kept.
final class DownloadLoop {
  private static let progressNanoseconds: Int64 = 100_000_000
  /// Between two looks at what has come while there is other work to do.
  private static let lookNanoseconds: Int64 = 500_000

  /// A task that was begun and whose end was not told.
  private final class Held {
    let task: TaskID
    let attempt: Int32
    let download: ActiveDownload
    let began: Int64
    /// When its time is up; nil for no timeout, and while it is suspended.
    var timeout: Int64?
    /// What is left of the timeout, while it is suspended.
    var timeoutLeft: Int64?
    var speed = SpeedEstimate()
    var nextProgress: Int64 = 0
    /// The first look is what speed is measured from.
    var isLookedAt = false
    var toldBytes: Int64 = -1
    /// The queue knows that it is being put in place.
    var isSettling = false
    var outcome: Outcome?

    init(_ task: TaskID, attempt: Int32, _ download: ActiveDownload, began: Int64) {
      self.task = task
      self.attempt = attempt
      self.download = download
      self.began = began
    }
  }

  private let plan: Plan
  private let tools: ActiveDownload.Tools
  private let orders: Descriptor
  private let reports: Descriptor
  private let pid: Int32
  private let watched: [Int32]
  private var poll = PollSet(slots: 2)
  private var input = LineBuffer()
  private var output = FieldWriter()
  private var queue: DownloadQueue
  /// In the queue's order. Only the last one may still be transferred.
  private var held: [Held] = []
  /// Downloads other than the last may have come to an end.
  private var hasEnds = false
  private var actions: [DownloadQueueAction] = []
  /// When it was last seen what has come.
  private var lookedAt: Int64 = 0
  /// What this process had used when it told of an end last.
  private var usageTold = ProcessID.Usage()
  /// Nobody gives orders any more.
  private var isAlone = false

  init(
    plan: Plan, tools: ActiveDownload.Tools, orders: consuming Descriptor,
    reports: consuming Descriptor
  ) {
    self.plan = plan
    self.tools = tools
    self.orders = orders
    self.reports = reports
    pid = ProcessID.own
    queue = DownloadQueue(pid: pid)
    watched = [self.orders.rawValue, tools.settler.rawDescriptor]
    for (slot, descriptor) in watched.enumerated() { poll.set(slot, descriptor) }
  }

  /// Works until there is no more to do.
  func run(hello: WorkerHello) throws(Errno) {
    MessageCodec.encode(.hello(hello), into: &output)
    try send()
    while !isAlone, !queue.isDone {
      let ready = try waitOrWork()
      noteSettling()
      if ready & 1 != 0 { try readOrders() }
      if ready & 2 != 0 { try tools.settler.takeResults() }
      passTime(now)
      noteEnds()
      try send()
    }
    for entry in held where entry.outcome == nil { entry.download.abandon() }
  }

  private var now: Int64 { Clock.monotonicNanoseconds }

  /// The download that is worked on; nil while there is none.
  private var active: Held? {
    guard let last = held.last, last.outcome == nil, !last.download.isRight else {
      return nil
    }
    return last
  }

  /// Bits for what is there: 1 for orders, 2 for files that have come further.
  private func waitOrWork() throws(Errno) -> Int32 {
    guard let active, !queue.isSuspended else {
      tools.settler.endGroup(isIdle: true)
      if tools.settler.hasNews { return 0 }
      return try ready(within: -1)
    }
    let download = active.download
    if download.isTransferring {
      let ready = download.advance(others: watched, milliseconds: waitMilliseconds(active))
      // It has waited for the others too, if it had to wait at all.
      if download.isTransferring { lookedAt = now }
      if ready != 0 { return ready }
    } else {
      _ = download.advance(others: [], milliseconds: 0)
    }
    let now = now
    guard now - lookedAt >= Self.lookNanoseconds else { return 0 }
    lookedAt = now
    return try ready(within: 0)
  }

  private func ready(within nanoseconds: Int64) throws(Errno) -> Int32 {
    guard try poll.wait(nanoseconds: nanoseconds) else { return 0 }
    return (poll.isReady(0) ? 1 : 0) | (poll.isReady(1) ? 2 : 0)
  }

  private func waitMilliseconds(_ held: Held) -> Int32 {
    var next = now + Self.progressNanoseconds
    if let timeout = held.timeout { next = min(next, timeout) }
    if let wake = tools.settler.nextWake { next = min(next, wake) }
    return Int32(clamping: max(1, (next - now) / 1_000_000))
  }

  private func passTime(_ now: Int64) {
    if let wake = tools.settler.nextWake, wake <= now { tools.settler.endGroup(isIdle: false) }
    guard let active, !queue.isSuspended else { return }
    if let timeout = active.timeout, timeout <= now {
      active.download.abandon()
      end(active, Outcome(status: .unknown, reason: .timeout))
    } else if now >= active.nextProgress, active.download.isTransferring {
      tellProgress(active, now)
    }
  }

  private func tellProgress(_ entry: Held, _ now: Int64) {
    let download = entry.download
    let done = download.doneBytes
    entry.speed.note(bytes: done, atMilliseconds: now / 1_000_000)
    entry.nextProgress = now + Self.progressNanoseconds
    defer { entry.isLookedAt = true }
    // Told once also where nothing has come yet: a server that says nothing is to be seen.
    guard entry.isLookedAt, queue.isFirst(entry.task), done != entry.toldBytes else { return }
    entry.toldBytes = done
    let progress = WorkerProgress(
      task: entry.task, doneBytes: done, totalBytes: download.totalBytes ?? -1,
      bytesPerSecond: entry.speed.bytesPerSecond(atMilliseconds: now / 1_000_000),
      text: WorkerProgress.resumeText(bytes: download.resumedBytes))
    MessageCodec.encode(.progress(progress), into: &output)
  }

  // MARK: - Orders

  private func readOrders() throws(Errno) {
    let count = try input.fill { room throws(Errno) in try orders.read(into: room) }
    if count == 0 {
      isAlone = true
      return
    }
    while true {
      switch input.nextOrder() {
      case .message(let order):
        if let fault = fault(in: order) {
          DownloadMain.complain("standard input: \(fault)")
          isAlone = true
          return
        }
        obey(order)
      case .needsMore: return
      case .malformed:
        DownloadMain.complain("standard input: a line is no order")
        isAlone = true
        return
      }
    }
  }

  /// Why an order cannot be followed; nil for one that can.
  private func fault(in order: WorkerOrder) -> String? {
    if let fault = order.fault(in: plan) { return fault }
    guard let (task, _) = order.start, plan.kind(task) != .download else { return nil }
    return "an order speaks of a task that is no download"
  }

  private func obey(_ order: WorkerOrder) {
    switch order {
    case .run(let task, let attempt): queue.take(task, attempt, follows: false, into: &actions)
    case .follow(let task, let attempt): queue.take(task, attempt, follows: true, into: &actions)
    case .revoke(let task, let attempt): queue.revoke(task, attempt, into: &actions)
    case .stop(let task, let attempt, let reason):
      let isToEnd = queue.stop(task, attempt, into: &actions)
      perform()
      if isToEnd, let active {
        active.download.abandon()
        end(active, Outcome(status: .unknown, reason: reason))
      }
    case .suspend(let task, let attempt): if queue.suspend(task, attempt) { suspend() }
    case .proceed(let task, let attempt):
      if queue.proceed(task, attempt, into: &actions) { proceed() }
    // How far a download is, is told anyway.
    case .watch, .conclude: break
    case .pulse(let number):
      MessageCodec.encode(WorkerReport.pulse(number), into: &output)
    case .bye: queue.leave()
    }
    perform()
  }

  private func suspend() {
    guard let active else { return }
    active.timeoutLeft = active.timeout.map { $0 - now }
    active.timeout = nil
  }

  private func proceed() {
    guard let active else { return }
    active.timeout = active.timeoutLeft.map { now.addingReportingOverflow($0).partialValue }
    active.speed.reset()
    active.download.resumeClock()
  }

  // MARK: - Downloads

  private func perform() {
    for action in actions {
      switch action {
      case .begin(let task, let attempt): begin(task, attempt)
      case .report(let report): MessageCodec.encode(report, into: &output)
      case .abandon(let task):
        guard let place = held.firstIndex(where: { $0.task == task }) else { continue }
        let entry = held.remove(at: place)
        if entry.outcome == nil { entry.download.abandon() }
      case .tellEnd(let task):
        guard let place = held.firstIndex(where: { $0.task == task }) else { continue }
        tellEnd(held.remove(at: place))
      }
    }
    actions.removeAll(keepingCapacity: true)
  }

  private func begin(_ task: TaskID, _ attempt: Int32) {
    let began = now
    let entry = Held(
      task, attempt: attempt,
      ActiveDownload(plan.download(task), proxies: ProxySettings(plan, task), tools: tools),
      began: began)
    let limit = Int64(clamping: plan.policy(task).timeoutMilliseconds)
    if limit > 0 {
      let (nanoseconds, overflow) = limit.multipliedReportingOverflow(by: 1_000_000)
      entry.timeout = overflow ? nil : began.addingReportingOverflow(nanoseconds).partialValue
    }
    held.append(entry)
  }

  /// Sees that a download is being put in place. Before any order is read: it cannot be given back.
  private func noteSettling() {
    guard let last = held.last, last.download.isRight, !last.isSettling else { return }
    last.isSettling = true
    queue.settles(last.task, into: &actions)
    perform()
  }

  /// Sees which downloads are over, and brings on those that are being put in place.
  private func noteEnds() {
    if queue.isSuspended { return }
    if tools.settler.hasNews {
      hasEnds = true
      let isIdle = active == nil
      while tools.settler.hasNews {
        tools.settler.place(held.lazy.compactMap(\.download.finished), isIdle: isIdle)
      }
      // In the order in which they are put in place.
      for entry in held { if !entry.download.noteSettled() { break } }
    }
    guard hasEnds || held.last?.download.end != nil else { return }
    hasEnds = false
    // Telling one may take others out.
    while let entry = held.first(where: { $0.outcome == nil && $0.download.end != nil }) {
      switch entry.download.end {
      case .success: end(entry, Outcome(status: .success))
      case .failure(let defeat):
        let reason: Reason =
          switch defeat.verdict {
          case .again: .fetch
          case .final: .fetchFinal
          }
        end(entry, Outcome(status: .unknown, reason: reason, errorNumber: defeat.errorNumber))
      case nil: break
      }
    }
  }

  private func end(_ entry: Held, _ outcome: Outcome) {
    var outcome = outcome
    outcome.usage.wallMicroseconds = (now - entry.began) / 1000
    entry.outcome = outcome
    queue.ended(entry.task, isSuccess: outcome.isSuccess, into: &actions)
    perform()
  }

  private func tellEnd(_ entry: Held) {
    guard var outcome = entry.outcome else { return }
    let usage = ProcessID.ownUsage
    outcome.usage.userMicroseconds = usage.userMicroseconds - usageTold.userMicroseconds
    outcome.usage.systemMicroseconds = usage.systemMicroseconds - usageTold.systemMicroseconds
    outcome.usage.peakKibibytes = usage.peakKibibytes
    usageTold = usage
    let record = FetchRecord(entry.download.report)
    MessageCodec.encode(.fetched(entry.task, attempt: entry.attempt, record), into: &output)
    MessageCodec.encode(.ended(entry.task, attempt: entry.attempt, outcome), into: &output)
  }

  private func send() throws(Errno) {
    if output.isEmpty { return }
    defer { output.removeAll() }
    do throws(Errno) {
      try reports.writeAll(output.bytes)
    } catch .brokenPipe {
      isAlone = true
    }
  }
}
