internal import OpflowBase
internal import OpflowJournal
internal import OpflowManifest
internal import OpflowPlan
internal import OpflowRuntime
internal import OpflowSystem
internal import OpflowWire
internal import Synchronization

struct SentAddition {
  let jobs: [AddJob]
  let addition: PreparedAddition
  var id: OrderID { addition.request.id }
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

  /// The job was in a refused batch; sent alone, it gets its own errors only.
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
    guard let line = OrderLines.line(addition.request) else {
      return fail(
        jobs,
        QueueError(
          .usage, "the manifest names too many files to be added at once; give it part by part"))
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

  private func prepare(
    _ jobs: [AddJob], _ run: FollowedRun
  ) throws(QueueError) -> PreparedAddition {
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
        manifest, to: run.folder, run.plan, OrderID.new(), by: .none)
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
      if case .tasks(let tasks) = job.content { keepBlocks(of: tasks) }
      job.answer(.success(places))
    }
  }

  private func take(_ answer: OrderAnswer, to sent: SentAddition) {
    addOnItsWay = nil
    let new = added.removeValue(forKey: sent.id) ?? []
    switch answer {
    case .done: succeed(sent.jobs, sent.addition, new)
    case .refused(let what) where what.hasPrefix(AddRequest.outdated):
      sent.addition.remove()
      waitingAdds = sent.jobs + waitingAdds
    case .refused(let what):
      sent.addition.remove()
      fail(sent.jobs, QueueError(.refused, "add: \(CleanText.string(what))"))
    }
  }

  // MARK: - Requests

  func send(_ job: OrderJob) {
    guard let run, let link else { return job.answer(.failure(board.endError)) }
    var request = OrderRequest(id: OrderID.new(), verb: job.verb, planKey: run.plan.key.description)
    request.by = "Opflow"
    request.carried = job.carried
    switch job.about {
    case .run: break
    case .task(let place):
      let id = board.table.withLock { $0[place].id }
      guard let task = run.plan.task(named: id) else {
        return job.answer(.failure(QueueError(.usage, "the run has no task \(id) any more")))
      }
      request.tasks = TaskRanges([task])
    case .all:
      if run.plan.taskCount == 0 { return job.answer(.success(0)) }
      request.among = TaskRanges(run.plan.tasks.lazy.map { TaskID($0) })
    }
    note(job)
    guard let line = OrderLines.line(request) else {
      return job.answer(.failure(QueueError(.usage, "\(job.verb.rawValue): names too many tasks")))
    }
    orders[request.id] = job
    link.send(line)
  }

  /// For the next coordinator.
  private func note(_ job: OrderJob) {
    if case .capacity = job.verb.row.carries, let most = job.carried.number {
      setMaxConcurrent(Int(clamping: most))
    }
  }

  // MARK: - Answers

  func take(_ answer: OrderAnswer, to id: OrderID) {
    if let sent = addOnItsWay, sent.id == id { return take(answer, to: sent) }
    guard let job = orders.removeValue(forKey: id) else { return }
    switch answer {
    case .done(let count): job.answer(.success(count))
    case .refused(let what):
      job.answer(
        .failure(QueueError(.refused, "\(job.verb.rawValue): \(CleanText.string(what))")))
    }
  }

  /// Repeats requests that the last coordinator did not answer, unless the journal has them.
  func askAgain() {
    guard let counts = run?.model.orders.counts else { return }
    if let sent = addOnItsWay {
      let isDone = counts[sent.id] != nil
      take(isDone ? .done(count: 0) : .refused(what: AddRequest.outdated), to: sent)
    }
    let open = orders
    orders = [:]
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
    for job in orders.values { job.answer(.failure(error)) }
    orders = [:]
  }
}
