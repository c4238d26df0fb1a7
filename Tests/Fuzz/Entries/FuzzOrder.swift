import OpflowBase
import OpflowPlan
import OpflowWire

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
    let request: SocketRequest
    do throws(UnreadableRequest) {
      request = try RequestLines.request(line)
    } catch {
      return try checkRefusal(error)
    }
    switch request {
    case .order(let order): try check(order, line)
    case .add(let addition): try check(addition)
    case .host(let host):
      let again = RequestLines.line(host).dropLast().withUnsafeBytes {
        try? RequestLines.request($0)
      }
      try expect(again == .host(host), "\(host) became \(String(describing: again))")
    }
  }

  private static func check(
    _ order: ClientRequest, _ line: UnsafeRawBufferPointer
  ) throws(FuzzFinding) {
    guard let written = RequestLines.line(order) else {
      throw FuzzFinding("a line of \(line.count) bytes cannot be written: \(order)")
    }
    try expect(
      written.firstIndex(of: Field.lineFeed) == written.count - 1, "not one line: \(order)")
    let again = written.withUnsafeBytes { bytes in
      try? RequestLines.request(UnsafeRawBufferPointer(rebasing: bytes.dropLast()))
    }
    try expect(again == .order(order), "\(order) became \(String(describing: again))")
    guard let plan = FuzzJournal.plan else { throw FuzzFinding("the plan does not hold") }
    for key in [order.planKey, plan.key.description] {
      var asked = order
      asked.planKey = key
      let requester = Requester(pid: 1, user: 0, name: order.by)
      guard let found = try? asked.order(of: plan, from: requester) else { continue }
      try expect(
        (found.tasks + found.among).allSatisfy { plan.tasks.contains($0.index) },
        "a task that the plan does not have: \(found)")
      try expect(found.verb == order.verb, "another order: \(found)")
    }
  }

  private static func check(_ addition: AddRequest) throws(FuzzFinding) {
    // What was escaped more briefly than it has to be may be too long.
    guard let written = RequestLines.line(addition) else { return }
    let again = written.withUnsafeBytes { bytes in
      try? RequestLines.request(UnsafeRawBufferPointer(rebasing: bytes.dropLast()))
    }
    try expect(again == .add(addition), "\(addition) became \(String(describing: again))")
    guard let plan = FuzzJournal.plan else { throw FuzzFinding("the plan does not hold") }
    guard (try? addition.expectFit(plan, from: .none)) != nil, !addition.generator.isNone else {
      return
    }
    try expect(
      plan.flags(addition.generator).contains(.control), "a task that may not add: \(addition)")
  }

  /// What is wrong with any bytes can be told to who sent them.
  private static func checkRefusal(_ error: UnreadableRequest) throws(FuzzFinding) {
    let answer = RequestAnswer.refused(detail: error.detail)
    let line = RequestLines.line(answer, to: error.id)
    try expect(line.firstIndex(of: Field.lineFeed) == line.count - 1, "not one line: \(answer)")
    let read = line.dropLast().withUnsafeBytes { RequestLines.answer($0) }
    try expect(
      read?.id == error.id && read?.answer == answer, "\(answer) became \(String(describing: read))"
    )
  }

  private static func checkAnswer(_ line: UnsafeRawBufferPointer) throws(FuzzFinding) {
    guard let (id, answer) = RequestLines.answer(line) else { return }
    let written = RequestLines.line(answer, to: id)
    let again = written.dropLast().withUnsafeBytes { RequestLines.answer($0) }
    // A reason may be cut.
    try expect(again?.id == id && again != nil, "\(answer) became \(String(describing: again))")
  }
}
