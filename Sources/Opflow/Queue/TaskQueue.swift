internal import OpflowBase
internal import OpflowPlan
internal import OpflowRuntime
internal import OpflowSystem
internal import Synchronization

/// What happens to a queue's run when its program ends, even by a crash.
public enum HostEnd: Sendable {
  /// Running tasks are stopped. A new queue with the name continues the run.
  case stop
  /// The run continues. A new queue with the name joins it.
  case goOn
}

/// A queue of tasks with dependencies, priorities, retries and limits. Tasks run in separate
/// processes and are journaled, so a restarted program continues where it stopped.
///
/// - A queue is a *run* of `opflow serve` in another process. It joins the live run with its name
///   and folder, else resumes the newest one that was not closed, else starts one. So tasks from
///   before a restart keep their IDs and outcomes.
/// - The queue lives as long as it, one of its tasks or a sequence of its changes is referenced.
///   After that, or at the end of the program, `whenHostEnds` decides on the run.
/// - A queue can be used from any actor and thread. It has one thread, which sleeps while idle. It
///   has no signal handlers, waits for no children and changes no process-wide state.
/// - After `fork` without `exec`, the child cannot use it.
public final class TaskQueue: Sendable {
  let board: QueueBoard
  let lease: QueueLease
  /// `--run NAME` on the command line.
  public let name: String
  /// The absolute path of the state folder.
  public let folder: String

  /// Joins, resumes or starts the run with this name.
  ///
  /// - Parameters:
  ///   - name: at most 100 letters, digits, `.`, `_` and `-`; it does not start with `.` or `-`.
  ///   - folder: the state folder, created if missing.
  ///   - maxConcurrent: the number of tasks that run at once if each holds one `cpu`; nil for the
  ///     number of CPUs. It has no effect on a live run.
  ///   - whenHostEnds: what happens to the run when this program ends.
  ///   - opflow: the `opflow` executable; nil for the one next to this program, else in `PATH`.
  /// - Throws: if there is no run; `waitCancelled` if the waiting Swift task is cancelled.
  public init(
    name: String, folder: String = ".opflow", maxConcurrent: Int? = nil,
    whenHostEnds: HostEnd = .stop, opflow: String? = nil
  ) async throws(QueueError) {
    let setting = try ServerSetting(
      name: name, folder: folder, maxConcurrent: maxConcurrent, goesOn: whenHostEnds == .goOn,
      opflow: opflow)
    let board = try rethrowing(QueueBoard()) { QueueError(.io, "cannot make a queue: \($0)") }
    self.name = name
    self.folder = setting.stateFolder
    self.board = board
    lease = QueueLease(board)
    let isCancelled = Atomic(false)
    let opened = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        do throws(Errno) {
          try OwnThread.start("opflow-queue", stackBytes: Self.stackBytes) {
            QueueReader(board, setting).perform { continuation.resume(returning: $0) }
          }
        } catch {
          continuation.resume(
            returning: Result<Void, QueueError>.failure(
              QueueError(.io, "cannot start the thread of a queue: \(error)")))
        }
      }
    } onCancel: {
      isCancelled.store(true, ordering: .relaxed)
      board.inbox.put(.leave)
    }
    try opened.get()
    // The task was cancelled after the run was found.
    if isCancelled.load(ordering: .relaxed) { throw ServerStart.cancelled }
  }

  /// Enough for reading manifests.
  private static let stackBytes = 8 << 20

  /// As `opflow runs` shows it.
  public var runID: String { board.table.withLock { $0.runID } }

  // MARK: - Tasks

  /// In the order of addition.
  public var tasks: [QueuedTask] {
    board.table.withLock { table in
      table.entries.indices.map { task(Int32(truncatingIfNeeded: $0), table.entries[$0].id) }
    }
  }

  /// Nil if the run does not have the task.
  public func task(_ id: String) -> QueuedTask? {
    board.table.withLock { table in table.place(of: id) }.map { task($0, id) }
  }

  public var count: Int { tally.unfinished }

  public var tally: TaskTally { board.table.withLock { $0.tally } }

  func task(_ place: Int32, _ id: String) -> QueuedTask {
    QueuedTask(board: board, lease: lease, place: place, id: id)
  }

  // MARK: - Waiting

  /// Waits until every task has ended, including tasks that other programs add. Throws if the run
  /// ends first, or if the waiting Swift task is cancelled.
  @discardableResult
  public func waitUntilAllFinished() async throws(QueueError) -> TaskTally {
    try await board.wait(for: .all)
    return tally
  }

  /// Every change of every task from now on, in order, until the run ends. When more than `limit`
  /// wait, a slow reader gets only the newest state of each task (``TaskChange/skipped``).
  public func changes(_ buffering: ChangeBuffering = .everyChange()) -> TaskChanges {
    TaskChanges(board, lease, nil, buffering)
  }

  /// ``changes(_:)`` with every change.
  public var changes: TaskChanges { changes() }

  // MARK: - Requests

  /// True if no task starts because of ``pause()``.
  public var isSuspended: Bool { board.table.withLock { $0.isPaused } }

  /// Stops starting tasks. Running tasks continue.
  public func pause() async throws(QueueError) { try await board.ask(.pause, .run) }

  /// Starts tasks again.
  public func `continue`() async throws(QueueError) { try await board.ask(.proceed, .run) }

  /// Changes the number of tasks that run at once, from 1 to 1000000, without stopping any.
  public func setMaxConcurrent(_ most: Int) async throws(QueueError) {
    guard (1...1_000_000).contains(most) else {
      throw QueueError(.usage, "maxConcurrent must be from 1 to 1000000, not \(most)")
    }
    let carried = CarriedValue(resource: "cpu", number: Int64(most))
    try await board.ask(.parallel, .run, carried)
  }

  /// Cancels all tasks. The queue still accepts new ones.
  public func cancelAll() async throws(QueueError) {
    do throws(QueueError) {
      try await board.ask(.cancel, .all)
    } catch {
      // Nothing is left to cancel, or the run is ending.
      if error.kind != .refused { throw error }
    }
  }

  /// Closes the queue to new tasks: the run ends when all tasks have ended, and frees its name.
  /// Returns before that.
  public func close() async throws(QueueError) { try await board.ask(.close, .run) }

  /// Closes the queue if it is open, and waits until its run has ended.
  @discardableResult
  public func finish() async throws(QueueError) -> TaskTally {
    do throws(QueueError) {
      try await close()
    } catch {
      // The queue is already closed, stopping or ended.
      if error.kind != .refused && error.kind != .ended { throw error }
    }
    try await board.wait(for: .end)
    return tally
  }
}

/// The deinitializer lets the reader's thread exit.
final class QueueLease: Sendable {
  private let board: QueueBoard
  init(_ board: QueueBoard) { self.board = board }
  deinit { board.inbox.put(.leave) }
}

extension QueueBoard {
  @discardableResult
  func ask(
    _ verb: ControlAction, _ about: RequestJob.About, _ carried: CarriedValue = CarriedValue()
  ) async throws(QueueError) -> Int {
    try await reply { .request(RequestJob(verb, about, carried, $0)) }
  }

  func add(_ content: AddJob.Content) async throws(QueueError) -> [Int32] {
    try await reply { .add(AddJob(content, $0)) }
  }

  /// Cancellation does not revoke the request.
  private func reply<Value>(
    to request: (Reply<Value>) -> QueueRequest
  ) async throws(QueueError) -> Value {
    try expectOwnProcess()
    let reply = Reply<Value>()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        reply.wait(continuation)
        inbox.put(request(reply))
      }
    } onCancel: {
      inbox.put(.giveUp(reply))
    }
    return try result.get()
  }

  func expectOwnProcess() throws(QueueError) {
    if ProcessID.own == process { return }
    throw QueueError(
      .usage, "a queue does not work in a forked process; make a new queue after the fork")
  }
}

/// Each call returns when the journal has the tasks, so they survive any kill. A power loss loses
/// at most the additions after the last sync, which starts 10 milliseconds after a write. Calls
/// wait for another process: add many tasks in one (``TaskQueue/add(_:)-([NewTask])``).
extension TaskQueue {
  /// Adds a task; see ``NewTask``. The tasks in `needs` must succeed first.
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

  @discardableResult
  public func add(_ task: NewTask) async throws(QueueError) -> QueuedTask {
    let added = try await add([task])
    guard let first = added.first else {
      throw QueueError(.refused, "task \(task.id) was removed from the run just after it was added")
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
