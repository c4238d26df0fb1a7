package import OpflowCore
package import OpflowSystem

/// The view of a run that another process drives, as that process shows it: fed by the run's journal
/// instead of by the engine, it only reads, and what it does never slows the run.
///
/// It begins with what the journal tells so far, folded and not told one by one; from there on each line
/// that comes is shown as the process that wrote it shows it, in further drives of the run too, however many
/// came since the last look. Where it cannot go on line by line, it begins anew in the same way: when the
/// journal is another file by now, and with a drive whose plan another one has replaced. Of a run that is to
/// have further rounds (`run --watch`) it waits for the next one.
package final class RunViewer {
  package enum End {
    /// Somebody wants no more of it; by that signal, but for Ctrl-C.
    case left(Signal?)
    /// Nobody reads it any more.
    case unread
    /// The run has ended, and its summary is told.
    case closed(CloseEntry)
    /// The process that drove the run is gone, and wrote no end.
    ///
    /// - Parameter on: where tasks of its newest drive ran beside this machine, as that was given.
    case died(on: [String])
  }

  /// What it is to be called, how each task entered it, and where its tasks may run beside the coordinator's
  /// machine: the words above a drive.
  package typealias Heading = (
    _ initial: [InitialState], _ isResumed: Bool, _ on: [String]
  ) -> ProgressHeading

  /// How long its tasks are taken to last.
  package typealias Durations = (OpenEntry, Plan) -> TaskDurations

  private let folder: RunFolder
  private let options: ProgressOptions
  private let heading: Heading
  private let durations: Durations
  private let signals: SignalDescriptor
  private let orders: KeyOrders
  private var watch: RunWatch
  private var plan: Plan
  /// What the journal spoke of when the plan was looked at last.
  private var origin: PlanOrigin?
  private var journal: FollowedJournal
  /// Of the newest drive; nil until that has begun.
  private var display: DriveDisplay?
  /// The number of the drive that is shown, or was shown last.
  private var drive = 0
  /// The tasks that the display knows.
  private var shownTasks = 0
  /// How that ended, as far as it was read.
  private var closing: (entry: CloseEntry, milliseconds: Int64)?
  /// Why there is no more to be seen, found while lines were read.
  private var ending: End?
  private var failure: RunFolderError?
  /// The number of the drive whose end was told, though there may be another round.
  private var toldDrive = 0
  /// When it was looked last for what is in no journal.
  private var lookedForNotes = Instant(nanoseconds: 0)
  private var toldDownloads: [TaskID: RunningDownloads.Entry] = [:]

  /// From one look at the journal to the next: half of what a frame takes.
  private static let restNanoseconds: Int64 = 50_000_000
  /// The process that drives the run tells it no more often.
  private static let notesMilliseconds: Int64 = 500

  package init(
    _ folder: RunFolder, _ options: ProgressOptions, heading: @escaping Heading,
    durations: @escaping Durations
  ) throws(RunFolderError) {
    self.folder = folder
    self.options = options
    self.heading = heading
    self.durations = durations
    signals = try doing("wait for", folder.path) { () throws(Errno) in
      try Dispositions.ignore(.pipe)
      return try SignalDescriptor(Coordinator.watchedSignals())
    }
    orders = KeyOrders(folder)
    watch = RunWatch(folder, watching: [folder.path])
    plan = try folder.openPlan()
    journal = FollowedJournal(folder, plan: plan, keepingDetails: true)
  }

  /// Shows the run until it ends, or nobody wants to see more of it.
  package func view() throws(RunFolderError) -> End {
    while true {
      let began = Coordinator.now
      let isHeld = try RunFolderLock.isHeld(folder)
      try look(isHeld)
      if let ending { return leave(ending) }
      if !isHeld {
        if let close = journal.model.close {
          guard RunFolderLock.isWatched(folder) else { return end(close) }
          if let end = endRound(close) { return end }
        } else if try !HostsLock.goesOn(folder) {
          // No resume has begun between the two looks, nor is a program about to go on with its queue.
          return leave(.died(on: journal.model.on))
        }
      }
      if let end = try pause(since: began) { return leave(end) }
    }
  }

  // MARK: - Looking

  private func look(_ isHeld: Bool) throws(RunFolderError) {
    let isAnew: Bool
    do throws(RunFolderError) {
      isAnew = try journal.look(toEnd: !isHeld, each: follow)
    } catch {
      // Its first line is about to be written.
      guard isHeld, case .journal(_, .empty) = error, display == nil else { throw error }
      return
    }
    if let failure { throw failure }
    plan = journal.plan
    if isAnew { endDrive() }
    if display == nil, journal.model.drives != toldDrive { try join(isHeld) }
    if isHeld { showNotes() }
  }

  /// Shows what is new. A further drive is shown from its beginning on, where it is of the plan that is known.
  private func follow(_ line: JournalLine, _ model: RunModel, _ grown: Plan) {
    plan = grown
    if model.drives == drive {
      if let display { show(line, model, display) }
      return
    }
    guard model.drives > drive else { return }
    endDrive()
    // A resume gives the tasks of a plan that grew other numbers.
    guard drive > 0, !model.isInHead, model.resume?.planKey == plan.key.description, !plan.hasRoom
    else { return }
    do throws(RunFolderError) {
      try begin(model, isHeld: true, atMilliseconds: line.milliseconds)
    } catch {
      failure = failure ?? error
    }
  }

  private func show(_ line: JournalLine, _ model: RunModel, _ display: DriveDisplay) {
    switch line.entry(plan: plan) {
    case .transition(let transition):
      display.show(transition, atMilliseconds: line.milliseconds)
      let (begun, sequence) = model.begun
      if sequence == line.sequence {
        display.showStart(begun, attempt: model[begun].attempts, atMilliseconds: line.milliseconds)
      }
    case .extend(let entry):
      display.extend(
        entry, plan: plan,
        initial: EnteredDrive.states(ofAdded: shownTasks..<plan.taskCount, plan),
        atMilliseconds: line.milliseconds)
      shownTasks = plan.taskCount
    case .withdraw(let entry):
      display.withdraw(entry, plan: plan, atMilliseconds: line.milliseconds)
    case .order(let order): display.progress.order(order, atMilliseconds: line.milliseconds)
    case .stop(let stop):
      display.progress.stop(stop, atMilliseconds: line.milliseconds)
      if stop.what.isEmpty {
        display.progress.warning("the run is being stopped, by \(SignalName.spelled(stop.signal))")
      }
    case .site(let site): display.progress.site(site, atMilliseconds: line.milliseconds)
    case .worker(let worker): display.progress.worker(worker)
    case .close(let entry): closing = (entry, line.milliseconds)
    case .open, .resume, nil: break
    }
  }

  /// How far downloads are is in no journal, nor is what is waited for so that machines come.
  private func showNotes() {
    guard let display else { return }
    let now = Coordinator.now
    guard now >= lookedForNotes.advanced(byMilliseconds: Self.notesMilliseconds) else { return }
    lookedForNotes = now
    if plan.hasDownloads { showDownloads(display) }
    if !journal.model.on.isEmpty {
      display.progress.wait(
        0, for: folder.readAwaited(), isNews: true, atMilliseconds: Clock.wallMilliseconds)
    }
  }

  private func showDownloads(_ display: DriveDisplay) {
    let told = folder.readProgress(plan: plan)
    for (task, entry) in told.sorted(by: { $0.key.index < $1.key.index })
    where toldDownloads[task] != entry && journal.model[task].attempts == entry.attempt {
      display.progress.download(
        task, entry.progress, atMilliseconds: entry.progress.toldMilliseconds)
    }
    toldDownloads = told
  }

  // MARK: - Drives

  /// Begins with the newest drive, once all is known that it begins with.
  private func join(_ isHeld: Bool) throws(RunFolderError) {
    var model = journal.model
    let found = PlanOrigin(model)
    let isLeft = origin?.isLeft(for: found, plan) ?? false
    origin = found
    if isLeft || found.isOther(than: plan) {
      plan = try folder.openPlan()
      journal = FollowedJournal(folder, plan: plan, keepingDetails: true)
      _ = try journal.look(toEnd: !isHeld, tellsAnew: drive > 0, each: follow)
      if let failure { throw failure }
      plan = journal.plan
      if display != nil { return }
      model = journal.model
    }
    // Of a run that is held, the end is that of the drive before, or the process is about to leave.
    if model.open == nil || isHeld && (model.close != nil || model.isInHead) { return }
    try begin(
      model, isHeld: isHeld,
      atMilliseconds: isHeld ? Clock.wallMilliseconds : model.lastMilliseconds)
  }

  private func begin(
    _ model: RunModel, isHeld: Bool, atMilliseconds wall: Int64
  ) throws(RunFolderError) {
    var heading = heading(EnteredDrive.states(model, plan), model.drives > 1, model.on)
    heading.parallel =
      model.limits.capacities.isEmpty
      ? nil : model.capacity(of: Int(ResourceEntry.cpu), plan).map { Int64(clamping: $0) }
    heading.capacities = plan.resources.indices.map { model.capacity(of: $0, plan) ?? 0 }
    heading.maxFailures = model.limits.maxFailures ?? 0
    if isHeld, options.mode == .live, let open = model.open {
      heading.durations = durations(open, plan)
    }
    let new = try doing("show", folder.path) { () throws(Errno) in
      try DriveDisplay(folder, plan, options, heading)
    }
    new.join(model, plan, atMilliseconds: wall)
    display = new
    shownTasks = plan.taskCount
    drive = model.drives
    closing = nil
    toldDownloads = [:]
  }

  /// Another drive has begun, or the journal is another one.
  private func endDrive() {
    guard let display else { return }
    self.display = nil
    if let closing {
      display.progress.close(closing.entry, atMilliseconds: closing.milliseconds)
      ending = ending ?? finish(display, atOnce: false)
    } else {
      display.progress.leaveTerminal()
      _ = finish(display, atOnce: true)
    }
  }

  // MARK: - Ending

  private func end(_ close: CloseEntry) -> End {
    guard let display else { return .closed(close) }
    display.progress.close(close, atMilliseconds: journal.model.lastMilliseconds)
    if let end = finish(display, atOnce: false) { return end }
    return .closed(close)
  }

  /// Tells the end of a round, and that there may be another one; how all is to end instead.
  private func endRound(_ close: CloseEntry) -> End? {
    guard display != nil else { return nil }
    toldDrive = drive
    let end = end(close)
    display = nil
    guard case .closed = end else { return end }
    // Nobody else writes there now. Where nobody reads, there is nobody to be told.
    try? StandardStream.error.writeAll(
      Array("opflow: waiting for the next round of `opflow run --watch`; Ctrl-C leaves\n".utf8),
      patienceMilliseconds: Self.patienceMilliseconds)
    return nil
  }

  private static let patienceMilliseconds: Int64 = 1000

  private func leave(_ end: End) -> End {
    display?.progress.giveUp()
    return end
  }

  /// Writes what is left; how that was ended before.
  private func finish(_ display: DriveDisplay, atOnce: Bool) -> End? {
    var left: End?
    display.progress.end(atOnce: atOnce, signals: signals.rawValue) {
      left = takeSignals()
      return left != nil
    }
    return left
  }

  // MARK: - Waiting

  /// Waits until there may be more, and shows what time shows; how it is to end instead.
  private func pause(since began: Instant) throws(RunFolderError) -> End? {
    // To look at a million tasks again and again must not take a whole processor.
    let took = Coordinator.now.nanoseconds - began.nanoseconds
    let rested = Coordinator.now.nanoseconds + max(Self.restNanoseconds, 9 * took)
    while true {
      if let end = takeSignals() ?? takeKeys() { return end }
      var now = Coordinator.now
      display?.progress.takeNotice()
      display?.follow(at: now)
      display?.progress.flush(at: now)
      if let display, !display.progress.isRead { return .unread }
      now = Coordinator.now
      let wake = max(0, (display?.nextWake?.nanoseconds ?? .max) - now.nanoseconds)
      let others = [
        signals.rawValue, display?.progress.rawDescriptor ?? -1,
        display?.progress.keyDescriptor ?? -1, orders.rawDescriptor,
      ]
      if now.nanoseconds >= rested {
        try watch.wait(others, atMostNanoseconds: wake)
        return takeSignals()
      }
      var poll = PollSet(slots: others.count)
      for (slot, other) in others.enumerated() { poll.set(slot, other) }
      _ = try doing("wait for", folder.path) { () throws(Errno) in
        try poll.wait(nanoseconds: min(wake, rested - now.nanoseconds))
      }
    }
  }

  /// Acts on keys that were pressed, and on what became of those before; how it is to end by them.
  private func takeKeys() -> End? {
    guard let display else { return nil }
    if Self.isReadable(orders.rawDescriptor) { tell(orders.take(), display) }
    guard Self.isReadable(display.progress.keyDescriptor) else { return nil }
    for action in display.takeKeys() {
      let id = OrderID.new()
      guard let request = action.request(id, plan) else {
        return .left(nil)
      }
      display.progress.askByKey(request)
      tell(orders.ask(request), display)
    }
    return nil
  }

  private func tell(_ outcomes: [KeyOrders.Outcome], _ display: DriveDisplay) {
    for outcome in outcomes { display.progress.tellKey(outcome.told, of: outcome.request) }
  }

  private static func isReadable(_ rawDescriptor: Int32) -> Bool {
    if rawDescriptor < 0 { return false }
    var poll = PollSet(slots: 1)
    poll.set(0, rawDescriptor)
    return (try? poll.wait(nanoseconds: 0)) ?? false
  }

  /// Acts on the signals that came; how it is to end by them.
  private func takeSignals() -> End? {
    while let (signal, sender) = (try? signals.next()) ?? nil {
      switch signal {
      case .interrupt: return .left(nil)
      case .terminate, .hangup: return .left(signal)
      case .terminalStop: suspend(askedBy: sender)
      case .proceed: display?.progress.returnToTerminal()
      case .windowChange: display?.progress.resize()
      default: break
      }
    }
    return nil
  }

  /// Stops this process alone; the run goes on.
  private func suspend(askedBy sender: Int32) {
    let isKey = sender == 0
    // A key stops nobody whom no shell would continue.
    if isKey, ProcessGroup.isOrphaned { return }
    display?.progress.leaveTerminal()
    // A process may always stop itself.
    try? ProcessID.stopSelf(asJob: isKey)
    display?.progress.returnToTerminal()
  }
}
