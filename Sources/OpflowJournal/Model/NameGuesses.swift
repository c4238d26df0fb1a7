internal import OpflowBase
internal import OpflowPlan

/// Finds tasks by name in the order of a journal.
///
/// Lines of a task are close together, and tasks mostly start in plan order. So the lookup first
/// tries the recent task for the name and the one after the last, before the plan's table, which
/// does not fit the cache for a large plan. Numbered names such as `object-17` and `object-21` are
/// mostly as far apart as their numbers.
struct NameGuesses {
  private var recent = InlineArray<256, Int32>(repeating: 0)
  private var next: Int32 = 0
  private var ending = TaskEnding()

  @inline(__always)
  mutating func task(of line: JournalLine, plan: Plan) -> TaskID? {
    let ending = line.ending
    // An escaped name may equal another task's name.
    if line.hasEscapedTask(ending) { return plan.task(escapedName: line.task) }
    let name = line.task
    let slot = Int(truncatingIfNeeded: (ending.bits &* 0x9E37_79B9_7F4A_7C15) >> 56)
    // A starting task is usually new, an ending one recent.
    if line.event != .transition(.start), holds(recent[slot], name, plan: plan) {
      return TaskID(recent[slot])
    }
    var guess = next
    if !holds(guess, name, plan: plan) {
      // Cannot overflow: the numbers are below 100,000,000, and `next` is an index of the plan.
      let other = next &+ (ending.number &- self.ending.number) &- 1
      if holds(other, name, plan: plan) {
        guess = other
      } else {
        guard let task = plan.task(named: name) else { return nil }
        guess = task.rawValue
      }
    }
    recent[slot] = guess
    next = guess + 1
    self.ending = ending
    return TaskID(guess)
  }

  @inline(__always)
  private func holds(_ guess: Int32, _ name: UnsafeRawBufferPointer, plan: Plan) -> Bool {
    guard plan.tasks.contains(Int(guess)) else { return false }
    let ref = plan.name[Int(guess)]
    return Int(ref.length) == name.count && plan.text(ref).equals(name)
  }
}
