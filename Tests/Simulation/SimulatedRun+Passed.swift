import OpflowEngine
import OpflowJournal
import OpflowPlan

/// Services that stay up between sessions.
extension SimulatedRun {
  /// Returns services that the last session left up and whose definitions are unchanged,
  /// dependencies first. The process stops the others before the next session begins.
  ///
  /// Tasks must have the same numbers here; `TaskAlias` handles reports with other numbers.
  mutating func takePassed(
    _ plan: Plan, _ history: RunModel, _ request: inout ResumeRequest
  ) -> [PassedOn] {
    defer { passed = [] }
    guard let before = passedFrom, !passed.isEmpty, before.taskCount == plan.taskCount,
      plan.tasks.allSatisfy({ plan.nameString(TaskID($0)) == before.nameString(TaskID($0)) })
    else { return [] }
    let same = passed.filter { left in
      let service = left.held.service
      return plan.isService(service) && plan.fingerprint(service) == before.fingerprint(service)
        && plan.policy(service) == before.policy(service)
        && plan.portNames(of: service) == before.portNames(of: service)
        && plan.restarts(of: service) == before.restarts(of: service)
        && !plan.flags(service).contains(.readsValues) && history[service].isReady
        && history[service].attempts == left.held.attempt
    }
    var held = TaskSet(taskCount: plan.taskCount)
    for left in same { held.insert(left.held.service) }
    request.held = held
    request.standing = RunScope.standing(nil, selected: request.selected, plan)
    return same
  }

  /// Checks that the journal has these services as up and the session as not closed.
  func check(_ left: [PassedOn], _ session: SimulatedSession) throws(Finding) {
    guard !session.hasJournalFailed else {
      throw Finding("services go on, and nobody can write it down")
    }
    let history: RunModel
    do throws(JournalError) {
      history = try Self.read(session.file, session.plan).history
    } catch {
      throw Finding("the journal of a whole session cannot be read: \(error.message)")
    }
    if history.close != nil { throw Finding("a drive that passes something on is closed") }
    for entry in left where !history[entry.held.service].isReady {
      throw Finding(
        "\(entry.name) goes on, and the journal has it as \(history[entry.held.service].state)")
    }
  }
}
