internal import OpflowBase
internal import OpflowEngine
package import OpflowJournal
internal import OpflowPlan
package import OpflowSystem
internal import OpflowViews

extension Coordinator {
  // MARK: - Showing

  func show(_ event: SessionEvent) { display.show(event, atMilliseconds: wall) }

  func warn(_ text: String) { show(.warning(text)) }

  func show(_ entry: JournalEntry) {
    switch entry {
    case .transition(let transition): show(transition)
    case .extend(let extend):
      guard let place = unshownGrowths.firstIndex(where: { $0.entry.id == extend.id }) else {
        return
      }
      let growth = unshownGrowths.remove(at: place)
      show(.entry(entry, growth.plan, added: growth.initial))
    case .open, .resume, .close, .worker, .request, .stop, .node, .retract:
      show(.entry(entry, plan))
    }
  }

  private func show(_ transition: Transition) {
    let task = transition.task
    if let loan, loan.task == task, transition.event != .start { endLoan() }
    if transition.event != .start, !task.isNone { removeValues(of: transition) }
    downloads.running.apply(transition, plan: plan)
    show(.entry(.transition(transition), plan))
    if transition.event == .start, plan.hasInteractive, plan.flags(task).contains(.interactive) {
      lendTerminal(to: task)
    }
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

  /// Checks once a second for a takeover from another machine, after which this process stops
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
    warn(
      "\(holder?.description ?? "another process") has taken over the run; opflow ends the tasks"
        + " that run here")
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
    case .first: if syncFolder() { syncNow(upTo: place) }
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

  /// Returns false if the session cannot continue.
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

  /// Returns nil without a thread or descriptor: the coordinator then syncs itself.
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

/// The journal's file. It accepts nothing after a failed write or sync: after a failed sync the
/// disk's content is unknown (fsync(2)).
package struct JournalFile: ~Copyable {
  package let path: String
  private let file: Descriptor
  private var failure: Errno?

  package static func create(_ path: String) throws(RunFolderError) -> JournalFile {
    let file = try doing(
      "create", path,
      File.open(path, [.writeOnly, .create, .exclusive, .append, .noFollow], mode: 0o600))
    return JournalFile(path: path, file: file)
  }

  /// Opens the journal under the run's lock: truncates a damaged end, syncs, and ends a last line
  /// without newline. A crash at any point leaves an equivalent journal.
  package static func reopen(
    _ path: String, repair: JournalRepair
  ) throws(RunFolderError) -> JournalFile {
    let file = try doing("open", path, File.openRegular(path, [.writeOnly, .append]))
    try doing("repair", path) { () throws(Errno) in
      if let length = repair.truncateTo {
        try file.truncate(to: Int64(length))
        try file.sync()
      }
      if repair.appendsLineFeed { try file.writeAll([Field.lineFeed]) }
    }
    return JournalFile(path: path, file: file)
  }

  init(path: String, file: consuming Descriptor) {
    self.path = path
    self.file = file
  }

  /// Writes complete lines, in one call unless the kernel takes fewer bytes.
  package mutating func write(_ lines: [UInt8]) throws(Errno) {
    if let failure { throw failure }
    do throws(Errno) {
      try file.writeAll(lines)
    } catch {
      failure = error
      throw error
    }
  }

  package mutating func syncNow() throws(Errno) {
    if let failure { throw failure }
    do throws(Errno) {
      try file.syncData()
    } catch {
      failure = error
      throw error
    }
  }

  /// The thread must end before the file is closed.
  package borrowing func makeSyncer() throws(Errno) -> Syncer { try Syncer(file) }
}
