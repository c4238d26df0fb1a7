internal import OpflowCore
internal import OpflowSystem

extension Coordinator {
  // MARK: - Showing

  /// Shows what became of a task. A start ahead is shown when its worker begins with it.
  func show(_ transition: Transition) {
    let task = transition.task
    if let loan, loan.task == task, transition.event != .start { endLoan() }
    if transition.event != .start, !task.isNone { removeValues(of: transition) }
    downloads.running.apply(transition, plan: plan)
    display.show(transition, atMilliseconds: wall)
    if transition.event == .start, plan.hasInteractive, plan.flags(task).contains(.interactive) {
      lendTerminal(to: task)
    }
  }

  /// A worker has begun with a task that it was handed ahead.
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

  /// Sees now and then that nobody on another machine took this one for gone, and the run over. From then on nothing of
  /// it is this process's to write, and nothing of it is to run here.
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

  /// The journal cannot be relied on any more. A write or sync that failed is never tried again.
  private func fail(_ error: Errno) {
    if journalFailure == nil { journalFailure = error }
    tell(.journalFailed)
  }

  func sync(upTo place: UInt64, _ kind: SyncKind) {
    switch kind {
    case .first:
      if syncFolder() { syncNow(upTo: place) }
    case .grouped:
      // The thread is started when there is something to sync for the first time: a short run needs
      // none.
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

  /// Makes last what a resume looks for, before the first task starts. Workers are on their way
  /// meanwhile.
  ///
  /// - Returns: whether the drive can go on.
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

  /// nil where there is no thread or no descriptor to be had: a run that then waits for its disk is
  /// better than none.
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
