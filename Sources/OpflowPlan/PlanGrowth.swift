/// The writes that add a segment to a plan file, in order. Then reopen the plan.
///
/// Only the last write commits; a crash before it changes nothing for readers. After a failed
/// write, use `intoNewFile` for the next addition, since the file may contain dangling names and
/// links.
package struct PlanGrowth: Sendable {
  package struct Write: Sendable {
    package let offset: Int
    package let bytes: [UInt8]
  }

  package private(set) var writes: [Write] = []
  /// Of a new, zero-filled file; nil for the plan's own file.
  package private(set) var newFileByteCount: Int?

  /// - Parameter segment: validated.
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

  /// The last two writes commit.
  package var recordsAndHead: (ArraySlice<Write>, ArraySlice<Write>) {
    (writes.dropLast(2), writes.suffix(2))
  }

  /// Copies the plan into a file with room.
  package init(room plan: Plan) { self.init(room: plan, nil) }

  private init(room plan: Plan, _ renaming: WithdrawnNames?) {
    let records = SegmentRecords.none
    let file = GrowingFile(roomFor: plan, and: records, renaming)
    newFileByteCount = file.byteCount
    writes = file.writes(all: records, of: nil)
  }

  /// Copies the plan into a file with room and retracts tasks: complete matrices only.
  ///
  /// - Parameter attempt: the one that added the tasks.
  package init(
    of plan: Plan, withdrawing tasks: some Sequence<Int>, attempt: Int32
  ) throws(SegmentError) {
    assert(!plan.isCut)
    self.init(room: plan, try WithdrawnNames(of: plan, tasks, attempt: attempt))
  }

  package func applied(to bytes: [UInt8]) -> [UInt8] {
    var bytes = newFileByteCount.map { [UInt8](repeating: 0, count: $0) } ?? bytes
    for write in writes {
      bytes.replaceSubrange(write.offset..<(write.offset + write.bytes.count), with: write.bytes)
    }
    return bytes
  }
}
