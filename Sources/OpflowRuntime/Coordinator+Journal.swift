internal import OpflowCore
internal import OpflowSystem

extension Coordinator {
  /// Journals a transition and shows it. A start is shown when its order is given, or later.
  func record(_ recorded: Transition, at wall: Int64) {
    let transition = withLeftBehind(recorded)
    if journalFailure == nil { journal.append(transition, at: wall, plan: plan) }
    let task = transition.task
    if transition.event == .start {
      outputs.begin(task, attempt: transition.attempt)
    } else if !task.isNone {
      outputs.end(
        transition, follows: progress.followsOutput,
        tailBytes: progress.tailBytes(for: transition), room: { progress.outputRoom }
      ) { task, piece in
        showBegun(task)
        progress.take(piece, of: task)
      }
    }
    downloads.running.apply(transition, plan: plan)
    if transition.event == .start { return }
    if transition.event == .interrupt, !handedAhead.isEmpty,
      handedAhead.removeValue(forKey: task) != nil
    {
      // It comes back from a worker that never began with it.
      return
    }
    showBegun(task)
    progress.transition(transition, atMilliseconds: wall)
  }

  private func withLeftBehind(_ transition: Transition) -> Transition {
    guard !leftBehind.isEmpty, transition.event != .start,
      let (attempt, left) = leftBehind.removeValue(forKey: transition.task),
      attempt == transition.attempt
    else { return transition }
    var transition = transition
    transition.left = left
    return transition
  }

  /// A worker has begun with a task: shows its start, if it was handed ahead.
  func showBegun(_ task: TaskID) {
    guard !handedAhead.isEmpty, let attempt = handedAhead.removeValue(forKey: task) else { return }
    showStart(task, attempt: attempt, at: Clock.wallMilliseconds)
  }

  func showStart(_ task: TaskID, attempt: Int32, at wall: Int64) {
    progress.transition(Transition(.start, task, attempt: attempt), atMilliseconds: wall)
  }

  func append(_ entries: [JournalEntry], at wall: Int64) {
    for entry in entries where journalFailure == nil {
      journal.append(entry, at: wall, plan: plan)
      // Why a resume runs a task again is told to the person too.
      if case .transition(let transition) = entry {
        progress.transition(transition, atMilliseconds: wall)
      }
    }
  }

  func flushJournal() {
    guard journalFailure == nil, journal.hasUnwritten else { return }
    do throws(Errno) {
      try journal.flush()
      syncs.wrote(upTo: journal.writtenBytes, at: Self.now)
    } catch {
      fail(error)
    }
  }

  /// The journal cannot be relied on any more: nothing that it does not tell of may start, and
  /// what runs is stopped. A write or sync that failed is never tried again.
  func fail(_ error: Errno) {
    guard journalFailure == nil else { return }
    journalFailure = error
    // First of all: a task that is taken back while the run goes on would start again at once. The
    // one handed ahead goes before the one that it was to follow.
    tell(.stop(.ioError))
    for link in unsent {
      for (task, attempt) in link.withdrawRuns().reversed() {
        tell(.revoked(link.id, task, attempt: attempt))
      }
    }
  }

  /// The thread that syncs is started when there is something to sync for the first time: a short run
  /// needs none.
  func requestSync() {
    guard journalFailure == nil, let place = syncs.takeRequest(at: Self.now) else { return }
    if syncer == nil { syncer = startSyncer() }
    if let syncer {
      syncer.thread.request(place)
      return
    }
    do throws(Errno) {
      try journal.syncNow()
      syncs.completed(upTo: journal.writtenBytes)
    } catch {
      fail(error)
    }
  }

  /// nil where there is no thread or no descriptor to be had: a run that then waits for its disk is
  /// better than none.
  private func startSyncer() -> JournalSyncer? {
    do throws(Errno) {
      let new = JournalSyncer(try journal.makeSyncer())
      try poller.add(new.thread.rawDescriptor, token: Token.syncer)
      return new
    } catch {
      return nil
    }
  }

  func takeSync() {
    guard let syncer else { return }
    do throws(Errno) {
      syncs.completed(upTo: try syncer.thread.result())
    } catch {
      fail(error)
    }
  }
}
