internal import OpflowJournal
internal import OpflowPlan
internal import OpflowRuntime
internal import OpflowSystem
internal import OpflowWire
internal import Synchronization

/// The queue's thread: waits for the coordinator, the journal and the client's requests, and
/// updates the table. It never waits for client code.
final class QueueReader {
  let board: QueueBoard
  private(set) var setting: ServerSetting
  var link: HostLink?
  var run: FollowedRun?
  /// Shows other clients that the run is in use.
  private var hold: HostsLock?
  private var watch: FolderWatch?
  private var poll = PollSet(slots: 4)
  private var isLeaving = false

  // Journal

  var hasLooked = false
  /// SEQ of the last line in the table.
  var lastSequence: UInt64 = 0
  /// Goes back when the journal is reread.
  var lastTold: UInt64 = 0
  /// SEQs of lines about tasks that only the next plan has.
  var unheard: Set<UInt64> = []
  /// By the task numbers of `placedPlan`.
  var places: [Int32] = []
  var placedPlan: Plan?
  var isPlacedAnew = false
  var changes: [RawChange] = []
  var finished: [Int32] = []
  /// Added by this client.
  var added: [OrderID: [Int32]] = [:]
  var progressIdentity: FileIdentity?

  // External tasks

  lazy var blocks = BlockHost(board.inbox)

  // Requests

  var waitingAdds: [AddJob] = []
  var alone: Set<ObjectIdentifier> = []
  var addOnItsWay: SentAddition?
  var orders: [OrderID: OrderJob] = [:]
  /// Until the deadline, in nanoseconds, an answer may still come.
  private var givenUp: [(until: Int64, reply: any PendingReply)] = []
  private static let lastWait: Int64 = 1_000_000_000

  /// Times, in nanoseconds.
  private var losses: [Int64] = []
  private static let mostLosses = 5
  private static let lossWindow: Int64 = 30_000_000_000
  /// If the kernel does not report changes.
  private static let pollInterval: Int64 = 100_000_000
  var lookedAt: Int64 = 0
  private static let lookInterval: Int64 = 1_000_000
  private static let lookIntervalOfAdds: Int64 = 5_000_000

  init(_ board: QueueBoard, _ setting: ServerSetting) {
    self.board = board
    self.setting = setting
  }

  /// Calls `opened` once.
  func perform(_ opened: (Result<Void, QueueError>) -> Void) {
    do throws(QueueError) {
      try open(ServerStart(setting, board.inbox))
      try look()
    } catch {
      board.finish(error)
      return opened(.failure(error))
    }
    board.setRun(run?.folder.id.description ?? "")
    opened(.success(()))
    while !isLeaving {
      do throws(QueueError) {
        try turn()
      } catch {
        end(error)
      }
    }
    blocks.leave()
    link = nil
    board.finish(QueueError(.ended, "the queue \(setting.name) was let go of"))
    answerAll(QueueError(.ended, "the queue \(setting.name) was let go of"))
  }

  private func turn() throws(QueueError) {
    poll.set(0, board.inbox.rawDescriptor)
    poll.set(
      1, link?.rawDescriptor ?? -1,
      for: link?.wantsToWrite == true ? [.readable, .writable] : .readable)
    let rest = restNanoseconds
    poll.set(2, rest > 0 ? -1 : watch?.rawDescriptor ?? -1)
    poll.set(
      3, blocks.link?.rawDescriptor ?? -1,
      for: blocks.link?.wantsToWrite == true ? [.readable, .writable] : .readable)
    let isBlind = watch == nil && link != nil
    var most = isBlind ? Self.pollInterval : rest > 0 ? rest : Int64.max
    if let first = givenUp.first {
      most = min(most, max(0, first.until - Clock.monotonicNanoseconds))
    }
    do throws(Errno) {
      _ = try poll.wait(nanoseconds: most == .max ? -1 : most)
      if poll.isReady(2) { try watch?.takeChanges() }
    } catch {
      throw QueueError(.io, "cannot wait for the run: \(error)")
    }
    if poll.isReady(0) { takeRequests() }
    if poll.isReady(2) || isBlind { try look() }
    if poll.isReady(3) { hearOfBlocks() }
    if poll.isReady(1) { try hear() }
    if link != nil { flushAdds() }
    let now = givenUp.isEmpty ? 0 : Clock.monotonicNanoseconds
    while let first = givenUp.first, first.until <= now {
      givenUp.removeFirst()
      first.reply.giveUp()
    }
  }

  /// How long new lines may wait, to read them in batches; longer while an addition is pending,
  /// since its answer triggers a read.
  private var restNanoseconds: Int64 {
    guard watch != nil, link != nil else { return 0 }
    let interval = addOnItsWay == nil ? Self.lookInterval : Self.lookIntervalOfAdds
    return lookedAt + interval - Clock.monotonicNanoseconds
  }

  private func hear() throws(QueueError) {
    guard let link else { return }
    if link.wantsToWrite { link.flush() }
    var answers: [(OrderID, OrderAnswer)] = []
    link.receive { line in
      if let said = OrderLines.answer(line), let id = said.id { answers.append((id, said.answer)) }
    }
    // It has the lines of what was answered.
    if !answers.isEmpty { try look() }
    for (id, answer) in answers { take(answer, to: id) }
    if link.hasEnded { try replaceLost() }
  }

  private func takeRequests() {
    for request in board.inbox.take() {
      switch request {
      case .add(let job): waitingAdds.append(job)
      case .order(let job):
        if link == nil { job.answer(.failure(board.endError)) } else { send(job) }
      case .blockEnded(let end): if blocks.take(end) { offerBlocks() }
      case .giveUp(let reply): givenUp.append((Clock.monotonicNanoseconds + Self.lastWait, reply))
      case .leave: isLeaving = true
      }
    }
    if link == nil { answerAll(board.endError) }
  }

  // MARK: - The coordinator

  private func open(_ start: ServerStart) throws(QueueError) {
    switch try start.open() {
    case .live(let link, let folder):
      self.link = link
      do throws(RunFolderError) {
        if run?.folder != folder {
          run = try FollowedRun(folder, keepingDetails: true)
          // Without it, on a full disk for example, only a loss of the coordinator is survived less
          // well.
          hold = try? HostsLock(folder)
        }
      } catch {
        throw QueueError(error)
      }
      // The plan file changes often.
      watch = try? FolderWatch(file: folder.journal, in: folder.path)
    case .ended(let folder):
      // The run stopped without clients just as this one joined.
      if run?.model.orders.stopReason == StopEntry.hostsGone, run?.model.openness == .open {
        return try open(ServerStart(setting, board.inbox))
      }
      try finish(folder)
    }
  }

  /// The run has ended, or its coordinator died and another one continues.
  private func replaceLost() throws(QueueError) {
    link = nil
    blocks.leave()
    try look()
    guard let folder = run?.folder else { return }
    if run?.isHeld == false, run?.model.close == nil {
      let now = Clock.monotonicNanoseconds
      losses.removeAll { now - $0 > Self.lossWindow }
      losses.append(now)
      if losses.count > Self.mostLosses { throw ServerStart.died(folder, losses.count) }
    }
    try open(ServerStart(setting, board.inbox, run: folder))
    if link == nil { return }
    try look()
    offerBlocks()
    askAgain()
  }

  private func finish(_ folder: RunFolder) throws(QueueError) {
    try look()
    guard let model = run?.model, let close = model.close else { return }
    let isComplete = model.openness == .closed && board.table.withLock { $0.tally.unfinished == 0 }
    let word = close.state.rawValue
    let error = QueueError(
      .ended,
      isComplete
        ? "run \(folder.id) is over (\(word)): a new queue of that name begins another one"
        : "run \(folder.id) was stopped (\(word)): `opflow resume \(folder.id)`, or a new queue of "
          + "that name, continues it")
    end(error, isComplete: isComplete)
  }

  private func end(_ error: QueueError, isComplete: Bool = false) {
    link = nil
    hold = nil
    watch = nil
    blocks.leave()
    board.finish(error, isComplete: isComplete)
    answerAll(error)
  }

  func setMaxConcurrent(_ most: Int) { setting.maxConcurrent = most }
}
