package import OpflowBase
internal import OpflowPlan

extension SimulatedManifest {
  /// The shape of a dependency graph.
  package enum Shape: CaseIterable, Sendable {
    case loose, chain, fan, layers, dense
    /// Many downloads, several of which are prefetched.
    case files
  }

  /// Returns a manifest of about `size` tasks.
  package static func random(size: Int, _ random: inout SplitMix64) -> SimulatedManifest {
    var manifest = SimulatedManifest()
    manifest.resources = [("db", 2), ("net", 3), ("gpu", 0)]
    let shape = Shape.allCases[Int(random.next() % UInt64(Shape.allCases.count))]
    for index in 0..<size { manifest.addTask(index, of: size, shape, &random) }
    return manifest
  }

  private mutating func addTask(
    _ index: Int, of size: Int, _ shape: Shape, _ random: inout SplitMix64
  ) {
    var task = Task(name: "t\(index)")
    var needs: [Int] = []
    switch shape {
    case .loose: if index > 0, random.chance(25) { needs = [random.below(index)] }
    case .chain: if index > 0 { needs = [index - 1] }
    case .fan:
      if index == size - 1 { needs = Array(1..<max(index, 1)) } else if index > 0 { needs = [0] }
    case .layers:
      let width = 1 + size / 3
      let layer = index / width
      if layer > 0 {
        needs = (0..<2).map { _ in (layer - 1) * width + random.below(width) }.filter { $0 < index }
      }
    case .dense: needs = (0..<min(index, 3)).map { _ in random.below(index) }
    case .files: break
    }
    for need in Set(needs).sorted() {
      task.needs.append((tasks[need].name, Self.condition(&random)))
      // The manifest reader ensures that ordinary tasks do not depend on `finally` tasks.
      if tasks[need].flags.contains(.finally) { task.flags.insert(.finally) }
    }
    task.givePolicies(&random)
    if shape == .files { task.becomeFile(&random) }
    let isLast = task.flags.contains(.finally)
    if !task.isDownload { task.read(&random) }
    // The manifest reader ensures this, too.
    if let name = task.reads, !leavesValues(name) { task.reads = nil }
    if let name = task.decidedBy, !leavesValues(name) { task.decidedBy = nil }
    for name in task.valuesRead where random.chance(30) {
      if let need = tasks.firstIndex(where: { $0.name == name }) { tasks[need].isChecked = true }
    }
    if !task.isDownload, !isLast, random.chance(8) { task.becomeApproval(&random) }
    tasks.append(task)
  }

  /// True if processes of the task can leave values.
  private func leavesValues(_ name: String) -> Bool {
    tasks.first { $0.name == name }.map {
      !$0.isApproval && !$0.isExternal && !$0.isDownload && $0.service == nil
    } ?? false
  }

  private static func condition(_ random: inout SplitMix64) -> NeedCondition {
    switch random.below(8) {
    case 0: .failure
    case 1: .finished
    case 2: .ran
    default: .success
    }
  }

  /// Edits the manifest like a user between two sessions.
  package mutating func edit(_ random: inout SplitMix64) {
    guard !tasks.isEmpty else { return }
    let victim = random.below(tasks.count)
    let kind = random.below(9)
    // Makers and their matrix tasks keep their roles.
    if !instanceMakers.isEmpty, (3...6).contains(kind) { return }
    switch kind {
    case 7, 8: tasks[victim].inputs += 1
    case 0, 1, 2: tasks[victim].version += 1
    case 3:
      let name = tasks[victim].name
      tasks.remove(at: victim)
      for place in batchStarts.indices where batchStarts[place] > victim { batchStarts[place] -= 1 }
      for index in tasks.indices {
        tasks[index].needs.removeAll { $0.task == name }
        if tasks[index].decidedBy == name { tasks[index].decidedBy = nil }
        if tasks[index].reads == name { tasks[index].reads = nil }
      }
    case 4:
      var task = Task(name: "n\(random.next() % 1000)")
      guard !tasks.contains(where: { $0.name == task.name }) else { return }
      task.givePolicies(&random)
      task.flags.remove(.finally)
      tasks.append(task)
    case 5: tasks[victim].flags.formSymmetricDifference(.conditionFalse)
    default:
      // It reads a value that had no reader before.
      guard !tasks[victim].isDownload, !tasks[victim].isApproval,
        !tasks[victim].isExternal,
        let need = tasks[victim].needs.randomElement(using: &random)?.task,
        leavesValues(need), batch(of: need) == batch(of: tasks[victim].name)
      else { return }
      if random.chance(50) { tasks[victim].reads = need } else { tasks[victim].decidedBy = need }
    }
    if tasks.isEmpty { tasks.append(Task(name: "last")) }
  }
}

extension SimulatedManifest.Task {
  mutating func givePolicies(_ random: inout SplitMix64) {
    priority = Int16(random.below(5)) - 2
    if random.chance(7) { flags.insert(.allowAnyFailure) }
    if random.chance(7) { allowedCodes = [2] }
    if random.chance(7) { flags.insert(.finally) }
    if random.chance(5) { flags.insert(.conditionFalse) }
    if random.chance(8) { flags.insert(.failWhenInterrupted) }
    if random.chance(10) {
      policy.retryMax = UInt32(1 + random.below(3))
      if random.chance(30) { retryCodes = [1] }
    }
    if random.chance(12) { policy.timeoutMilliseconds = UInt64(20 + random.below(200)) }
    if random.chance(10) { policy.stopGraceMilliseconds = 0 }
    if random.chance(10) { isDownload = true }
    if !isDownload, random.chance(8) { flags.insert(.interactive) }
    isChecked = random.chance(25)
    ignoresStop = random.chance(10)
    leavesDescendants = random.chance(20)
    demand = Self.demand(isDownload: isDownload, &random)
    if wantsDevices, !isDownload {
      demand.append(DemandItem(resource: 5, amount: UInt64(1 + name.utf8.count % 3) * 1000))
    }
    switch random.below(16) {
    case 0: behaviour = .fails(1)
    case 1: behaviour = .fails(2)
    case 2, 3: behaviour = .failsThrough(attempt: Int32(1 + random.below(3)), code: 1)
    // Checked tasks end by the signal that stops runs here.
    case 4: behaviour = .crashes(signal: isChecked ? 2 : 11)
    case 5: if random.chance(50) { behaviour = .isRefused }
    case 6:
      behaviour = .hangs
      if policy.timeoutMilliseconds == 0 { policy.timeoutMilliseconds = 100 }
    default: behaviour = .succeeds
    }
  }

  /// Lets some tasks use a value in their `if` or environment.
  mutating func read(_ random: inout SplitMix64) {
    leaves = random.chance(50) ? .nothing : random.chance(60) ? .yes : .either
    if random.chance(10) { leaves = .no }
    guard let need = needs.randomElement(using: &random)?.task else { return }
    if random.chance(20) { decidedBy = need }
    if random.chance(15) { reads = need }
  }

  /// Makes a download that mostly succeeds, so that the next ones follow.
  mutating func becomeFile(_ random: inout SplitMix64) {
    isDownload = true
    demand = Self.demand(isDownload: true, &random)
    flags.subtract([.finally, .failWhenInterrupted, .interactive])
    if random.chance(80) { behaviour = .succeeds }
  }

  /// Makes an approval, which is answered or times out.
  mutating func becomeApproval(_ random: inout SplitMix64) {
    isApproval = true
    demand = []
    reads = nil
    leaves = .nothing
    flags.subtract([.failWhenInterrupted, .interactive])
    policy.retryMax = 0
    policy.timeoutMilliseconds = 0
    behaviour = random.chance(70) ? .succeeds : .fails(1)
    if random.chance(15) {
      behaviour = .hangs
      policy.timeoutMilliseconds = 100
    }
  }

  private static func demand(isDownload: Bool, _ random: inout SplitMix64) -> [DemandItem] {
    if isDownload { return [DemandItem(resource: ResourceEntry.download, amount: 1)] }
    let cpu = DemandItem(resource: ResourceEntry.cpu, amount: 1)
    switch random.below(8) {
    case 0: return []
    case 1: return [DemandItem(resource: ResourceEntry.cpu, amount: UInt64(1 + random.below(6)))]
    case 2: return [cpu, DemandItem(resource: 3, amount: UInt64(1 + random.below(2)))]
    case 3:
      return [
        cpu, DemandItem(resource: 3, amount: 1),
        DemandItem(resource: 4, amount: UInt64(1 + random.below(3))),
      ]
    case 4: return [cpu, DemandItem(resource: ResourceEntry.memory, amount: 1 << 29)]
    default: return [cpu]
    }
  }
}

extension SplitMix64 {
  /// Returns a number from 0 up to `limit`, which is above 0. The remainder's bias does not matter
  /// here.
  package mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

  package mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
}
