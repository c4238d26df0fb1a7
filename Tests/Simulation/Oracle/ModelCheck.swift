import OpflowJournal
import OpflowPlan

/// Holds what a view is told as a drive goes against what somebody reads who follows its journal.
struct ModelCheck {
  private let source: PlanSource
  private var plan: Plan { source.plan }
  private var live: SessionModel
  private var follower: JournalFollower
  /// The tasks that the drive is about, without those that keep what they have.
  private var tasks: [TaskID]
  /// Those that have a result which they may come to keep.
  private var mayKeep: Set<TaskID>
  /// How further machines are told to stand.
  private var nodes: [NodeID: NodeState] = [:]

  /// To look at each task after each write takes as long as there are tasks.
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

  /// The plan has tasks more.
  mutating func grow(_ initial: [InitialState]) {
    let first = plan.taskCount - initial.count
    live.grow(to: plan, initial)
    tasks += (first..<plan.taskCount).map { TaskID($0) }
  }

  /// They are no part of the drive any more.
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

  /// All that was told stands in the file.
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
      // By the journal a worker goes on at once with what it was handed; a view waits for its word.
      if told != read, told != .prefetched || read != .running {
        throw Finding("views are told that \(plan.nameString(task)) is \(told), read is \(read)")
      }
    }
  }
}
