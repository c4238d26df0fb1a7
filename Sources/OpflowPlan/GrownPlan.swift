internal import OpflowBase

/// A plan in memory that grows by segments in place: adding many costs no more than their tasks.
package struct GrownPlan {
  package private(set) var plan: Plan
  private var room: Room?
  private var keys: [PlanKey] = []

  private final class Room: @unchecked Sendable {
    // SAFETY: @unchecked, because only the one `GrownPlan` writes to it, behind the bytes that
    // existing plans read.
    let bytes: UnsafeMutableRawBufferPointer

    init(byteCount: Int) {
      bytes = .allocate(byteCount: byteCount, alignment: 8)
      bytes.initializeMemory(as: UInt8.self, repeating: 0)
    }

    func write(_ write: PlanGrowth.Write) {
      UnsafeMutableRawBufferPointer(rebasing: bytes[write.offset...]).copyBytes(from: write.bytes)
    }

    func open() throws(PlanError) -> Plan {
      try Plan(bytes: UnsafeRawBufferPointer(bytes), checksum: false) { _ in
        withExtendedLifetime(self) {}
      }
    }

    deinit { bytes.deallocate() }
  }

  package init(_ first: Plan) { plan = first }

  package mutating func add(_ segment: Plan) throws(GrownPlanError) {
    let growth: PlanGrowth
    do throws(SegmentError) {
      growth = try PlanGrowth(of: plan, by: segment)
    } catch {
      throw .segment(error)
    }
    let room: Room
    if let count = growth.newFileByteCount {
      room = Room(byteCount: count)
    } else if let old = self.room {
      room = old
    } else {
      throw .plan(.notAPlan)
    }
    for write in growth.writes { room.write(write) }
    self.room = room
    keys.append(segment.key)
    do throws(PlanError) {
      plan = try room.open()
    } catch {
      throw .plan(error)
    }
  }

  /// Under a new key, since with other segments an index can mean another task.
  package func keyed() throws(PlanError) -> Plan {
    guard let room else { return plan }
    let text = ([plan.key] + keys).map(\.description).joined(separator: " ")
    let key = Hash.planKey(Array(text.utf8))
    room.write(.init(offset: PlanFormat.keyPlace, key.high))
    room.write(.init(offset: PlanFormat.keyPlace + 8, key.low))
    return try room.open()
  }
}

package enum GrownPlanError: Error, Equatable {
  case segment(SegmentError)
  case plan(PlanError)
}
