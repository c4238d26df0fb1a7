/// Iterative, so a chain of a million tasks does not overflow the stack.
package enum Graph {
  package enum Ordering: Equatable, Sendable {
    case topological([Int32])
    /// Each task needs the next, the last needs the first.
    case cycle([Int32])
  }

  /// Kahn's algorithm over compressed sparse rows: task `t` needs the targets from `offsets[t]` up
  /// to `offsets[t + 1]`; dependents likewise.
  package static func order(
    needOffsets: [UInt32], needTargets: [Int32],
    dependentOffsets: [UInt32], dependentTargets: [Int32]
  ) -> Ordering {
    let count = needOffsets.count - 1
    var missing = [UInt32](repeating: 0, count: count)
    var order: [Int32] = []
    order.reserveCapacity(count)
    for task in 0..<count {
      missing[task] = needOffsets[task + 1] - needOffsets[task]
      if missing[task] == 0 { order.append(Int32(truncatingIfNeeded: task)) }
    }
    var next = 0
    while next < order.count {
      let task = Int(order[next])
      next += 1
      for edge in Int(dependentOffsets[task])..<Int(dependentOffsets[task + 1]) {
        let dependent = Int(dependentTargets[edge])
        missing[dependent] -= 1
        if missing[dependent] == 0 { order.append(dependentTargets[edge]) }
      }
    }
    if order.count == count { return .topological(order) }
    return .cycle(cycle(among: missing, needOffsets: needOffsets, needTargets: needTargets))
  }

  /// Each remaining task has a remaining dependency, so following these leads into a cycle.
  private static func cycle(
    among missing: [UInt32], needOffsets: [UInt32], needTargets: [Int32]
  ) -> [Int32] {
    guard var task = missing.firstIndex(where: { $0 > 0 }) else { return [] }
    var position = [Int32](repeating: -1, count: missing.count)
    var path: [Int32] = []
    while position[task] < 0 {
      position[task] = Int32(truncatingIfNeeded: path.count)
      path.append(Int32(truncatingIfNeeded: task))
      let needs = needTargets[Int(needOffsets[task])..<Int(needOffsets[task + 1])]
      guard let blocked = needs.first(where: { missing[Int($0)] > 0 }) else { return path }
      task = Int(blocked)
    }
    return Array(path[Int(position[task])...])
  }

  /// Rows keep the sources' order; `edges` holds the original index of each edge.
  package static func reversed(
    offsets: [UInt32], targets: [Int32]
  ) -> (offsets: [UInt32], sources: [Int32], edges: [UInt32]) {
    let count = offsets.count - 1
    var reversedOffsets = [UInt32](repeating: 0, count: count + 1)
    for target in targets { reversedOffsets[Int(target) + 1] += 1 }
    for task in 0..<count { reversedOffsets[task + 1] += reversedOffsets[task] }
    var cursor = reversedOffsets
    var sources = [Int32](repeating: 0, count: targets.count)
    var edges = [UInt32](repeating: 0, count: targets.count)
    for task in 0..<count {
      for edge in Int(offsets[task])..<Int(offsets[task + 1]) {
        let target = Int(targets[edge])
        let place = Int(cursor[target])
        cursor[target] += 1
        sources[place] = Int32(truncatingIfNeeded: task)
        edges[place] = UInt32(truncatingIfNeeded: edge)
      }
    }
    return (reversedOffsets, sources, edges)
  }
}
