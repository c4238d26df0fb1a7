import OpflowEngine
import OpflowPlan

/// The one engine of an imagined host. An engine is no value to be copied, and expectations copy
/// what they look at: what they ask, they ask here.
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
