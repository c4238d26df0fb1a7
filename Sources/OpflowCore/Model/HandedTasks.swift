/// What workers were handed ahead, each in the order in which it begins with them. A damaged journal may
/// tell of a task more than once.
struct HandedTasks: Sendable {
  /// What one worker has. Of commands that is one at most, nearly always: it takes no memory of its own.
  private struct Queue: Sendable {
    var first = TaskID.none
    var rest: [TaskID] = []
  }

  /// By worker.
  private var queues: [Queue] = []
  private var count = 0

  var isEmpty: Bool { count == 0 }

  mutating func append(_ task: TaskID, to worker: WorkerID) {
    guard worker != .none else { return }
    while queues.count <= worker.index { queues.append(Queue()) }
    if queues[worker.index].first.isNone {
      queues[worker.index].first = task
    } else {
      queues[worker.index].rest.append(task)
    }
    count += 1
  }

  /// Takes out the task that the worker begins with next.
  mutating func popFirst(of worker: WorkerID) -> TaskID? {
    guard queues.indices.contains(worker.index) else { return nil }
    let task = queues[worker.index].first
    if task.isNone { return nil }
    count -= 1
    let hasMore = !queues[worker.index].rest.isEmpty
    queues[worker.index].first = hasMore ? queues[worker.index].rest.removeFirst() : .none
    return task
  }

  mutating func remove(_ task: TaskID, of worker: WorkerID) {
    guard queues.indices.contains(worker.index) else { return }
    if queues[worker.index].first == task {
      _ = popFirst(of: worker)
    } else if let place = queues[worker.index].rest.firstIndex(of: task) {
      queues[worker.index].rest.remove(at: place)
      count -= 1
    }
  }

  mutating func removeAll() {
    queues.removeAll()
    count = 0
  }
}
