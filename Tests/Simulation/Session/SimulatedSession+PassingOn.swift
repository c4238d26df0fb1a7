import OpflowEngine
import OpflowPlan

/// Services that stay up for the next session.
extension SimulatedSession {
  /// Returns the services that stay up; their workers may have unread reports.
  func passOn() throws(Finding) -> [PassedOn] {
    if !control.open.isEmpty { throw Finding("a request was not answered") }
    var passed: [PassedOn] = []
    for held in passing {
      let name = plan.nameString(held.service)
      guard oracle.isUp(held.service, held.attempt) else {
        throw Finding("\(name) is passed on, and is not up")
      }
      let needed = plan.services(neededBy: held.service).filter { oracle.stand[$0.index] != .over }
      if !needed.allSatisfy({ need in passed.contains { $0.held.service == need } }) {
        throw Finding("\(name) is passed on without what it needs")
      }
      var worker = workers[held.worker.index]
      // Its connection was closed when it was passed on: the next session reads of the end.
      if worker.phase == .gone { worker.phase = .dead }
      passed.append(
        PassedOn(
          held: held, worker: worker, name: name,
          end: oracle.end(of: held.service, held.attempt)))
    }
    let running = plan.tasks.map { TaskID($0) }.filter { oracle.stand[$0.index] == .running }
    guard Set(running) == Set(passing.map(\.service)) else {
      throw Finding("a drive ended that passes on \(passing.count) of \(running.count) that run")
    }
    return passed
  }
}
