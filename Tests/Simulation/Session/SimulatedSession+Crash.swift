import OpflowEngine

extension SimulatedSession {
  /// The coordinator dies between two steps or during a write. Workers act on messages sent before,
  /// until they notice.
  mutating func crash() throws(Finding) {
    while random.chance(80), let step = engine.next(at: now) {
      if case .write = step, random.chance(50) {
        file.append(engine.unwritten.prefix(random.below(engine.unwritten.count + 1)))
        break
      }
      try perform(step)
    }
    ledger.isWritten(upTo: file.bytes.count)
    for _ in 0..<random.below(6) {
      let moves = enabledMoves().filter(\.isOfWorker)
      if moves.isEmpty { break }
      try make(moves[random.below(moves.count)])
    }
    if random.chance(30) {
      file.losePower(&random)
      let grows = random.chance(20)
      ledger.isWritten(upTo: file.bytes.count, isFollowed: grows)
      if grows { file.growWithoutData(&random) }
    }
  }
}
