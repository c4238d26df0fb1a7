/// Further machines, where a drive has any.
extension ProgressView {
  /// Something became of a machine.
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

  /// A worker came, of which tasks may be told from here on that they begin there.
  package mutating func worker(_ entry: WorkerEntry) { model.machines.apply(entry) }

  /// Machines are waited for.
  ///
  /// - Parameters:
  ///   - place: for what each one thing is waited for.
  ///   - what: in words; nil: no longer.
  ///   - isNews: it is worth a line where no frame shows it.
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

  /// What came of it, in words.
  package mutating func endWait(_ place: Int, _ came: String, atMilliseconds now: Int64) {
    wait(place, for: nil, isNews: false, atMilliseconds: now)
    if live == nil, renderer.tellsWaits { tell(CleanText.string(came)) }
  }

  /// A line of the run as a whole.
  private mutating func tell(_ clean: String) {
    text.add(palette.dim(TransitionLine.counter(model)))
    text.add(" ")
    text.addSentence(clean)
    text.endLine()
    settle()
  }
}
