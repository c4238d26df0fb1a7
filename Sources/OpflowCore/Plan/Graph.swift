/// The order of a graph of needs, and its cycles. Iterative: a chain of a million tasks is no
/// deeper on the stack than one task.
package enum Graph {
  package enum Ordering: Equatable, Sendable {
    /// Every task after all that it needs.
    case topological([Int32])
    /// Tasks that need each other in a ring: each needs the next, the last needs the first.
    case cycle([Int32])
  }

  /// Kahn's algorithm over compressed rows: the needs of task `t` are
  /// `targets[offsets[t]..<offsets[t + 1]]`, its dependents likewise.
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

  /// Every task that still misses a need has one that does too, so following such needs from any
  /// of them must come back to a task already seen.
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

  /// The reverse of `offsets` and `targets`, with the position each reversed edge came from. Rows
  /// keep the order of the sources.
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
