/// What workers were handed ahead, each in the order in which it begins with them. A damaged journal may
/// tell of a task more than once.
struct HandedTasks: Sendable {
  /// What one worker has. Of commands that is one at most, nearly always: it takes no memory of its own.
  private struct Queue: Sendable {
    var first: TaskID?
    var rest: [TaskID] = []

    mutating func append(_ task: TaskID) {
      if first == nil { first = task } else { rest.append(task) }
    }

    @inline(__always)
    mutating func popFirst() -> TaskID? {
      let task = first
      first = rest.isEmpty ? nil : rest.removeFirst()
      return task
    }

    mutating func remove(_ task: TaskID) -> Bool {
      if task == first { return popFirst() != nil }
      guard let place = rest.firstIndex(of: task) else { return false }
      rest.remove(at: place)
      return true
    }
  }

  /// By worker.
  private var queues: [Queue] = []
  private var count = 0

  var isEmpty: Bool { count == 0 }

  mutating func append(_ task: TaskID, to worker: WorkerID) {
    guard worker != .none else { return }
    while queues.count <= worker.index { queues.append(Queue()) }
    queues[worker.index].append(task)
    count += 1
  }

  /// Takes out the task that the worker begins with next.
  mutating func popFirst(of worker: WorkerID) -> TaskID? {
    guard queues.indices.contains(worker.index), let task = queues[worker.index].popFirst() else {
      return nil
    }
    count -= 1
    return task
  }

  mutating func remove(_ task: TaskID, of worker: WorkerID) {
    guard queues.indices.contains(worker.index), queues[worker.index].remove(task) else { return }
    count -= 1
  }

  mutating func removeAll() {
    queues.removeAll()
    count = 0
  }
}
