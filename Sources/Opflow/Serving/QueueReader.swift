internal import OpflowBase
internal import OpflowJournal
internal import OpflowManifest
internal import OpflowPlan
internal import OpflowRuntime
internal import OpflowSystem
internal import OpflowWire
internal import Synchronization

/// The queue's thread. It never waits for client code.
final class QueueReader {
  let board: QueueBoard
  private(set) var setting: ServerSetting
  var link: ClientLink?
  var run: FollowedRun?
  /// Shows other clients that the run is in use.
  private var hold: ClientsLock?
  private var watch: FolderWatch?
  private var poll = PollSet(slots: 4)
  private var isLeaving = false

  // Journal

  var hasLooked = false
  /// SEQ of the last line in the table.
  var lastSequence: UInt64 = 0
  /// SEQ of the last line read; lower when the journal is reread.
  var lastTold: UInt64 = 0
  /// SEQs of lines about tasks that only the next plan has.
  var unheard: Set<UInt64> = []
  /// By the task numbers of `placedPlan`.
  var places: [Int32] = []
  var placedPlan: Plan?
  var isPlacedAnew = false
  var changes: [RawChange] = []
  var finished: [Int32] = []
  var added: [RequestID: [Int32]] = [:]
  var progressIdentity: FileIdentity?

  // External tasks

  lazy var blocks = ExternalTaskClient(board.inbox)

  // Requests

  var waitingAdds: [AddJob] = []
  var alone: Set<ObjectIdentifier> = []
  var addOnItsWay: SentAddition?
  var requests: [RequestID: RequestJob] = [:]
  /// Until the deadline, in nanoseconds, an answer may still come.
  private var givenUp: [(until: Int64, reply: any PendingReply)] = []
  private static let lastWait: Int64 = 1_000_000_000

  /// In nanoseconds.
  private var losses: [Int64] = []
  private static let mostLosses = 5
  private static let lossWindow: Int64 = 30_000_000_000
  /// Used if the kernel does not report changes.
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
    board.finish(QueueError(.ended, "the queue \(setting.name) was released"))
    answerAll(QueueError(.ended, "the queue \(setting.name) was released"))
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
    let mustReread = watch == nil && link != nil
    var most = mustReread ? Self.pollInterval : rest > 0 ? rest : Int64.max
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
    if poll.isReady(2) || mustReread { try look() }
    if poll.isReady(3) { hearOfExternalTasks() }
    if poll.isReady(1) { try hear() }
    if link != nil { flushAdds() }
    let now = givenUp.isEmpty ? 0 : Clock.monotonicNanoseconds
    while let first = givenUp.first, first.until <= now {
      givenUp.removeFirst()
      first.reply.giveUp()
    }
  }

  /// Batches new lines; longer while an addition is pending, since its answer triggers a read.
  private var restNanoseconds: Int64 {
    guard watch != nil, link != nil else { return 0 }
    let interval = addOnItsWay == nil ? Self.lookInterval : Self.lookIntervalOfAdds
    return lookedAt + interval - Clock.monotonicNanoseconds
  }

  private func hear() throws(QueueError) {
    guard let link else { return }
    if link.wantsToWrite { link.flush() }
    var answers: [(RequestID, RequestAnswer)] = []
    link.receive { line in
      if let said = RequestLines.answer(line), let id = said.id {
        answers.append((id, said.answer))
      }
    }
    // The journal has the lines of the answered requests.
    if !answers.isEmpty { try look() }
    for (id, answer) in answers { take(answer, to: id) }
    if link.hasEnded { try replaceLost() }
  }

  private func takeRequests() {
    for request in board.inbox.take() {
      switch request {
      case .add(let job): waitingAdds.append(job)
      case .request(let job):
        if link == nil { job.answer(.failure(board.endError)) } else { send(job) }
      case .externalTaskEnded(let end): if blocks.take(end) { offerExternalTasks() }
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
          // Without this lock, on a full disk for example, the loss of a coordinator is survived
          // less well.
          hold = try? ClientsLock(folder)
        }
      } catch {
        throw QueueError(error)
      }
      // The plan file changes often.
      watch = try? FolderWatch(file: folder.journal, in: folder.path)
    case .ended(let folder):
      // The run stopped without clients just as this one joined.
      if run?.model.requests.stopReason == StopEntry.clientsGone, run?.model.openness == .open {
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
    offerExternalTasks()
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
        ? "run \(folder.id) has ended (\(word)); a new queue with this name starts another run"
        : "run \(folder.id) was stopped (\(word)); to continue it, make a new queue with this name,"
          + " or run `opflow resume \(folder.id)`")
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

extension QueueReader {
  func look() throws(QueueError) {
    // Avoids copies on changes.
    guard var run = self.run.take() else { return }
    let isFirst = !hasLooked
    hasLooked = true
    defer { lookedAt = Clock.monotonicNanoseconds }
    defer { self.run = run }
    do throws(RunFolderError) {
      // A connected coordinator holds the run.
      try run.look(isHeld: link?.hasEnded == false ? true : nil, tellsAnew: true) {
        line, model, plan in
        let isAnew = line.sequence <= lastTold
        lastTold = line.sequence
        if isFirst {
          lastSequence = max(lastSequence, line.sequence)
          return
        }
        // The journal is being reread with another plan.
        if isAnew { placedPlan = nil }
        if line.sequence <= lastSequence, unheard.remove(line.sequence) == nil { return }
        lastSequence = max(lastSequence, line.sequence)
        take(line, model, plan)
      }
    } catch {
      throw QueueError(error)
    }
    place(run.plan)
    if isFirst {
      takeAll(run.model, run.plan)
      changes = []
      finished = []
      isPlacedAnew = false
    }
    if isPlacedAnew {
      takeAll(run.model, run.plan)
      retractRest(run.model.lastMilliseconds)
    }
    lookAtProgress(run)
    let isPaused = run.model.requests.ofRun(.pause) != nil
    for place in finished where board.table.withLock({ $0[place].state.isSuccess }) {
      blocks.forget(place)
    }
    board.tell(changes, finished, isPaused: isPaused)
    changes.removeAll(keepingCapacity: changes.capacity <= 1 << 14)
    finished.removeAll(keepingCapacity: true)
  }

  private func take(_ line: JournalLine, _ model: RunModel, _ plan: Plan) {
    place(plan)
    switch line.event {
    case .transition:
      if let task = plan.task(escapedName: line.task) {
        update(task, model, line.milliseconds)
      } else if !line.task.isEmpty {
        unheard.insert(line.sequence)
      }
      if model.begun.sequence == line.sequence, !model.begun.task.isNone {
        update(model.begun.task, model, line.milliseconds)
      }
    case .request:
      guard let request = line.request(plan: plan) else { return }
      if request.lacksTasks { unheard.insert(line.sequence) }
      for task in request.tasks { update(task, model, line.milliseconds) }
      for task in request.back { update(task, model, line.milliseconds) }
    case .extend:
      guard let entry = line.extend(plan: plan) else { return }
      if entry.taskCount > places.count { unheard.insert(line.sequence) }
      let range = max(0, entry.taskCount - entry.added)..<min(entry.taskCount, places.count)
      if isOurs(entry.id), range.lowerBound <= range.upperBound {
        added[entry.id] = Array(places[range])
      }
    // Skips have their own lines; new tasks with the names take their places.
    case .retract: break
    // Reruns have their own lines; earlier successes are now of an earlier session.
    case .resume: takeAll(model, plan)
    case .open, .close, .worker, .stop, .node, .unknown: break
    }
  }

  private func isOurs(_ id: RequestID) -> Bool { addOnItsWay?.id == id }

  private func place(_ plan: Plan) {
    if placedPlan === plan { return }
    // A grown plan keeps its numbers; a resume's may not.
    let from = placedPlan == nil ? 0 : min(places.count, plan.taskCount)
    if from == 0 {
      places = []
      isPlacedAnew = true
    }
    places.reserveCapacity(plan.taskCount)
    board.table.withLock { table in
      for number in from..<plan.taskCount {
        places.append(table.insert(plan.nameString(TaskID(number))))
      }
      for number in from..<plan.taskCount {
        let needs = plan.needs(TaskID(number)).map { edge in
          EntryNeed(place: places[Int(plan.needTargets[edge])], condition: plan.needCondition(edge))
        }
        if !needs.isEmpty { table.update(places[number]) { $0.needs = needs } }
      }
    }
    placedPlan = plan
  }

  private func takeAll(_ model: RunModel, _ plan: Plan) {
    for number in plan.tasks { update(TaskID(number), model, model.lastMilliseconds) }
  }

  /// A resume may lose tasks.
  private func retractRest(_ milliseconds: Int64) {
    isPlacedAnew = false
    let known = Set(places)
    let retracted = board.table.withLock { table in
      table.entries.indices.map { Int32(truncatingIfNeeded: $0) }.filter { place in
        !known.contains(place) && table.update(place) { $0.retract() }
      }.map {
        RawChange(
          place: $0, attempt: table[$0].attempts, state: .skipped, milliseconds: milliseconds)
      }
    }
    changes += retracted
    finished += retracted.map(\.place)
  }

  private func update(_ task: TaskID, _ model: RunModel, _ milliseconds: Int64) {
    guard task.index < places.count else { return }
    let place = places[task.index]
    let record = model[task]
    let change = board.table.withLock { table -> RawChange? in
      let isOther = table.update(place) { $0.take(record, in: model, task) }
      guard isOther else { return nil }
      let entry = table[place]
      return RawChange(
        place: place, attempt: entry.attempts, state: entry.state, milliseconds: milliseconds,
        progress: entry.progress)
    }
    guard let change else { return }
    changes.append(change)
    if change.state.isFinished { finished.append(place) }
  }

  // MARK: - Downloads

  /// The file is replaced once a second.
  private func lookAtProgress(_ run: FollowedRun) {
    guard run.plan.hasDownloads, let status = try? Path.status(run.folder.progress),
      status.identity != progressIdentity
    else { return }
    progressIdentity = status.identity
    for (task, entry) in run.folder.readProgress(plan: run.plan) {
      guard task.index < places.count, run.model[task].attempts == entry.attempt else { continue }
      let place = places[task.index]
      let told = TaskProgress(
        doneBytes: entry.progress.doneBytes, totalBytes: entry.progress.totalBytes,
        bytesPerSecond: entry.progress.bytesPerSecond, resumedBytes: entry.progress.resumedBytes)
      let state = board.table.withLock { table -> TaskStatus? in
        guard table[place].state == .running, table[place].progress != told else { return nil }
        table.update(place) { $0.progress = told }
        return .running
      }
      guard let state else { continue }
      changes.append(
        RawChange(
          place: place, attempt: entry.attempt, state: state,
          milliseconds: entry.progress.toldMilliseconds, progress: told))
    }
  }
}

struct SentAddition {
  let jobs: [AddJob]
  let addition: PreparedAddition
  var id: RequestID { addition.request.id }
}

extension QueueReader {
  private static let mostTasksAtOnce = 100_000

  // MARK: - Adding

  func flushAdds() {
    while addOnItsWay == nil, !waitingAdds.isEmpty { send(takeBatch()) }
  }

  private func takeBatch() -> [AddJob] {
    var batch: [AddJob] = []
    var count = 0
    for job in waitingAdds {
      guard case .tasks(let tasks) = job.content, !isAlone(job) else { break }
      if count > 0, count + tasks.count > Self.mostTasksAtOnce { break }
      count += tasks.count
      batch.append(job)
    }
    if batch.isEmpty { batch = [waitingAdds[0]] }
    waitingAdds.removeFirst(batch.count)
    return batch
  }

  /// The job was in a refused batch; sent alone, it gets only its own errors.
  private func isAlone(_ job: AddJob) -> Bool { alone.contains(ObjectIdentifier(job)) }

  private func send(_ jobs: [AddJob]) {
    guard let run, let link else { return }
    let addition: PreparedAddition
    do throws(QueueError) {
      addition = try prepare(jobs, run)
    } catch {
      return fail(jobs, error)
    }
    if addition.taskCount == 0 { return succeed(jobs, addition, []) }
    guard let line = RequestLines.line(addition.request) else {
      return fail(
        jobs,
        QueueError(
          .usage, "the manifest includes too many files for one request; split it"))
    }
    do throws(RunFolderError) {
      try addition.write()
    } catch {
      addition.remove()
      return fail(jobs, QueueError(error))
    }
    addOnItsWay = SentAddition(jobs: jobs, addition: addition)
    link.send(line)
  }

  private func prepare(_ jobs: [AddJob], _ run: FollowedRun) throws(QueueError) -> PreparedAddition
  {
    var tasks: [NewTask] = []
    var path: String?
    for job in jobs {
      switch job.content {
      case .tasks(let further): tasks += further
      case .manifest(let named): path = named
      }
    }
    let composed = path == nil ? ManifestText(tasks) : nil
    do throws(PreparationError) {
      let manifest =
        if let path {
          try ManifestFile(at: ManifestFile.path(path))
        } else {
          ManifestFile.composed(composed?.bytes ?? [], folder: setting.workingFolder)
        }
      var addition = try PreparedAddition(
        manifest, to: run.folder, run.plan, RequestID.new(), by: .none)
      addition.request.by = "Opflow"
      if path == nil { addition.carry() }
      return addition
    } catch {
      throw QueueError(error, composed: composed)
    }
  }

  private func fail(_ jobs: [AddJob], _ error: QueueError) {
    guard jobs.count > 1 else {
      for job in jobs {
        alone.remove(ObjectIdentifier(job))
        job.answer(.failure(error))
      }
      return
    }
    for job in jobs { alone.insert(ObjectIdentifier(job)) }
    waitingAdds = jobs + waitingAdds
  }

  private func succeed(_ jobs: [AddJob], _ addition: PreparedAddition, _ new: [Int32]) {
    // A resume may have renumbered the tasks since.
    let further = (new.isEmpty ? addition.added : []) + addition.unchanged
    for job in jobs {
      alone.remove(ObjectIdentifier(job))
      let places = board.table.withLock { table in
        switch job.content {
        case .tasks(let tasks): tasks.compactMap { table.place(of: $0.id) }
        case .manifest: new + further.compactMap { table.place(of: $0) }
        }
      }
      if case .tasks(let tasks) = job.content { keepExternalTasks(of: tasks) }
      job.answer(.success(places))
    }
  }

  private func take(_ answer: RequestAnswer, to sent: SentAddition) {
    addOnItsWay = nil
    let new = added.removeValue(forKey: sent.id) ?? []
    switch answer {
    case .done: succeed(sent.jobs, sent.addition, new)
    case .refused(let detail) where detail.hasPrefix(AddRequest.outdated):
      sent.addition.remove()
      waitingAdds = sent.jobs + waitingAdds
    case .refused(let detail):
      sent.addition.remove()
      fail(sent.jobs, QueueError(.refused, "add: \(CleanText.string(detail))"))
    }
  }

  // MARK: - Requests

  func send(_ job: RequestJob) {
    guard let run, let link else { return job.answer(.failure(board.endError)) }
    var request = ClientRequest(
      id: RequestID.new(), verb: job.verb, planKey: run.plan.key.description)
    request.by = "Opflow"
    request.carried = job.carried
    switch job.about {
    case .run: break
    case .task(let place):
      let id = board.table.withLock { $0[place].id }
      guard let task = run.plan.task(named: id) else {
        return job.answer(.failure(QueueError(.usage, "the run no longer has the task \(id)")))
      }
      request.tasks = TaskRanges([task])
    case .all:
      if run.plan.taskCount == 0 { return job.answer(.success(0)) }
      request.among = TaskRanges(run.plan.tasks.lazy.map { TaskID($0) })
    }
    note(job)
    guard let line = RequestLines.line(request) else {
      let detail = "\(job.verb.rawValue): too many separate tasks for one request"
      return job.answer(.failure(QueueError(.usage, detail)))
    }
    requests[request.id] = job
    link.send(line)
  }

  /// The next coordinator needs the capacity.
  private func note(_ job: RequestJob) {
    if case .capacity = job.verb.row.carries, let most = job.carried.number {
      setMaxConcurrent(Int(clamping: most))
    }
  }

  // MARK: - Answers

  func take(_ answer: RequestAnswer, to id: RequestID) {
    if let sent = addOnItsWay, sent.id == id { return take(answer, to: sent) }
    guard let job = requests.removeValue(forKey: id) else { return }
    switch answer {
    case .done(let count): job.answer(.success(count))
    case .refused(let detail):
      job.answer(
        .failure(QueueError(.refused, "\(job.verb.rawValue): \(CleanText.string(detail))")))
    }
  }

  /// Unless the journal has the requests.
  func askAgain() {
    guard let counts = run?.model.requests.counts else { return }
    if let sent = addOnItsWay {
      let isDone = counts[sent.id] != nil
      take(isDone ? .done(count: 0) : .refused(detail: AddRequest.outdated), to: sent)
    }
    let open = requests
    requests = [:]
    for (id, job) in open {
      if let count = counts[id] {
        job.answer(.success(count))
      } else {
        send(job)
      }
    }
  }

  func answerAll(_ error: QueueError) {
    let jobs = (addOnItsWay?.jobs ?? []) + waitingAdds
    addOnItsWay?.addition.remove()
    addOnItsWay = nil
    waitingAdds = []
    alone = []
    for job in jobs { job.answer(.failure(error)) }
    for job in requests.values { job.answer(.failure(error)) }
    requests = [:]
  }
}
