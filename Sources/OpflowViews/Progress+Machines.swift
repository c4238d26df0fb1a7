package import OpflowCore

/// The nodes of a session.
extension ProgressView {
  /// Reports a change of a node.
  package mutating func site(_ entry: SiteEntry, atMilliseconds now: Int64) {
    nowMilliseconds = now
    let before = model.machines[entry.site]?.state
    model.machines.apply(entry)
    if json {
      ProgressJSON.machine(entry, atMilliseconds: now, into: &text)
      settleObject(.event)
    }
    if let change = MachineText.change(entry, from: before, model) {
      tell(palette.yellow(change))
    }
    live?.pass(toMilliseconds: now)
  }

  /// Reports a new worker, so that tasks can be shown to start on its node.
  package mutating func worker(_ entry: WorkerEntry) { model.machines.apply(entry) }

  /// Reports that the run waits for nodes.
  ///
  /// - Parameters:
  ///   - place: identifies the wait.
  ///   - what: the message; nil ends the wait.
  ///   - isNews: whether to print a line if no frame shows it.
  package mutating func wait(
    _ place: Int, for what: String?, isNews: Bool, atMilliseconds now: Int64
  ) {
    nowMilliseconds = now
    guard model.machines.wait(place, for: what) else { return }
    if json, let what {
      ProgressJSON.wait(what, atMilliseconds: now, into: &text)
      settleObject(.event)
    }
    if live == nil, isNews, renderer.tellsWaits, let what { tell(CleanText.string(what)) }
    live?.pass(toMilliseconds: now)
  }

  /// Ends a wait and reports its outcome.
  package mutating func endWait(_ place: Int, _ came: String, atMilliseconds now: Int64) {
    wait(place, for: nil, isNews: false, atMilliseconds: now)
    if live == nil, renderer.tellsWaits { tell(CleanText.string(came)) }
  }

  /// Prints a line about the run as a whole.
  private mutating func tell(_ clean: String) {
    text.add(palette.dim(TransitionLine.counter(model)))
    text.add(" ")
    text.addSentence(clean)
    text.endLine()
    settle()
  }
}
