package import OpflowCore

/// The keys of the live view.
extension ProgressView {
  /// Turns the keys on or off.
  package mutating func setKeys(_ isOn: Bool) { live?.setKeys(isOn) }

  /// Handles the bytes of one read; the caller carries out the actions.
  package mutating func type(_ typed: [UInt8]) -> [LiveKeys.Action] {
    let parallel = heading.parallel
    return live?.type(typed, model, parallel: parallel) ?? []
  }

  /// Notes that the request of a key was sent.
  package mutating func ask(_ request: OrderRequest) { live?.ask(request) }

  /// Shows the outcome of a key.
  package mutating func tellKey(_ message: String, of request: OrderRequest? = nil) {
    live?.tell(message, of: request)
  }

  /// Returns the tasks whose last output is shown now, and how many bytes of each.
  package func wantedTails(atMilliseconds now: Int64) -> (tasks: [TaskID], bytes: Int) {
    live?.wantedTails(model, atMilliseconds: now) ?? ([], 0)
  }

  /// - Parameter tails: the last bytes of each task's output, cut anywhere.
  package mutating func setTails(_ tails: [TaskID: [UInt8]]) { live?.setTails(tails) }

  /// - Parameter inner: the runs that tasks have started.
  package mutating func setInner(_ inner: [TaskID: InnerRun]) { live?.setInner(inner) }
}
