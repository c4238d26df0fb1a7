import OpflowCore

extension ImaginedManifest {
  /// Parts its tasks into those that the run begins with, and batches that are added while it goes on.
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
  /// With all batches.
  private var grown: [UInt8] = []
  /// How many tasks there are with so many batches.
  private var counts: [Int]

  init(_ manifest: ImaginedManifest) throws(Finding) {
    var parts: [Plan] = []
    let ends = manifest.batchStarts + [manifest.tasks.count]
    for (place, end) in ends.enumerated() {
      let start = place == 0 ? 0 : ends[place - 1]
      parts.append(try ImaginedManifest.open(try manifest.compile(start..<end)))
    }
    self.parts = parts
    counts = [parts[0].taskCount]
    var plan = parts[0]
    for part in parts.dropFirst() {
      do throws(SegmentError) {
        grown = try PlanGrowth(of: plan, by: part).applied(to: grown)
      } catch {
        throw Finding("a batch does not fit: \(error)")
      }
      plan = try ImaginedManifest.open(grown)
      counts.append(plan.taskCount)
    }
  }

  /// How many batches there are.
  var batchCount: Int { parts.count - 1 }

  /// With so many of them.
  func plan(with batches: Int) throws(Finding) -> Plan {
    batches == 0 ? parts[0] : try ImaginedManifest.open(grown, limit: counts[batches])
  }

  /// A batch by itself.
  func batch(_ number: Int) -> Plan { parts[number + 1] }
}
