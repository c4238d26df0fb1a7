/// Finds tasks by their names in the order in which a journal speaks of them.
///
/// A task's lines stand close together, and tasks mostly start in the order of the plan. So the
/// task that a name stood for lately, or the one behind the last, is looked at before the plan's own
/// table, most of whose memory a large plan keeps far away. Where names are numbered, as `object-17` and
/// `object-21`, their tasks mostly stand as far from each other as their numbers. A guess only saves time:
/// the name that it stands for is compared.
struct NameGuesses {
  private var recent = InlineArray<256, Int32>(repeating: 0)
  private var next: Int32 = 0
  /// The name before `next`, by its end.
  private var ending = TaskEnding()

  /// The task that a line speaks of; nil where the plan does not have it.
  @inline(__always)
  mutating func task(of line: JournalLine, plan: Plan) -> TaskID? {
    let ending = line.ending
    // What stands for an odd name may be another task's name.
    if line.hasEscapedTask(ending) { return plan.task(escapedName: line.task) }
    let name = line.task
    let slot = Int(truncatingIfNeeded: (ending.bits &* 0x9E37_79B9_7F4A_7C15) >> 56)
    // A task that starts was mostly not spoken of before, one that ends was.
    if line.event != .transition(.start), holds(recent[slot], name, plan: plan) {
      return TaskID(recent[slot])
    }
    var guess = next
    if !holds(guess, name, plan: plan) {
      // Of two numbers below 100,000,000, and a place in a plan: far from what 32 bits hold.
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
