import OpflowPlan
import OpflowWire

/// A client with external tasks: it connects, offers them, and disconnects.
struct SimulatedProgram {
  /// A running attempt.
  struct Try {
    var task: TaskID
    var attempt: Int32
    var slot: WorkerID
    /// It was told to end.
    var isAsked = false
  }

  let id: ClientID
  /// It is connected. Messages sent before a disconnection may still be read.
  var isThere = true
  /// Its disconnection was reported.
  var isOver = false
  /// Tasks that it would run if told to; messages about changes may be in flight.
  var offers: Set<TaskID> = []
  var inbox: [(message: WorkerMessage, slot: WorkerID)] = []
  var outbox: [ExternalTaskFact] = [.joined]
  var running: [Try] = []

  init(_ id: ClientID) { self.id = id }
}
