internal import OpflowBase
package import OpflowPlan

/// An applied request. Its line changes tasks that do not run.
package struct OrderEntry: Sendable, Equatable {
  package var id: OrderID
  package var verb: OrderVerb
  package var asker: OrderAsker
  /// In plan order; empty for the whole run.
  package var tasks: [TaskID] = []
  /// The plan has none of the named tasks any more.
  package var lacksTasks = false
  /// Of a `retry`: dependents skipped because of these tasks, which wait again.
  package var back: [TaskID] = []
  package var expects: Int32 = 0
  package var carried = CarriedValue()
  /// Of `approve`, one for each of `tasks`.
  package var fingerprints: [UInt64] = []

  package init(id: OrderID, verb: OrderVerb, asker: OrderAsker) {
    self.id = id
    self.verb = verb
    self.asker = asker
  }

  package func effect(on task: TaskID, in state: TaskState) -> Transition? {
    switch verb.row.effect {
    case .cancels:
      if state.isTerminal || state.isRunning { return nil }
      return Transition(.cancel, task, reason: .stopped(.cancel))
    case .skips: return Transition(.skip(.order), task)
    case .suspends: return state == .running ? Transition(.pause, task) : nil
    case .proceeds: return state == .suspended ? Transition(.proceed, task) : nil
    case .retries: return Transition(.resume(.asked), task)
    case .none: return nil
    }
  }
}

extension JournalLine {
  /// Nil for an unknown request. Omits tasks that the plan does not have.
  package func order(plan: Plan) -> OrderEntry? {
    var id: OrderID?
    var verb: OrderVerb?
    var asker = OrderAsker(pid: 0, user: 0, name: "")
    var (tasks, back): ([TaskID], [TaskID]) = ([], [])
    var fingerprints: [UInt64] = []
    var isWhole = true
    var expects: Int32 = 0
    var carried = CarriedValue()
    for field in fields {
      switch field.key {
      case .id: id = OrderID(field.text)
      case .verb: verb = OrderVerb(rawValue: field.text)
      case .by: asker.name = field.text
      case .pid: asker.pid = field.small ?? 0
      case .uid: asker.user = Field.number(field.value) ?? 0
      case .expects: expects = field.small ?? 0
      case .resource: carried.resource = field.text
      case .value: carried.number = Field.number(field.value)
      case .tasks:
        if let task = plan.task(escapedName: field.value) {
          tasks.append(task)
        } else {
          isWhole = false
        }
      case .fingerprint: fingerprints.append(UInt64(field.text, radix: 16) ?? 0)
      case .back: if let task = plan.task(escapedName: field.value) { back.append(task) }
      default: break
      }
    }
    guard let id, let verb else { return nil }
    var order = OrderEntry(id: id, verb: verb, asker: asker)
    order.tasks = tasks
    order.lacksTasks = tasks.isEmpty && !isWhole
    order.back = back
    order.expects = expects
    order.carried = carried
    if isWhole, fingerprints.count == tasks.count { order.fingerprints = fingerprints }
    return order
  }
}
