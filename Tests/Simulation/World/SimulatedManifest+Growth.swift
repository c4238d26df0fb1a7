import OpflowBase
import OpflowPlan

extension SimulatedManifest {
  /// Parts its tasks into those that the run begins with, and batches that are added while it goes
  /// on.
  mutating func split(_ random: inout SplitMix64) {
    let batches = 1 + random.below(4)
    var batchOf: [String: Int] = [:]
    for task in tasks { batchOf[task.name] = random.below(batches + 1) }
    // What a task needs comes with it, or before it. There is no cycle.
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
      // Nobody may read what was to be read by none when the task was declared.
      let own = batch(of: tasks[index].name)
      if let need = tasks[index].reads, batch(of: need) != own { tasks[index].reads = nil }
      if let need = tasks[index].decidedBy, batch(of: need) != own { tasks[index].decidedBy = nil }
    }
  }

  /// Has some batches be the legs that a task of before makes.
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

  /// Has some batches be added by a task of before, which they wait for.
  mutating func chooseGenerators(_ random: inout SplitMix64) {
    for batch in 1...batchStarts.count where instanceMakers[batch] == nil && random.chance(60) {
      let added = tasks(ofBatch: batch)
      let generators = (0..<added.lowerBound).filter { mayAdd(tasks[$0]) }
      guard !added.isEmpty, let generator = generators.randomElement(using: &random) else {
        continue
      }
      let name = tasks[generator].name
      if wouldHaveRing(where: added, need: name) { continue }
      self.generators[batch] = name
      // As those often do of which there is something to be found.
      if random.chance(60) {
        tasks[generator].behaviour = .failsThrough(attempt: Int32(1 + random.below(2)), code: 1)
      }
      tasks[generator].policy.retryMax = 3
      for task in added where !tasks[task].needs.contains(where: { $0.task == name }) {
        tasks[task].needs.append((name, random.chance(85) ? .success : .finished))
      }
    }
  }

  /// Whether what is to be added by a task waits for legs that wait for that task.
  private func wouldHaveRing(where added: Range<Int>, need generator: String) -> Bool {
    if instanceMakers.isEmpty { return false }
    var other = self
    for task in added { other.tasks[task].needs.append((generator, .success)) }
    return other.hasRing
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

  /// Whether a task may make those legs: it is a command, and none of them waits for what is to
  /// wait for them.
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
    return !other.hasRing
  }

  private mutating func makeInstances(_ instances: Range<Int>, _ maker: String) {
    instanceMakers[batchStarts.lastIndex(of: instances.lowerBound).map { $0 + 1 } ?? 0] = maker
    for task in tasks.indices where tasks[task].name == maker { tasks[task].makesInstances = true }
    for instance in instances where !tasks[instance].needs.contains(where: { $0.task == maker }) {
      tasks[instance].needs.append((maker, .success))
    }
  }

  /// Whether tasks wait for each other, where what needs a task that makes legs waits for these.
  private var hasRing: Bool {
    var waits = Dictionary(uniqueKeysWithValues: tasks.map { ($0.name, Set($0.needs.map(\.task))) })
    for (batch, maker) in instanceMakers {
      let instances = Set(tasks(ofBatch: batch).map { tasks[$0].name })
      for task in tasks where !instances.contains(task.name) {
        guard let need = task.needs.first(where: { $0.task == maker }) else { continue }
        if !task.makesInstances || need.condition == .ran { waits[task.name]?.formUnion(instances) }
      }
    }
    // Whoever waits for nobody that is left is out of it.
    while let free = waits.first(where: { $0.value.isEmpty })?.key {
      waits[free] = nil
      for name in waits.keys { waits[name]?.remove(free) }
    }
    return !waits.isEmpty
  }

  /// The number of the batch that a task comes with; 0 for the first manifest.
  func batch(of name: String) -> Int {
    guard let index = tasks.firstIndex(where: { $0.name == name }) else { return 0 }
    return batchStarts.count { $0 <= index }
  }
}

/// The plans of a run to which batches are added, one after the other.
struct GrowingPlans {
  /// That of the first manifest, and each batch by itself.
  private let parts: [Plan]
  /// By the number of a batch, from 1.
  private let makers: [Int: String]
  private let generators: [Int: String]
  /// With all batches.
  private var grown: [UInt8] = []
  /// How many tasks there are with so many batches.
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

  /// How many batches there are.
  var batchCount: Int { parts.count - 1 }

  /// With so many of them.
  func plan(with batches: Int) throws(Finding) -> Plan {
    if batches == 0 { return parts[0] }
    // What grows into another file begins with one that has no task more.
    if !generators.isEmpty { return try uncut(with: batches) }
    return try SimulatedManifest.open(grown, limit: counts[batches])
  }

  /// The same in a file that has no task more.
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

  /// The task whose legs a batch is, or that adds it; nil for others.
  func generator(ofBatch number: Int) -> String? { makers[number + 1] ?? generators[number + 1] }

  /// A batch by itself.
  func batch(_ number: Int) -> Plan { parts[number + 1] }
}
