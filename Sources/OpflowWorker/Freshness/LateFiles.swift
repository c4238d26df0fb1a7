internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

/// Before a task starts, waits for inputs that this machine does not see yet.
///
/// A network file system's cache may be outdated; above all, it may remember that a name was
/// missing. So the outputs and values of dependencies and the scanned inputs, usually written by
/// other machines, are looked up until they appear. After a timeout the task starts anyway, and
/// later tasks do not wait for the same files. Does nothing for a run on a local file system.
final class LateFiles {
  private enum Wanted {
    /// Absolute.
    case path([UInt8])
    case pattern(String, folder: String)
    /// The scan of a task's inputs, which are wanted once it exists.
    case look(path: String, DeclaringTask)

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
  /// Items that stayed missing until the timeout.
  private var missing: Set<String> = []

  /// How long writes of another machine may stay invisible, plus a margin.
  static let lateness = AgentLease.standardMilliseconds * 1_000_000
  /// Each lookup asks the file server.
  static let interval: Int64 = 100_000_000
  private static let slice: Int64 = 2_000_000

  init(_ plans: WorkerPlan, runFolder: String, network: NetworkFiles = NetworkFiles()) {
    self.plans = plans
    self.network = network
    run = runFolder
    state = Path.parent(of: Path.parent(of: runFolder))
    isNetwork = network.have(folder: runFolder)
  }

  /// Returns true if the task must wait.
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
    return needs.flatMap { need in
      plan.instances(madeBy: need).map { $0.map { TaskID($0) } } ?? [need]
    }
  }

  /// Returns true once the wait is over.
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

  var patienceNanoseconds: Int64 { max(0, lookAgainAt - Clock.monotonicNanoseconds) }

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
      // The scan of the task reports the error.
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

/// Scanned inputs of tasks that have not started.
enum CheckFolder {
  static func path(in run: String) -> String { run + "/checks" }

  static func file(of task: TaskID, in folder: String) -> String { "\(folder)/\(task.rawValue)" }
}
