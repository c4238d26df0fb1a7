internal import OpflowPlan

/// Adjacency lists of needs.
struct NeedList {
  private(set) var targets: [Int32] = []
  private(set) var conditions: [NeedCondition] = []
  /// Offsets in the dependent's file.
  private var offsetsInFile: [UInt32] = []
  private var offsets: [UInt32] = [0]
  /// Tasks of the run have numbers from this on.
  private let firstOfRun: Int

  init(firstOfRun: Int = .max) { self.firstOfRun = firstOfRun }

  mutating func reserve(taskCount: Int, edgeCount: Int) {
    targets.reserveCapacity(edgeCount)
    conditions.reserveCapacity(edgeCount)
    offsetsInFile.reserveCapacity(edgeCount)
    offsets.reserveCapacity(taskCount + 1)
  }

  var count: Int { offsets.count - 1 }

  func edges(of task: Int) -> Range<Int> { Int(offsets[task])..<Int(offsets[task + 1]) }

  /// - Parameter file: The file of the dependent.
  func place(of edge: Int, in file: SourceFile) -> Place { file.place(Int(offsetsInFile[edge])) }

  mutating func add(_ target: Int, on condition: NeedCondition, offset: Int) {
    if target >= count, target < firstOfRun { allPointBack = false }
    targets.append(Int32(truncatingIfNeeded: target))
    conditions.append(condition)
    offsetsInFile.append(UInt32(truncatingIfNeeded: offset))
  }

  /// The needs within the manifest. Only these can form cycles.
  var own: NeedList {
    if firstOfRun == .max { return self }
    var own = NeedList()
    for task in 0..<count {
      for edge in edges(of: task) where targets[edge] < firstOfRun {
        own.add(Int(targets[edge]), on: conditions[edge], offset: Int(offsetsInFile[edge]))
      }
      own.endTask()
    }
    return own
  }

  mutating func endTask() { offsets.append(UInt32(truncatingIfNeeded: targets.count)) }

  /// True if tasks only need earlier ones, which excludes cycles.
  private(set) var allPointBack = true

  var hasCycle: Bool {
    let dependents = Graph.reversed(offsets: offsets, targets: targets)
    switch Graph.order(
      needOffsets: offsets, needTargets: targets, dependentOffsets: dependents.offsets,
      dependentTargets: dependents.sources)
    {
    case .topological: return false
    case .cycle: return true
    }
  }

  /// One cycle per strongly connected component, as its edges in order. Uses Tarjan's algorithm
  /// with an explicit stack, because a cycle may have a million tasks.
  func cycles() -> [[(task: Int, edge: Int)]] {
    groups().map { cycle(in: $0) }
  }

  private func groups() -> [[Int]] {
    var order = [Int32](repeating: -1, count: count)
    var low = [Int32](repeating: 0, count: count)
    var isOpen = [Bool](repeating: false, count: count)
    var open: [Int] = []
    var path: [(task: Int, edge: Int)] = []
    var visited: Int32 = 0
    var groups: [[Int]] = []
    for root in 0..<count where order[root] < 0 {
      path.append((root, Int(offsets[root])))
      while let (task, edge) = path.last {
        if order[task] < 0 {
          order[task] = visited
          low[task] = visited
          visited += 1
          open.append(task)
          isOpen[task] = true
        }
        if edge < Int(offsets[task + 1]) {
          path[path.count - 1].edge += 1
          let target = Int(targets[edge])
          if order[target] < 0 {
            path.append((target, Int(offsets[target])))
          } else if isOpen[target] {
            low[task] = min(low[task], order[target])
          }
          continue
        }
        path.removeLast()
        if let parent = path.last?.task { low[parent] = min(low[parent], low[task]) }
        if low[task] == order[task] {
          let start = open.lastIndex(of: task) ?? 0
          for member in open[start...] { isOpen[member] = false }
          if open.count - start > 1 { groups.append(Array(open[start...])) }
          open.removeSubrange(start...)
        }
      }
    }
    return groups
  }

  private func cycle(in group: [Int]) -> [(task: Int, edge: Int)] {
    let members = Set(group)
    var seen: [Int: Int] = [:]
    var path: [(task: Int, edge: Int)] = []
    var task = group.min() ?? 0
    while seen[task] == nil {
      seen[task] = path.count
      guard let edge = edges(of: task).first(where: { members.contains(Int(targets[$0])) }) else {
        return []
      }
      path.append((task, edge))
      task = Int(targets[edge])
    }
    return Array(path[(seen[task] ?? 0)...])
  }
}

struct CycleReport {
  let needs: NeedList
  let tasks: TaskList

  func report(to diagnostics: Diagnostics) {
    for cycle in needs.cycles() {
      guard let first = cycle.first else { continue }
      guard !diagnostics.isFull else {
        diagnostics.count()
        continue
      }
      // A cycle may have thousands of tasks.
      let shown = cycle.prefix(20)
      var names = shown.map { tasks.name($0.task).string }
      if cycle.count > shown.count { names.append("… \(cycle.count - shown.count) more …") }
      names.append(tasks.name(first.task).string)
      let notes = shown.map { step in
        Diagnostics.Note(
          place: place(step),
          message: "`\(tasks.name(step.task).string)` needs"
            + " `\(tasks.name(Int(needs.targets[step.edge])).string)` here")
      }
      diagnostics.add(
        .error, place(first), "dependency cycle: \(names.joined(separator: " -> "))",
        help: "remove one of these dependencies", notes: notes)
    }
  }
  private func place(_ step: (task: Int, edge: Int)) -> Place {
    needs.place(of: step.edge, in: tasks.document(step.task).file)
  }
}

/// Decides if tasks need each other transitively, up to a limit on work.
struct NeedReach {
  private let needs: NeedList
  /// The run's tasks are numbered after the manifest's.
  private let run: Plan?
  /// The last queried task that was found to need each task.
  private var stamps: [Int32]
  /// The queried task, and its open search.
  private var task = -1
  private var open: [Int32] = []
  /// Needs that may still be visited.
  private var left: Int
  /// A generator: tasks of the run that need it also need the new matrix tasks.
  private let maker: Int?

  init(_ needs: NeedList, run: RunTasks? = nil, atMost left: Int = 5_000_000) {
    self.needs = needs
    self.run = run?.plan
    maker = run?.matrixGroup == nil ? nil : run?.generator.map { needs.count + $0.index }
    self.left = left
    stamps = [Int32](repeating: -1, count: needs.count + (run?.plan.taskCount ?? 0))
  }

  /// Returns nil at the limit. Group queries by `task`: its search is continued.
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
      for instance in 0..<needs.count { open(Int32(truncatingIfNeeded: instance)) }
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
