/// Generated runs that grow: batches of tasks, of which the first is a manifest and the others are
/// added by tasks or from outside, and tasks that run a nested manifest. As in `DrillManifest`,
/// outputs prove that each task ran after its dependencies.
struct GrownRuns {
  struct Batch {
    let run: Int
    /// The task that adds it; nil for first batches and outside batches.
    let generator: Int?
    fileprivate(set) var tasks: [Int] = []
  }

  struct Task {
    let run: Int
    let needs: [Int]
    /// Sleeps before and after each addition.
    let naps: Bool
    /// The way in which it adds batches.
    let way: Int
    fileprivate(set) var adds: [Int] = []
    /// Its nested run.
    fileprivate(set) var within: Int?
  }

  private(set) var batches: [Batch] = []
  private(set) var tasks: [Task] = []
  /// The first batch of each run; the outermost run is number 0.
  private(set) var firsts: [Int] = []
  /// Batches that are added from outside, in sequence.
  private(set) var outside: [Int] = []
  let isServed: Bool
  private let program: String
  private var room: Int

  /// - Parameters:
  ///   - program: the `opflow` that tasks call.
  ///   - tasks: the approximate number of tasks.
  init(program: String, tasks: Int, isServed: Bool, _ random: inout DrillNumbers) {
    self.program = program
    self.isServed = isServed
    room = tasks
    _ = addRun(depth: 0, &random)
    guard isServed else { return }
    var known = batches[0].tasks
    repeat {
      let batch = addBatch(of: 0, by: nil, known: known, depth: 0, &random)
      outside.append(batch)
      known += batches[batch].tasks
    } while room > 0
  }

  private mutating func addRun(depth: Int, _ random: inout DrillNumbers) -> Int {
    let run = firsts.count
    firsts.append(batches.count)
    _ = addBatch(of: run, by: nil, known: [], depth: depth, &random)
    return run
  }

  /// - Parameter known: tasks that the run has for sure when the batch is added.
  private mutating func addBatch(
    of run: Int, by generator: Int?, known: [Int], depth: Int, _ random: inout DrillNumbers
  ) -> Int {
    let batch = batches.count
    batches.append(Batch(run: run, generator: generator))
    // A served run may begin without tasks.
    let least = batch > 0 ? 1 : isServed ? 0 : 4
    let count = least + random.below(depth == 0 ? 6 : 4)
    var there = known
    for _ in 0..<count {
      let task = tasks.count
      let needs =
        there.isEmpty ? [] : (0..<random.below(4)).map { _ in there[random.below(there.count)] }
      tasks.append(
        Task(
          run: run, needs: Set(needs).sorted(), naps: random.chance(30), way: random.below(3)))
      batches[batch].tasks.append(task)
      there.append(task)
      room -= 1
    }
    for task in batches[batch].tasks where room > 0 {
      if random.chance(50) {
        for _ in 0...random.below(2) {
          let added = addBatch(of: run, by: task, known: there, depth: depth, &random)
          tasks[task].adds.append(added)
        }
      } else if depth < 2, random.chance(45) {
        let within = addRun(depth: depth + 1, &random)
        tasks[task].within = within
      }
    }
    return batch
  }

  // MARK: - Manifests

  func name(_ task: Int) -> String { "t\(task)" }
  static let first = "opflow.yaml"
  func manifestName(ofRun run: Int) -> String { run == 0 ? Self.first : "within-\(run).yaml" }
  func fileName(ofBatch batch: Int) -> String {
    firsts.firstIndex(of: batch).map(manifestName) ?? "batch-\(batch).yaml"
  }

  func run(ofManifest name: String) -> Int? {
    firsts.indices.first { manifestName(ofRun: $0) == name }
  }

  func tasks(ofRun run: Int) -> [Int] { tasks.indices.filter { tasks[$0].run == run } }

  /// Returns a batch's manifest. Killed tasks are retried, also if only a part was killed.
  func text(ofBatch batch: Int) -> String {
    var text = firsts.contains(batch) ? "max_parallel: 4\n" : ""
    text += "defaults: { retry: { max: 1000, delay: 0 } }\ntasks:\n"
    if batches[batch].tasks.isEmpty { return "max_parallel: 4\n" }
    for task in batches[batch].tasks {
      text += "  \(name(task)):\n"
      text += "    needs: [\(tasks[task].needs.map(name).joined(separator: ", "))]\n"
      if !tasks[task].adds.isEmpty { text += "    control: true\n" }
      text += "    run: |\n"
      for line in script(task) { text += "      \(line)\n" }
    }
    return text
  }

  /// Each start writes a line to `attempts`, and each addition one to `adding` before it begins, in
  /// one write each.
  private func script(_ task: Int) -> [String] {
    let own = tasks[task]
    let inputs = own.needs + (own.within.map(tasks(ofRun:)) ?? [])
    var lines = ["echo \(name(task)) >> attempts"]
    if own.naps { lines.append("sleep 0.02") }
    for batch in own.adds {
      let file = fileName(ofBatch: batch)
      lines.append("echo \(batch) >> adding")
      switch own.way {
      case 0: lines.append("'\(program)' add \(file)")
      case 1: lines.append("'\(program)' add - < \(file)")
      default:
        // The file is gone when the run is resumed.
        lines += ["cp \(file) made-\(file)", "'\(program)' add made-\(file)", "rm made-\(file)"]
      }
      if own.naps { lines.append("sleep 0.02") }
    }
    if let within = own.within {
      lines.append("'\(program)' run \(manifestName(ofRun: within)) --output quiet")
    }
    lines.append("echo \(name(task)) > out/\(name(task)).all")
    if !inputs.isEmpty {
      let files = inputs.map { "out/\(name($0))" }.joined(separator: " ")
      lines.append("cat \(files) >> out/\(name(task)).all")
    }
    lines.append("cksum < out/\(name(task)).all > out/\(name(task)).new")
    lines.append("mv out/\(name(task)).new out/\(name(task))")
    return lines
  }

  /// Returns the expected output of each task, computed without a run.
  func results() -> [String] {
    var results = [String?](repeating: nil, count: tasks.count)
    func result(_ task: Int) -> String {
      if let known = results[task] { return known }
      let inputs = tasks[task].needs + (tasks[task].within.map(tasks(ofRun:)) ?? [])
      let text = POSIXChecksum.line(
        Array("\(name(task))\n".utf8) + inputs.flatMap { Array(result($0).utf8) })
      results[task] = text
      return text
    }
    return tasks.indices.map(result)
  }
}
