internal import OpflowBase
internal import OpflowEngine
internal import OpflowJournal
internal import OpflowPlan

/// Compares a run with the previous one of the manifest, by task ID.
struct RunComparison {
  /// In microseconds.
  struct Change {
    let task: TaskID
    let before: Int64
    let now: Int64
    var difference: Int64 { now - before }
  }

  private(set) var broken: [TaskID] = []
  private(set) var fixed: [TaskID] = []
  private(set) var stillFailing: [TaskID] = []
  private(set) var new: [TaskID] = []
  private(set) var goneCount = 0
  /// Significant changes of successful tasks, largest first.
  private(set) var slower: [Change] = []
  private(set) var faster: [Change] = []
  /// -1 if unknown.
  private(set) var wallBefore: [Int64]

  /// Smaller changes, or less than a fifth, are noise.
  private static let leastMicroseconds: Int64 = 50_000

  init(_ now: RunStatus, before: RunStatus) {
    let (plan, old) = (now.plan, before.plan)
    wallBefore = [Int64](repeating: -1, count: plan.taskCount)
    var known = 0
    for task in plan.tasks.lazy.map({ TaskID($0) }) {
      let same = old.task(named: plan.nameBytes(task))
      if same != nil { known += 1 }
      guard now.included.contains(task) else { continue }
      guard let same else {
        new.append(task)
        continue
      }
      guard before.included.contains(same) else { continue }
      compare(task, now, same, before)
    }
    goneCount = old.taskCount - known
    slower.sort { $0.difference > $1.difference }
    faster.sort { $0.difference < $1.difference }
  }

  private mutating func compare(
    _ task: TaskID, _ now: RunStatus, _ same: TaskID, _ before: RunStatus
  ) {
    let (state, oldState) = (now.state(task), before.state(same))
    switch (state == .failed, oldState == .failed) {
    case (true, true): stillFailing.append(task)
    case (true, false): broken.append(task)
    case (false, true): if state == .succeeded { fixed.append(task) }
    case (false, false): break
    }
    let oldRecord = before.history[same]
    guard oldRecord.attempts > 0, oldRecord.wallMicroseconds > 0 else { return }
    wallBefore[task.index] = oldRecord.wallMicroseconds
    guard state == .succeeded, oldState == .succeeded, now.plan.kind(task) != .approve else {
      return
    }
    let change = Change(
      task: task, before: oldRecord.wallMicroseconds, now: now.history[task].wallMicroseconds)
    let size = abs(change.difference)
    guard size >= Self.leastMicroseconds, size >= change.before / 5 else { return }
    if change.difference > 0 { slower.append(change) } else { faster.append(change) }
  }
}

struct MeasuredPath {
  /// In the order of execution; may be empty.
  let tasks: [TaskID]
  let microseconds: Int64

  init(_ status: RunStatus) {
    let (plan, history) = (status.plan, status.history)
    let ran = plan.tasks.lazy.map { TaskID($0) }.filter {
      status.included.contains($0) && history[$0].attempts > 0
    }
    var measured = [Int64](repeating: -1, count: plan.taskCount)
    for task in ran { measured[task.index] = max(1, history[task].wallMicroseconds) }
    let durations = TaskDurations(measured: measured, plan: plan)
    tasks = CriticalPath(plan: plan, starts: Array(ran), durations: durations).tasks
    microseconds = tasks.reduce(0) { $0.plus(history[$1].wallMicroseconds) }
  }
}

enum SlowestTasks {
  /// Excludes approvals.
  static func of(_ status: RunStatus, most: Int) -> [(task: TaskID, wall: Int64)] {
    var longest: [(task: TaskID, wall: Int64)] = []
    for task in status.plan.tasks.lazy.map({ TaskID($0) }) where status.included.contains(task) {
      if status.plan.kind(task) == .approve { continue }
      let wall = status.history[task].wallMicroseconds
      if wall <= longest.last?.wall ?? 0, longest.count == most || wall == 0 { continue }
      let place = longest.firstIndex { $0.wall < wall } ?? longest.count
      longest.insert((task, wall), at: place)
      if longest.count > most { longest.removeLast() }
    }
    return longest
  }
}
