/// A run's model that goes on with its journal: each look folds what was appended since the one before,
/// and no line twice.
///
/// What stands behind the last intact line is looked at again, since it may be a line that is just being
/// written, or damage that a resume cuts off. What stands before it, no opflow ever changes: a file that
/// is shorter than that, or another one, is another journal, and wants another follower.
///
/// Where a line adds tasks to the run, or has some withdrawn, the plan is opened anew, and the model goes on with that.
package struct JournalFollower: Sendable {
  /// As of the last intact line.
  package private(set) var model: RunModel
  /// How it begins.
  private let fresh: RunModel
  package private(set) var plan: Plan
  /// Lines that were passed over may have told of tasks that the plan has only now, so that the journal is to be
  /// read anew with it.
  package private(set) var isBlind = false
  private let grown: GrownPlan
  private var place = JournalPlace()

  /// Opens the plan anew, which has so many tasks or more by now; nil where it cannot. It is given what was open so far,
  /// where that is a part of it.
  package typealias GrownPlan = @Sendable (_ taskCount: Int, _ earlier: Plan?) -> Plan?

  /// - Parameters:
  ///   - keepingDetails: the model's `details` are wanted.
  ///   - keepingAttempts: its `attempts` too.
  ///   - absolutePlan: the plan with fingerprints as an older opflow made them (`FingerprintStyle`);
  ///     needed where tasks are to be judged by the lines of one.
  ///   - grown: called for a line by which the plan has more tasks than this one.
  ///   - beforeFilling: called with the memory of the model's records.
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

  /// One that begins anew, with the plan that this one has by now.
  package var anew: JournalFollower {
    var anew = self
    anew.model = fresh
    anew.isBlind = false
    anew.place = JournalPlace()
    return anew
  }

  /// How much of the file is folded: where the bytes begin that are wanted next.
  package var offset: Int { place.offset }

  /// Called with each line, and the model and the plan as they are after that.
  package typealias EachLine = (JournalLine, RunModel, Plan) -> Void

  /// Folds what a journal that grows has from `offset` on, which may end within a line.
  package mutating func read(
    growing bytes: UnsafeRawBufferPointer, each: EachLine? = nil
  ) throws(JournalError) {
    // A line that is not ended yet may be part of another one.
    guard let end = bytes.lastIndex(of: Field.lineFeed) else { return }
    _ = try fold(UnsafeRawBufferPointer(rebasing: bytes[...end]), each)
  }

  /// Folds all that a journal has from `offset` on: a last line counts without its line feed too.
  ///
  /// - Returns: what reading found in the whole of it besides lines.
  @discardableResult
  package mutating func read(
    toEnd bytes: UnsafeRawBufferPointer, each: EachLine? = nil
  ) throws(JournalError) -> JournalRecovery {
    bytes.isEmpty && offset > 0 ? place.recovery : try fold(bytes, each)
  }

  private mutating func fold(
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

  /// Tasks have come, or have other names.
  private mutating func openPlan(after event: JournalEvent) {
    let isOther = event == .withdraw
    guard let count = model.taskCount, isOther || count > plan.taskCount,
      let next = grown(max(count, plan.taskCount), isOther ? nil : plan),
      next.key == plan.key,
      isOther || next.taskCount > plan.taskCount
    else { return }
    if model.mayLack(tasksOf: next) { isBlind = true }
    plan = next
    model.grow(to: next)
  }
}

extension RunModel {
  /// Folds the lines that a reader is still to come to, or those up to one with which the plan is another.
  ///
  /// - Returns: the event of that line; nil where there is none, and no more to come.
  fileprivate mutating func apply(_ reader: inout JournalReader, plan: Plan) -> JournalEvent? {
    while let line = reader.next() {
      apply(line, plan: plan)
      if line.event.changesPlan { return line.event }
    }
    return nil
  }
}
