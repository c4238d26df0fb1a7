import OpflowJournal
import OpflowPlan

/// Compares the state that a live view gets with the state that a reader of the journal gets.
struct ModelCheck {
  private let source: PlanSource
  private var plan: Plan { source.plan }
  private var live: SessionModel
  private var follower: JournalFollower
  /// The tasks of the session, without those that keep their results.
  private var tasks: [TaskID]
  /// Tasks that may still keep an earlier result.
  private var mayKeep: Set<TaskID>
  /// The last reported state of each node.
  private var nodes: [NodeID: NodeState] = [:]

  /// Checking all tasks after each write takes quadratic time.
  private static let maxTasks = 50

  init(_ source: PlanSource, initial: [InitialState], requests: RequestRecords) {
    let plan = source.plan
    self.source = source
    live = SessionModel(plan: plan, scope: SessionScope(initial), requests: requests)
    live.begin(atMilliseconds: 0)
    follower = JournalFollower(plan: plan) { _, _ in source.plan }
    tasks = plan.tasks.map { TaskID($0) }.filter { !initial[$0.index].endsBefore }
    mayKeep = Set(
      tasks.filter { [.recheck, .later, .laterAfterNeeds].contains(initial[$0.index]) })
  }

  /// Adds the new tasks of the plan.
  mutating func grow(_ initial: [InitialState]) {
    let first = plan.taskCount - initial.count
    live.grow(to: plan, initial)
    tasks += (first..<plan.taskCount).map { TaskID($0) }
  }

  /// Removes tasks from the session.
  mutating func retract(_ retracted: [TaskID]) {
    live.retract(retracted, plan)
    tasks.removeAll { retracted.contains($0) }
  }

  mutating func take(_ transition: Transition, atMilliseconds wall: Int64) {
    live.apply(transition, atMilliseconds: wall)
    mayKeep.remove(transition.task)
  }

  mutating func take(_ request: RequestEntry, atMilliseconds wall: Int64) {
    live.apply(request, atMilliseconds: wall)
  }

  mutating func take(_ stop: StopEntry) { live.apply(stop) }

  mutating func take(_ node: NodeEntry) { nodes[node.node] = node.state }

  /// `file` has everything that the view was sent.
  mutating func check(_ file: [UInt8]) throws(Finding) {
    guard plan.taskCount <= Self.maxTasks else { return }
    do throws(JournalError) {
      let start = follower.offset
      try file.withUnsafeBufferPointer { bytes throws(JournalError) in
        try follower.read(
          growing: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[start...]))
      }
    } catch {
      throw Finding("the journal cannot be followed: \(error.message)")
    }
    if let problem = live.checkInvariants() { throw Finding("what views know: \(problem)") }
    if live.requests.stopSignal != follower.model.requests.stopSignal {
      throw Finding("views are told of another stop than is read")
    }
    var read: [NodeID: NodeState] = [:]
    for node in follower.model.nodes.of(session: follower.model.sessions) {
      read[node.node] = node.state
    }
    if read != nodes { throw Finding("of machines is told \(nodes), read is \(read)") }
    for task in tasks where !mayKeep.contains(task) {
      let told = live.state(task)
      let read = RunStatus.state(task, plan, follower.model, isHeld: true)
      // In the journal, a worker starts a prefetched task at once; a view waits for its message.
      if told != read, told != .prefetched || read != .running {
        throw Finding("views are told that \(plan.nameString(task)) is \(told), read is \(read)")
      }
    }
  }
}
