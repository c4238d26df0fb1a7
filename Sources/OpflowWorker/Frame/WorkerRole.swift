package import OpflowCore
package import OpflowSystem

/// What a kind of worker is to the frame, before it does anything.
package struct WorkerTrade: Sendable {
  /// Stands in front of what it complains of.
  let program: String
  /// Its command line, for whoever got that wrong.
  package let usage: String
  /// What its hello says that it can do.
  let actions: WorkerActions
  /// Whether it takes tasks of a kind.
  let takes: @Sendable (ActionKind) -> Bool
  /// Whether its command line may have arguments for a task.
  var takesArguments = false
  /// Descriptors of its own that it watches at most.
  let slots: Int

  package init(
    program: String, usage: String, actions: WorkerActions, slots: Int,
    takes: @escaping @Sendable (ActionKind) -> Bool
  ) {
    self.program = program
    self.usage = usage
    self.actions = actions
    self.takes = takes
    self.slots = slots
  }

  package func complain(_ text: String) {
    // Nobody is left to tell when this fails.
    try? StandardStream.error.writeAll(Array("\(program): \(text)\n".utf8))
  }
}

/// What a worker process does: takes orders, says reports through its frame, and waits for
/// descriptors of its own. The frame calls it, one call at a time.
package protocol WorkerRole: AnyObject {
  var frame: WorkerFrame { get }

  /// When `passTime` is to be called at the latest; nil for never.
  var deadline: Instant? { get }

  /// Does what the first order would have to wait for, while the coordinator hears of the worker.
  func prepare()

  /// Waits, at most so long (negative: for ever), until any descriptor of the frame's set is ready.
  /// A role with other things to wait for, or with work to do, does that here, a little at a time.
  func wait(nanoseconds: Int64) throws(Errno)

  /// Takes in what the wait has found at its own descriptors. Before any order of the same turn.
  func takeEvents(at now: Instant) throws(Errno)

  /// An order of the coordinator's, which fits the plan.
  func obey(_ order: WorkerOrder, at now: Instant)

  /// The coordinator is gone, or somebody wants this worker gone: end the work, then leave. May come
  /// more than once.
  func endOfOrders(at now: Instant)

  /// Does what is due.
  func passTime(at now: Instant)
}

extension WorkerRole {
  package func prepare() {}

  package func wait(nanoseconds: Int64) throws(Errno) {
    _ = try frame.poll.wait(nanoseconds: nanoseconds)
  }
}

/// Why a worker cannot work, in words for a person.
package struct WorkerFailure: Error {
  package let what: String
  package init(what: String) { self.what = what }

  /// What `body` gives, or a failure that names what was attempted.
  package static func naming<Result: ~Copyable>(
    _ what: String, _ body: () throws(Errno) -> Result
  ) throws(WorkerFailure) -> Result {
    do throws(Errno) {
      return try body()
    } catch {
      throw WorkerFailure(what: "\(what): \(error)")
    }
  }
}
