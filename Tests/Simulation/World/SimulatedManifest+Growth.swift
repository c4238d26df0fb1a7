import OpflowBase
import OpflowPlan

extension SimulatedManifest {
  /// Splits the tasks into those of the initial plan and batches that are added to the live run.
  mutating func split(_ random: inout SplitMix64) {
    let batches = 1 + random.below(4)
    var batchOf: [String: Int] = [:]
    for task in tasks { batchOf[task.name] = random.below(batches + 1) }
    // A task is added with its dependencies or after them. There is no cycle.
    var isStable = false
    while !isStable {
      isStable = true
      for task in tasks {
        for need in task.needs {
          let least = batchOf[need.task] ?? 0
          if batchOf[task.name] ?? 0 < least {
            batchOf[task.name] = least
            isStable = false
          }
        }
      }
    }
    let sorted = tasks.enumerated().sorted {
      (batchOf[$0.element.name] ?? 0, $0.offset) < (batchOf[$1.element.name] ?? 0, $1.offset)
    }
    tasks = sorted.map(\.element)
    batchStarts = (1...batches).map { batch in
      tasks.firstIndex { batchOf[$0.name] ?? 0 >= batch } ?? tasks.count
    }
    for index in tasks.indices {
      // Tasks of other batches can only read values that were declared as read before.
      let own = batch(of: tasks[index].name)
      if let need = tasks[index].reads, batch(of: need) != own { tasks[index].reads = nil }
      if let need = tasks[index].decidedBy, batch(of: need) != own { tasks[index].decidedBy = nil }
    }
  }

  /// Makes some batches the matrix tasks of an earlier task.
  mutating func chooseMakers(_ random: inout SplitMix64) {
    for batch in 1...batchStarts.count where random.chance(50) {
      let instances = tasks(ofBatch: batch)
      let isFit = tasks[instances].allSatisfy {
        !$0.flags.contains(.finally) && $0.service == nil
      }
      guard !instances.isEmpty, isFit else { continue }
      let makers = (0..<instances.lowerBound).filter { mayMake(instances, $0) }
      guard let maker = makers.randomElement(using: &random) else { continue }
      makeInstances(instances, tasks[maker].name)
    }
  }

  /// Lets an earlier task add some batches, which depend on it.
  mutating func chooseGenerators(_ random: inout SplitMix64) {
    for batch in 1...batchStarts.count where instanceMakers[batch] == nil && random.chance(60) {
      let added = tasks(ofBatch: batch)
      let generators = (0..<added.lowerBound).filter { mayAdd(tasks[$0]) }
      guard !added.isEmpty, let generator = generators.randomElement(using: &random) else {
        continue
      }
      let name = tasks[generator].name
      if wouldHaveCycle(where: added, need: name) { continue }
      self.generators[batch] = name
      // Generators that are retried reveal most bugs.
      if random.chance(60) {
        tasks[generator].behaviour = .failsThrough(attempt: Int32(1 + random.below(2)), code: 1)
      }
      tasks[generator].policy.retryMax = 3
      for task in added where !tasks[task].needs.contains(where: { $0.task == name }) {
        tasks[task].needs.append((name, random.chance(85) ? .success : .finished))
      }
    }
  }

  /// True if tasks added by a generator would depend on matrix tasks that depend on the generator.
  private func wouldHaveCycle(where added: Range<Int>, need generator: String) -> Bool {
    if instanceMakers.isEmpty { return false }
    var other = self
    for task in added { other.tasks[task].needs.append((generator, .success)) }
    return other.hasCycle
  }

  private func mayAdd(_ task: Task) -> Bool {
    task.service == nil && !task.isApproval && !task.isDownload && !task.makesInstances
      && !task.mayBeChecked
      && task.flags.isDisjoint(with: [.finally, .conditionFalse, .interactive])
  }

  private func tasks(ofBatch batch: Int) -> Range<Int> {
    let end = batch < batchStarts.count ? batchStarts[batch] : tasks.count
    return batchStarts[batch - 1]..<end
  }

  /// True if a task may make these matrix tasks: it is a command, and this adds no cycle.
  private func mayMake(_ instances: Range<Int>, _ maker: Int) -> Bool {
    let task = tasks[maker]
    guard task.service == nil, !task.isApproval, !task.isDownload, !task.makesInstances,
      !task.mayBeChecked,
      task.flags.isDisjoint(with: [.finally, .conditionFalse, .interactive]),
      task.decidedBy == nil, task.reads == nil,
      !tasks.contains(where: { $0.decidedBy == task.name || $0.reads == task.name })
    else { return false }
    var other = self
    other.makeInstances(instances, tasks[maker].name)
    return !other.hasCycle
  }

  private mutating func makeInstances(_ instances: Range<Int>, _ maker: String) {
    instanceMakers[batchStarts.lastIndex(of: instances.lowerBound).map { $0 + 1 } ?? 0] = maker
    for task in tasks.indices where tasks[task].name == maker { tasks[task].makesInstances = true }
    for instance in instances where !tasks[instance].needs.contains(where: { $0.task == maker }) {
      tasks[instance].needs.append((maker, .success))
    }
  }

  /// True if there is a dependency cycle; dependents of a maker also wait for its matrix tasks.
  private var hasCycle: Bool {
    var waits = Dictionary(uniqueKeysWithValues: tasks.map { ($0.name, Set($0.needs.map(\.task))) })
    for (batch, maker) in instanceMakers {
      let instances = Set(tasks(ofBatch: batch).map { tasks[$0].name })
      for task in tasks where !instances.contains(task.name) {
        guard let need = task.needs.first(where: { $0.task == maker }) else { continue }
        if !task.makesInstances || need.condition == .ran { waits[task.name]?.formUnion(instances) }
      }
    }
    // Removes tasks that wait for none of the remaining tasks.
    while let free = waits.first(where: { $0.value.isEmpty })?.key {
      waits[free] = nil
      for name in waits.keys { waits[name]?.remove(free) }
    }
    return !waits.isEmpty
  }

  /// Returns the batch that adds the task; 0 for the initial plan.
  func batch(of name: String) -> Int {
    guard let index = tasks.firstIndex(where: { $0.name == name }) else { return 0 }
    return batchStarts.count { $0 <= index }
  }
}

/// The plans of a run to which batches are added.
struct GrowingPlans {
  /// The initial plan, and each batch on its own.
  private let parts: [Plan]
  /// By batch, from 1.
  private let makers: [Int: String]
  private let generators: [Int: String]
  /// The plan file with all batches.
  private var grown: [UInt8] = []
  /// The number of tasks for each number of batches.
  private var counts: [Int]

  init(_ manifest: SimulatedManifest) throws(Finding) {
    var parts: [Plan] = []
    let ends = manifest.batchStarts + [manifest.tasks.count]
    for (place, end) in ends.enumerated() {
      let start = place == 0 ? 0 : ends[place - 1]
      parts.append(try SimulatedManifest.open(try manifest.compile(start..<end)))
    }
    self.parts = parts
    makers = manifest.instanceMakers
    generators = manifest.generators
    counts = [parts[0].taskCount]
    var plan = parts[0]
    for part in parts.dropFirst() {
      do throws(SegmentError) {
        grown = try PlanGrowth(of: plan, by: part).applied(to: grown)
      } catch {
        throw Finding("a batch does not fit: \(error)")
      }
      plan = try SimulatedManifest.open(grown)
      counts.append(plan.taskCount)
    }
  }

  var batchCount: Int { parts.count - 1 }

  /// Returns the plan with this many batches.
  func plan(with batches: Int) throws(Finding) -> Plan {
    if batches == 0 { return parts[0] }
    // A plan that will grow into another file starts without further tasks.
    if !generators.isEmpty { return try uncut(with: batches) }
    return try SimulatedManifest.open(grown, limit: counts[batches])
  }

  /// Returns the plan with this many batches, in a file without further tasks.
  func uncut(with batches: Int) throws(Finding) -> Plan {
    var plan = parts[0]
    var bytes = plan.copyOfBytes
    for part in parts[1...].prefix(batches) {
      do throws(SegmentError) {
        bytes = try PlanGrowth(of: plan, by: part).applied(to: bytes)
      } catch {
        throw Finding("a batch does not fit: \(error)")
      }
      plan = try SimulatedManifest.open(bytes)
    }
    return plan
  }

  /// Returns the task that makes or adds the batch, or nil.
  func generator(ofBatch number: Int) -> String? { makers[number + 1] ?? generators[number + 1] }

  /// Returns a batch on its own.
  func batch(_ number: Int) -> Plan { parts[number + 1] }
}
