import OpflowBase
import OpflowPlan
import OpflowWire

/// Checks requests that any process may send to a run's socket, and the answers.
enum FuzzRequest {
  static func check(_ bytes: UnsafeRawBufferPointer) throws(FuzzFinding) {
    for line in bytes.split(separator: Field.lineFeed, omittingEmptySubsequences: false) {
      let line = UnsafeRawBufferPointer(rebasing: line)
      try checkRequest(line)
      try checkAnswer(line)
    }
  }

  private static func checkRequest(_ line: UnsafeRawBufferPointer) throws(FuzzFinding) {
    let request: SocketRequest
    do throws(UnreadableRequest) {
      request = try RequestLines.request(line)
    } catch {
      return try checkRefusal(error)
    }
    switch request {
    case .request(let request): try check(request, line)
    case .add(let addition): try check(addition)
    case .host(let host):
      let again = RequestLines.line(host).dropLast().withUnsafeBytes {
        try? RequestLines.request($0)
      }
      try expect(again == .host(host), "\(host) became \(String(describing: again))")
    }
  }

  private static func check(
    _ request: ClientRequest, _ line: UnsafeRawBufferPointer
  ) throws(FuzzFinding) {
    guard let written = RequestLines.line(request) else {
      throw FuzzFinding("a line of \(line.count) bytes cannot be written: \(request)")
    }
    try expect(
      written.firstIndex(of: Field.lineFeed) == written.count - 1, "not one line: \(request)")
    let again = written.withUnsafeBytes { bytes in
      try? RequestLines.request(UnsafeRawBufferPointer(rebasing: bytes.dropLast()))
    }
    try expect(again == .request(request), "\(request) became \(String(describing: again))")
    guard let plan = FuzzJournal.plan else { throw FuzzFinding("the plan does not hold") }
    for key in [request.planKey, plan.key.description] {
      var asked = request
      asked.planKey = key
      let requester = Requester(pid: 1, user: 0, name: request.by)
      guard let found = try? asked.controlRequest(of: plan, from: requester) else { continue }
      try expect(
        (found.tasks + found.among).allSatisfy { plan.tasks.contains($0.index) },
        "a task that the plan does not have: \(found)")
      try expect(found.verb == request.verb, "another request: \(found)")
    }
  }

  private static func check(_ addition: AddRequest) throws(FuzzFinding) {
    // Brief escapes become longer, possibly too long.
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

  /// Checks that each refusal can be sent to the client.
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
