import Glibc
import OpflowBase
import OpflowEngine
import OpflowJournal
import OpflowPlan
import OpflowWire

/// `scheduler COUNT [PARALLEL [NODES]]`: measures the engine alone. Runs a plan of COUNT tasks with
/// three dependencies each and workers that are always ready; prints transitions per second and
/// bytes per task. With NODES, the tasks run on that many nodes, PARALLEL at once on each.
struct SchedulerCommand {
  private let count: Int
  private let parallel: UInt64
  private let nodeCount: Int

  init?(_ arguments: [String]) {
    guard (1...3).contains(arguments.count), let count = Int(arguments[0]), count > 0,
      let parallel = arguments.count >= 2 ? UInt64(arguments[1]) : 8, parallel > 0,
      let nodeCount = arguments.count == 3 ? Int(arguments[2]) : 0, nodeCount >= 0
    else { return nil }
    self.count = count
    self.parallel = parallel
    self.nodeCount = nodeCount
  }

  func run() -> Int32 {
    guard let plan = plan() else { return 1 }
    let initial = [InitialState](repeating: .run, count: count)
    let attempts = [Int32](repeating: 0, count: count)
    var options = SchedulerOptions(
      maxParallel: parallel, memoryBytes: 1 << 40, maxFailures: 1, seed: 1)
    // Nodes need prefetching as in real runs.
    options.prefetches = nodeCount > 0
    options.usesNodes = nodeCount > 0
    options.expectedWallMicroseconds = 1000
    let before = Self.residentBytes
    let start = Cost.now.cpuMicroseconds
    var game = Game(
      Engine(
        plan: plan, options: options,
        resumeState: ResumeState(initial: initial, attempts: attempts),
        journal: nil))
    let ready = Cost.now.cpuMicroseconds
    game.play(onNodes: nodeCount, ofEach: parallel)
    let end = Cost.now.cpuMicroseconds
    let bytes = Self.residentBytes - before
    // Each task becomes ready, running and ended.
    let transitions = game.ended * 3
    guard game.ended == count else {
      print("the run stopped after \(game.ended) of \(count) tasks")
      return 1
    }
    print("tasks \(count)")
    print("setup_us \(ready - start)")
    print("play_us \(end - ready)")
    print("transitions_per_second \(transitions * 1_000_000 / max(1, end - start))")
    print("bytes_per_task \(bytes / count)")
    return 0
  }

  /// Returns a plan in which each task needs three earlier ones; it is wide enough for all workers.
  private func plan() -> Plan? {
    var builder = PlanBuilder()
    builder.reserve(taskCount: count, edgeCount: count * 3, textByteCount: count * 8)
    for name in ["cpu", "memory", "download"] {
      builder.resources.append(ResourceEntry(name: builder.intern(name), capacity: 0))
    }
    let policy = builder.policy(TaskPolicy())
    _ = builder.codes([])
    let demand = builder.demand([DemandItem(resource: ResourceEntry.cpu, amount: 1)])
    for index in 0..<count {
      var name = "t\(index)"
      let text = name.withUTF8 { builder.append(UnsafeRawBufferPointer($0)) }
      var entry = TaskEntry(name: text, kind: .shell)
      entry.policy = policy
      entry.demand = demand
      _ = builder.add(entry)
    }
    let width = nodeCount == 0 ? 100 : 2 * nodeCount * Int(parallel)
    for index in 0..<count {
      if index >= width {
        for distance in [width, width * 61 / 100, width * 7 / 100] {
          builder.addNeed(TaskID(index - distance), on: .success)
        }
      }
      builder.endNeeds()
    }
    let manifest = ManifestEntry(
      name: .empty, description: .empty, folder: .empty, maxParallel: 0, maxFailures: 1,
      usesRunID: false)
    guard case .plan(let bytes) = builder.finish(manifest: manifest, key: PlanKey(high: 0, low: 1))
    else { return nil }
    return try? Plan(copying: bytes)
  }

  /// The resident memory of this process (proc_pid_statm(5)).
  private static var residentBytes: Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var buffer = [CChar](repeating: 0, count: 128)
    guard fgets(&buffer, Int32(buffer.count), file) != nil else { return 0 }
    let words = buffer.prefix { $0 != 0 }.split(separator: 32)
    guard words.count > 1 else { return 0 }
    let pages = Int(String(decoding: words[1].map { UInt8(bitPattern: $0) }, as: UTF8.self))
    return (pages ?? 0) * Int(getpagesize())
  }
}

/// Simulates workers that answer at once and end tasks in start order.
private struct Game: ~Copyable {
  private(set) var ended = 0
  private var engine: Engine
  private var running: [(worker: WorkerID, task: TaskID, attempt: Int32)] = []
  private var ready: [WorkerID] = []
  private let now = Instant(nanoseconds: 0)
  private let success = Outcome(status: .success)

  init(_ engine: consuming Engine) { self.engine = engine }

  mutating func play(onNodes nodeCount: Int, ofEach cpu: UInt64) {
    engine.begin(at: now, wall: 0)
    perform()
    for node in 0..<nodeCount {
      let offer = NodeOffer(cpu: cpu, memoryBytes: 1 << 40)
      let number = Int32(node + 1)
      tell(.nodeJoined(NodeID(number), offer, NodeIdentity(machine: number, host: "node\(number)")))
    }
    while !running.isEmpty || !ready.isEmpty {
      if let worker = ready.popLast() {
        tell(.workerReady(worker, WorkerOffer(cores: 1, actions: .all)))
        continue
      }
      let batch = running
      running.removeAll(keepingCapacity: true)
      for (worker, task, attempt) in batch {
        tell(.ended(worker, task, attempt: attempt, success))
      }
    }
  }

  private mutating func tell(_ event: SchedulerEvent) {
    engine.handle(.scheduler(event), at: now, wall: 0)
    perform()
  }

  private mutating func perform() {
    while let step = engine.next(at: now) {
      switch consume step {
      case .launch(let worker, _, _): ready.append(worker)
      case .send(let worker, .run(let task, let attempt)),
        .send(let worker, .follow(let task, let attempt)):
        running.append((worker, task, attempt))
      case .tell(.transition(let transition)):
        if case .success = transition.event { ended += 1 }
      case .retract, .tell, .began, .answer, .send, .slot, .discard, .write, .sync, .dismiss,
        .finish,
        .passOn:
        break
      }
    }
  }
}
