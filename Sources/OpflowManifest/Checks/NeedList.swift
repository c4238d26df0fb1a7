internal import OpflowCore

/// The needs of all tasks, as adjacency lists.
struct NeedList {
  private(set) var targets: [Int32] = []
  private(set) var conditions: [NeedCondition] = []
  /// The offset of each need in the dependent's file.
  private var offsetsInFile: [UInt32] = []
  private var offsets: [UInt32] = [0]
  /// Targets from this number on are tasks of the run.
  private let firstOfRun: Int

  init(firstOfRun: Int = .max) { self.firstOfRun = firstOfRun }

  mutating func reserve(taskCount: Int, edgeCount: Int) {
    targets.reserveCapacity(edgeCount)
    conditions.reserveCapacity(edgeCount)
    offsetsInFile.reserveCapacity(edgeCount)
    offsets.reserveCapacity(taskCount + 1)
  }

  /// The number of tasks whose needs are complete.
  var count: Int { offsets.count - 1 }

  func edges(of task: Int) -> Range<Int> { Int(offsets[task])..<Int(offsets[task + 1]) }

  /// - Parameter file: The file of the dependent.
  func place(of edge: Int, in file: SourceFile) -> Place { file.place(Int(offsetsInFile[edge])) }

  /// Adds a need of the current task.
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

  /// Whether tasks only need earlier ones. If so, there is no cycle.
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

  /// Returns one cycle per strongly connected component, as its edges in order. Uses Tarjan's
  /// algorithm with an explicit stack, because a cycle may have a million tasks.
  func rings() -> [[(task: Int, edge: Int)]] {
    groups().map { ring(in: $0) }
  }

  /// The strongly connected components of at least two tasks.
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

  /// Follows needs until a task repeats.
  private func ring(in group: [Int]) -> [(task: Int, edge: Int)] {
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
