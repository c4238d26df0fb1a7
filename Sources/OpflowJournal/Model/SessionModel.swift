package import OpflowPlan
package import OpflowWire

/// The state of a running session, from the engine's transitions. Unlike `RunModel` it keeps only
/// the state of a finished task, but it knows of starts of prefetched tasks and of download
/// progress.
package struct SessionModel {
  package private(set) var plan: Plan
  package private(set) var scope: SessionScope
  private var states: [TaskState]
  /// Excludes tasks already done.
  package private(set) var counts = TaskCounts()
  package private(set) var running: [RunningTask] = []
  package private(set) var interrupted: [TaskID] = []
  package private(set) var unmet: Set<TaskID> = []
  package private(set) var beganMilliseconds: Int64 = 0
  package private(set) var lastMilliseconds: Int64 = 0
  package private(set) var hasOutput = false
  package private(set) var downloads = DownloadTotals()
  package private(set) var requests: RequestRecords
  package private(set) var isStopped = false
  package private(set) var suspendedCount = 0
  package var machines = SessionMachines()
  private var stayed: Set<TaskID> = []
  private var stopping: Set<TaskID> = []
  /// Per matrix: running tasks, ended tasks, and tasks in the session.
  private var instances: [(running: Int, ended: Int, total: Int)]

  package struct RunningTask {
    package var task: TaskID
    package var startedMilliseconds: Int64
    package var download: DownloadProgress?
  }

  /// `orders` still hold from a continued session.
  package init(plan: Plan, scope: SessionScope, requests: RequestRecords = RequestRecords()) {
    self.plan = plan
    self.scope = scope
    self.requests = requests
    states = []
    instances = []
    enter()
  }

  package mutating func grow(to grown: Plan, _ initial: [InitialState]) {
    precondition(initial.count == grown.taskCount - states.count)
    scope.grow(initial, from: states.count)
    plan = grown
    enter()
  }

  private mutating func enter() {
    let new = states.count..<plan.taskCount
    states.append(contentsOf: repeatElement(.waiting, count: new.count))
    counts.add(.waiting, new.count { isOpen(TaskID($0)) })
    if !scope.stillFailed.isEmpty {
      for index in new where scope.stillFailed.contains(TaskID(index)) {
        states[index] = .failed
        counts.move(from: .waiting, to: .failed)
      }
    }
    for index in instances.count..<plan.matrixGroups.count {
      let tasks = plan.instances(MatrixGroupID(index))
      instances.append(
        (0, tasks.count { states[$0].isTerminal }, tasks.count { isOpen(TaskID($0)) }))
    }
  }

  package init(plan: Plan, scope: SessionScope, joining history: RunModel) {
    self.init(plan: plan, scope: scope)
    for task in plan.tasks.lazy.map({ TaskID($0) })
    where scope.reused.contains(task) {
      let settled = history.settleSequence(task)
      if settled == 0 || settled > history.sessionSequence { reopen(task) }
    }
    beganMilliseconds = history.sessionMilliseconds
    hasOutput = history.hasStarts
    isStopped = history.isSuspended
    stopping = history.details.stopping
    requests = history.requests
    for task in plan.tasks.lazy.map({ TaskID($0) })
    where scope.selected.contains(task) && !scope.reused.contains(task) {
      let record = history[task]
      if record.state == .waiting, record.isInterrupted,
        record.startSequence > history.sessionSequence
      {
        interrupted.append(task)
      }
      let state = plan.shown(record.state, of: task)
      move(task, to: state, atMilliseconds: record.startedMilliseconds)
      if let report = history.details.downloads[task]?.report { downloads.add(report) }
    }
    for task in plan.topologicalOrder.lazy.map({ TaskID($0) })
    where isOpen(task) && states[task.index] == .skipped {
      if isUnmet(history[task].why) { unmet.insert(task) }
    }
    running.sort { history[$0.task].startSequence < history[$1.task].startSequence }
    machines = SessionMachines(
      joining: history,
      begun: plan.tasks.lazy.map { TaskID($0) }.filter { [states] in
        states[$0.index].isRunning || states[$0.index] == .prefetched
      })
  }

  package var total: Int { scope.selected.count }
  package var reused: Int { scope.reused.count }
  package private(set) var restored: Set<TaskID> = []
  package var finished: Int { reused + counts.ended + counts.cancelled }
  package var notStarted: Int { max(0, counts.pending - interrupted.count) }

  package func firstNotStarted(_ limit: Int) -> [TaskID] {
    var tasks: [TaskID] = []
    for index in states.indices where states[index] == .waiting && tasks.count < limit {
      let task = TaskID(index)
      guard scope.selected.contains(task), !scope.reused.contains(task) else { continue }
      if !interrupted.contains(task) { tasks.append(task) }
    }
    return tasks
  }

  package func isOpen(_ task: TaskID) -> Bool {
    scope.selected.contains(task) && !scope.reused.contains(task)
  }

  package func state(_ task: TaskID) -> TaskState { states[task.index] }

  package func name(_ task: TaskID) -> String { plan.nameString(task) }

  package mutating func begin(atMilliseconds now: Int64) {
    beganMilliseconds = now
    for service in scope.stays {
      stayed.insert(service)
      move(service, to: .running, atMilliseconds: now)
    }
  }

  package func hasStayed(_ service: TaskID) -> Bool { stayed.contains(service) }

  package mutating func apply(_ transition: Transition, atMilliseconds now: Int64) {
    lastMilliseconds = now
    let task = transition.task
    if task.isNone, transition.event == .pause { isStopped = true }
    if task.isNone, transition.event == .proceed { isStopped = false }
    guard !task.isNone, task.index < states.count else { return }
    if transition.event == .skip(.retracted) { return }
    if transition.event == .resume(.skippedBefore), scope.reused.contains(task) { reopen(task) }
    let old = states[task.index]
    let new = plan.shown(transition.state(after: old), of: task)
    if transition.event == .start { machines.start(task, transition.worker) }
    if transition.event == .interrupt, transition.outcome.reason == .workerLost {
      machines.lose(task)
    }
    if transition.outcome.usage.outputBytes > 0 { hasOutput = true }
    if transition.event == .success, let report = transition.fetch?.report {
      downloads.add(report)
    }
    if transition.event == .success, transition.isRestored {
      restored.insert(task)
    } else if !restored.isEmpty, old == .succeeded {
      restored.remove(task)
    }
    if old == .waiting, new != .waiting, !interrupted.isEmpty {
      interrupted.removeAll { $0 == task }
    }
    if transition.cutsShort { interrupted.append(task) }
    if !stayed.isEmpty, !new.isRunning { stayed.remove(task) }
    if transition.event == .stopping {
      stopping.insert(task)
    } else if !stopping.isEmpty, !new.isRunning {
      stopping.remove(task)
    }
    if old == .skipped, !unmet.isEmpty { unmet.remove(task) }
    if new == .skipped, isUnmet(transition.why) { unmet.insert(task) }
    move(task, to: new, atMilliseconds: now)
  }

  /// A service that was already done is needed again.
  private mutating func reopen(_ task: TaskID) {
    scope.takeBack(task)
    counts.add(.waiting)
    if !instances.isEmpty, let matrixGroup = plan.matrixGroup(of: task) {
      instances[matrixGroup.index].total += 1
    }
  }

  /// A failure or cancellation caused the skip, not the success of a failure handler's task.
  private func isUnmet(_ why: Why?) -> Bool {
    guard case .skipped(.upstream(let need)) = why, !need.isNone, need.index < states.count else {
      return false
    }
    return switch states[need.index] {
    case .failed, .failedAllowed, .cancelled: true
    case .skipped: unmet.contains(need)
    case .waiting, .ready, .checking, .prefetched, .running, .suspended, .succeeded, .upToDate:
      false
    }
  }

  private mutating func move(_ task: TaskID, to new: TaskState, atMilliseconds now: Int64) {
    let old = states[task.index]
    states[task.index] = new
    counts.move(from: old, to: new)
    suspendedCount += (new == .suspended ? 1 : 0) - (old == .suspended ? 1 : 0)
    if !instances.isEmpty, let matrixGroup = plan.matrixGroup(of: task) {
      instances[matrixGroup.index].running += (new.isRunning ? 1 : 0) - (old.isRunning ? 1 : 0)
      instances[matrixGroup.index].ended += (new.isTerminal ? 1 : 0) - (old.isTerminal ? 1 : 0)
    }
    follow(task, from: old, to: new, atMilliseconds: now)
  }

  package mutating func apply(_ request: RequestEntry, atMilliseconds now: Int64) {
    for task in request.tasks where task.index < states.count {
      guard let effect = request.effect(on: task, in: states[task.index]) else { continue }
      apply(effect, atMilliseconds: now)
    }
    for task in request.back {
      apply(Transition(.resume(.skippedBefore), task), atMilliseconds: now)
    }
    requests.apply(request, atMilliseconds: now, session: 1)
  }

  /// Removes pending tasks, since their generator runs again. `renamed` has their new names.
  package mutating func retract(_ tasks: some Sequence<TaskID>, _ renamed: Plan) {
    grow(to: renamed, [])
    for task in tasks where isOpen(task) {
      counts.add(states[task.index], -1)
      if !instances.isEmpty, let matrixGroup = plan.matrixGroup(of: task) {
        instances[matrixGroup.index].total -= 1
      }
      scope.leave(task)
    }
  }

  package mutating func apply(_ entry: ExtendEntry) { requests.note(entry) }

  package mutating func apply(_ stop: StopEntry) { requests.stop(by: stop) }

  private mutating func follow(
    _ task: TaskID, from old: TaskState, to new: TaskState, atMilliseconds now: Int64
  ) {
    switch (old.isRunning, new.isRunning) {
    case (false, false): break
    case (false, true): running.append(RunningTask(task: task, startedMilliseconds: now))
    case (true, false): if let place = place(of: task) { running.remove(at: place) }
    case (true, true):
      // The suspension must not count as a stall.
      if old == .suspended, new == .running, let place = place(of: task) {
        running[place].download?.toldMilliseconds = now
      }
    }
  }

  package var runningMatrixGroups: some Sequence<(name: String, ended: Int, total: Int)> {
    instances.indices.lazy.filter { instances[$0].running > 0 }.map {
      (plan.matrixGroupName(MatrixGroupID($0)), instances[$0].ended, instances[$0].total)
    }
  }

  private func place(of task: TaskID) -> Int? { running.firstIndex { $0.task == task } }

  package func isPrefetched(_ task: TaskID) -> Bool {
    states.indices.contains(task.index) && states[task.index] == .prefetched
  }

  package func isStopping(_ task: TaskID) -> Bool { stopping.contains(task) }

  package func isSuspended(_ task: TaskID) -> Bool { states[task.index] == .suspended }

  /// nil if the download does not run.
  package mutating func note(_ task: TaskID, _ progress: DownloadProgress) -> RunningTask? {
    guard let place = place(of: task) else { return nil }
    running[place].download = progress
    return running[place]
  }

  package func checkInvariants() -> String? {
    var counted = TaskCounts()
    for index in states.indices {
      let task = TaskID(index)
      if scope.selected.contains(task), !scope.reused.contains(task) { counted.add(states[index]) }
      let isListed = running.contains { $0.task == task }
      if isListed != states[index].isRunning {
        return "\(name(task)) is \(states[index])\(isListed ? ", and listed as running" : "")"
      }
    }
    if states.count != plan.taskCount {
      return "\(states.count) states for \(plan.taskCount) tasks"
    }
    for index in instances.indices {
      let tasks = plan.instances(MatrixGroupID(index))
      let running = tasks.count { states[$0].isRunning }
      let ended = tasks.count { states[$0].isTerminal }
      let total = tasks.count { isOpen(TaskID($0)) }
      if instances[index] != (running, ended, total) {
        return "the matrix tasks of \(plan.matrixGroupName(MatrixGroupID(index)))"
          + " are \(instances[index]), but by their states \((running, ended, total))"
      }
    }
    let suspended = states.count { $0 == .suspended }
    if suspended != suspendedCount {
      return "\(suspendedCount) are suspended, but by their states \(suspended)"
    }
    if counted != counts { return "the counts are \(counts), but by the states \(counted)" }
    if let task = interrupted.first(where: { states[$0.index] != .waiting }) {
      return "\(name(task)) is \(states[task.index]), and listed as interrupted"
    }
    return nil
  }
}

package struct SessionScope: Sendable {
  package private(set) var selected: TaskSet
  package private(set) var reused: TaskSet
  /// Interrupted by a crash; they must not run twice.
  package private(set) var stillFailed: TaskSet
  /// Outside the selection, failed or not ended.
  package private(set) var leftFailed: [TaskID] = []
  package private(set) var leftOpen: [TaskID] = []

  private(set) var stays: [TaskID] = []

  package init(_ initial: [InitialState]) {
    selected = TaskSet(taskCount: initial.count)
    reused = TaskSet(taskCount: initial.count)
    stillFailed = TaskSet(taskCount: initial.count)
    add(initial, from: 0)
  }

  mutating func grow(_ initial: [InitialState], from first: Int) {
    let count = first + initial.count
    selected.grow(to: count)
    reused.grow(to: count)
    stillFailed.grow(to: count)
    add(initial, from: first)
  }

  mutating func takeBack(_ task: TaskID) { reused.remove(task) }

  mutating func leave(_ task: TaskID) { selected.remove(task) }

  private mutating func add(_ initial: [InitialState], from first: Int) {
    for (index, state) in initial.enumerated() {
      let task = TaskID(first + index)
      if !state.isLeftOut { selected.insert(task) }
      if state.isReused { reused.insert(task) }
      switch state {
      case .failed, .stillFailed: stillFailed.insert(task)
      case .stays: stays.append(task)
      case .leftFailed: leftFailed.append(task)
      case .leftUpstream, .leftOpen, .skipOnce: leftOpen.append(task)
      case .run, .recheck, .later, .laterAfterNeeds, .afterNeeds, .succeeded, .upToDate,
        .failedAllowed, .skipped, .unused, .skippedUpstream,
        .interrupted, .stillCancelled, .stillUpstream, .skipOption, .excluded, .leftDone:
        break
      }
    }
  }
}

package struct SessionMachines {
  private var nodes = NodeRecords()
  private var session = 1
  private var workers: [WorkerID: NodeID] = [:]
  private var places: [TaskID: NodeID] = [:]
  private var cut: [NodeID: [TaskID]] = [:]
  package private(set) var awaited: [Int: String] = [:]

  init() {}

  /// `begun` are the running and prefetched tasks.
  init(joining history: RunModel, begun: some Sequence<TaskID>) {
    nodes = history.nodes
    session = history.sessions
    if !areThere { return }
    for (worker, record) in history.workerSites.current { workers[worker] = nodes.all[record].node }
    for task in begun { places[task] = history.node(of: task)?.node }
  }

  package var all: some Sequence<NodeRecord> { nodes.of(session: session) }

  package var areThere: Bool { all.contains { _ in true } }

  package var hostsInUse: [String] {
    var seen: Set<String> = []
    return all.filter(\.isInUse).map(\.host).filter { seen.insert($0).inserted }
  }

  package var coresInUse: UInt64 { all.reduce(0) { $1.isInUse ? $0 &+ $1.offer.cores : $0 } }

  package subscript(node: NodeID) -> NodeRecord? { nodes[node, session: session] }

  /// nil for the coordinator's host.
  package func machine(of task: TaskID) -> NodeRecord? {
    places.isEmpty ? nil : places[task].flatMap { self[$0] }
  }

  /// Views report the end of the node in place of the task's end.
  package func isToldWithMachine(_ task: TaskID) -> Bool {
    guard let machine = machine(of: task) else { return false }
    return machine.state == .leaving || machine.state == .lost
  }

  /// Includes tasks interrupted before because the node was leaving.
  package func tasks(lostWith node: NodeID, running: some Sequence<TaskID>) -> [TaskID] {
    (cut[node] ?? []) + running.filter { places[$0] == node }
  }

  mutating func lose(_ task: TaskID) {
    guard let machine = machine(of: task), machine.state == .leaving else { return }
    cut[machine.node, default: []].append(task)
  }

  package mutating func apply(_ entry: NodeEntry) {
    nodes.apply(entry, session: session, atMilliseconds: 0)
  }

  package mutating func apply(_ worker: WorkerEntry) {
    if worker.node != .local { workers[worker.worker] = worker.node }
  }

  mutating func start(_ task: TaskID, _ worker: WorkerID) {
    if workers.isEmpty { return }
    // A prefetched task's start does not name the worker.
    if worker != .none { places[task] = workers[worker] }
  }

  /// nil `detail`: opflow no longer waits there. Returns true for a change.
  package mutating func wait(_ place: Int, for detail: String?) -> Bool {
    if awaited[place] == detail { return false }
    awaited[place] = detail
    return true
  }
}
