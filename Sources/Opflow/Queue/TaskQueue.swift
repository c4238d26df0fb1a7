internal import OpflowCore
internal import OpflowRuntime
internal import OpflowSystem
internal import Synchronization

/// What becomes of a queue's run when the program that made the queue ends, however it does: also by a crash.
public enum HostEnd: Sendable {
  /// What runs is stopped, and can be continued: a new queue of that name goes on where this one was.
  case stop
  /// It goes on without the program. A new queue of that name joins it.
  case goOn
}

/// Tasks that are run by the rules of opflow: with dependencies, priorities, retries and limits, in processes of their
/// own, with a journal, so that a program that is started again goes on where the one before it was.
///
/// A queue is a *run* of `opflow serve`, which another process drives: not this one, which therefore keeps its children,
/// its signals and its threads for itself. Who makes a queue of a name and a folder joins the run of that name that is
/// live; where none is, the newest that was not closed is continued; and where there is none either, one is begun. So
/// a task that was added before is there, under its id, with what became of it.
///
/// The queue lives for as long as it, one of its tasks or a sequence of its changes is referred to. When the last goes,
/// or the program ends, `whenHostEnds` says what becomes of the run.
///
/// It can be used from any actor and any thread. It has one thread of its own, which sleeps while nothing happens;
/// it has no signal handlers, waits for no child, and changes nothing that is the whole process's. A child that the program forks (and that does not
/// execute another program) cannot use the queues that were made before.
public final class TaskQueue: Sendable {
  let board: QueueBoard
  let lease: QueueLease
  /// What the run is known by: `--run NAME` on the command line.
  public let name: String
  /// The folder that the run is kept in, absolute.
  public let folder: String

  /// Joins, continues or begins the run of that name.
  ///
  /// - Parameters:
  ///   - name: at most 100 letters, digits, `.`, `_` and `-`, of which `.` and `-` do not begin it.
  ///   - folder: where runs are kept; made where it is not there. `opflow status --state-dir FOLDER` looks into it.
  ///   - maxConcurrent: how many tasks run at once, of those that hold one `cpu`; 1 makes a serial queue. Nil for the
  ///     processors that this process may use. It has no effect on a run that is live already.
  ///   - whenHostEnds: what becomes of the run when this program ends.
  ///   - opflow: the program that drives runs; nil for the one beside this program's own file, else the one in `PATH`.
  /// - Throws: why there is no run; `waitCancelled` where the Swift task that waits for it is cancelled.
  public init(
    name: String, folder: String = ".opflow", maxConcurrent: Int? = nil,
    whenHostEnds: HostEnd = .stop, opflow: String? = nil
  ) async throws(QueueError) {
    let setting = try ServerSetting(
      name: name, folder: folder, maxConcurrent: maxConcurrent, goesOn: whenHostEnds == .goOn,
      opflow: opflow)
    let board: QueueBoard
    do throws(Errno) {
      board = try QueueBoard()
    } catch {
      throw QueueError(.io, "a queue cannot be made: \(error)")
    }
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
              QueueError(.io, "a queue cannot have its thread: \(error)")))
        }
      }
    } onCancel: {
      isCancelled.store(true, ordering: .relaxed)
      board.inbox.put(.leave)
    }
    try opened.get()
    // After it was found, but before anybody knew.
    if isCancelled.load(ordering: .relaxed) { throw ServerStart.cancelled }
  }

  /// What reading manifests takes.
  private static let stackBytes = 8 << 20

  /// The id of its run, as `opflow runs` shows it.
  public var runID: String { board.table.withLock { $0.runID } }

  // MARK: - Tasks

  /// All tasks, in the order in which they came.
  public var tasks: [QueuedTask] {
    board.table.withLock { table in
      table.entries.indices.map { task(Int32(truncatingIfNeeded: $0), table.entries[$0].id) }
    }
  }

  /// The task of that id; nil where the run has none.
  public func task(_ id: String) -> QueuedTask? {
    board.table.withLock { table in table.place(of: id) }.map { task($0, id) }
  }

  /// How many tasks have no end yet.
  public var count: Int { tally.unfinished }

  /// How many tasks are in each state.
  public var tally: TaskTally { board.table.withLock { $0.tally } }

  func task(_ place: Int32, _ id: String) -> QueuedTask {
    QueuedTask(board: board, lease: lease, place: place, id: id)
  }

  // MARK: - Waiting

  /// Waits until every task has ended that the queue has by then, whatever became of them. What another program adds
  /// counts as soon as this one has heard of it, some milliseconds later.
  ///
  /// - Returns: how many are in which state.
  /// - Throws: where the run ends before, or the Swift task that waits is cancelled; the queue goes on then.
  @discardableResult
  public func waitUntilAllFinished() async throws(QueueError) -> TaskTally {
    try await board.wait(for: .all)
    return tally
  }

  /// Every change of every task from now on, in the order in which they happened.
  ///
  /// It ends when the run has. A reader that is slower than the changes gets the newest state of each task once more
  /// than `limit` wait for it, and is told how many it missed (``TaskChange/skipped``).
  public func changes(_ buffering: ChangeBuffering = .everyChange()) -> TaskChanges {
    TaskChanges(board, lease, nil, buffering)
  }

  /// ``changes(_:)`` with every change.
  public var changes: TaskChanges { changes() }

  // MARK: - Orders

  /// Whether nothing new starts, as ``pause()`` asks for.
  public var isSuspended: Bool { board.table.withLock { $0.isPaused } }

  /// Nothing new starts. What runs goes on.
  public func pause() async throws(QueueError) { try await board.ask(.pause, .run) }

  /// Tasks start again.
  public func `continue`() async throws(QueueError) { try await board.ask(.proceed, .run) }

  /// How many tasks run at once from now on. Where more do already, none is stopped.
  ///
  /// - Parameter most: from 1 to 1000000.
  public func setMaxConcurrent(_ most: Int) async throws(QueueError) {
    guard (1...1_000_000).contains(most) else {
      throw QueueError(.usage, "maxConcurrent is a whole number from 1 to 1000000, not \(most)")
    }
    let carried = CarriedValue(resource: "cpu", number: Int64(most))
    try await board.ask(.parallel, .run, carried)
  }

  /// Cancels every task that has no end yet. The queue takes more all the same.
  public func cancelAll() async throws(QueueError) {
    do throws(QueueError) {
      try await board.ask(.cancel, .all)
    } catch {
      // There was none that had no end, or the run ends all of them by itself.
      if error.kind != .refused { throw error }
    }
  }

  /// Nothing more is added: when all tasks have ended the run does, and its name is free for another one.
  ///
  /// Returns as soon as that is known, and not only then when the run has ended.
  public func close() async throws(QueueError) { try await board.ask(.close, .run) }

  /// Closes the queue, and waits until its run has ended. One that is closed already is waited for all the same.
  @discardableResult
  public func finish() async throws(QueueError) -> TaskTally {
    do throws(QueueError) {
      try await close()
    } catch {
      // Closed before, stopping or over: its end is about to come.
      if error.kind != .refused && error.kind != .ended { throw error }
    }
    try await board.wait(for: .end)
    return tally
  }
}

/// Lets the reader go when nobody refers to the queue any more.
final class QueueLease: Sendable {
  private let board: QueueBoard
  init(_ board: QueueBoard) { self.board = board }
  deinit { board.inbox.put(.leave) }
}

extension QueueBoard {
  @discardableResult
  func ask(
    _ verb: OrderVerb, _ about: OrderJob.About, _ carried: CarriedValue = CarriedValue()
  ) async throws(QueueError) -> Int {
    try await reply { .order(OrderJob(verb, about, carried, $0)) }
  }

  func add(_ content: AddJob.Content) async throws(QueueError) -> [Int32] {
    try await reply { .add(AddJob(content, $0)) }
  }

  /// Asks the reader, and waits for its answer. A request stands when the Swift task that waits for it is cancelled.
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
      .usage, "this process was forked by the one that made the queue, and has no part in it")
  }
}
