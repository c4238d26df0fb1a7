import OpflowPlan
import OpflowWire

/// A program that has blocks: it comes by itself, offers them, and goes.
struct SimulatedProgram {
  /// One try of a block that goes on in it.
  struct Try {
    var task: TaskID
    var attempt: Int32
    var slot: WorkerID
    /// It was told to end.
    var isAsked = false
  }

  let id: ClientID
  /// The connection is there; what it said before it went may still be read.
  var isThere = true
  /// That it is gone was told.
  var isOver = false
  /// What it would run if it was told to, which is not what it has said: both are on their way for
  /// a while.
  var offers: Set<TaskID> = []
  var inbox: [(message: WorkerMessage, slot: WorkerID)] = []
  var outbox: [ExternalTaskFact] = [.joined]
  var running: [Try] = []

  init(_ id: ClientID) { self.id = id }
}
