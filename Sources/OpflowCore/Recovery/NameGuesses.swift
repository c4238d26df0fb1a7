/// Finds tasks by their names in the order in which a journal speaks of them.
///
/// A task's lines stand close together, and tasks mostly start in the order of the plan. So the
/// task that a name stood for lately, or the one behind the last, is looked at before the plan's own
/// table, most of whose memory a large plan keeps far away. A guess only saves time: the name that
/// it stands for is compared.
struct NameGuesses {
  private var recent = [Int32](repeating: 0, count: 256)
  private var next: Int32 = 0

  @inline(__always)
  mutating func task(_ escapedName: UnsafeRawBufferPointer, plan: Plan) -> TaskID? {
    let slot = Self.slot(escapedName)
    let guess = recent[slot]
    if Self.holds(guess, escapedName, plan: plan) { return TaskID(guess) }
    if Self.holds(next, escapedName, plan: plan) {
      recent[slot] = next
      next += 1
      return TaskID(next - 1)
    }
    guard let task = plan.task(escapedName: escapedName) else { return nil }
    recent[slot] = task.rawValue
    next = task.rawValue + 1
    return task
  }

  @inline(__always)
  private static func holds(_ guess: Int32, _ name: UnsafeRawBufferPointer, plan: Plan) -> Bool {
    // An escaped name is longer than the name, so it never compares equal by mistake.
    plan.tasks.contains(Int(guess)) && plan.nameBytes(TaskID(guess)).equals(name)
  }

  /// Names of one plan mostly differ at their ends.
  @inline(__always)
  private static func slot(_ name: UnsafeRawBufferPointer) -> Int {
    guard name.count >= 8 else { return Int(name.last ?? 0) }
    let end = name.loadUnaligned(fromByteOffset: name.count - 8, as: UInt64.self)
    return Int(truncatingIfNeeded: (end &* 0x9E37_79B9_7F4A_7C15) >> 56)
  }
}
