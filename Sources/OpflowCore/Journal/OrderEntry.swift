/// An order that was obeyed: its line is what it does to tasks that do not run, and comes before what
/// follows from it.
package struct OrderEntry: Sendable, Equatable {
  package var id: OrderID
  package var verb: OrderVerb
  package var asker: OrderAsker
  /// The tasks that it holds for, in the order of the plan; none for the whole run.
  package var tasks: [TaskID] = []
  /// It named tasks, and the plan has none of them any more.
  package var lacksTasks = false
  /// Of a `retry`: what was skipped for want of those, and waits again with them.
  package var back: [TaskID] = []
  package var expects: Int32 = 0
  package var carried = CarriedValue()
  /// Of `approve`: by what the gates were defined then, one for each of `tasks`.
  package var fingerprints: [UInt64] = []

  package init(id: OrderID, verb: OrderVerb, asker: OrderAsker) {
    self.id = id
    self.verb = verb
    self.asker = asker
  }

  /// What it does at once to a task that it names, by the state that the task is in; nil for nothing, or
  /// nothing yet.
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
  /// Nil for an order of a later opflow. Tasks that the plan does not have are left out.
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
    // They stand in the order of the tasks, which says nothing where one of these is unknown.
    if isWhole, fingerprints.count == tasks.count { order.fingerprints = fingerprints }
    return order
  }
}
