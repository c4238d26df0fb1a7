/// What workers were handed ahead, each in the order in which it begins with them. A damaged journal may
/// tell of a task more than once.
struct HandedTasks: Sendable {
  /// What one worker has. Of commands that is one at most, nearly always: it takes no memory of its own.
  private struct Queue: Sendable {
    private var first: TaskID?
    private var rest: [TaskID] = []
    /// How many of `rest` have been first by now.
    private var begun = 0

    mutating func append(_ task: TaskID) {
      if first == nil { first = task } else { rest.append(task) }
    }

    @inline(__always)
    mutating func popFirst() -> TaskID? {
      let task = first
      first = rest.isEmpty ? nil : popRest()
      return task
    }

    /// Moves what is left only once as much is gone, however many a damaged journal tells of.
    private mutating func popRest() -> TaskID {
      let task = rest[begun]
      begun += 1
      if begun * 2 > rest.count {
        rest.removeFirst(begun)
        begun = 0
      }
      return task
    }

    mutating func remove(_ task: TaskID) -> Bool {
      if task == first { return popFirst() != nil }
      guard let place = rest[begun...].firstIndex(of: task) else { return false }
      rest.remove(at: place)
      if begun == rest.count {
        rest.removeAll()
        begun = 0
      }
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
