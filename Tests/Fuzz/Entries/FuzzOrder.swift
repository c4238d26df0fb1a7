import OpflowCore

/// What anybody may send to the socket of a run, and what is answered.
enum FuzzOrder {
  static func check(_ bytes: UnsafeRawBufferPointer) throws(FuzzFinding) {
    for line in bytes.split(separator: Field.lineFeed, omittingEmptySubsequences: false) {
      let line = UnsafeRawBufferPointer(rebasing: line)
      try checkOrder(line)
      try checkAnswer(line)
    }
  }

  private static func checkOrder(_ line: UnsafeRawBufferPointer) throws(FuzzFinding) {
    let order: OrderRequest
    do throws(UnreadableOrder) {
      order = try OrderLines.order(line)
    } catch {
      return try checkRefusal(error)
    }
    guard let written = OrderLines.line(order) else {
      throw FuzzFinding("a line of \(line.count) bytes cannot be written: \(order)")
    }
    try expect(
      written.firstIndex(of: Field.lineFeed) == written.count - 1, "not one line: \(order)")
    let again = written.withUnsafeBytes { bytes in
      try? OrderLines.order(UnsafeRawBufferPointer(rebasing: bytes.dropLast()))
    }
    try expect(again == order, "\(order) became \(String(describing: again))")
    guard let plan = FuzzJournal.plan else { throw FuzzFinding("the plan does not hold") }
    for key in [order.planKey, plan.key.description] {
      var asked = order
      asked.planKey = key
      let asker = OrderAsker(pid: 1, user: 0, name: order.by)
      guard let found = try? asked.order(of: plan, from: asker) else { continue }
      try expect(
        (found.tasks + found.among).allSatisfy { plan.tasks.contains($0.index) },
        "a task that the plan does not have: \(found)")
      try expect(found.action.verb == order.verb, "another order: \(found)")
    }
  }

  /// What is wrong with any bytes can be told to who sent them.
  private static func checkRefusal(_ error: UnreadableOrder) throws(FuzzFinding) {
    let answer = OrderAnswer.refused(what: error.what)
    let line = OrderLines.line(answer, to: error.id)
    try expect(line.firstIndex(of: Field.lineFeed) == line.count - 1, "not one line: \(answer)")
    let read = line.dropLast().withUnsafeBytes { OrderLines.answer($0) }
    try expect(
      read?.id == error.id && read?.answer == answer, "\(answer) became \(String(describing: read))"
    )
  }

  private static func checkAnswer(_ line: UnsafeRawBufferPointer) throws(FuzzFinding) {
    guard let (id, answer) = OrderLines.answer(line) else { return }
    let written = OrderLines.line(answer, to: id)
    let again = written.dropLast().withUnsafeBytes { OrderLines.answer($0) }
    // A reason may be cut.
    try expect(again?.id == id && again != nil, "\(answer) became \(String(describing: again))")
  }
}
