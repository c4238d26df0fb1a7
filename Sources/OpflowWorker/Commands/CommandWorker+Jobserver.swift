internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

extension CommandWorker {
  func noteTokens(_ order: WorkerOrder, at now: Instant) {
    jobserver.note(order, running: running, at: now)
    awaitTokens()
  }

  /// Reclaimed or unused tokens.
  func takeTokens(at now: Instant) {
    if frame.poll.isReady(Slot.tokens) || jobserver.isOwedAtOnce {
      report(tokens: jobserver.takeOwed())
    }
    report(tokens: jobserver.takeUnused(at: now))
    awaitTokens()
  }

  private func report(tokens count: Int32) {
    if count > 0 { frame.say(.tokens(running, count)) }
  }

  private func awaitTokens() { frame.poll.set(Slot.tokens, jobserver.awaited ?? -1) }

  func beginJobserver(_ task: TaskID) throws(WorkerRefusal) -> JobserverOffer? {
    guard let style = plan.jobserver(of: task) else { return nil }
    do {
      return try jobserver.begin(task, style, at: frame.now)
    } catch {
      throw WorkerRefusal(
        errorNumber: error.rawValue, what: "cannot make a jobserver for it: \(error)")
    }
  }

  func endJobserver() {
    jobserver.end()
    awaitTokens()
  }
}
