import OpflowBase
package import OpflowJournal
package import OpflowPlan
package import OpflowViews
import OpflowWire
import Screen

/// Plans and views for tests of the user interface.
package enum ViewFixture {
  /// Returns a plan named `demo` of shell tasks with their dependencies.
  ///
  /// - Parameter downloads: tasks that are downloads instead, with their URLs.
  package static func plan(
    _ tasks: [(name: String, needs: [String])], tags: [String: [String]] = [:],
    finally: Set<String> = [], flags: [String: TaskFlags] = [:],
    downloads: [String: [String]] = [:]
  ) throws -> Plan {
    var builder = PlanBuilder()
    var ids: [String: TaskID] = [:]
    let policy = builder.policy(TaskPolicy())
    _ = builder.codes([])
    let oneCPU = builder.demand([DemandItem(resource: ResourceEntry.cpu, amount: 1)])
    for name in ["cpu", "memory", "download"] {
      builder.resources.append(ResourceEntry(name: builder.intern(name), capacity: 0))
    }
    for task in tasks {
      var entry: TaskEntry
      if let sources = downloads[task.name] {
        entry = TaskEntry(name: builder.intern(task.name), kind: .download)
        entry.record.download = builder.download(
          DownloadEntry(
            target: builder.intern("/demo/out/\(task.name)"),
            sources: builder.list(sources.map { builder.intern($0) })))
      } else {
        entry = TaskEntry(name: builder.intern(task.name), kind: .shell)
        entry.record.script = builder.intern("make \(task.name)")
      }
      entry.policy = policy
      entry.demand = oneCPU
      entry.record.texts[.tags] = builder.list((tags[task.name] ?? []).map { builder.intern($0) })
      entry.flags.formUnion(flags[task.name] ?? [])
      if finally.contains(task.name) { entry.flags.insert(.finally) }
      ids[task.name] = builder.add(entry)
    }
    for task in tasks {
      for need in task.needs {
        if let id = ids[need] { builder.addNeed(id, on: .success) }
      }
      builder.endNeeds()
    }
    let manifest = ManifestEntry(
      name: builder.intern("demo"), description: .empty, folder: builder.intern("/demo"),
      maxParallel: 0, maxFailures: 1, usesRunID: false)
    switch builder.finish(manifest: manifest, key: PlanKey(high: 1, low: 2)) {
    case .plan(let bytes):
      let plan = try Plan(copying: bytes)
      try plan.validate()
      return plan
    case .cycle: throw FixtureError.cycle
    }
  }

  package enum FixtureError: Error { case cycle }

  package static func names(_ plan: Plan, _ set: TaskSet) -> [String] {
    plan.tasks.map { TaskID($0) }.filter { set.contains($0) }.map { plan.nameString($0) }
  }
}

/// Controls a view by task names and collects its text.
package struct ViewDriver: ~Copyable {
  private(set) var plan: Plan
  private var view: ProgressView
  private var now: Int64 = 1000
  /// The output of running attempts so far.
  private var printed: [String: [UInt8]] = [:]
  /// The output that is shown completely.
  private var logs: [TaskID: [UInt8]] = [:]

  package init(
    _ plan: Plan, _ options: ProgressOptions, reused: [String] = [], stillFailed: [String] = [],
    isResumed: Bool = false, seconds: [Int64] = [],
    maxFailures: Int = 0,
    place: @escaping @Sendable (TaskID) -> (file: String, line: Int)? = { _ in nil },
    standing: String = ""
  ) {
    self.plan = plan
    let initial: [InitialState] = plan.tasks.map { index in
      let name = plan.nameString(TaskID(index))
      return reused.contains(name) ? .succeeded : stillFailed.contains(name) ? .failed : .run
    }
    var heading = ProgressHeading(
      run: "r1", initial: initial, resumeCommand: "opflow resume r1",
      logsCommand: "opflow logs --run r1",
      logPath: { "logs/\($1.nameString($0)).log" })
    heading.isResumed = isResumed
    heading.place = { task, _ in place(task) }
    heading.standing = { _, _ in standing }
    heading.capacities = plan.resources.indices.map { _ in 2 }
    heading.maxFailures = maxFailures
    if !seconds.isEmpty {
      heading.durations = TaskDurations(measured: seconds.map { $0 * 1_000_000 }, plan: plan)
    }
    let signals = options.signals
    heading.link = { text, task, plan in
      signals.link(text, to: "/my logs/\(plan.nameString(task)).log", host: "here")
    }
    view = ProgressView(options: options, plan: plan, heading: heading)
    view.begin(atMilliseconds: now)
  }

  package func id(_ name: String) -> TaskID { plan.task(named: name) ?? .none }

  /// The size of one read from a log.
  package var logPieceBytes = 32_768

  package mutating func wait(_ milliseconds: Int64) { now += milliseconds }

  package mutating func start(_ name: String, attempt: Int32 = 1, worker: Int32? = nil) {
    var transition = Transition(.start, id(name), attempt: attempt)
    if let worker { transition.worker = WorkerID(worker) }
    view.show(.entry(.transition(transition), plan), atMilliseconds: now)
  }

  /// Reports an event of a node.
  package mutating func node(
    _ number: Int32, _ state: NodeState, _ host: String, detail: String = ""
  ) {
    var entry = NodeEntry(NodeID(number), state, host: host)
    entry.detail = detail
    entry.cores = 2
    view.show(.entry(.node(entry), plan), atMilliseconds: now)
  }

  package mutating func worker(_ number: Int32, at node: Int32) {
    var entry = WorkerEntry(worker: WorkerID(number), pid: 1, startTime: 0, bootID: "")
    entry.node = NodeID(node)
    view.show(.entry(.worker(entry), plan), atMilliseconds: now)
  }

  package mutating func awaitMachines(_ detail: String?, isNews: Bool = true) {
    view.show(.wait(0, for: detail, isNews: isNews), atMilliseconds: now)
  }

  package mutating func endWait(_ came: String) {
    view.show(.waitEnded(0, came), atMilliseconds: now)
  }

  package mutating func end(
    _ name: String, _ event: TransitionEvent, _ status: ExitStatus = .success,
    attempt: Int32 = 1, wall: Int64 = 1_200_000, outputBytes: Int64 = 0,
    change: (inout Transition) -> Void = { _ in }
  ) {
    var transition = Transition(event, id(name), attempt: attempt)
    transition.outcome.status = status
    transition.outcome.usage.wallMicroseconds = wall
    transition.outcome.usage.outputBytes = outputBytes
    change(&transition)
    let wanted = view.wanted(with: transition)
    var found = FoundOutput()
    if wanted.log, let bytes = printed[name], !bytes.isEmpty {
      logs[id(name), default: []] += bytes
      let end = Int64(logs[id(name)]?.count ?? 0)
      found.log = (end - Int64(bytes.count))..<end
    }
    found.tail = (printed.removeValue(forKey: name) ?? []).suffix(wanted.tailBytes)
    view.show(.entry(.transition(transition), plan), found, atMilliseconds: now)
  }

  /// Types keys like a user.
  package mutating func type(_ text: String) {
    view.live?.setKeys(true)
    _ = view.type(Array(text.utf8))
    let last = Array("one\n\u{1b}[2Jtwo \(String(repeating: "x", count: 300))".utf8)
    let tasks = view.wantedTails(atMilliseconds: now).tasks
    view.live?.tails = Dictionary(tasks.map { ($0, last) }) { $1 }
  }

  /// Sets the latest output of tasks, as far as the view wants it.
  package mutating func say(_ texts: [String: String]) {
    let wanted = view.wantedTails(atMilliseconds: now)
    var tails: [TaskID: [UInt8]] = [:]
    for task in wanted.tasks {
      guard let text = texts[plan.nameString(task)] else { continue }
      tails[task] = Array(text.utf8.suffix(wanted.bytes))
    }
    view.live?.tails = tails
  }

  package mutating func request(_ verb: ControlAction, tasks: [String] = []) {
    guard let id = RequestID("o\(now)") else { return }
    var request = RequestEntry(
      id: id, verb: verb, requester: Requester(pid: 7, user: 0, name: "me"))
    request.tasks = tasks.map { self.id($0) }
    view.show(.entry(.request(request), plan), atMilliseconds: now)
  }

  /// Reports added tasks.
  package mutating func extend(_ grown: Plan) {
    guard let id = RequestID("o\(now)") else { return }
    let new = grown.taskCount - plan.taskCount
    let entry = ExtendEntry(
      id: id, requester: Requester(pid: 7, user: 0, name: "opflow add"), taskCount: grown.taskCount,
      added: new)
    plan = grown
    let added = [InitialState](repeating: .run, count: new)
    view.show(.entry(.extend(entry), grown, added: added), atMilliseconds: now)
  }

  package mutating func retract(_ entry: RetractEntry, _ renamed: Plan) {
    plan = renamed
    view.show(.entry(.retract(entry), renamed), atMilliseconds: now)
  }

  package mutating func stop(by signal: Int32, detail: String = "") {
    let entry = JournalEntry.stop(StopEntry(signal: signal, detail: detail))
    view.show(.entry(entry, plan), atMilliseconds: now)
  }

  /// Returns the lines of the next frame on an empty terminal.
  package mutating func frame(columns: Int, rows: Int) -> [String] {
    view.live?.forget()
    now += 100
    view.tick(nowMilliseconds: now)
    var screen = Screen(columns: columns, rows: rows)
    screen.write(view.takeStandardError()[...])
    return screen.text
  }

  package mutating func tell(_ transition: Transition) {
    view.show(.entry(.transition(transition), plan), atMilliseconds: now)
  }

  package mutating func output(_ name: String, _ text: String) { output(name, Array(text.utf8)) }

  package mutating func output(_ name: String, _ bytes: [UInt8]) {
    printed[name, default: []] += bytes
    if view.followsOutput { bytes.withUnsafeBytes { view.output(id(name), $0) } }
  }

  package mutating func download(
    _ name: String, done: Int64, of total: Int64? = nil, speed: Int64 = 0, resumed: Int64 = 0
  ) {
    let progress = DownloadProgress(
      doneBytes: done, totalBytes: total, bytesPerSecond: speed, resumedBytes: resumed,
      toldMilliseconds: now)
    view.show(.download(id(name), progress), atMilliseconds: now)
  }

  package mutating func resize(columns: Int, rows: Int) {
    view.resize(TerminalSize(columns: columns, rows: rows))
  }

  package mutating func setVisible(_ visible: Bool) { view.live?.setVisible(visible) }
  package mutating func forgetScreen() { view.live?.forget() }
  package mutating func errorBytes() -> [UInt8] { view.takeStandardError() }
  package mutating func erasure() -> [UInt8] { view.takeErasure() }

  package mutating func warning(_ text: String) {
    view.show(.warning(text), atMilliseconds: now)
  }
  package var tickMilliseconds: Int64? { view.tickMilliseconds }
  package mutating func tick() { view.tick(nowMilliseconds: now) }

  package mutating func close(_ state: RunState, exit: Int32 = 0, signal: Int32 = 0) {
    view.end(
      CloseEntry(state: state, exitCode: exit, signal: signal), atMilliseconds: now)
  }

  /// Returns all unread bytes.
  package mutating func errorText() -> String {
    var bytes: [UInt8] = []
    while view.hasStandardError {
      if let log = view.wantedLog {
        let piece = logs[log.task]?[Int(log.bytes.lowerBound)..<Int(log.bytes.upperBound)] ?? []
        piece.prefix(logPieceBytes).withUnsafeBytes { view.readLog($0) }
      }
      bytes += view.takeStandardError()
    }
    return String(decoding: bytes, as: UTF8.self)
  }
  package mutating func outputText() -> String {
    var bytes: [UInt8] = []
    while view.hasStandardOutput { bytes += view.takeStandardOutput() }
    return String(decoding: bytes, as: UTF8.self)
  }
  package mutating func leaveOutOutput() { view.leaveOutOutput() }
  package mutating func skipped(_ name: String, bytes: Int64, lines: Int?) {
    view.skipped(id(name), bytes: bytes, lines: lines)
  }
  package var outputRoom: Int { view.outputRoom }
}
