internal import OpflowBase
package import OpflowJournal
package import OpflowPlan
package import OpflowSystem
package import OpflowViews

/// Shows another process's run from its journal, as that process shows it: the history so far as a
/// summary, later lines one by one, across sessions. Starts over if the journal was replaced, or a
/// new session has another plan. For `run --watch` it waits for the next round.
package final class RunViewer {
  package enum End {
    /// nil for Ctrl-C.
    case left(Signal?)
    case unread
    case closed(CloseEntry)
    /// The run's process died without an end in the journal. `on`: the last `--on` options.
    case died(on: [String])
  }

  /// `on`: the session's `--on` options.
  package typealias Heading = (_ initial: [InitialState], _ isResumed: Bool, _ on: [String]) ->
    ProgressHeading

  package typealias Durations = (OpenEntry, Plan) -> TaskDurations

  private let folder: RunFolder
  private let options: ProgressOptions
  private let heading: Heading
  private let durations: Durations
  private let signals: SignalDescriptor
  private let requests: KeyRequests
  private var watch: RunPoller
  private var plan: Plan
  /// The plan that the journal named when the plan was last opened.
  private var origin: PlanOrigin?
  private var journal: FollowedJournal
  private var display: SessionDisplay?
  private var session = 0
  private var shownTasks = 0
  private var closing: (entry: CloseEntry, milliseconds: Int64)?
  private var ending: End?
  private var failure: RunFolderError?
  /// The session whose end was shown, while another round may follow.
  private var toldSession = 0
  private var lookedForNotes = Instant(nanoseconds: 0)
  private var toldDownloads: [TaskID: RunningDownloads.Entry] = [:]

  /// Half the time of a frame.
  private static let restNanoseconds: Int64 = 50_000_000
  /// Notes are written no more often.
  private static let notesMilliseconds: Int64 = 500

  package init(
    _ folder: RunFolder, _ options: ProgressOptions, heading: @escaping Heading,
    durations: @escaping Durations
  ) throws(RunFolderError) {
    self.folder = folder
    self.options = options
    self.heading = heading
    self.durations = durations
    signals = try doing("watch", folder.path) { () throws(Errno) in
      try Dispositions.ignore(.pipe)
      return try SignalDescriptor(Coordinator.watchedSignals())
    }
    requests = KeyRequests(folder)
    watch = RunPoller(folder, watching: [folder.path])
    plan = try folder.openPlan()
    journal = FollowedJournal(folder, plan: plan, keepingDetails: true)
  }

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
        } else if try !ClientsLock.goesOn(folder) {
          // No resume began between the two checks, and no client continues its queue.
          return leave(.died(on: journal.model.on))
        }
      }
      if let end = try pause(since: began) { return leave(end) }
    }
  }

  // MARK: - Reading

  private func look(_ isHeld: Bool) throws(RunFolderError) {
    let isAnew: Bool
    do throws(RunFolderError) {
      isAnew = try journal.look(toEnd: !isHeld, each: follow)
    } catch {
      // The first line is not written yet.
      guard isHeld, case .journal(_, .empty) = error, display == nil else { throw error }
      return
    }
    if let failure { throw failure }
    plan = journal.plan
    if isAnew { endSession() }
    if display == nil, journal.model.sessions != toldSession { try join(isHeld) }
    if isHeld { showNotes() }
  }

  /// Shows a further session from its start if it uses the known plan.
  private func follow(_ line: JournalLine, _ model: RunModel, _ grown: Plan) {
    plan = grown
    if model.sessions == session {
      if let display { show(line, model, display) }
      return
    }
    guard model.sessions > session else { return }
    endSession()
    // A resume renumbers the tasks of a plan that grew.
    guard session > 0, !model.isInHead, model.resume?.planKey == plan.key.description, !plan.hasRoom
    else { return }
    do throws(RunFolderError) {
      try begin(model, isHeld: true, atMilliseconds: line.milliseconds)
    } catch {
      failure = failure ?? error
    }
  }

  private func show(_ line: JournalLine, _ model: RunModel, _ display: SessionDisplay) {
    guard let entry = line.entry(plan: plan) else { return }
    func show(_ event: SessionEvent) { display.show(event, atMilliseconds: line.milliseconds) }
    var added: [InitialState] = []
    if case .extend = entry {
      added = EnteredSession.states(ofAdded: shownTasks..<plan.taskCount, plan)
      shownTasks = plan.taskCount
    }
    show(.entry(entry, plan, added: added))
    if case .transition = entry, model.begun.sequence == line.sequence {
      let begun = model.begun.task
      show(.began(begun, attempt: model[begun].attempts))
    } else if case .stop(let stop) = entry, stop.detail.isEmpty {
      show(.warning("stopping (\(SignalName.spelled(stop.signal))): opflow ends the running tasks"))
    } else if case .close(let entry) = entry {
      closing = (entry, line.milliseconds)
    }
  }

  /// Shows facts that the journal lacks: progress of downloads, and delays of nodes.
  private func showNotes() {
    guard let display else { return }
    let now = Coordinator.now
    guard now >= lookedForNotes.advanced(byMilliseconds: Self.notesMilliseconds) else { return }
    lookedForNotes = now
    if plan.hasDownloads { showDownloads(display) }
    if !journal.model.on.isEmpty {
      display.show(
        .wait(0, for: folder.readAwaited(), isNews: true), atMilliseconds: Clock.wallMilliseconds)
    }
  }

  private func showDownloads(_ display: SessionDisplay) {
    let told = folder.readProgress(plan: plan)
    for (task, entry) in told.sorted(by: { $0.key.index < $1.key.index })
    where toldDownloads[task] != entry && journal.model[task].attempts == entry.attempt {
      display.show(
        .download(task, entry.progress), atMilliseconds: entry.progress.toldMilliseconds)
    }
    toldDownloads = told
  }

  // MARK: - Sessions

  /// Called once all lines of the newest session's head are known.
  private func join(_ isHeld: Bool) throws(RunFolderError) {
    var model = journal.model
    let found = PlanOrigin(model)
    let isLeft = origin?.isLeft(for: found, plan) ?? false
    origin = found
    if isLeft || found.isOther(than: plan) {
      plan = try folder.openPlan()
      journal = FollowedJournal(folder, plan: plan, keepingDetails: true)
      _ = try journal.look(toEnd: !isHeld, tellsAnew: session > 0, each: follow)
      if let failure { throw failure }
      plan = journal.plan
      if display != nil { return }
      model = journal.model
    }
    // The previous session's end is the last line, or the process is leaving.
    if model.open == nil || isHeld && (model.close != nil || model.isInHead) { return }
    try begin(
      model, isHeld: isHeld,
      atMilliseconds: isHeld ? Clock.wallMilliseconds : model.lastMilliseconds)
  }

  private func begin(
    _ model: RunModel, isHeld: Bool, atMilliseconds wall: Int64
  ) throws(RunFolderError) {
    var heading = heading(EnteredSession.states(model, plan), model.sessions > 1, model.on)
    heading.parallel =
      model.limits.capacities.isEmpty
      ? nil : model.capacity(of: Int(ResourceEntry.cpu), plan).map { Int64(clamping: $0) }
    heading.capacities = plan.resources.indices.map { model.capacity(of: $0, plan) ?? 0 }
    heading.maxFailures = model.limits.maxFailures ?? 0
    if isHeld, options.mode == .live, let open = model.open {
      heading.durations = durations(open, plan)
    }
    let new = try doing("show", folder.path, SessionDisplay(folder, plan, options, heading))
    new.join(model, plan, atMilliseconds: wall)
    display = new
    shownTasks = plan.taskCount
    session = model.sessions
    closing = nil
    toldDownloads = [:]
  }

  private func endSession() {
    guard let display else { return }
    self.display = nil
    if let closing {
      display.close(closing.entry, atMilliseconds: closing.milliseconds)
      ending = ending ?? finish(display, atOnce: false)
    } else {
      display.leaveTerminal()
      _ = finish(display, atOnce: true)
    }
  }

  // MARK: - Ending

  private func end(_ close: CloseEntry) -> End {
    guard let display else { return .closed(close) }
    display.close(close, atMilliseconds: journal.model.lastMilliseconds)
    if let end = finish(display, atOnce: false) { return end }
    return .closed(close)
  }

  private func endRound(_ close: CloseEntry) -> End? {
    guard display != nil else { return nil }
    toldSession = session
    let end = end(close)
    display = nil
    guard case .closed = end else { return end }
    // No other thread writes to it now. An error means that the reader is gone.
    try? StandardStream.error.writeAll(
      Array(
        "opflow: waiting for the next round of `opflow run --watch`; Ctrl-C ends this view\n".utf8),
      patienceMilliseconds: Self.patienceMilliseconds)
    return nil
  }

  private static let patienceMilliseconds: Int64 = 1000

  private func leave(_ end: End) -> End {
    display?.giveUp()
    return end
  }

  private func finish(_ display: SessionDisplay, atOnce: Bool) -> End? {
    var left: End?
    display.end(atOnce: atOnce, signals: signals.rawValue) {
      left = takeSignals()
      return left != nil
    }
    return left
  }

  // MARK: - Waiting

  private func pause(since began: Instant) throws(RunFolderError) -> End? {
    // A run of a million tasks must not occupy a processor.
    let took = Coordinator.now.nanoseconds - began.nanoseconds
    let rested = Coordinator.now.nanoseconds + max(Self.restNanoseconds, 9 * took)
    while true {
      if let end = takeSignals() ?? takeKeys() { return end }
      var now = Coordinator.now
      display?.takeNotice()
      display?.follow(at: now)
      display?.flush(at: now)
      if let display, !display.isRead { return .unread }
      now = Coordinator.now
      let wake = max(0, (display?.nextWake?.nanoseconds ?? .max) - now.nanoseconds)
      let others = [
        signals.rawValue, display?.rawDescriptor ?? -1,
        display?.keyDescriptor ?? -1, requests.rawDescriptor,
      ]
      if now.nanoseconds >= rested {
        try watch.wait(others, atMostNanoseconds: wake)
        return takeSignals()
      }
      var poll = PollSet(slots: others.count)
      for (slot, other) in others.enumerated() { poll.set(slot, other) }
      _ = try doing(
        "watch", folder.path, poll.wait(nanoseconds: min(wake, rested - now.nanoseconds)))
    }
  }

  private func takeKeys() -> End? {
    guard let display else { return nil }
    if Self.isReadable(requests.rawDescriptor) { tell(requests.take(), display) }
    guard Self.isReadable(display.keyDescriptor) else { return nil }
    for action in display.takeKeys() {
      let id = RequestID.new()
      guard let request = action.request(id, plan) else {
        return .left(nil)
      }
      display.view.live?.ask(request)
      tell(requests.ask(request), display)
    }
    return nil
  }

  private func tell(_ outcomes: [KeyRequests.Outcome], _ display: SessionDisplay) {
    for outcome in outcomes { display.view.live?.tell(outcome.told, of: outcome.request) }
  }

  private static func isReadable(_ rawDescriptor: Int32) -> Bool {
    if rawDescriptor < 0 { return false }
    var poll = PollSet(slots: 1)
    poll.set(0, rawDescriptor)
    return (try? poll.wait(nanoseconds: 0)) ?? false
  }

  private func takeSignals() -> End? {
    while let (signal, sender) = (try? signals.next()) ?? nil {
      switch signal {
      case .interrupt: return .left(nil)
      case .terminate, .hangup: return .left(signal)
      case .terminalStop: suspend(askedBy: sender)
      case .proceed: display?.returnToTerminal()
      case .windowChange: display?.resize()
      default: break
      }
    }
    return nil
  }

  private func suspend(askedBy sender: Int32) {
    let isKey = sender == 0
    // No shell would continue this process.
    if isKey, ProcessGroup.isOrphaned { return }
    display?.leaveTerminal()
    // A process can always stop itself.
    try? ProcessID.stopSelf(asJob: isKey)
    display?.returnToTerminal()
  }
}
