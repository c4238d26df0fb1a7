internal import Synchronization

/// Adding tasks: each call returns when the run's journal has them, so that they are there whatever is killed then. A loss of
/// power costs at most what was added after the journal's last sync, of which one begins 10 milliseconds after a write.
///
/// What several calls add at the same time goes to the run together. To add many tasks, hand them over in one call
/// (``TaskQueue/add(_:)-([NewTask])``): each call by itself waits for the process that drives the run.
extension TaskQueue {
  /// Adds a task.
  ///
  /// - Parameters:
  ///   - id: what it is known by, over restarts too; see ``NewTask``. With the same definition as before, the task that
  ///     is there.
  ///   - action: what it does.
  ///   - needs: what must have succeeded before.
  ///   - priority: among tasks that could start the higher one does.
  ///   - retry: how often it is tried again after a failure.
  ///   - timeout: after which a try is stopped, and has failed.
  ///   - cwd: where it runs; nil for the folder that the queue was made in.
  ///   - env: environment variables, over those of this program when it began the run.
  /// - Throws: what is wrong with it, or why the run does not take it. Nothing of it is there then.
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

  /// Adds a task that needs others by their ids, or in another way than with success.
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

  /// Adds many tasks at once, all of them or none. They may need each other, in any order.
  ///
  /// - Returns: the tasks, in the order of `tasks`.
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

  /// Adds the tasks of a manifest, as `opflow add FILE` does.
  ///
  /// - Parameter path: of the file; relative paths in it start at its folder.
  /// - Returns: its tasks, those among them that the run had already.
  @discardableResult
  public func add(contentsOf path: String) async throws(QueueError) -> [QueuedTask] {
    // That word alone would be this program's standard input.
    handles(try await board.add(.manifest(path: path == "-" ? "./-" : path)))
  }

  private func handles(_ places: [Int32]) -> [QueuedTask] {
    board.table.withLock { table in places.map { task($0, table[$0].id) } }
  }
}
