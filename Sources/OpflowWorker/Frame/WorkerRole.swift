package import OpflowPlan
package import OpflowSystem
package import OpflowWire

/// The static properties of a kind of worker.
package struct WorkerTrade: Sendable {
  /// The prefix of its error messages.
  let program: String
  /// Its usage line.
  package let usage: String
  /// The actions that it announces to the coordinator.
  let actions: WorkerActions
  /// Whether it runs tasks of a kind.
  let takes: @Sendable (ActionKind) -> Bool
  /// Whether its command line may have arguments for a task.
  var takesArguments = false
  /// The number of poll slots that the role needs.
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
    // A failure cannot be reported.
    try? StandardStream.error.writeAll(Array("\(program): \(text)\n".utf8))
  }
}

/// The behavior of a worker process: takes commands, sends reports through its frame and waits for
/// descriptors of its own. The frame makes one call at a time.
package protocol WorkerRole: AnyObject {
  var frame: WorkerFrame { get }

  /// When `passTime` must be called; nil for never.
  var deadline: Instant? { get }

  /// Prepares for the first command while the coordinator handles the hello.
  func prepare()

  /// Waits until a descriptor of the frame's set is ready, at most that long (negative: forever). A
  /// role with background work does a small part of it here.
  func wait(nanoseconds: Int64) throws(Errno)

  /// Handles the role's ready descriptors; called before the commands of the same turn.
  func takeEvents(at now: Instant) throws(Errno)

  /// Handles a command, which was checked against the plan.
  func obey(_ order: WorkerOrder, at now: Instant)

  /// Ends the work, then leaves: the coordinator is gone or this worker is asked to end. May be
  /// called more than once.
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

/// Why a worker cannot work, as a message for the user.
package struct WorkerFailure: Error {
  package let what: String
  package init(what: String) { self.what = what }

  /// Returns the result of `body`, or throws a failure that names the operation.
  package static func naming<Result: ~Copyable>(
    _ what: @autoclosure () -> String, _ body: () throws(Errno) -> Result
  ) throws(WorkerFailure) -> Result {
    do throws(Errno) {
      return try body()
    } catch {
      throw WorkerFailure(what: "\(what()): \(error)")
    }
  }
}
