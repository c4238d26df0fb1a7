internal import Synchronization

/// Each call returns when the journal has the tasks, so they survive any kill. A loss of power
/// loses at most what was added after the last sync, which starts 10 milliseconds after a write.
///
/// Each call waits for another process: add many tasks in one call
/// (``TaskQueue/add(_:)-([NewTask])``).
extension TaskQueue {
  /// Adds a task; see ``NewTask``. The tasks in `needs` must have succeeded before.
  ///
  /// - Throws: if the task is invalid or rejected; then nothing is added.
  @discardableResult
  public func add(
    _ id: String, _ action: TaskAction, needs: [QueuedTask] = [],
    priority: TaskPriority = .normal, retry: RetryPolicy? = nil, timeout: Duration? = nil,
    cwd: String? = nil, env: [String: String] = [:]
  ) async throws(QueueError) -> QueuedTask {
    try await add(
      NewTask(
        id, action, needs: needs.map { .success($0) }, priority: priority, retry: retry,
        timeout: timeout, cwd: cwd, env: env))
  }

  /// Adds a task with dependencies by ID, or with other conditions than success.
  @discardableResult
  @_disfavoredOverload
  public func add(
    _ id: String, _ action: TaskAction, needs: [TaskNeed],
    priority: TaskPriority = .normal, retry: RetryPolicy? = nil, timeout: Duration? = nil,
    cwd: String? = nil, env: [String: String] = [:]
  ) async throws(QueueError) -> QueuedTask {
    try await add(
      NewTask(
        id, action, needs: needs, priority: priority, retry: retry, timeout: timeout, cwd: cwd,
        env: env))
  }

  /// Adds a task.
  @discardableResult
  public func add(_ task: NewTask) async throws(QueueError) -> QueuedTask {
    let added = try await add([task])
    guard let first = added.first else {
      throw QueueError(.refused, "the run has no task \(task.id) after it was added")
    }
    return first
  }

  /// Adds many tasks, all or none. They may depend on each other in any order.
  @discardableResult
  public func add(_ tasks: [NewTask]) async throws(QueueError) -> [QueuedTask] {
    if tasks.isEmpty { return [] }
    let runID = runID
    for task in tasks {
      if let need = task.needs.first(where: { $0.runID.map { $0 != runID } ?? false }) {
        throw QueueError(
          .manifest, "task \(task.id), needs: \(need.id) is a task of another queue")
      }
    }
    return handles(try await board.add(.tasks(tasks)))
  }

  /// Adds the tasks of a manifest, as `opflow add FILE` does. Returns its tasks, including those
  /// that the run already has.
  @discardableResult
  public func add(contentsOf path: String) async throws(QueueError) -> [QueuedTask] {
    // `-` would mean standard input.
    handles(try await board.add(.manifest(path: path == "-" ? "./-" : path)))
  }

  private func handles(_ places: [Int32]) -> [QueuedTask] {
    board.table.withLock { table in places.map { task($0, table[$0].id) } }
  }
}
