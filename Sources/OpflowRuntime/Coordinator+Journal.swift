internal import OpflowEngine
internal import OpflowJournal
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowViews

extension Coordinator {
  // MARK: - Showing

  /// A prefetched start is shown only when its worker begins it.
  func show(_ transition: Transition) {
    let task = transition.task
    if let loan, loan.task == task, transition.event != .start { endLoan() }
    if transition.event != .start, !task.isNone { removeValues(of: transition) }
    downloads.running.apply(transition, plan: plan)
    show(.transition(transition))
    if transition.event == .start, plan.hasInteractive, plan.flags(task).contains(.interactive) {
      lendTerminal(to: task)
    }
  }

  func show(_ event: DriveEvent) { display.show(event, atMilliseconds: wall) }

  func showStart(_ task: TaskID, attempt: Int32) {
    display.showStart(task, attempt: attempt, atMilliseconds: wall)
  }

  // MARK: - The journal

  func write() {
    keepClaim()
    if hasLostClaim { return }
    do throws(Errno) {
      try journal.write(engine.unwritten)
      tell(.wrote)
    } catch {
      fail(error)
    }
  }

  private static let claimNanoseconds: Int64 = 1_000_000_000

  /// Checks once a second for a takeover from another machine. After one, this process stops
  /// writing and kills its tasks.
  func keepClaim() {
    let now = Self.now
    guard !hasLostClaim, closing == nil, let claim = request.claim,
      now.nanoseconds - claimLookedAt.nanoseconds >= Self.claimNanoseconds
    else { return }
    claimLookedAt = now
    guard claim.isLost else { return }
    hasLostClaim = true
    let holder = RunFolderLock.holder(request.folder)
    progress.warning(
      "\(holder?.description ?? "another process") has taken the run over: what runs here is ended")
    fail(.ioError)
    tell(.kill)
  }

  /// A failed write or sync is never retried.
  private func fail(_ error: Errno) {
    if journalFailure == nil { journalFailure = error }
    tell(.journalFailed)
  }

  func sync(upTo place: UInt64, _ kind: SyncKind) {
    switch kind {
    case .first:
      if syncFolder() { syncNow(upTo: place) }
    case .grouped:
      // A short run needs no thread.
      if syncer == nil { syncer = startSyncer() }
      if let syncer {
        syncer.thread.request(place, first: growing.takeUnsynced())
      } else {
        syncNow(upTo: place)
      }
    case .last: syncNow(upTo: place)
    }
  }

  private func syncNow(upTo place: UInt64) {
    do throws(Errno) {
      try growing.syncNow()
      try journal.syncNow()
      tell(.synced(upTo: place))
    } catch {
      fail(error)
    }
  }

  /// Syncs the files that a resume needs, before the first task starts. Returns whether the session
  /// can continue.
  private func syncFolder() -> Bool {
    do throws(RunFolderError) {
      try request.folder.sync()
      return true
    } catch {
      endWorkersAtOnce()
      failure = CoordinatorError(error)
      return false
    }
  }

  /// nil without a thread or descriptor: the run then waits for its disk itself.
  private func startSyncer() -> JournalSyncer? {
    do throws(Errno) {
      let new = JournalSyncer(try journal.makeSyncer())
      try watch.add(new.thread.rawDescriptor, .coordinator, Place.syncer)
      return new
    } catch {
      return nil
    }
  }

  func takeSync() {
    guard let syncer else { return }
    do throws(Errno) {
      tell(.synced(upTo: try syncer.thread.result()))
    } catch {
      fail(error)
    }
  }
}
