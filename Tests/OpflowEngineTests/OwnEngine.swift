import OpflowEngine
import OpflowPlan

/// The only engine of a simulated client. Engines cannot be copied, but expectations copy their
/// operands, so they use this class.
final class OwnEngine {
  var engine: Engine

  init(_ engine: consuming Engine) { self.engine = engine }

  var nextWake: Instant? { engine.nextWake }
  var restNanoseconds: Int64 { engine.restNanoseconds }
  var unwritten: [UInt8] { engine.unwritten }
  var unrecordedSuccesses: Int { engine.unrecordedSuccesses }
  func state(_ task: TaskID) -> TaskState { engine.state(task) }
  func isOver(_ node: NodeID) -> Bool { engine.isOver(node) }
}
