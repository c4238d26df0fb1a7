/// A run's model that goes on with its journal: each look folds what was appended since the one before,
/// and no line twice.
///
/// What stands behind the last intact line is looked at again, since it may be a line that is just being
/// written, or damage that a resume cuts off. What stands before it, no opflow ever changes: a file that
/// is shorter than that, or another one, is another journal, and wants another follower.
package struct JournalFollower: Sendable {
  /// As of the last intact line.
  package private(set) var model: RunModel
  private let plan: Plan
  private var place = JournalPlace()

  /// - Parameters:
  ///   - keepingDetails: the model's `details` are wanted.
  ///   - keepingAttempts: its `attempts` too.
  ///   - absolutePlan: the plan with fingerprints as an older opflow made them (`FingerprintStyle`);
  ///     needed where tasks are to be judged by the lines of one.
  package init(
    plan: Plan, keepingDetails: Bool = false, keepingAttempts: Bool = false,
    absolutePlan: Plan? = nil
  ) {
    self.plan = plan
    model = RunModel(
      keepingDetails: keepingDetails, keepingAttempts: keepingAttempts,
      absolutePlan: absolutePlan)
  }

  /// How much of the file is folded: where the bytes begin that are wanted next.
  package var offset: Int { place.offset }

  /// Called with each line, and the model as it is after that.
  package typealias EachLine = (JournalLine, RunModel) -> Void

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
        each(line, model)
      }
    } else {
      model.apply(&reader, plan: plan)
    }
    place = reader.place
    return reader.recovery
  }
}
