internal import OpflowCore

/// Tells whether a task needs another one, itself or through others, as long as that is worth its time.
struct NeedReach {
  private let needs: NeedList
  /// Of the run that the manifest is added to, whose tasks are counted on from those of the manifest.
  private let run: Plan?
  /// For each task, the last one of those asked about that was found to need it.
  private var stamps: [Int32]
  /// That is asked about, and those it needs whose own needs were not looked at.
  private var task = -1
  private var open: [Int32] = []
  /// Needs that may still be looked at.
  private var left: Int
  /// Of the run: what needs it needs all tasks of the manifest, which are legs that it makes.
  private let maker: Int?

  init(_ needs: NeedList, run: RunTasks? = nil, atMost left: Int = 5_000_000) {
    self.needs = needs
    self.run = run?.plan
    maker = run?.family == nil ? nil : run?.adder.map { needs.count + $0.index }
    self.left = left
    stamps = [Int32](repeating: -1, count: needs.count + (run?.plan.taskCount ?? 0))
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
    guard next >= needs.count, let run else {
      for edge in needs.edges(of: next) { open(needs.targets[edge]) }
      return
    }
    if next == maker, task >= needs.count {
      for leg in 0..<needs.count { open(Int32(truncatingIfNeeded: leg)) }
    }
    for edge in run.needs(TaskID(next - needs.count)) {
      open(run.needTargets[edge] + Int32(truncatingIfNeeded: needs.count))
    }
  }

  private mutating func open(_ target: Int32) {
    left -= 1
    if stamps[Int(target)] == Int32(truncatingIfNeeded: task) { return }
    stamps[Int(target)] = Int32(truncatingIfNeeded: task)
    open.append(target)
  }
}
