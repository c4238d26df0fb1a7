/// What workers were handed ahead, each in the order in which it begins with them.
struct HandedTasks: Sendable {
  /// By worker.
  private var tasks: [[TaskID]] = []
  private var count = 0

  var isEmpty: Bool { count == 0 }

  mutating func append(_ task: TaskID, to worker: WorkerID) {
    guard worker != .none else { return }
    while tasks.count <= worker.index { tasks.append([]) }
    tasks[worker.index].append(task)
    count += 1
  }

  /// Takes out the task that the worker begins with next.
  mutating func popFirst(of worker: WorkerID) -> TaskID? {
    guard tasks.indices.contains(worker.index), !tasks[worker.index].isEmpty else { return nil }
    count -= 1
    return tasks[worker.index].removeFirst()
  }

  mutating func remove(_ task: TaskID, of worker: WorkerID) {
    guard tasks.indices.contains(worker.index),
      let place = tasks[worker.index].firstIndex(of: task)
    else { return }
    count -= 1
    tasks[worker.index].remove(at: place)
  }

  mutating func removeAll() {
    tasks.removeAll()
    count = 0
  }
}
