internal import OpflowJournal
internal import OpflowPlan

/// Control requests in order of arrival. One about tasks is decided when none of them is
/// prefetched: until then they are *fenced* (do not start), and prefetched ones are recalled.
struct OrderQueue {
  struct Entry {
    var order: Order
    var client: ClientID
    /// Nil before its turn.
    var fenced: [TaskID]?
    /// Fenced tasks that were prefetched at the last check.
    var onTheirWay: [TaskID] = []
  }

  private var entries: [Entry] = []
  /// Applied requests, with their numbers of tasks.
  private var known: [OrderID: Int]
  /// The latest refusals: a repeated request gets the same answer.
  private var refusals: [OrderID: String] = [:]
  private var refused: [OrderID] = []
  private var nextRefused = 0

  private static let mostRefusals = 1024

  init(known: [OrderID: Int]) { self.known = known }

  var isEmpty: Bool { entries.isEmpty }
  var first: Entry? { entries.first }

  mutating func append(_ order: Order, from client: ClientID) {
    entries.append(Entry(order: order, client: client))
  }

  mutating func fence(_ tasks: [TaskID]) {
    entries[0].fenced = (entries[0].fenced ?? []) + tasks
    entries[0].onTheirWay = tasks
  }

  mutating func awaits(_ isOnItsWay: (TaskID) -> Bool) -> Bool {
    while let task = entries[0].onTheirWay.last {
      if isOnItsWay(task) { return true }
      entries[0].onTheirWay.removeLast()
    }
    return false
  }

  mutating func removeFirst() -> Entry { entries.removeFirst() }

  func count(of id: OrderID) -> Int? { known[id] }

  func refusal(of id: OrderID) -> String? { refusals.isEmpty ? nil : refusals[id] }

  mutating func note(refusal what: String, of id: OrderID) {
    guard refusals.updateValue(what, forKey: id) == nil else { return }
    if refused.count < Self.mostRefusals { return refused.append(id) }
    refusals[refused[nextRefused]] = nil
    refused[nextRefused] = id
    nextRefused = (nextRefused + 1) % Self.mostRefusals
  }

  mutating func note(_ id: OrderID, count: Int) { known[id] = count }
}

extension Scheduler {
  mutating func obey() {
    while let entry = orders.first {
      let order = entry.order
      if let count = orders.count(of: order.id) {
        answer(.done(count: count))
        continue
      }
      if let what = orders.refusal(of: order.id) {
        answer(.refused(what: what))
        continue
      }
      if entry.fenced == nil {
        if let fault = faultOfRun(order) {
          answer(.refused(what: fault))
          continue
        }
      } else if orders.awaits({ graph.state($0) == .handed }) {
        return
      }
      // A task that ran meanwhile may be ready again, for example after a lost worker.
      fence(order)
      if orders.awaits({ graph.state($0) == .handed }) { return }
      decide(order)
    }
  }

  private mutating func answer(_ answer: OrderAnswer) {
    let entry = orders.removeFirst()
    steps.append(.answer(entry.client, entry.order.id, answer))
    if case .refused(let what) = answer { orders.note(refusal: what, of: entry.order.id) }
    for task in entry.fenced ?? [] { graph.unmark(task, .fenced) }
    for task in entry.fenced ?? [] { letGo(task) }
  }

  private mutating func decide(_ order: Order) {
    var entry = OrderEntry(id: order.id, verb: order.verb, asker: order.asker)
    entry.expects = order.expects
    // The run may have ended while the request waited.
    if let fault = faultOfRun(order) ?? fault(order, choosing: &entry.tasks) {
      return answer(.refused(what: fault))
    }
    entry.carried = CarriedValue(order.value, of: plan)
    prepare(&entry)
    orders.note(order.id, count: entry.tasks.count)
    steps.append(.tell(.order(entry)))
    perform(order, on: entry.tasks)
    answer(.done(count: entry.tasks.count))
  }
}

extension Scheduler {
  /// Holds the request's tasks until it is decided.
  mutating func fence(_ order: Order) {
    var tasks = (order.tasks + order.among).filter { !graph.state($0).isTerminal }
    if order.verb == .retry { tasks += thatWouldLose(order.tasks + order.among) }
    orders.fence(tasks)
    if tasks.isEmpty { return }
    for task in tasks { graph.mark(task, .fenced) }
    pull(tasks)
  }

  /// Takes tasks out of all queues and holds them.
  mutating func pull(_ tasks: [TaskID]) {
    returnSetAside()
    var ranks: Set<Int32> = []
    var lanes: Set<Int> = []
    var isAway: Set<TaskID> = []
    for task in tasks {
      switch graph.state(task) {
      case .ready where isGate(task):
        if graph.has(.held, task) { break }
        gates.removeReady(task)
        graph.mark(task, .held)
      case .ready where blocks.stopWaiting(task): graph.mark(task, .held)
      case .checking: withdrawCheck(of: task)
      case .ready where wantsCheck(task):
        if !graph.has(.held, task) { withdrawCheck(of: task) }
      case .ready where services.taken[task] != nil: withdrawToHold(task)
      case .ready where isService(task) && !stands(task): break
      case .ready where !graph.has(.held, task):
        ranks.insert(ranking.rank[task.index])
        lanes.insert(resources.lane(of: task))
        isAway.insert(task)
      case .handed: isAway.insert(task)
      default: break
      }
    }
    if isAway.isEmpty { return }
    ready.remove(ranks, of: lanes)
    takeBack(isAway)
    for task in isAway where graph.state(task) == .ready { graph.mark(task, .held) }
  }

  private mutating func withdrawToHold(_ task: TaskID) {
    let users = takenUsers(of: task)
    if let entry = services.taken.remove(task) { release(entry.share, of: task) }
    withdrawTaken(users)
    if !isService(task) || stands(task) { graph.mark(task, .held) }
  }

  private mutating func takeBack(_ tasks: Set<TaskID>) {
    for worker in workforce.living {
      let record = workforce.workers[worker.index]
      if record.phase == .launching, tasks.contains(record.current) {
        let freed = workforce.withdraw(worker)
        release(freed.share, of: freed.task)
      }
      if record.isDiscarded { continue }
      for place in record.ahead.indices where tasks.contains(record.ahead[place].task) {
        revokeAhead(place, of: worker)
      }
    }
  }
}

extension Scheduler {
  func faultOfRun(_ order: Order) -> String? {
    if phase.step == .done { return "the run has ended" }
    for task in order.tasks + order.among where !plan.tasks.contains(task.index) {
      return "there is no task number \(task.rawValue)"
    }
    if let fault = faultOfVerb(order) { return fault }
    return order.isOfRun && order.verb.row.about == .tasks ? "it names no task" : nil
  }

  /// Chooses the tasks to which the request applies, or returns why it does not.
  func fault(_ order: Order, choosing tasks: inout [TaskID]) -> String? {
    if order.isOfRun { return nil }
    let back = order.verb == .retry ? comingBack(with: order.tasks) : []
    // Tasks that come back in any case do not make a retry.
    let named = Set(order.tasks).union(back)
    var chosen = Set(order.tasks).subtracting(back)
    for task in order.tasks where !back.contains(task) {
      if let fault = fault(order, task, among: named) { return "\(plan.nameString(task)) \(fault)" }
    }
    var first: String?
    for task in order.among where !chosen.contains(task) && !back.contains(task) {
      if let fault = fault(order, task, among: named) {
        if first == nil { first = "\(plan.nameString(task)) \(fault)" }
      } else {
        chosen.insert(task)
      }
    }
    if chosen.isEmpty {
      let others = order.among.count - 1
      return (first ?? "") + (others > 0 ? ", and it applies to none of \(others) others" : "")
    }
    tasks = chosen.sorted { $0.rawValue < $1.rawValue }
    return nil
  }

  private func fault(_ order: Order, _ task: TaskID, among named: Set<TaskID>) -> String? {
    if graph.leftOut?.contains(task) == true { return "is no part of this run" }
    if order.expects > 0, attempt[task.index] != order.expects {
      return "is at try \(attempt[task.index]) by now, not \(order.expects)"
    }
    return fault(order.verb, of: task, among: named)
  }

  func ended(_ task: TaskID) -> String {
    let state = graph.state(task)
    let verb =
      switch state {
      case .succeeded: "has succeeded"
      case .upToDate: "is up to date"
      case .failedAllowed: "has failed"
      case .failed: "has failed"
      case .skipped: "was skipped"
      case .cancelled: "was cancelled"
      case .waiting, .ready, .checking, .handed, .running, .suspended: "has no end"
      }
    let isOlder = graph.endedBefore?.contains(task) == true
    return (isOlder ? "\(verb) in an earlier drive" : "\(verb) already")
      + (state == .failedAllowed ? ", which is allowed" : "")
  }

  func isStopping(_ task: TaskID) -> Bool {
    phase.stopCause != nil && graph.state(task).isRunning
  }
}
