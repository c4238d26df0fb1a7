/// What a person does with the keyboard while the view has it.
extension ProgressView {
  /// Whether somebody has the keyboard. Without, no key is in force.
  package mutating func setKeys(_ isOn: Bool) { live?.setKeys(isOn) }

  /// What was typed, as it was read at once.
  package mutating func type(_ typed: [UInt8]) -> [LiveKeys.Action] {
    let parallel = heading.parallel
    return live?.type(typed, model, parallel: parallel) ?? []
  }

  /// What a key asked for is on its way.
  package mutating func ask(_ request: OrderRequest) { live?.ask(request) }

  /// What became of a key, in words.
  package mutating func tellKey(_ message: String, of request: OrderRequest? = nil) {
    live?.tell(message, of: request)
  }

  /// Of which tasks the last that they printed is shown by now, and how many bytes of it.
  package func wantedTails(atMilliseconds now: Int64) -> (tasks: [TaskID], bytes: Int) {
    live?.wantedTails(model, atMilliseconds: now) ?? ([], 0)
  }

  /// - Parameter tails: by task, its end cut anywhere.
  package mutating func setTails(_ tails: [TaskID: [UInt8]]) { live?.setTails(tails) }

  /// - Parameter inner: runs that tasks have begun.
  package mutating func setInner(_ inner: [TaskID: InnerRun]) { live?.setInner(inner) }
}
