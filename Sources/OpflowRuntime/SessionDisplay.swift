internal import OpflowJournal
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowViews

/// Shows a session for the coordinator, or for `RunViewer`, which follows the journal.
final class SessionDisplay {
  let progress: ProgressOutput
  private let folder: RunFolder
  private var outputs: TaskOutputFiles
  private var nextTails = Instant(nanoseconds: 0)

  private static let tailMilliseconds: Int64 = 100

  private var innerRuns: InnerRuns
  private var nextInner = Instant(nanoseconds: 0)

  private static let innerMilliseconds: Int64 = 500

  init(
    _ folder: RunFolder, _ plan: Plan, _ options: ProgressOptions, _ heading: ProgressHeading
  ) throws(Errno) {
    self.folder = folder
    innerRuns = InnerRuns(within: folder)
    progress = try ProgressOutput(
      view: ProgressView(options: options, plan: plan, heading: heading))
    outputs = TaskOutputFiles(folder: folder, plan: plan)
    readLogs(of: plan)
  }

  private func readLogs(of plan: Plan) {
    let folder = folder
    // On first use: few views show whole logs.
    var logs: TaskOutputFiles?
    progress.readLog = { range, body in
      let files = logs ?? TaskOutputFiles(folder: folder, plan: plan)
      logs = files
      files.read(range, body)
    }
  }

  var nextWake: Instant? {
    let wakes = [progress.nextWake, progress.followsOutput ? outputs.nextWake : nil]
    return wakes.compactMap { $0 }.min()
  }

  func join(_ history: RunModel, _ plan: Plan, atMilliseconds wall: Int64) {
    progress.join(history, atMilliseconds: wall) { count, task, sink in
      outputs.last(count, of: task, sink)
    }
    for task in plan.tasks.lazy.map({ TaskID($0) }) {
      switch history[task].state {
      case .running, .suspended: outputs.join(task, attempt: history[task].attempts)
      case .prefetched: outputs.begin(task, attempt: history[task].attempts)
      case .waiting, .ready, .checking, .succeeded, .upToDate, .failedAllowed, .failed, .skipped,
        .cancelled:
        break
      }
    }
  }

  func show(_ event: SessionEvent, atMilliseconds wall: Int64) {
    switch event {
    case .transition(let transition): follow(transition)
    case .extend(_, let plan, _), .retract(_, let plan):
      outputs.plan = plan
      readLogs(of: plan)
    case .download, .order, .orderFailed, .stop, .node, .worker, .wait, .waitEnded: break
    }
    progress.show(event, atMilliseconds: wall)
  }

  /// A prefetched start is shown only when its worker begins it.
  private func follow(_ transition: Transition) {
    let task = transition.task
    if transition.event == .start {
      outputs.begin(task, attempt: transition.attempt)
    } else if transition.event == .ready {
      outputs.goOn(task, attempt: transition.attempt)
    } else if transition.endsTry {
      outputs.end(
        transition, follows: progress.followsOutput, tailBytes: progress.tailBytes(for: transition),
        wantsLog: progress.wantsLog(of: transition), room: { progress.outputRoom }
      ) { task, piece in
        if case .log(let bytes) = piece { return progress.log(bytes, of: transition) }
        progress.take(piece, of: task)
      }
    }
    let (services, bytes) = progress.servicesTold(with: transition)
    for service in services {
      outputs.last(bytes, of: service) { service, piece in
        if case .tail(let bytes) = piece { progress.serviceTail(bytes, of: service) }
      }
    }
  }

  func showStart(_ task: TaskID, attempt: Int32, atMilliseconds wall: Int64) {
    progress.show(.transition(Transition(.start, task, attempt: attempt)), atMilliseconds: wall)
  }

  /// Lines instead of a live frame: the terminal is for the output of services.
  func showServing() {
    progress.showLines()
    outputs.joinRunning()
  }

  /// Before the next session takes the services over.
  func passOn(at now: Instant) {
    guard progress.followsOutput else { return }
    outputs.catchUp(at: now, room: { progress.outputRoom }) { task, piece in
      progress.take(piece, of: task)
    }
  }

  func takeKeys() -> [LiveKeys.Action] {
    nextTails = Instant(nanoseconds: 0)
    return progress.takeKeys()
  }

  private func readTails(at now: Instant) {
    guard progress.isLive else { return }
    if now < nextTails { return }
    nextTails = now.advanced(byMilliseconds: Self.tailMilliseconds)
    let wanted = progress.wantedTails(atMilliseconds: Clock.wallMilliseconds)
    var tails: [TaskID: [UInt8]] = [:]
    for task in wanted.tasks {
      outputs.last(wanted.bytes, of: task) {
        if case .tail(let bytes) = $1 { tails[$0, default: []] += bytes }
      }
    }
    progress.setTails(tails)
    if now < nextInner { return }
    nextInner = now.advanced(byMilliseconds: Self.innerMilliseconds)
    progress.setInner(innerRuns.look(at: wanted.tasks, of: outputs.plan))
  }

  func follow(at now: Instant) {
    readTails(at: now)
    guard progress.followsOutput else { return }
    outputs.follow(at: now, room: { progress.outputRoom }) { task, piece in
      progress.take(piece, of: task)
    }
  }
}

/// Maintains the file `progress`, from which other processes show downloads. Errors are ignored,
/// and nothing is synced.
struct DownloadNotes {
  var running = RunningDownloads()

  private let path: String
  var plan: Plan
  private var nextWrite = Instant(nanoseconds: 0)
  private var written: [UInt8] = []
  private var isBroken = false

  private static let pauseMilliseconds: Int64 = 1000

  init(folder: RunFolder, plan: Plan) {
    path = folder.progress
    self.plan = plan
  }

  mutating func write(at now: Instant) {
    guard !isBroken, !running.entries.isEmpty, now >= nextWrite else { return }
    nextWrite = now.advanced(byMilliseconds: Self.pauseMilliseconds)
    let notes = ProgressNotes.encoded(running, plan: plan)
    guard notes != written else { return }
    written = notes
    do throws(Errno) {
      try File.put(notes, at: path)
    } catch {
      isBroken = true
    }
  }

  func remove() {
    if !written.isEmpty { try? Path.remove(path) }
  }
}
