/// What workers were handed ahead, each in the order in which it begins with them. A damaged journal may
/// tell of a task more than once.
struct HandedTasks: Sendable {
  /// What one worker has; what it began with stands before `first` for a while.
  private struct Queue: Sendable {
    var tasks: [TaskID] = []
    var first = 0
  }

  /// By worker.
  private var queues: [Queue] = []
  private var count = 0

  var isEmpty: Bool { count == 0 }

  mutating func append(_ task: TaskID, to worker: WorkerID) {
    guard worker != .none else { return }
    while queues.count <= worker.index { queues.append(Queue()) }
    queues[worker.index].tasks.append(task)
    count += 1
  }

  /// Takes out the task that the worker begins with next.
  mutating func popFirst(of worker: WorkerID) -> TaskID? {
    guard worker.index >= 0, worker.index < queues.count else { return nil }
    let task = Self.popFirst(&queues[worker.index])
    if task != nil { count -= 1 }
    return task
  }

  @inline(__always)
  private static func popFirst(_ queue: inout Queue) -> TaskID? {
    if queue.first == 0, queue.tasks.count <= 1 { return queue.tasks.popLast() }
    guard queue.first < queue.tasks.count else { return nil }
    let task = queue.tasks[queue.first]
    queue.first += 1
    // What is left is moved only once as much is gone, however much a damaged journal tells of.
    if queue.first * 2 > queue.tasks.count {
      queue.tasks.removeFirst(queue.first)
      queue.first = 0
    }
    return task
  }

  mutating func remove(_ task: TaskID, of worker: WorkerID) {
    guard queues.indices.contains(worker.index),
      let place = queues[worker.index].tasks[queues[worker.index].first...].firstIndex(of: task)
    else { return }
    count -= 1
    queues[worker.index].tasks.remove(at: place)
  }

  mutating func removeAll() {
    queues.removeAll()
    count = 0
  }
}
