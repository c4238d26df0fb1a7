internal import OpflowBase
package import OpflowPlan
package import OpflowWire

/// A run's model that follows a growing journal. When a line adds or discards tasks, the follower
/// reopens the plan.
///
/// Bytes after the last intact line are read again: they may be a line in progress, or damage that
/// a resume cuts off. opflow never changes the bytes before, so a shorter or different file needs a
/// new follower.
package struct JournalFollower: Sendable {
  package private(set) var model: RunModel
  private let fresh: RunModel
  package private(set) var plan: Plan
  /// Skipped lines may be about tasks that only the new plan has.
  package private(set) var mustReread = false
  private let grown: GrownPlan
  private var place = JournalPlace()

  /// Reopens the plan with at least `taskCount` tasks. `earlier` is the open plan if the new plan
  /// extends it.
  package typealias GrownPlan = @Sendable (_ taskCount: Int, _ earlier: Plan?) -> Plan?

  /// `keepingAttempts` fills `attempts` and `details`. `absolutePlan` has the fingerprints of older
  /// versions (`FingerprintStyle`). `beforeFilling` gets the memory of the model's records.
  package init(
    plan: Plan, keepingDetails: Bool = false, keepingAttempts: Bool = false,
    absolutePlan: Plan? = nil, grown: @escaping GrownPlan = { _, _ in nil },
    beforeFilling: BeforeFilling? = nil
  ) {
    self.plan = plan
    self.grown = grown
    fresh = RunModel(
      keepingDetails: keepingDetails, keepingAttempts: keepingAttempts,
      absolutePlan: absolutePlan, beforeFilling: beforeFilling)
    model = fresh
  }

  /// Starts again, with the present plan.
  package var anew: JournalFollower {
    var anew = self
    anew.model = fresh
    anew.mustReread = false
    anew.place = JournalPlace()
    return anew
  }

  package var offset: Int { place.offset }

  package typealias EachLine = (JournalLine, RunModel, Plan) -> Void

  /// Reads complete lines only; `bytes` start at `offset`.
  package mutating func read(
    growing bytes: UnsafeRawBufferPointer, each: EachLine? = nil
  ) throws(JournalError) {
    // Bytes without a line feed are a line in progress.
    guard let end = bytes.lastIndex(of: Field.lineFeed) else { return }
    _ = try replay(UnsafeRawBufferPointer(rebasing: bytes[...end]), each)
  }

  /// Includes an unfinished last line; `bytes` start at `offset`. Returns the damage in the whole
  /// journal.
  @discardableResult
  package mutating func read(
    toEnd bytes: UnsafeRawBufferPointer, each: EachLine? = nil
  ) throws(JournalError) -> JournalRecovery {
    bytes.isEmpty && offset > 0 ? place.recovery : try replay(bytes, each)
  }

  private mutating func replay(
    _ bytes: UnsafeRawBufferPointer, _ each: EachLine?
  ) throws(JournalError) -> JournalRecovery {
    var reader = try JournalReader(bytes, from: place)
    if let each {
      while let line = reader.next() {
        model.apply(line, plan: plan)
        if line.event.changesPlan { openPlan(after: line.event) }
        each(line, model, plan)
      }
    } else {
      while let event = model.apply(&reader, plan: plan) { openPlan(after: event) }
    }
    place = reader.place
    return reader.recovery
  }

  private mutating func openPlan(after event: JournalEvent) {
    let isOther = event == .retract
    guard let count = model.taskCount, isOther || count > plan.taskCount,
      let next = grown(max(count, plan.taskCount), isOther ? nil : plan), next.key == plan.key,
      isOther || next.taskCount > plan.taskCount
    else { return }
    if model.mayLack(tasksOf: next) { mustReread = true }
    plan = next
    model.grow(to: next)
  }
}

extension RunModel {
  fileprivate mutating func apply(_ reader: inout JournalReader, plan: Plan) -> JournalEvent? {
    while let line = reader.next() {
      apply(line, plan: plan)
      if line.event.changesPlan { return line.event }
    }
    return nil
  }
}

extension RunModel {
  /// Processes that opflow could not end, of tasks that have not started again. An entry is the
  /// worker's, with pid and start time of the process.
  package var processesLeft: [WorkerEntry] { leftAlive.values.flatMap { $0 } }

  @inline(__always)
  mutating func noteLeft(
    _ event: TransitionKind, _ line: JournalLine, _ fields: TransitionFields, by worker: WorkerID
  ) {
    if fields.pids.isEmpty, event != .start || leftAlive.isEmpty { return }
    guard let worker = workers.last(where: { $0.worker == worker }), event != .start else {
      leftAlive[Array(line.task)] = nil
      return
    }
    leftAlive[Array(line.task)] = LeftBehind.processes(Field.text(fields.pids) ?? "").map { mark in
      var process = worker
      process.pid = mark.pid
      process.startTime = mark.startTime
      if process.host.isEmpty, let place = nodes.place(of: worker.node, session: sessions) {
        process.host = nodes.all[place].host
      }
      return process
    }
  }

  /// The parameters are as in `JournalFollower`.
  package static func read(
    _ bytes: UnsafeRawBufferPointer, plan: Plan, keepingDetails: Bool = false,
    keepingAttempts: Bool = false, absolutePlan: Plan? = nil, beforeFilling: BeforeFilling? = nil
  ) throws(JournalError) -> (history: RunModel, recovery: JournalRecovery) {
    var follower = JournalFollower(
      plan: plan, keepingDetails: keepingDetails, keepingAttempts: keepingAttempts,
      absolutePlan: absolutePlan, beforeFilling: beforeFilling)
    let recovery = try follower.read(toEnd: bytes)
    return (follower.model, recovery)
  }

  package static func readRun(_ bytes: UnsafeRawBufferPointer) throws(JournalError) -> RunModel {
    var reader = try JournalReader(bytes)
    var history = RunModel()
    while let line = reader.next() {
      switch line.event {
      case .transition: history.enter(session: TransitionFields(line).session, at: line.sequence)
      case .open, .resume, .close, .worker, .stop, .node, .extend, .retract:
        history.applyToRun(line)
      case .request: history.enter(session: line.session, at: line.sequence)
      case .unknown: break
      }
    }
    return history
  }
}
