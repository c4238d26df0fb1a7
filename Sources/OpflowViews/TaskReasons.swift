internal import OpflowCore

/// Explains the states of a run's tasks from its journal and its plan.
struct TaskReasons {
  let status: RunStatus
  let nowMilliseconds: Int64
  private let orderCommand: OrderLineText
  private let queue: RunQueue
  /// nil without nodes.
  private let machines: MachineReasons?
  private let openBeforeFinally: Int
  private let failures: [TaskID]

  static let maxNames = 5
  /// The most tasks to search for the ones that block another.
  private static let maxLookedAt = 10_000

  init(
    _ status: RunStatus, durations: TaskDurations, nowMilliseconds: Int64,
    orderCommand: @escaping OrderLineText
  ) {
    self.status = status
    self.orderCommand = orderCommand
    self.nowMilliseconds = nowMilliseconds
    queue = RunQueue(status, durations: durations, nowMilliseconds: nowMilliseconds)
    machines = MachineReasons(
      status, running: queue.running, durations: durations, nowMilliseconds: nowMilliseconds)
    openBeforeFinally = status.openBeforeFinally
    failures = status.failuresOfDrive
  }

  private var plan: Plan { status.plan }

  func of(_ task: TaskID) -> [TaskReason] {
    guard status.included.contains(task) else { return [outside(task)] }
    var reasons: [TaskReason]
    switch status.state(task) {
    case .waiting, .ready, .checking:
      reasons = status.state == .running ? waiting(task) : unstarted(task)
    case .handed: reasons = [handed(task)]
    case .running, .suspended: reasons = [running(task)]
    case .succeeded, .upToDate, .failedAllowed, .failed, .skipped, .cancelled:
      reasons = EndReasons(status).of(task)
      if let machine = machine(of: task) {
        reasons.append(TaskReason(.machine, "ran on \(machine)"))
      }
    }
    let isBefore = [.waiting, .ready, .checking].contains(status.state(task))
    if !isBefore, let what = status.history.details.staleness[task] {
      reasons.append(
        TaskReason(.stale, "was not up to date: \(what)", shared: "was not up to date"))
    }
    if let rerun = status.history.details.reruns[task] {
      let why = ReasonText.text(.rerun(rerun), plan: plan)
      let did = status.state(task).isTerminal ? "ran it again" : "took it back"
      reasons.append(
        TaskReason(.rerun, "the newest resume \(did): \(why)", tasks: [rerun].culprits))
    }
    return reasons + placedByOrders(task)
  }

  /// Returns the requests that changed the task's place in the queue.
  private func placedByOrders(_ task: TaskID) -> [TaskReason] {
    if status.state(task).isTerminal { return [] }
    return status.history.orders.ofPending(task).filter { !$0.record.verb.row.holdsBack }
      .map { record, phrase in
        let sentence = phrase.sentence(record.carried)
        return TaskReason(
          .priority, "\(sentence), asked by \(CleanText.string(record.asker.text))",
          shared: sentence)
      }
  }

  /// Returns the node where the task runs or ran last; nil for none.
  private func machine(of task: TaskID) -> String? {
    guard status.state(task) != .skipped, status.history[task].attempts > 0 else { return nil }
    return status.history.site(of: task).map { MachineText.name($0.offer.host) }
  }

  // MARK: - Live runs

  private func waiting(_ task: TaskID) -> [TaskReason] {
    var reasons = heldBack(task)
    let needs = status.waitsFor(task)
    if !needs.isEmpty {
      reasons.append(openNeeds(needs))
      let holdup = holdup(needs)
      if let holdup { reasons.append(holdup) }
      reasons += questions(among: needs + (holdup?.tasks ?? []))
    }
    if plan.flags(task).contains(.finally), openBeforeFinally > 0 {
      let others = openBeforeFinally == 1 ? "task has" : "tasks have"
      reasons.append(
        TaskReason(
          .finally,
          "it is a `finally` task: \(CountText.grouped(openBeforeFinally)) \(others) no end yet"))
    }
    if let retry = retry(task) { reasons.append(retry) }
    if reasons.contains(where: { $0.kind != .paused && $0.kind != .stopping }) { return reasons }
    return reasons + turn(task)
  }

  /// Returns what keeps the task from starting, apart from dependencies and resources.
  private func heldBack(_ task: TaskID) -> [TaskReason] {
    var reasons: [TaskReason] = status.state == .running ? heldBackByOrders(task) : []
    let limit = status.history.limits.maxFailures ?? 0
    if limit > 0, failures.count >= limit, !plan.flags(task).contains(.finally) {
      let names = NameList.text(failures, plan: plan, limit: Self.maxNames)
      let count = failures.count == 1 ? "1 task has" : "\(failures.count) tasks have"
      reasons.append(
        TaskReason(
          .stopping,
          "nothing new starts: \(count) failed (\(names)), and --max-failures is \(limit)",
          tasks: failures))
    }
    return reasons
  }

  /// Returns the requests and signals that keep the task from starting.
  private func heldBackByOrders(_ task: TaskID) -> [TaskReason] {
    var reasons: [TaskReason] = []
    let orders = status.history.orders
    if status.history.isSuspended {
      reasons.append(
        TaskReason(.paused, "the run stands still, opflow and all: a signal stopped its process"))
    }
    if let stop = orders.stoppedBy {
      reasons.append(
        TaskReason(
          .stopping, "the run is being stopped, asked by \(CleanText.string(stop.asker.text))"))
    } else if let signal = orders.stopSignal {
      reasons.append(
        TaskReason(
          .stopping,
          orders.stopReason.isEmpty
            ? "the run is being stopped, by \(SignalName.spelled(signal))"
            : "the run is being stopped: \(CleanText.string(orders.stopReason))"))
    } else if let pause = orders.pausedBy {
      reasons.append(
        TaskReason(
          .paused,
          "the run is paused, asked by \(CleanText.string(pause.asker.text)): nothing new starts "
            + "until `\(orderCommand(.proceed, []))`"))
    }
    for (record, phrase) in orders.ofPending(task) where record.verb.row.holdsBack {
      let sentence = phrase.sentence(record.carried)
      reasons.append(
        TaskReason(
          .paused,
          "\(sentence), asked by \(CleanText.string(record.asker.text)), until \(letGo(task))",
          shared: "\(sentence) until `opflow continue` names it"))
    }
    return reasons
  }

  private func openNeeds(_ needs: [TaskID]) -> TaskReason {
    TaskReason(
      .needs, "needs \(list(needs, timed: true))", shared: "needs \(list(needs, timed: false))",
      tasks: needs)
  }

  /// `a (running for 3.0s), b (pending) and 4 more`
  private func list(_ tasks: [TaskID], timed: Bool) -> String {
    let shown = tasks.prefix(Self.maxNames).map {
      "\(plan.nameString($0)) (\(word($0, timed: timed)))"
    }
    let more = tasks.count - shown.count
    return shown.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
  }

  private func word(_ task: TaskID, timed: Bool) -> String {
    let state = status.state(task)
    guard state == .running else { return state.word }
    let word = plan.kind(task) == .approve ? "asks" : state.word
    return timed ? "\(word) for \(elapsed(task))" : word
  }

  /// Returns the open questions of approvals among `tasks`, and how to answer them.
  private func questions(among tasks: [TaskID]) -> [TaskReason] {
    var told: Set<TaskID> = []
    return tasks.filter {
      plan.kind($0) == .approve && status.state($0) == .running && told.insert($0).inserted
    }.prefix(Self.maxNames).map { gate in
      let asks = "\(plan.nameString(gate)) asks: \(GateText.wholeQuestion(gate, plan: plan))"
      return TaskReason(
        .gate, "\(asks); \(GateText.whatAnswers(gate, plan: plan, orderCommand))", shared: asks,
        tasks: [gate])
    }
  }

  private func elapsed(_ task: TaskID) -> String {
    DurationText.text(milliseconds: nowMilliseconds - status.history[task].startedMilliseconds)
  }

  /// Returns the tasks at the start of the dependency chains; nil if `needs` names them already.
  private func holdup(_ needs: [TaskID]) -> TaskReason? {
    var open = needs
    var seen = Set(needs)
    var ends: [TaskID] = []
    var isSaid = true
    while let task = open.popLast() {
      let further = status.waitsFor(task)
      if further.isEmpty {
        ends.append(task)
        continue
      }
      isSaid = false
      for need in further where seen.insert(need).inserted { open.append(need) }
      if seen.count > Self.maxLookedAt { return nil }
    }
    if isSaid || ends.isEmpty { return nil }
    ends.sort { $0.index < $1.index }
    return TaskReason(
      .holdup, "what holds that up: \(list(ends, timed: true))",
      shared: "what holds that up: \(list(ends, timed: false))", tasks: ends)
  }

  private func retry(_ task: TaskID) -> TaskReason? {
    guard let next = status.nextTry(task), next > nowMilliseconds else { return nil }
    let left = DurationText.text(wholeSeconds: next.minus(nowMilliseconds).plus(999) / 1000)
    let outcome = EndReasons(status).outcome(task)
    return TaskReason(
      .retry,
      "\(EndReasons(status).triesFailed(task)); the next one is due in \(left)",
      shared: "a try failed: \(outcome); the next one is due later")
  }

  private func turn(_ task: TaskID) -> [TaskReason] {
    if plan.flags(task).contains(.interactive),
      let other = queue.running.first(where: { plan.flags($0).contains(.interactive) })
    {
      let name = plan.nameString(other)
      return [TaskReason(.terminal, "needs the terminal, which \(name) has", tasks: [other])]
    }
    var (lacks, unknown) = queue.lacks(of: task)
    if let machines, machines.apply(to: task) {
      if let reason = machines.waiting(task) { return [reason] }
      // A task on a node does not take this machine's share of these resources.
      let gpu = plan.gpuResource ?? -1
      lacks.removeAll { ResourceEntry.isOfMachine(Int($0.resource), gpu: gpu) }
      unknown.removeAll { ResourceEntry.isOfMachine(Int($0), gpu: gpu) }
    }
    if plan.kind(task) == .block, lacks.isEmpty {
      let what = "waits for a program that offers"
      return [
        TaskReason(.offer, "\(what) the block \(plan.nameString(task))", shared: "\(what) it")
      ]
    }
    var reasons = lacks.map(text)
    for resource in unknown {
      let name = plan.string(plan.resources[Int(resource)].name)
      reasons.append(
        TaskReason(.unknown, "how much \(name) there is, an older opflow did not write down"))
    }
    if let place = queue.ready.firstIndex(of: task) {
      let count = queue.ready.count
      let before = queue.ready.prefix(place).suffix(3)
      let names = before.map { plan.nameString($0) }.joined(separator: ", ")
      let behind = names.isEmpty ? "" : ", behind \(names)"
      let all = count == 1 ? "nothing else" : "\(CountText.grouped(count)) tasks"
      // A task that lacks a resource does not have all it needs.
      let hasAll = lacks.isEmpty ? "has all it needs" : ""
      reasons.append(
        TaskReason(
          .queue,
          count == 1
            ? hasAll + (hasAll.isEmpty ? "" : ", and ") + "nothing else waits for its turn"
            : hasAll + (hasAll.isEmpty ? "" : ": ") + "place \(CountText.grouped(place + 1)) of"
              + " \(CountText.grouped(count)) that wait for their turn\(behind)",
          shared: hasAll + (hasAll.isEmpty ? "" : ", and ") + "waits for its turn among \(all)",
          tasks: Array(before)))
    }
    return reasons
  }

  private func text(_ lack: RunQueue.Lack) -> TaskReason {
    let name = plan.string(plan.resources[Int(lack.resource)].name)
    func amount(_ amount: UInt64) -> String { AmountText.text(amount, of: lack.resource) }
    var text = "wants \(amount(lack.wanted)) of \(name)"
    if lack.capacity == 0 {
      text += ", which is closed"
    } else {
      text += ", and \(amount(lack.free)) of \(amount(lack.capacity)) is free"
    }
    if !lack.holders.isEmpty {
      let shown = lack.holders.prefix(Self.maxNames).map {
        "\(plan.nameString($0.task)) (\(amount($0.amount)))"
      }
      let more = lack.holders.count - shown.count
      text += "; held by \(shown.joined(separator: ", "))" + (more > 0 ? " and \(more) more" : "")
    }
    return TaskReason(.resources, text, tasks: lack.holders.map(\.task))
  }

  private func handed(_ task: TaskID) -> TaskReason {
    let worker = status.history[task].worker
    let first = queue.running.first { status.history[$0].worker == worker }
    let behind = first.map { ", behind \(plan.nameString($0))" } ?? ""
    let machine = machine(of: task).map { " of \($0)" } ?? ""
    return TaskReason(
      .handed, "worker \(worker.rawValue)\(machine) has it next\(behind)",
      shared: "a worker has it next",
      tasks: first.map { [$0] } ?? [])
  }

  private func running(_ task: TaskID) -> TaskReason {
    let record = status.history[task]
    if plan.kind(task) == .approve {
      let asks = "asks: \(GateText.wholeQuestion(task, plan: plan))"
      return TaskReason(
        .gate,
        "\(asks), for \(elapsed(task)); \(GateText.whatAnswers(task, plan: plan, orderCommand))",
        shared: asks)
    }
    let attempt = record.attempts > 1 ? ", try \(record.attempts)" : ""
    if status.state == .running, let asker = status.history.orders.of(task, .cancel)?.asker {
      return TaskReason(
        .stopping, "is being cancelled, asked by \(CleanText.string(asker.text))",
        shared: "is being cancelled")
    }
    if status.state(task) == .suspended {
      let still = "began, and its processes stand still"
      guard let asker = status.history.orders.holder(of: task) else {
        return TaskReason(.suspended, "\(still) until it goes on")
      }
      return TaskReason(
        .suspended,
        "\(still), asked by \(CleanText.string(asker.text)), until \(letGo(task))",
        shared: "\(still) until `opflow continue` names it")
    }
    let machine = machine(of: task).map { " of \($0)" } ?? ""
    let worker =
      record.worker == .none ? "" : " on worker \(record.worker.rawValue)\(machine)"
    return TaskReason(
      .running, "has all it needs, and runs for \(elapsed(task))\(worker)\(attempt)",
      shared: "has all it needs, and runs")
  }

  private func letGo(_ task: TaskID) -> String {
    "`\(orderCommand(.proceed, [plan.nameString(task)]))`"
  }

  // MARK: - Runs without a session

  private func unstarted(_ task: TaskID) -> [TaskReason] {
    let record = status.history[task]
    if record.isInterrupted {
      return [
        TaskReason(.interrupted, "began, and was cut short: the run \(runEnd)")
      ]
    }
    if status.awaitsNextTry(task) {
      let tries = EndReasons(status).triesFailed(task)
      return [
        TaskReason(
          .interrupted, "\(tries); the run \(runEnd) before the next one",
          shared: "a try failed, and the run \(runEnd) before the next one")
      ]
    }
    var reasons = [TaskReason(.unstarted, "did not start before the run \(runEnd)")]
    let needs = status.waitsFor(task)
    if !needs.isEmpty { reasons.append(openNeeds(needs)) }
    let limit = status.history.limits.maxFailures ?? 0
    if limit > 0, failures.count >= limit { reasons += heldBack(task) }
    return reasons
  }

  private var runEnd: String {
    switch status.history.close?.state {
    case nil: "died"
    case .cancelled, .interrupted:
      "was stopped"
        + (status.history.orders.stopReason.isEmpty
          ? "" : " (\(CleanText.string(status.history.orders.stopReason)))")
    case .succeeded, .failed, .running: "ended"
    }
  }

  private func outside(_ task: TaskID) -> TaskReason {
    if plan.flags(task).contains(.manual) {
      return TaskReason(
        .outside, "is no part of this run: it is `manual`, and was not named nor needed")
    }
    let tasks = status.history.tasks
    if !tasks.isEmpty {
      let names = tasks.prefix(Self.maxNames).map { CleanText.string($0) }.joined(separator: ", ")
      return TaskReason(.outside, "is no part of this run, which was started for \(names)")
    }
    return TaskReason(.outside, "is no part of this run: --only leaves it out")
  }
}

extension [RerunReason] {
  fileprivate var culprits: [TaskID] {
    compactMap { if case .afterRerun(let task) = $0, !task.isNone { task } else { nil } }
  }
}
