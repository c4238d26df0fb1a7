internal import OpflowBase
package import OpflowPlan

/// A control request before the requester is known.
package struct ClientRequest: Equatable, Sendable {
  package var id: RequestID
  package var verb: ControlAction
  package var planKey: String
  package var tasks = TaskRanges()
  package var among = TaskRanges()
  package var carried = CarriedValue()
  /// The attempt that the request is meant for; 0 for any.
  package var expects: Int32 = 0
  package var by = ""

  package init(id: RequestID, verb: ControlAction, planKey: String) {
    self.id = id
    self.verb = verb
    self.planKey = planKey
  }

  package static let longestNameBytes = 255
  static let mostAttempts: Int32 = 1_000_000_000

  /// Why the request is invalid in any run.
  package var fault: String? {
    let namesTasks = !tasks.isEmpty || !among.isEmpty
    switch verb.row.about {
    case .either: break
    case .run: if namesTasks { return "`\(verb.rawValue)` takes no tasks" }
    case .tasks: if !namesTasks { return "`\(verb.rawValue)` needs a task" }
    }
    if planKey.isEmpty { return "the request has no plan" }
    if by.utf8.count > Self.longestNameBytes {
      return "`by` has \(by.utf8.count) bytes; the limit is \(Self.longestNameBytes)"
    }
    if !(0...Self.mostAttempts).contains(expects) {
      return "`expects` is not a valid attempt number"
    }
    if expects > 0, !namesTasks { return "`expects` needs a task" }
    return carried.fault(of: verb)
  }

  package func controlRequest(of plan: Plan, from requester: Requester) throws(RequestRefusal)
    -> ControlRequest
  {
    if let fault { throw RequestRefusal(detail: fault) }
    let key = plan.key.description
    guard planKey == key else {
      throw RequestRefusal(
        detail:
          "the request is for plan \(planKey), but the run now has plan \(key); send it again")
    }
    let last = max(tasks.last, among.last)
    guard last.index < plan.taskCount else {
      throw RequestRefusal(
        detail: "there is no task number \(last.rawValue); the plan has \(plan.taskCount) tasks")
    }
    let value = try carried.value(verb.row.carries, of: plan)
    var request = ControlRequest(id: id, requester: requester, verb: verb, value: value)
    request.tasks = tasks.tasks
    request.among = among.tasks
    request.expects = expects
    return request
  }
}

/// A request to add tasks to a live run. The run folder has a plan segment named by the ID, or the
/// request carries it.
package struct AddRequest: Equatable, Sendable {
  package var id: RequestID
  package var planKey: String
  /// The generator; `none` for another process.
  package var generator = TaskID.none
  /// The real path; `-` for standard input.
  package var manifestPath: String
  /// The base of relative paths.
  package var folder: String
  /// `HASH PATH` of each source file, as in `OpenEntry`.
  package var files: [String] = []
  /// Set if the run folder does not have the addition.
  package var carried: CarriedAddition?
  package var by = ""

  package init(id: RequestID, planKey: String, manifestPath: String, folder: String) {
    self.id = id
    self.planKey = planKey
    self.manifestPath = manifestPath
    self.folder = folder
  }

  /// Begins a refusal if the plan has changed: compiled again, the addition may be accepted.
  package static let outdated = "the run has grown meanwhile"
  /// Begins a refusal for an output error.
  package static let unwritable = "cannot write"

  var fault: String? {
    if id.text.hasPrefix(".") { return "the ID of an addition must not start with a dot" }
    if planKey.isEmpty { return "the request has no plan" }
    if manifestPath.isEmpty || folder.isEmpty { return "the request has no manifest" }
    if let fault = carried?.fault { return fault }
    if by.utf8.count > ClientRequest.longestNameBytes {
      return "`by` has \(by.utf8.count) bytes; the limit is \(ClientRequest.longestNameBytes)"
    }
    return nil
  }
}

extension AddRequest {
  /// - Parameter task: The requesting task, found by process; `none` from outside.
  package func expectFit(_ plan: Plan, from task: TaskID) throws(RequestRefusal) {
    let key = plan.key.description
    guard planKey == key else {
      throw RequestRefusal(
        detail: "\(Self.outdated): its plan was \(planKey) and is now \(key)")
    }
    guard generator.index < plan.taskCount else {
      throw RequestRefusal(
        detail: "there is no task number \(generator.rawValue);"
          + " the plan has \(plan.taskCount) tasks")
    }
    // The task's additions would be lost when it runs again.
    guard task.isNone || task == generator else {
      throw RequestRefusal(
        detail:
          "\(plan.nameString(task)) is a task of this run, and tasks that it adds must start after"
          + " it; keep its OPFLOW_RUN and OPFLOW_TASK in the environment of `opflow add`")
    }
    guard generator.isNone || plan.flags(generator).contains(.control) else {
      throw RequestRefusal(
        detail: "\(plan.nameString(generator)) is a task of this run; to control the run it needs"
          + " `control: true`")
    }
  }
}

package enum SocketRequest: Equatable, Sendable {
  case request(ClientRequest)
  case add(AddRequest)
  case host(ClientHello)
}

extension SocketRequest {
  package var id: RequestID {
    switch self {
    case .request(let request): request.id
    case .add(let addition): addition.id
    case .host(let host): host.id
    }
  }
}

/// A short addition in the journal instead of a file, so that nothing is synced before its line. A
/// resume compiles it from there.
package struct CarriedAddition: Equatable, Sendable {
  /// Includes no other file.
  package var copy: [UInt8]
  package var segment: [UInt8]

  /// Views read every journal line, so longer additions are kept in files.
  private static let mostCopyBytes = 1 << 14
  private static let mostSegmentBytes = 1 << 17

  package init(copy: [UInt8], segment: [UInt8]) {
    self.copy = copy
    self.segment = segment
  }

  package var isShort: Bool {
    copy.count <= Self.mostCopyBytes && segment.count <= Self.mostSegmentBytes
  }

  var fault: String? {
    if copy.isEmpty || segment.isEmpty { return "the addition is incomplete" }
    return isShort ? nil : "the addition is too long"
  }
}

/// Registers a client that the run is for. The client may end before the run.
package struct ClientHello: Equatable, Sendable {
  package var id: RequestID
  package var afterClient: AfterClient

  /// Refused while a run ends: the client must resume it or begin another one.
  package static let leaving = "the run is ending"

  package init(id: RequestID, afterClient: AfterClient) {
    self.id = id
    self.afterClient = afterClient
  }
}

/// The run's reaction to the end of its last client.
package enum AfterClient: String, CaseIterable, Sendable {
  /// Stops as by SIGTERM; the run can be resumed.
  case stop
  case goOn = "go-on"
}
