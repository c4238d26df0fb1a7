internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

/// Runs commands: passes events to `WorkerState` and performs its actions. System calls matter,
/// since most tasks of a large run are short: a silent task costs a pipe, a clone, two waits, two
/// reaps, one write and three closes.
final class CommandWorker: WorkerRole {
  /// Delays the report `started`, so that a short task costs one write.
  private static let holdNanoseconds: Int64 = 5_000_000
  private static let chunkBytes = 65536
  /// At a task's end, more than a full pipe comes from another process.
  private static let finalChunks = 64

  enum Slot {
    static let task = WorkerFrame.firstSlot
    static let output = task + 1, children = task + 2, tokens = task + 3
    static let probe = task + 4
    static let count = 5
  }

  static let trade = {
    var trade = WorkerTrade(
      program: "opflow worker", usage: "opflow worker RUN-FOLDER RUN-ID [TASK ARGUMENT...]",
      actions: .run, slots: Slot.count
    ) { $0 == .shell || $0 == .command }
    trade.takesArguments = true
    return trade
  }()

  let frame: WorkerFrame
  var plan: Plan { frame.plan }
  let launcher: WorkerLauncher
  private let logs: Descriptor
  /// SIGCHLD. Polled only for longer tasks, which saves a read for short tasks.
  private let children: SignalDescriptor

  private var state: WorkerState
  private var watch = WorkerWatch()
  var service: ServiceWatch?
  /// The last readiness command's output, until its writers are gone.
  var probeOutput: ProbeOutput?
  var ports: KnownPorts
  var jobserver = RunningJobserver()
  private var devices: RunningDevices?
  var limit: RunningLimit
  var tree: WorkerTree
  private(set) var log = WorkerLog(attempt: 0)
  var taskFolder: TaskFolder
  /// nil without secrets.
  private(set) var masker: Masker?
  var values: RunningValues
  /// nil without tasks that declare files.
  var files: DeclaredFiles?
  private let lateFiles: LateFiles
  /// The start waits for inputs that are not visible yet.
  private var awaitsFiles = false
  private var isLogFailureTold = false
  var running: TaskID = .none
  /// The task uses the terminal, whose keys signal it directly.
  private var isInteractive = false
  private var isStopped = false
  private var process: SpawnedProcess?
  private var pipe: Pipe?
  private var watchChildrenAt: Instant?
  private var actions: [WorkerAction] = []
  // SAFETY: only bytes that were read into it are used. Zeroing it would touch pages that a short
  // task does not need.
  var chunk = [UInt8](unsafeUninitializedCapacity: CommandWorker.chunkBytes) { $1 = $0.count }
  private var isPerforming = false

  init(_ frame: WorkerFrame) throws(WorkerFailure) {
    self.frame = frame
    let plans = frame.plans
    let folder = frame.runFolder + "/logs"
    logs = try WorkerFailure.naming("cannot open \(folder)") { () throws(Errno) in
      try File.open(folder, [.readOnly, .directory, .noFollow])
    }
    children = try WorkerFailure.naming("cannot watch tasks") { () throws(Errno) in
      try ProcessTree.becomeSubreaper()
      return try SignalDescriptor([.child])
    }
    ports = KnownPorts(plans)
    devices = plans.current.gpuResource == nil ? nil : RunningDevices()
    values = RunningValues(plans, runFolder: frame.runFolder)
    limit = RunningLimit(run: frame.run)
    tree = WorkerTree(run: frame.run)
    taskFolder = TaskFolder(run: frame.run, worker: ProcessID.own)
    launcher = WorkerLauncher(
      plans, run: frame.run, arguments: frame.taskArguments, taskFolder: taskFolder.path)
    files = try DeclaredFiles.of(plans, runFolder: frame.runFolder)
    lateFiles = LateFiles(plans, runFolder: frame.runFolder)
    state = WorkerState(
      policy: { plans.current.policy($0) },
      recordsEnd: { plans.current.recordsEnd($0, $1) })
  }

  // MARK: The frame's turn

  func prepare() { try? taskFolder.make() }

  var deadline: Instant? {
    var next = state.deadline
    if let deadline = watch.deadline { next = min(next ?? deadline, deadline) }
    if let deadline = service?.deadline { next = min(next ?? deadline, deadline) }
    if let deadline = jobserver.deadline { next = min(next ?? deadline, deadline) }
    if let watchChildrenAt { next = min(next ?? watchChildrenAt, watchChildrenAt) }
    return next
  }

  /// File checks proceed in small steps between the waits.
  func wait(nanoseconds: Int64) throws(Errno) {
    var most = nanoseconds < 0 ? Int64.max : nanoseconds
    let patience = files?.patienceNanoseconds
    if let patience { most = min(most, patience) }
    if awaitsFiles { most = min(most, lateFiles.patienceNanoseconds) }
    _ = try frame.poll.wait(nanoseconds: most == .max ? -1 : most)
    if patience != nil { files?.goOn() }
  }

  func takeEvents(at now: Instant) throws(Errno) {
    if frame.poll.isReady(Slot.output), readOutput() { checkLog(now) }
    if frame.poll.isReady(Slot.probe) { takeProbeOutput() }
    if frame.poll.isReady(Slot.task) || frame.poll.isReady(Slot.children) { try reap(now) }
  }

  func apply(_ message: WorkerMessage, at now: Instant) {
    openFiles(now)
    if case .watch(let task, let on) = message { watch.set(task, on: on) }
    if case .check(let check) = message { files?.ask(check, frame.masker) }
    values.note(message)
    ports.note(message)
    devices?.note(message)
    if plan.hasJobservers { noteTokens(message, at: now) }
    tell(.message(message), now)
  }

  func endOfMessages(at now: Instant) { tell(.endOfMessages, now) }

  func passTime(at now: Instant) {
    if let deadline = state.deadline, deadline <= now { tell(.timer, now) }
    while let news = files?.nextNews() {
      switch news {
      case .said(let report): frame.say(report)
      case .recorded(let result): tell(.recorded(result), now)
      case .filesBroughtBack: takeValuesBroughtBack()
      case .broughtBack(let result): takeBroughtBack(result, now)
      case .notBroughtBack: tell(.notBroughtBack, now)
      case .uncleaned(let detail): endUncleaned(detail, now)
      case .complained(let detail): frame.say(.warning(detail))
      }
    }
    if awaitsFiles, lateFiles.goOn() { tell(.notBroughtBack, now) }
    lookAtService(now)
    if plan.hasJobservers { takeTokens(at: now) }
    if let report = watch.takeReport(at: now), !frame.isBehind { frame.say(report) }
    // Reap the orphans of a longer task, or zombies would fill the process table.
    if let time = watchChildrenAt, time <= now { watchChildren() }
  }

  func watchChildren() {
    watchChildrenAt = nil
    frame.poll.set(Slot.children, children.rawValue)
  }

  // MARK: Decisions

  func tell(_ event: WorkerEvent, _ now: Instant) {
    state.handle(event, at: now, into: &actions)
    // An action may add further actions.
    if isPerforming { return }
    isPerforming = true
    defer { isPerforming = false }
    var next = 0
    while next < actions.count {
      perform(actions[next], now)
      next += 1
    }
    actions.removeAll(keepingCapacity: true)
  }

  private func perform(_ action: WorkerAction, _ now: Instant) {
    switch action {
    case .start(let task, let attempt): start(task, attempt, now)
    case .launch(let task, let attempt):
      if awaitsFiles {
        awaitsFiles = false
        begin(task, attempt, now)
      } else {
        launch(task, attempt, frame.now, now)
      }
    case .report(let report):
      if case .started = report, !isInteractive {
        let time = now.advanced(byNanoseconds: Self.holdNanoseconds)
        frame.say(report, by: time)
        watchChildrenAt = time
      } else if case .started = report {
        frame.say(report)
        watchChildren()
      } else {
        frame.say(report)
      }
    case .signal(let number):
      isStopped = true
      service?.end()
      tree.signal(Signal(rawValue: number))
    case .suspend:
      service?.pause(at: now)
      if !isInteractive { tree.signal(.stop) }
    case .proceed:
      service?.proceed(at: now)
      if !isInteractive || isStopped { tree.signal(.proceed) }
    case .noteLeft: tree.noteLeft()
    case .record(let task, let isSuccess): record(task, isSuccess: isSuccess)
    case .stopRecording: files?.stopRecording()
    case .kill:
      watchChildren()
      tree.signal(.kill)
    case .abandon:
      tree.abandon()
      drainOutput()
    case .finish(let task, let attempt, let outcome): finish(task, attempt, outcome)
    case .leave:
      files?.leave()
      launcher.endScript()
      taskFolder.remove()
      frame.leave()
    }
  }

  private func start(_ task: TaskID, _ attempt: Int32, _ now: Instant) {
    // Reports of earlier tasks must not wait for the next start.
    frame.send()
    running = task
    isInteractive = plan.flags(task).contains(.interactive)
    isStopped = false
    log = WorkerLog(attempt: attempt)
    if plan.isService(task), let detail = prepareService(task) {
      ports.release()
      return tell(.obstructed(detail: detail), now)
    }
    masker = frame.masker
    isLogFailureTold = false
    awaitsFiles = lateFiles.begin(task, values: values.files(readBy: task))
    if awaitsFiles {
      tree.begin(mainPID: 0)
      tell(.bringingBack, now)
    } else {
      begin(task, attempt, now)
    }
  }

  private func begin(_ task: TaskID, _ attempt: Int32, _ now: Instant) {
    // Measured before the spawn, which returns after the exec, when a short task is half done.
    let began = frame.now
    do throws(ScanFault) {
      if let files, try !files.begin(task, frame.masker) {
        files.end()
        return tell(.busy, now)
      }
    } catch {
      files?.end()
      // A command among its inputs may still run.
      tree.abandon()
      return tell(
        error.isOfRecords ? .unwritten(detail: error.detail) : .unfit(detail: error.detail), now)
    }
    if files?.beginBringingBack() == true {
      tree.begin(mainPID: 0)
      return tell(.bringingBack, began)
    }
    launch(task, attempt, began, now)
  }

  private func launch(_ task: TaskID, _ attempt: Int32, _ began: Instant, _ now: Instant) {
    prepareFolder()
    // A process that an input's command left, maybe another user's, does not belong to the task.
    if files?.takeHasRunCommands() == true { tree.abandon() }
    do throws(WorkerRefusal) {
      let late = try values.begin(task, attempt, mayHoldSecrets: masker != nil)
      let process =
        if isInteractive {
          try startAtTerminal(task, attempt, late)
        } else {
          try startLogged(task, attempt, late)
        }
      let pid = process.pid
      tree.begin(mainPID: pid)
      frame.poll.set(Slot.task, process.descriptor.rawValue)
      self.process = consume process
      tell(.started(pid: pid), began)
      service?.begin(at: frame.now)
      lookAtService(frame.now)
    } catch {
      endValues(isSuccess: false)
      files?.end()
      service = nil
      ports.release()
      endJobserver()
      tell(error.event, now)
    }
  }

  /// No process of the task is left, so its output is complete.
  private func record(_ task: TaskID, isSuccess: Bool) {
    // A held-back prefix cannot become a secret any more.
    masker?.finish(keep)
    masker = nil
    let name = LogName.of(plan.nameBytes(task))
    let output =
      log.byteCount > 0 ? (path: "\(frame.runFolder)/logs/\(name)", bytes: log.byteCount) : nil
    files?.record(
      isSuccess ? values.files(frame.masker) : .success(nil), output: output, isSuccess: isSuccess)
  }

  private func startLogged(
    _ task: TaskID, _ attempt: Int32, _ late: LateValues?
  ) throws(WorkerRefusal) -> SpawnedProcess {
    let pipe = try makePipe()
    let process = try launch(task, attempt, late, .logged(output: pipe.write.rawValue))
    frame.poll.set(Slot.output, pipe.read.rawValue)
    // Keep the write end open: the pidfd shows the task's end, and an earlier hang-up would be one
    // more wakeup.
    self.pipe = consume pipe
    return process
  }

  private func startAtTerminal(
    _ task: TaskID, _ attempt: Int32, _ late: LateValues?
  ) throws(WorkerRefusal) -> SpawnedProcess {
    let terminal: ControllingTerminal
    do throws(Errno) {
      terminal = try ControllingTerminal()
    } catch {
      throw WorkerRefusal(
        errorNumber: error.rawValue, detail: "it is interactive, but has no terminal: \(error)")
    }
    return try launch(task, attempt, late, .terminal(terminal.rawValue))
  }

  private func launch(
    _ task: TaskID, _ attempt: Int32, _ late: LateValues?, _ streams: TaskStreams
  ) throws(WorkerRefusal) -> SpawnedProcess {
    ports.open()
    let devices = try devices?.takeVariable(of: task)
    let jobserver = try beginJobserver(task)
    var streams = streams
    if plan.hasMemoryLimits { streams.group = beginLimit(of: task) }
    return try launcher.start(
      task, attempt: attempt, conclusion: state.conclusion, secrets: frame.secrets,
      valuesPath: values.path, needsPath: values.needsPath, late: late,
      ports: ports.variables(of: task), devices: devices, jobserver: jobserver, streams: streams)
  }

  private func makePipe() throws(WorkerRefusal) -> Pipe {
    do throws(Errno) {
      return try Pipe()
    } catch {
      throw WorkerRefusal(
        errorNumber: error.rawValue, detail: "cannot create a pipe: \(error)",
        isShortage: error.isShortage)
    }
  }

  // MARK: The task that runs

  private func reap(_ now: Instant) throws(Errno) {
    if frame.poll.isReady(Slot.children) {
      while try children.next() != nil {}
    }
    guard process != nil else { return }
    let reaped = try tree.reap()
    if reaped.isGone {
      // If the only process of the task ended and the wait found no output, none can follow. If the
      // main process ended earlier, other processes may have written since the wait.
      let isSilent =
        reaped.count == 1 && reaped.status != nil && !frame.poll.isReady(Slot.output)
        && frame.poll.isReady(Slot.task)
      if !isSilent {
        drainOutput()
        checkLog(now)
      }
    }
    if let fault = values.reaped(status: reaped.status, isGone: reaped.isGone, frame.masker) {
      tell(.valueFailed(detail: fault.detail), now)
    }
    if let status = reaped.probeStatus { service?.noteProbe(status, at: now) }
    if reaped.status != nil || reaped.isGone { service?.end() }
    if reaped.status != nil, !reaped.isGone {
      // The pidfd stays readable; SIGCHLD reports the remaining processes.
      frame.poll.clear(Slot.task)
      watchChildren()
    }
    tell(.reaped(status: reaped.status, isGone: reaped.isGone), now)
  }

  /// Reads once after a wait found output. The pipe is blocking, which saves the calls to change
  /// that for silent tasks.
  private func readOutput() -> Bool {
    chunk.withUnsafeMutableBytes { chunk in
      guard let count = try? pipe?.read.read(into: chunk), count > 0 else {
        return false
      }
      keepMasked(UnsafeRawBufferPointer(rebasing: chunk[..<count]))
      return true
    }
  }

  /// `lines` are already masked.
  func keepLines(_ lines: [UInt8], _ now: Instant) {
    if lines.isEmpty { return }
    masker?.finish(keep)
    masker = frame.masker
    ((log.endsWithinLine ? [Field.lineFeed] : []) + lines).withUnsafeBytes { keep($0) }
    checkLog(now)
  }

  func keepMasked(_ bytes: UnsafeRawBufferPointer) {
    if masker == nil { keep(bytes) } else { masker?.mask(bytes, keep) }
  }

  private func keep(_ bytes: UnsafeRawBufferPointer) {
    let attempt = log.attempt
    log.append(bytes, name: { logName(attempt) }, in: logs)
    if watch.isWatched(running) { watch.note(bytes) }
    service?.note(bytes)
  }

  /// Renames a log that version 0.1 began, so that a task has one log.
  private func logName(_ attempt: Int32) -> String {
    let name = LogName.of(plan.nameBytes(running))
    if attempt > 1, let older = LogName.older(plan.nameBytes(running)) {
      let folder = frame.runFolder + "/logs"
      if Path.isMissing("\(folder)/\(name)") {
        try? Path.rename("\(folder)/\(older)", to: "\(folder)/\(name)")
      }
    }
    return name
  }

  func checkLog(_ now: Instant) {
    guard let failure = log.failure, !isLogFailureTold else { return }
    isLogFailureTold = true
    frame.complain("task \(plan.nameString(running)): cannot write its log: \(failure)")
    tell(.outputFailed(errorNumber: failure.rawValue), now)
  }

  /// Does not wait for output.
  private func drainOutput() {
    guard pipe != nil else { return }
    var set = PollSet(slots: 1)
    set.set(0, pipe?.read.rawValue ?? -1)
    for _ in 0..<Self.finalChunks {
      guard (try? set.wait(nanoseconds: 0)) == true, readOutput() else { return }
    }
  }

  private func finish(_ task: TaskID, _ attempt: Int32, _ outcome: Outcome) {
    frame.poll.clear(Slot.task)
    frame.poll.clear(Slot.output)
    frame.poll.clear(Slot.children)
    watchChildrenAt = nil
    awaitsFiles = false
    lateFiles.end()
    files?.end()
    masker?.finish(keep)
    masker = nil
    log.close()
    launcher.endScript()
    cleanFolder()
    process = nil
    pipe = nil
    service = nil
    endProbeOutput()
    ports.release()
    if plan.hasJobservers { endJobserver() }
    var outcome = outcome
    let wall = outcome.usage.wallMicroseconds
    outcome.usage = tree.usage
    outcome.usage.wallMicroseconds = wall
    outcome.usage.outputBytes = log.byteCount
    if let failure = log.failure, outcome.reason == nil {
      outcome.reason = .output
      outcome.errorNumber = failure.rawValue
    }
    // Abandoned processes may have prevented it before.
    if outcome.isSuccess, let fault = values.collect(frame.masker) {
      outcome.reason = .value
      frame.say(.fault(task, attempt: attempt, detail: fault.detail))
    }
    if outcome.isSuccess {
      for value in values.collected ?? [] { frame.say(.value(task, attempt: attempt, value)) }
    }
    endValues(isSuccess: outcome.isSuccess)
    if plan.hasMemoryLimits { endLimit(of: task, attempt, &outcome) }
    running = .none
    if let left = tree.left {
      if left.areAlive { note(left, of: task, attempt) }
      frame.say(.left(task, attempt: attempt, left))
    }
    frame.say(.ended(task, attempt: attempt, outcome))
  }

  /// Writes to a file, since the report may have no reader.
  private func note(_ left: LeftBehind, of task: TaskID, _ attempt: Int32) {
    let own = ProcessID.own
    let worker = WorkerEntry(
      pid: own, startTime: ProcessStatus.read(own)?.startTime ?? 0, bootID: Machine.bootID,
      autogroup: ProcessStatus.autogroup(of: own) ?? 0, host: Machine.hostName)
    do throws(Errno) {
      try SurvivorFiles.add(
        SurvivorNote(task: task, attempt: attempt, worker: worker, left: left),
        in: frame.runFolder)
    } catch {
      frame.complain("cannot record process \(left.names): \(error)")
    }
  }
}

extension CommandWorker {
  /// A failure does not stop the task: most tasks do not use the folder.
  func prepareFolder() {
    if let error = taskFolder.prepare() {
      frame.complain("cannot create the folder \(taskFolder.path) for OPFLOW_TMP: \(error)")
    }
    launcher.use(taskFolder: taskFolder.path)
  }

  func cleanFolder() {
    let path = taskFolder.path
    do throws(Errno) {
      try taskFolder.clean()
    } catch {
      frame.complain(
        "task \(plan.nameString(running)): cannot empty its OPFLOW_TMP, \(path): \(error);"
          + " the next task gets another folder")
    }
  }

  func endValues(isSuccess: Bool) {
    guard let error = values.end(isSuccess: isSuccess) else { return }
    frame.complain(
      "task \(plan.nameString(running)): cannot remove its files in $OPFLOW_VALUES: \(error)")
  }

  /// The first task that declares files may have been added to the run.
  func openFiles(_ now: Instant) {
    guard files == nil, plan.declaresFiles else { return }
    do throws(WorkerFailure) {
      files = try DeclaredFiles.of(frame.plans, runFolder: frame.runFolder)
    } catch {
      frame.complain(error.detail)
      endOfMessages(at: now)
    }
  }
}

extension CommandWorker {
  func noteTokens(_ message: WorkerMessage, at now: Instant) {
    jobserver.note(message, running: running, at: now)
    awaitTokens()
  }

  /// Returns reclaimed or unused tokens.
  func takeTokens(at now: Instant) {
    if frame.poll.isReady(Slot.tokens) || jobserver.isOwedAtOnce {
      report(tokens: jobserver.takeOwed())
    }
    report(tokens: jobserver.takeUnused(at: now))
    awaitTokens()
  }

  private func report(tokens count: Int32) {
    if count > 0 { frame.say(.tokens(running, count)) }
  }

  private func awaitTokens() { frame.poll.set(Slot.tokens, jobserver.awaited ?? -1) }

  func beginJobserver(_ task: TaskID) throws(WorkerRefusal) -> JobserverOffer? {
    guard let style = plan.jobserver(of: task) else { return nil }
    do {
      return try jobserver.begin(task, style, at: frame.now)
    } catch {
      throw WorkerRefusal(
        errorNumber: error.rawValue, detail: "cannot create a jobserver for it: \(error)")
    }
  }

  func endJobserver() {
    jobserver.end()
    awaitTokens()
  }
}

extension CommandWorker {
  /// The folder of a task's memory cgroup; nil for the worker's own group.
  func beginLimit(of task: TaskID) -> Int32? {
    limit.begin(limitBytes: plan.record(task).processes[.memoryLimit])
  }

  func endLimit(of task: TaskID, _ attempt: Int32, _ outcome: inout Outcome) {
    defer { limit.end() }
    guard !outcome.isSuccess, outcome.reason == nil, let detail = limit.overrun() else { return }
    outcome.reason = .memory
    frame.say(.fault(task, attempt: attempt, detail: detail))
  }
}

extension CommandWorker {
  func takeValuesBroughtBack() {
    guard let files else { return }
    do throws(WorkerRefusal) {
      _ = try values.begin(running, log.attempt, mayHoldSecrets: masker != nil)
      try values.take(files.broughtValues)
      files.noteValuesBroughtBack(values.files(frame.masker))
    } catch {
      // The next `begin` makes the folder again.
      files.giveUpBringingBack(CacheFault(detail: error.detail))
    }
  }

  /// The result is recorded by now.
  func takeBroughtBack(_ result: RecordResult, _ now: Instant) {
    if let path = files?.broughtOutput { replay(path) }
    checkLog(now)
    tell(.broughtBack(result), now)
  }

  func endUncleaned(_ detail: String, _ now: Instant) {
    files?.end()
    tell(.unfit(detail: detail), now)
  }

  private func replay(_ path: String) {
    guard let file = try? File.openRegular(path, .readOnly) else { return }
    while true {
      let count = chunk.withUnsafeMutableBytes { chunk in (try? file.read(into: chunk)) ?? 0 }
      if count == 0 { return }
      chunk.withUnsafeBytes { keepMasked(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
  }
}

extension CommandWorker {
  func lookAtService(_ now: Instant) {
    guard let deadline = service?.deadline, deadline <= now else { return }
    let look = service?.look(
      at: now, start: { words throws(WatchFault) in try startProbe(words) },
      kill: { ProcessTree.killAll(from: $0) })
    switch look {
    case .again, nil: break
    case .ready(let note):
      if !note.isEmpty { frame.say(.warning("service \(plan.nameString(running)): \(note)")) }
      tell(.ready(ports: ports.ownNumbers), now)
    case .gaveUp(let detail):
      _ = probeOutput?.take()
      keepLines(probeOutput?.takeLastLines() ?? [], now)
      tell(.unready(detail: detail), now)
    }
  }

  /// Returns why the service cannot start.
  func prepareService(_ task: TaskID) -> String? {
    do throws(Errno) {
      var watch = ServiceWatch(plan, task, try ports.reserve(for: task))
      if let detail = watch.obstacle() { return detail }
      service = consume watch
      return nil
    } catch {
      return "cannot get a free port for it: \(error)"
    }
  }

  /// The command's last output is shown if the service never becomes ready. Returns 0 on a
  /// shortage.
  private func startProbe(_ words: [String]) throws(WatchFault) -> Int32 {
    do throws(Errno) {
      let pipe = try Pipe()
      _ = probeOutput?.take()
      let earlier = probeOutput?.takeLastLines() ?? []
      let output = try ProbeOutput(of: words, pipe, frame.masker, earlier: earlier)
      let pid = try start(words, output: pipe.write.rawValue)
      frame.poll.set(Slot.probe, output.rawDescriptor)
      probeOutput = consume output
      tree.probePID = pid
      watchChildren()
      return pid
    } catch  where error.isShortage {
      return 0
    } catch {
      let command = words.joined(separator: " ")
      throw WatchFault(
        detail: "cannot execute its readiness check `\(command)`: \(error)")
    }
  }

  private func start(
    _ words: [String], output: Int32
  ) throws(Errno) -> Int32 {
    do throws(ProgramError) {
      return try launcher.startBeside(words, output: output)
    } catch {
      throw error.errno
    }
  }

  func takeProbeOutput() {
    if probeOutput?.take() != true { frame.poll.clear(Slot.probe) }
  }

  func endProbeOutput() {
    frame.poll.clear(Slot.probe)
    probeOutput = nil
  }
}

/// `opflow worker RUN-FOLDER RUN-ID`: runs commands for a coordinator. `RUN-FOLDER/logs` must
/// exist.
package enum WorkerMain {
  package static func run(arguments: [String]) -> Int32 {
    WorkerProcess.run(CommandWorker.trade, arguments: arguments) {
      frame throws(WorkerFailure) in try CommandWorker(frame)
    }
  }
}
