/// Tells whether a task needs another one, itself or through others, as long as that is worth its time.
struct NeedReach {
  private let needs: NeedList
  /// For each task, the last one of those asked about that was found to need it.
  private var stamps: [Int32]
  /// That is asked about, and those it needs whose own needs were not looked at.
  private var task = -1
  private var open: [Int32] = []
  /// Needs that may still be looked at.
  private var left: Int

  init(_ needs: NeedList, atMost left: Int = 5_000_000) {
    self.needs = needs
    self.left = left
    stamps = [Int32](repeating: -1, count: needs.count)
  }

  /// Whether a task needs another one; nil where too much was looked at to find out. Questions about one
  /// task are best asked one after the other.
  mutating func needs(_ task: Int, _ other: Int) -> Bool? {
    if self.task != task {
      self.task = task
      open.removeAll(keepingCapacity: true)
      look(from: task)
    }
    while true {
      if stamps[other] == Int32(truncatingIfNeeded: task) { return true }
      if left <= 0 { return nil }
      guard let next = open.popLast() else { return false }
      look(from: Int(next))
    }
  }

  private mutating func look(from next: Int) {
    for edge in needs.edges(of: next) {
      let target = needs.targets[edge]
      left -= 1
      if stamps[Int(target)] == Int32(truncatingIfNeeded: task) { continue }
      stamps[Int(target)] = Int32(truncatingIfNeeded: task)
      open.append(target)
    }
  }
}
