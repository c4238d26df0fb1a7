internal import OpflowCore
internal import OpflowSystem

/// Waits, before a task starts, for what others wrote for it and what this machine does not see yet.
///
/// What a machine remembers of a network's file system may be older than what another machine wrote there: a name that it
/// looked for before it was made, above all. So what a task's needs left, the values that it reads and what was seen of its
/// inputs, mostly from another machine, are asked for anew until they are there. What is not there when so much time has
/// passed is none: the task starts all the same, and no other one waits for that here.
///
/// Where the run's folder is on no such file system nothing is asked for.
final class LateFiles {
  private enum Wanted {
    /// From the root.
    case path([UInt8])
    case pattern(String, folder: String)
    /// What was seen of a task's inputs: where it is there, all of them are wanted as well.
    case look(path: String, DeclaringTask)

    /// By which it is known again.
    var name: String {
      switch self {
      case .path(let path): NameCharacters.text(path)
      case .pattern(let pattern, let folder): "\(folder)/\(pattern)"
      case .look(let path, _): path
      }
    }
  }

  private let plans: WorkerPlan
  private let state: String
  private let run: String
  private let network: NetworkFiles
  private let isNetwork: Bool
  private var wanted: [Wanted] = []
  private var next = 0
  private var until: Int64 = 0
  private var lookAgainAt: Int64 = 0
  /// What was waited for in vain.
  private var missing: Set<String> = []

  /// So long a machine may not see what another one wrote, and a little; in nanoseconds.
  static let lateness = AgentLease.standardMilliseconds * 1_000_000
  /// From one look to the next, each of which asks a file server; in nanoseconds.
  static let interval: Int64 = 100_000_000
  /// Of looks between two at what else there is, in nanoseconds.
  private static let slice: Int64 = 2_000_000

  init(_ plans: WorkerPlan, runFolder: String, network: NetworkFiles = NetworkFiles()) {
    self.plans = plans
    self.network = network
    run = runFolder
    state = Path.parent(of: Path.parent(of: runFolder))
    isNetwork = network.have(folder: runFolder)
  }

  /// Begins to look for what a task reads.
  ///
  /// - Parameter values: the paths of files that hold values.
  /// - Returns: whether it is to be waited for, by `goOn`.
  func begin(_ task: TaskID, values: @autoclosure () -> [String]) -> Bool {
    guard isNetwork else { return false }
    let plan = plans.current
    let records = RecordPlace(plan, state: state)
    wanted = values().map { .path(Array($0.utf8)) }
    if plan.isChecked(task) {
      let path = CheckFolder.file(of: task, in: CheckFolder.path(in: run))
      wanted.append(.look(path: path, DeclaringTask(plan: plan, task: task, records: records)))
    }
    for need in needs(of: task, in: plan) where plan.declaresOutputs(need) {
      let declaring = DeclaringTask(plan: plan, task: need, records: records)
      for output in declaring.outputs {
        switch output {
        case .path(let path): wanted.append(.path(Array(declaring.absolute(path).utf8)))
        case .glob(let pattern): wanted.append(.pattern(pattern, folder: declaring.folder))
        }
      }
    }
    until = Clock.monotonicNanoseconds + Self.lateness
    return !goOn()
  }

  private func needs(of task: TaskID, in plan: Plan) -> [TaskID] {
    let needs = plan.needs(task).map { TaskID(plan.needTargets[$0]) }
    return needs.flatMap { need in plan.legs(madeBy: need).map { $0.map { TaskID($0) } } ?? [need] }
  }

  /// Looks on for a moment.
  ///
  /// - Returns: whether nothing is to be waited for any more.
  func goOn() -> Bool {
    let now = Clock.monotonicNanoseconds
    if now < lookAgainAt { return false }
    while next < wanted.count {
      if Clock.monotonicNanoseconds >= now + Self.slice { return false }
      let item = wanted[next]
      if !isSeen(item), !missing.contains(item.name) {
        if now < until, mayBeLate(item) {
          lookAgainAt = now + Self.interval
          return false
        }
        missing.insert(item.name)
      }
      next += 1
    }
    end()
    return true
  }

  /// How long may be waited for something else, in nanoseconds.
  var patienceNanoseconds: Int64 { max(0, lookAgainAt - Clock.monotonicNanoseconds) }

  /// Forgets what was waited for.
  func end() {
    wanted.removeAll()
    (next, lookAgainAt) = (0, 0)
  }

  private func isSeen(_ item: Wanted) -> Bool {
    switch item {
    case .path(let path): return Self.isSeen(path)
    case .pattern(let pattern, let folder):
      let names = FileNames.fitting(
        pattern, in: folder, folders: FolderMemory(network: network), keepsLinks: true)
      // What is the matter tells itself when the task is looked at.
      guard case .success(let names) = names else { return true }
      return !names.isEmpty
    case .look(let path, let declaring):
      guard Self.isSeen(Array(path.utf8)) else { return false }
      let inputs = RecordKeeping.read(path, declaring.identity)?.inputs ?? []
      for place in inputs.indices where inputs.kind(place) != .absent {
        let input = DeclaringTask.absolute(inputs.path(place), in: declaring.folder)
        wanted.append(.path(input))
      }
      return true
    }
  }

  private static func isSeen(_ path: [UInt8]) -> Bool {
    do throws(Errno) {
      _ = try Path.linkStatus(ofBytes: path + [0], from: File.workingFolder)
      return true
    } catch {
      return error != .noSuchFile && error != .notADirectory
    }
  }

  private func mayBeLate(_ item: Wanted) -> Bool {
    let folder = Path.parent(of: item.name)
    guard network.have(folder: folder) else { return false }
    NetworkFiles.refresh(folder: folder)
    return true
  }
}

/// Where what was seen of the inputs of tasks is kept until they start.
enum CheckFolder {
  static func path(in run: String) -> String { run + "/checks" }

  static func file(of task: TaskID, in folder: String) -> String { "\(folder)/\(task.rawValue)" }
}
