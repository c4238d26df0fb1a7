@testable import OpflowEngine
@testable import OpflowPlan

/// Requests to an imagined run.
extension EngineHarness {
  func state(_ name: String) -> TaskState {
    plan.task(named: name).map { engine.state($0) } ?? .skipped
  }

  func request(
    _ verb: ControlAction, _ names: [String], among: [String] = [], value: RequestValue = .nothing
  ) -> ControlRequest {
    let id = RequestID("o\(answers.count).\(obeyed.count).\(verb)")
    var request = ControlRequest(
      id: id ?? RequestID("o")!, requester: Requester(pid: 1, user: 0, name: "opflow"),
      verb: verb, value: value)
    request.tasks = names.compactMap { plan.task(named: $0) }
    request.among = among.compactMap { plan.task(named: $0) }
    return request
  }

  /// Asks for something, and waits for the answer.
  mutating func ask(
    _ verb: ControlAction, _ names: [String] = [], among: [String] = [],
    value: RequestValue = .nothing
  ) -> RequestAnswer? {
    let count = answers.count
    tell(
      .request(request(verb, names, among: among, value: value), from: ConnectionID(Int32(count))))
    if answers.count == count { obeyAll() }
    return answers.count > count ? answers.last : nil
  }
}
