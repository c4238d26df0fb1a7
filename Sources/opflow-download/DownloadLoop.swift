internal import OpflowCore
internal import OpflowSystem

/// A download worker at work: takes orders, works on one download while those before it are put in
/// place, and reports.
///
/// A download is no process, so an order to stop or to suspend it is done as soon as it is read: what
/// has come is written, and the part is kept.
final class DownloadLoop {
  private static let progressNanoseconds: Int64 = 100_000_000

  /// A task that was begun and whose end was not told.
  private struct Held {
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
    var toldBytes: Int64 = -1
    /// The queue knows that it is being put in place.
    var isSettling = false
    var outcome: Outcome?
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
  private var actions: [DownloadQueueAction] = []
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
      if ready & 1 != 0 { try readOrders() }
      if ready & 2 != 0 { try tools.settler.takeResults() }
      passTime(now)
      noteEnds()
      try send()
    }
    for entry in held where entry.outcome == nil { entry.download.abandon() }
  }

  private var now: Int64 { Clock.monotonicNanoseconds }

  /// The place of the download that is worked on; nil while there is none.
  private var active: Int? {
    guard let last = held.indices.last, held[last].outcome == nil,
      held[last].download.finished == nil
    else { return nil }
    return last
  }

  /// Bits for what is there: 1 for orders, 2 for syncs that ended.
  private func waitOrWork() throws(Errno) -> Int32 {
    if let active, !queue.isSuspended {
      let download = held[active].download
      if download.isTransferring {
        return download.advance(others: watched, milliseconds: waitMilliseconds(held[active]))
      }
      _ = download.advance(others: watched, milliseconds: 0)
      // What it waits for next is waited for together with the rest.
      if download.isTransferring { return 0 }
      return try ready(within: 0)
    }
    return try ready(within: -1)
  }

  private func ready(within nanoseconds: Int64) throws(Errno) -> Int32 {
    guard try poll.wait(nanoseconds: nanoseconds) else { return 0 }
    return (poll.isReady(0) ? 1 : 0) | (poll.isReady(1) ? 2 : 0)
  }

  private func waitMilliseconds(_ held: Held) -> Int32 {
    var next = now + Self.progressNanoseconds
    if let timeout = held.timeout { next = min(next, timeout) }
    return Int32(clamping: max(1, (next - now) / 1_000_000))
  }

  private func passTime(_ now: Int64) {
    guard let active, !queue.isSuspended else { return }
    if let timeout = held[active].timeout, timeout <= now {
      held[active].download.abandon()
      end(active, Outcome(status: .unknown, reason: .timeout))
    } else if now >= held[active].nextProgress, held[active].download.isTransferring {
      tellProgress(active, now)
    }
  }

  private func tellProgress(_ place: Int, _ now: Int64) {
    let download = held[place].download
    let done = download.doneBytes
    let isFirstLook = held[place].toldBytes < 0
    held[place].speed.note(bytes: done, atMilliseconds: now / 1_000_000)
    held[place].nextProgress = now + Self.progressNanoseconds
    // The first look is what speed is measured from.
    guard isFirstLook || queue.isFirst(held[place].task), done != held[place].toldBytes else {
      return
    }
    held[place].toldBytes = done
    if isFirstLook { return }
    let progress = WorkerProgress(
      task: held[place].task, doneBytes: done, totalBytes: download.totalBytes ?? -1,
      bytesPerSecond: held[place].speed.bytesPerSecond(atMilliseconds: now / 1_000_000),
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

  private func obey(_ order: WorkerOrder) {
    switch order {
    case .run(let task, let attempt): queue.take(task, attempt, follows: false, into: &actions)
    case .follow(let task, let attempt): queue.take(task, attempt, follows: true, into: &actions)
    case .revoke(let task, let attempt): queue.revoke(task, attempt, into: &actions)
    case .stop(let task, let attempt, let reason):
      let isToEnd = queue.stop(task, attempt, into: &actions)
      perform()
      if isToEnd, let active {
        held[active].download.abandon()
        end(active, Outcome(status: .unknown, reason: reason))
      }
    case .suspend(let task, let attempt): if queue.suspend(task, attempt) { suspend() }
    case .proceed(let task, let attempt):
      if queue.proceed(task, attempt, into: &actions) { proceed() }
    // How far a download is, is told anyway.
    case .watch, .conclude: break
    case .bye: queue.leave()
    }
    perform()
  }

  private func suspend() {
    guard let active else { return }
    held[active].timeoutLeft = held[active].timeout.map { $0 - now }
    held[active].timeout = nil
  }

  private func proceed() {
    guard let active else { return }
    held[active].timeout = held[active].timeoutLeft.map {
      now.addingReportingOverflow($0).partialValue
    }
    held[active].speed.reset()
    held[active].download.resumeClock()
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
    var entry = Held(
      task: task, attempt: attempt,
      download: ActiveDownload(
        plan.download(task), proxies: ProxySettings(plan, task), tools: tools),
      began: began)
    let limit = Int64(clamping: plan.policy(task).timeoutMilliseconds)
    if limit > 0 {
      let (nanoseconds, overflow) = limit.multipliedReportingOverflow(by: 1_000_000)
      entry.timeout = overflow ? nil : began.addingReportingOverflow(nanoseconds).partialValue
    }
    held.append(entry)
  }

  /// Sees which downloads are over, and brings on those that are being put in place.
  private func noteEnds() {
    if queue.isSuspended { return }
    if let last = held.indices.last, held[last].download.finished != nil, !held[last].isSettling {
      held[last].isSettling = true
      queue.settles(held[last].task, into: &actions)
      perform()
    }
    if held.contains(where: { $0.download.finished != nil }) {
      tools.settler.place(held.compactMap(\.download.finished))
      for entry in held { entry.download.noteSettled() }
    }
    // Telling one may take others out.
    while let place = held.firstIndex(where: { $0.outcome == nil && $0.download.end != nil }) {
      switch held[place].download.end {
      case .success: end(place, Outcome(status: .success))
      case .failure(let defeat):
        let reason: Reason =
          switch defeat.verdict {
          case .again: .fetch
          case .final: .fetchFinal
          }
        end(place, Outcome(status: .unknown, reason: reason, errorNumber: defeat.errorNumber))
      case nil: break
      }
    }
  }

  private func end(_ place: Int, _ outcome: Outcome) {
    var outcome = outcome
    outcome.usage.wallMicroseconds = (now - held[place].began) / 1000
    held[place].outcome = outcome
    queue.ended(held[place].task, isSuccess: outcome.isSuccess, into: &actions)
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
