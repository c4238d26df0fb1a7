internal import OpflowCore

/// Finds out whether tasks need each other transitively, up to a limit on work.
struct NeedReach {
  private let needs: NeedList
  /// The run that the manifest is added to. Its tasks are numbered behind the manifest's.
  private let run: Plan?
  /// For each task, the last queried task that was found to need it.
  private var stamps: [Int32]
  /// The queried task, and the tasks that it needs whose own needs are not visited yet.
  private var task = -1
  private var open: [Int32] = []
  /// The number of needs that may still be visited.
  private var left: Int
  /// A generator of the run. Tasks of the run that need it also need the new matrix tasks.
  private let maker: Int?

  init(_ needs: NeedList, run: RunTasks? = nil, atMost left: Int = 5_000_000) {
    self.needs = needs
    self.run = run?.plan
    maker = run?.family == nil ? nil : run?.adder.map { needs.count + $0.index }
    self.left = left
    stamps = [Int32](repeating: -1, count: needs.count + (run?.plan.taskCount ?? 0))
  }

  /// Returns nil if the limit is reached. Group queries by `task`, whose search is continued.
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
