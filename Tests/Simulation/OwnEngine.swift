import OpflowEngine

/// The one engine of a drive: it is no value to be copied, and its drive is looked at by copies.
final class OwnEngine {
  var engine: Engine

  init(_ engine: consuming Engine) { self.engine = engine }
}
