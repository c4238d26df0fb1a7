import OpflowEngine

/// Holds the engine of a session, since `Engine` cannot be copied and the session is.
final class OwnEngine {
  var engine: Engine

  init(_ engine: consuming Engine) { self.engine = engine }
}
