internal import OpflowCore
internal import OpflowSystem

/// A download worker at work: takes orders, works on one download and holds one more, and reports.
///
/// A download is no process, so an order to stop or to suspend it is done as soon as it is read: what
/// has come is written, and the part is kept.
final class DownloadLoop {
  private static let progressNanoseconds: Int64 = 100_000_000

  private struct Held {
    let task: TaskID
    let attempt: Int32
    let download: ActiveDownload
    let began: Int64
    let cpuBefore: (user: Int64, system: Int64)
    /// When its time is up; nil for no timeout, and while it is suspended.
    var timeout: Int64?
    /// What is left of the timeout, while it is suspended.
    var timeoutLeft: Int64?
    var isSuspended = false
    var speed = SpeedEstimate()
    var nextProgress: Int64 = 0
    var toldBytes: Int64 = -1
  }

  private let plan: Plan
  private let tools: ActiveDownload.Tools
  private let orders: Descriptor
  private let reports: Descriptor
  private var poll = PollSet(slots: 1)
  private var input = LineBuffer()
  private var output = FieldWriter()
  private var current: Held?
  private var ahead: (task: TaskID, attempt: Int32)?
  /// Whether the last task ended so that the one handed ahead may follow.
  private var hasEndedWell = false
  private var isLeaving = false
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
    poll.set(0, self.orders.rawValue)
  }

  /// Works until there is no more to do.
  func run(hello: WorkerHello) throws(Errno) {
    MessageCodec.encode(.hello(hello), into: &output)
    try send()
    while !isAlone, !(isLeaving && current == nil) {
      if try waitOrWork() { try readOrders() }
      passTime(now)
      finishIfEnded()
      try send()
    }
    current?.download.abandon()
  }

  private var now: Int64 { Clock.monotonicNanoseconds }

  /// True when there are orders to read.
  private func waitOrWork() throws(Errno) -> Bool {
    guard let held = current, !held.isSuspended else { return try poll.wait(nanoseconds: -1) }
    if held.download.isTransferring {
      return held.download.advance(
        orders: orders.rawValue, milliseconds: waitMilliseconds(held))
    }
    _ = held.download.advance(orders: orders.rawValue, milliseconds: 0)
    return try poll.wait(nanoseconds: 0)
  }

  private func waitMilliseconds(_ held: Held) -> Int32 {
    var next = now + Self.progressNanoseconds
    if let timeout = held.timeout { next = min(next, timeout) }
    return Int32(clamping: max(1, (next - now) / 1_000_000))
  }

  private func passTime(_ now: Int64) {
    guard let held = current, !held.isSuspended else { return }
    if let timeout = held.timeout, timeout <= now {
      stop(.timeout)
      return
    }
    tellProgress(now)
  }

  private func tellProgress(_ now: Int64) {
    guard var held = current, now >= held.nextProgress, held.download.end == nil else { return }
    let done = held.download.doneBytes
    held.speed.note(bytes: done, atMilliseconds: now / 1_000_000)
    held.nextProgress = now + Self.progressNanoseconds
    if done != held.toldBytes, held.download.isTransferring {
      held.toldBytes = done
      let progress = WorkerProgress(
        task: held.task, doneBytes: done, totalBytes: held.download.totalBytes ?? -1,
        bytesPerSecond: held.speed.bytesPerSecond(atMilliseconds: now / 1_000_000),
        text: WorkerProgress.resumeText(bytes: held.download.resumedBytes))
      MessageCodec.encode(.progress(progress), into: &output)
    }
    current = held
  }

  // MARK: - Orders

  private func readOrders() throws(Errno) {
    let count = try input.fill { room throws(Errno) in try orders.read(into: room) }
    if count == 0 {
      isAlone = true
      return
    }
    while true {
      switch input.next(MessageCodec.order) {
      case .message(let order):
        guard isSound(order) else {
          DownloadMain.complain("an order speaks of a task that is no download of the plan")
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

  private func isSound(_ order: WorkerOrder) -> Bool {
    switch order {
    case .run(let task, _), .follow(let task, _):
      plan.tasks.contains(task.index) && plan.kind(task) == .download
    case .revoke, .stop, .suspend, .proceed, .watch, .conclude, .bye: true
    }
  }

  /// Starts a task, or keeps it for when the one before it has ended.
  private func take(_ task: TaskID, _ attempt: Int32) {
    if isLeaving || ahead != nil {
      MessageCodec.encode(.revoked(task, attempt: attempt), into: &output)
    } else if current != nil {
      ahead = (task, attempt)
    } else {
      start(task, attempt)
    }
  }

  private func obey(_ order: WorkerOrder) {
    switch order {
    case .run(let task, let attempt):
      take(task, attempt)
    case .follow(let task, let attempt):
      if current == nil, !hasEndedWell {
        MessageCodec.encode(.revoked(task, attempt: attempt), into: &output)
      } else {
        take(task, attempt)
      }
    case .revoke(let task, let attempt):
      if isAhead(task, attempt) { giveBack() }
    case .stop(let task, let attempt, let reason):
      if isAhead(task, attempt) {
        giveBack()
      } else if isCurrent(task, attempt) {
        stop(reason)
      }
    case .suspend(let task, let attempt): if isCurrent(task, attempt) { suspend() }
    case .proceed(let task, let attempt): if isCurrent(task, attempt) { proceed() }
    // How far a download is, is told anyway.
    case .watch, .conclude: break
    case .bye: isLeaving = true
    }
  }

  private func isCurrent(_ task: TaskID, _ attempt: Int32) -> Bool {
    current?.task == task && current?.attempt == attempt
  }

  private func isAhead(_ task: TaskID, _ attempt: Int32) -> Bool {
    ahead?.task == task && ahead?.attempt == attempt
  }

  private func giveBack() {
    guard let given = ahead else { return }
    ahead = nil
    MessageCodec.encode(.revoked(given.task, attempt: given.attempt), into: &output)
  }

  private func suspend() {
    guard let held = current, !held.isSuspended else { return }
    current?.isSuspended = true
    current?.timeoutLeft = held.timeout.map { $0 - now }
    current?.timeout = nil
  }

  private func proceed() {
    guard let held = current, held.isSuspended else { return }
    current?.isSuspended = false
    current?.timeout = held.timeoutLeft.map { now.addingReportingOverflow($0).partialValue }
    current?.speed.reset()
    held.download.resumeClock()
  }

  // MARK: - The download that runs

  private func start(_ task: TaskID, _ attempt: Int32) {
    let began = now
    var held = Held(
      task: task, attempt: attempt,
      download: ActiveDownload(
        plan.download(task), proxies: ProxySettings(plan, task), tools: tools),
      began: began, cpuBefore: ProcessID.cpuMicroseconds)
    let limit = Int64(clamping: plan.policy(task).timeoutMilliseconds)
    if limit > 0 {
      let (nanoseconds, overflow) = limit.multipliedReportingOverflow(by: 1_000_000)
      held.timeout = overflow ? nil : began.addingReportingOverflow(nanoseconds).partialValue
    }
    current = held
    MessageCodec.encode(.started(task, attempt: attempt, pid: ProcessID.own), into: &output)
  }

  private func stop(_ reason: Reason) {
    guard let held = current else { return }
    giveBack()
    held.download.abandon()
    end(Outcome(status: .unknown, reason: reason))
  }

  private func finishIfEnded() {
    guard let end = current?.download.end else { return }
    switch end {
    case .success: self.end(Outcome(status: .success))
    case .failure(let defeat):
      let reason: Reason =
        switch defeat.verdict {
        case .again: .fetch
        case .final: .fetchFinal
        }
      self.end(
        Outcome(status: .unknown, reason: reason, errorNumber: defeat.errorNumber))
    }
  }

  private func end(_ outcome: Outcome) {
    guard let held = current else { return }
    current = nil
    var outcome = outcome
    let cpu = ProcessID.cpuMicroseconds
    outcome.usage.wallMicroseconds = (now - held.began) / 1000
    outcome.usage.userMicroseconds = cpu.user - held.cpuBefore.user
    outcome.usage.systemMicroseconds = cpu.system - held.cpuBefore.system
    outcome.usage.peakKibibytes = ProcessID.peakKibibytes
    let record = FetchRecord(held.download.report)
    MessageCodec.encode(.fetched(held.task, attempt: held.attempt, record), into: &output)
    MessageCodec.encode(
      .ended(held.task, attempt: held.attempt, outcome), into: &output)
    hasEndedWell = outcome.isSuccess
    guard outcome.isSuccess, let next = ahead else {
      giveBack()
      return
    }
    ahead = nil
    start(next.task, next.attempt)
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
