internal import CTransfer
internal import OpflowDownload
internal import OpflowJournal
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire
internal import OpflowWorker

/// Transfers one file while earlier ones are put in place. Reports events to `DownloadWorkerState`
/// and performs its actions. A stop or suspension takes effect at once: received bytes are written,
/// and the part is kept.
final class DownloadWorker: WorkerRole {
  private static let progressNanoseconds: Int64 = 100_000_000
  private static let lookNanoseconds: Int64 = 500_000

  /// A download until its end is reported.
  private final class Held {
    let task: TaskID
    let download: ActiveDownload
    var speed = SpeedEstimate()
    var nextProgress: Int64 = 0
    /// Speed is measured from the first check.
    var isLookedAt = false
    var toldBytes: Int64 = -1
    var isSettling = false
    var isOver = false

    init(_ task: TaskID, _ download: ActiveDownload) {
      self.task = task
      self.download = download
    }
  }

  private static let settlerSlot = WorkerFrame.firstSlot

  static let trade = WorkerTrade(
    program: "opflow-download", usage: "opflow-download worker RUN-FOLDER RUN-ID [PATIENCE-MS]",
    actions: .download, slots: 1
  ) { $0 == .download }

  let frame: WorkerFrame
  private var plan: Plan { frame.plan }
  private let tools: ActiveDownload.Tools
  private var state: DownloadWorkerState
  private var needed: NeededValues
  /// In start order. Only the last download may still transfer.
  private var held: [Held] = []
  /// Downloads before the last may have ended.
  private var hasEnds = false
  private var actions: [DownloadWorkerAction] = []
  private var lookedAt: Int64 = 0
  /// The usage at the last reported end.
  private var usageTold = ProcessID.Usage()

  init(_ frame: WorkerFrame, tools: ActiveDownload.Tools) {
    self.frame = frame
    self.tools = tools
    let plans = frame.plans
    needed = NeededValues(plans, runFolder: frame.runFolder)
    state = DownloadWorkerState(
      pid: ProcessID.own, timeoutMilliseconds: { plans.current.policy($0).timeoutMilliseconds })
    frame.poll.set(Self.settlerSlot, tools.settler.rawDescriptor)
  }

  private var active: Held? {
    guard let task = state.active, let last = held.last, last.task == task else { return nil }
    return last
  }

  // MARK: - Frame

  var deadline: Instant? {
    guard let active else { return nil }
    if !active.download.isTransferring { return Instant(nanoseconds: 0) }
    var next = frame.now.advanced(byNanoseconds: Self.progressNanoseconds)
    if let timeout = state.deadline { next = min(next, timeout) }
    if let wake = tools.settler.nextWake { next = min(next, Instant(nanoseconds: wake)) }
    return next
  }

  func wait(nanoseconds: Int64) throws(Errno) {
    guard let download = active?.download else {
      tools.settler.endGroup(isIdle: true)
      if tools.settler.hasNews, !state.isSuspended {
        frame.poll.forget()
      } else {
        _ = try frame.poll.wait(nanoseconds: nanoseconds)
      }
      return
    }
    var isElsewhere = false
    if download.isTransferring {
      let milliseconds = Int32(clamping: max(1, nanoseconds / 1_000_000))
      isElsewhere = download.advance(others: frame.poll.rawDescriptors, milliseconds: milliseconds)
      // The transfer also waited for the other descriptors.
      if download.isTransferring { lookedAt = now }
    } else {
      _ = download.advance(others: [], milliseconds: 0)
    }
    let now = now
    if isElsewhere || now - lookedAt >= Self.lookNanoseconds {
      lookedAt = now
      _ = try frame.poll.wait(nanoseconds: 0)
    } else {
      frame.poll.forget()
    }
  }

  private var now: Int64 { Clock.monotonicNanoseconds }

  func takeEvents(at now: Instant) throws(Errno) {
    if frame.poll.isReady(Self.settlerSlot) { try tools.settler.takeResults() }
    // Before messages are read: afterwards the task cannot be revoked.
    noteSettling(now)
    noteEnds(now)
  }

  func apply(_ message: WorkerMessage, at now: Instant) {
    needed.note(message)
    tell(.message(message), now)
  }

  func endOfMessages(at now: Instant) { tell(.endOfMessages, now) }

  func passTime(at now: Instant) {
    if let wake = tools.settler.nextWake, wake <= now.nanoseconds {
      tools.settler.endGroup(isIdle: false)
    }
    if let deadline = state.deadline, deadline <= now { tell(.timer, now) }
    guard let active, now.nanoseconds >= active.nextProgress, active.download.isTransferring
    else { return }
    tellProgress(active, now.nanoseconds)
  }

  private func tellProgress(_ entry: Held, _ now: Int64) {
    let download = entry.download
    let done = download.doneBytes
    entry.speed.note(bytes: done, atMilliseconds: now / 1_000_000)
    entry.nextProgress = now + Self.progressNanoseconds
    defer { entry.isLookedAt = true }
    // Reported even without bytes, so that a silent server is visible.
    guard entry.isLookedAt, state.isFirst(entry.task), done != entry.toldBytes, !frame.isBehind
    else { return }
    entry.toldBytes = done
    let progress = WorkerProgress(
      task: entry.task, doneBytes: done, totalBytes: download.totalBytes ?? -1,
      bytesPerSecond: entry.speed.bytesPerSecond(atMilliseconds: now / 1_000_000),
      text: WorkerProgress.resumeText(bytes: download.resumedBytes))
    frame.say(.progress(progress))
  }

  // MARK: - Events

  private func noteSettling(_ now: Instant) {
    guard let last = held.last, last.download.isRight, !last.isSettling else { return }
    last.isSettling = true
    tell(.settles(last.task), now)
  }

  /// Also advances files that are being put in place.
  private func noteEnds(_ now: Instant) {
    if state.isSuspended { return }
    if tools.settler.hasNews {
      hasEnds = true
      let isIdle = active == nil
      while tools.settler.hasNews {
        tools.settler.place(held.lazy.compactMap(\.download.finished), isIdle: isIdle)
      }
      for entry in held { if !entry.download.noteSettled() { break } }
    }
    guard hasEnds || held.last?.download.end != nil else { return }
    hasEnds = false
    // One end may remove other downloads.
    while let entry = held.first(where: { !$0.isOver && $0.download.end != nil }) {
      guard let end = entry.download.end else { return }
      entry.isOver = true
      tell(.ended(entry.task, Self.outcome(of: end)), now)
    }
  }

  private static func outcome(of end: DownloadEnd) -> Outcome {
    switch end {
    case .success: return Outcome(status: .success)
    case .failure(let defeat):
      let reason: EndReason =
        switch defeat.verdict {
        case .again: .fetch
        case .final: .fetchFinal
        }
      return Outcome(status: .unknown, reason: reason, errorNumber: defeat.errorNumber)
    }
  }

  // MARK: - Actions

  private func tell(_ event: DownloadWorkerEvent, _ now: Instant) {
    state.handle(event, at: now, into: &actions)
    for action in actions { perform(action) }
    actions.removeAll(keepingCapacity: true)
  }

  private func perform(_ action: DownloadWorkerAction) {
    switch action {
    case .begin(let task, _): held.append(Held(task, download(of: task)))
    case .cut(let task):
      guard let entry = held.first(where: { $0.task == task }) else { return }
      entry.isOver = true
      entry.download.abandon()
    case .abandon(let task):
      guard let entry = take(task), !entry.isOver else { return }
      entry.download.abandon()
    case .proceed(let task):
      guard let entry = held.first(where: { $0.task == task }) else { return }
      entry.speed.reset()
      entry.download.resumeClock()
    case .tellEnd(let task, let attempt, let outcome):
      guard let entry = take(task) else { return }
      let record = FetchRecord(entry.download.report)
      frame.say(.fetched(task, attempt: attempt, record))
      frame.say(.ended(task, attempt: attempt, withUsage(outcome)))
    case .report(let report): frame.say(report)
    case .leave: frame.leave()
    }
  }

  /// With secrets and values of other tasks.
  private func download(of task: TaskID) -> ActiveDownload {
    var spec = plan.download(task)
    for place in spec.headers.indices { spec.headers[place].fill(frame.secrets) }
    var obstacle: DownloadFailure?
    var environment: [Int: [UInt8]] = [:]
    do throws(ValueFault) {
      let late = try needed.late(of: task)
      if let url = late?.url, !spec.sources.isEmpty { spec.sources[0] = url }
      if let hash = late?.sha256 { spec.sha256 = hash }
      environment = late?.environment ?? [:]
    } catch {
      obstacle = DownloadFailure(.request, error.detail)
    }
    return ActiveDownload(
      spec, obstacle: obstacle, masker: frame.masker,
      proxies: ProxySettings(plan, task, environment), tools: tools)
  }

  private func take(_ task: TaskID) -> Held? {
    held.firstIndex { $0.task == task }.map { held.remove(at: $0) }
  }

  private func withUsage(_ outcome: Outcome) -> Outcome {
    var outcome = outcome
    let usage = ProcessID.ownUsage
    outcome.usage.userMicroseconds = usage.userMicroseconds - usageTold.userMicroseconds
    outcome.usage.systemMicroseconds = usage.systemMicroseconds - usageTold.systemMicroseconds
    outcome.usage.peakKibibytes = usage.peakKibibytes
    usageTold = usage
    return outcome
  }
}

/// `opflow-download worker RUN-FOLDER RUN-ID [PATIENCE-MS]`: the download worker of a coordinator.
enum DownloadMain {
  static func run(arguments: [String]) -> Int32 {
    let trade = DownloadWorker.trade
    // Only tests pass PATIENCE-MS.
    guard (3...4).contains(arguments.count), arguments[0] == WorkerProcess.command else {
      trade.complain("usage: \(trade.usage)")
      return 2
    }
    var patience = ActiveDownload.Patience()
    if arguments.count == 4 {
      guard let milliseconds = Int64(arguments[3]), milliseconds > 0, milliseconds < 1 << 40 else {
        trade.complain("`\(arguments[3])` is not a valid number of milliseconds")
        return 2
      }
      patience.beforeAnswer = milliseconds * 1_000_000
      patience.betweenBytes = milliseconds * 1_000_000
    }
    return WorkerProcess.run(trade, arguments: Array(arguments[1...2])) {
      frame throws(WorkerFailure) in
      DownloadWorker(frame, tools: try tools(runFolder: frame.runFolder, patience: patience))
    }
  }

  private static func tools(
    runFolder: String, patience: ActiveDownload.Patience
  ) throws(WorkerFailure) -> ActiveDownload.Tools {
    guard ctransfer_start() == 0, let transfer = Transfer(environment: Environment.value) else {
      throw WorkerFailure(detail: "cannot initialize libcurl")
    }
    let settler = try WorkerFailure.naming("cannot start the threads that sync files") {
      () throws(Errno) in try Settler()
    }
    let journals = JournalSearch(runFolder: runFolder)
    return ActiveDownload.Tools(
      transfer: transfer, settler: settler, buffer: SpareBuffer(), bootID: Machine.bootID,
      standardMode: 0o666 & ~File.creationMask, patience: patience,
      lastSuccess: journals.lastSuccess)
  }
}

/// Reads the neighboring runs on first use.
final class JournalSearch {
  private let runs: String
  private var found: LastDownloads?

  init(runFolder: String) { runs = Path.parent(of: runFolder) }

  func lastSuccess(from url: String) -> FetchReport? {
    if found == nil { found = read() }
    return found?.report(from: url)
  }

  private func read() -> LastDownloads {
    var downloads = LastDownloads()
    for run in (try? Path.names(in: runs)) ?? [] {
      guard let journal = try? MappedFile("\(runs)/\(run)/journal.log") else { continue }
      downloads.read(journal.bytes)
      MappedFile.unmap(journal.bytes)
    }
    return downloads
  }
}
