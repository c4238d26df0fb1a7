/// What is written into a plan's file so that it has the tasks of a segment as well. Whoever holds the file
/// performs the writes, in their order; after the last one the plan is opened anew.
///
/// A process that dies between two of them leaves the plan as it was for all who open it: what counts is
/// said by the last. One whose write failed goes on with what it has open, and has the next growth make a
/// new file (`intoNewFile`), since this one may have names and links in it that lead nowhere.
package struct PlanGrowth: Sendable {
  package struct Write: Sendable {
    package let offset: Int
    package let bytes: [UInt8]
  }

  package private(set) var writes: [Write] = []
  /// The length of a new file that is zeroes but for what is written; nil where the plan's own is written to.
  package private(set) var newFileByteCount: Int?

  /// - Parameters:
  ///   - plan: all of it counts.
  ///   - segment: has been validated.
  package init(
    of plan: Plan, by segment: Plan, intoNewFile: Bool = false
  ) throws(SegmentError) {
    assert(!plan.isCut)
    let records = try SegmentRecords(segment, behind: plan)
    if plan.hasRoom, !intoNewFile, let place = GrowingFile(plan, for: records) {
      writes = place.writes(adding: records, of: segment)
    } else {
      let file = GrowingFile(roomFor: plan, and: records)
      newFileByteCount = file.byteCount
      writes = file.writes(all: records, of: segment)
    }
  }

  /// All but the last two writes, and those, which say what counts.
  package var recordsAndHead: (ArraySlice<Write>, ArraySlice<Write>) {
    (writes.dropLast(2), writes.suffix(2))
  }

  /// The same plan in a file with room, with no task more.
  package init(room plan: Plan) { self.init(room: plan, nil) }

  private init(room plan: Plan, _ renaming: WithdrawnNames?) {
    let records = SegmentRecords.none
    let file = GrowingFile(roomFor: plan, and: records, renaming)
    newFileByteCount = file.byteCount
    writes = file.writes(all: records, of: nil)
  }

  /// The same tasks in a file with room, where some are withdrawn.
  ///
  /// - Parameters:
  ///   - tasks: each family of theirs is among them with all its legs.
  ///   - attempt: the number of the try that added them.
  package init(
    of plan: Plan, withdrawing tasks: some Sequence<Int>, attempt: Int32
  ) throws(SegmentError) {
    assert(!plan.isCut)
    self.init(room: plan, try WithdrawnNames(of: plan, tasks, attempt: attempt))
  }

  /// What the file has in it then.
  ///
  /// - Parameter bytes: what it has now.
  package func applied(to bytes: [UInt8]) -> [UInt8] {
    var bytes = newFileByteCount.map { [UInt8](repeating: 0, count: $0) } ?? bytes
    for write in writes {
      bytes.replaceSubrange(write.offset..<(write.offset + write.bytes.count), with: write.bytes)
    }
    return bytes
  }
}
