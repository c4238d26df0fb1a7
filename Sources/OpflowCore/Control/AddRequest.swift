/// A request to add tasks to a live run. The run folder has them already, as a plan segment named
/// by the ID, or the line carries them.
package struct AddRequest: Equatable, Sendable {
  package var id: OrderID
  /// The plan that the segment was compiled against.
  package var planKey: String
  /// The generator, on which the new tasks depend; `none` for another process.
  package var adder = TaskID.none
  /// The real path of the manifest; `-` for standard input.
  package var manifestPath: String
  /// The folder of relative paths.
  package var folder: String
  /// `HASH PATH` of each source file, as in `OpenEntry`.
  package var files: [String] = []
  /// The addition itself, if the run folder does not have it.
  package var carried: CarriedAddition?
  /// The name that the requester gives itself.
  package var by = ""

  package init(id: OrderID, planKey: String, manifestPath: String, folder: String) {
    self.id = id
    self.planKey = planKey
    self.manifestPath = manifestPath
    self.folder = folder
  }

  /// The start of a refusal if the plan has changed: compiled again the addition may be accepted.
  package static let outdated = "the run has grown meanwhile"
  /// The start of a refusal for an output error, such as a full disk.
  package static let unwritable = "cannot write"

  /// Returns why it is invalid in any run.
  var fault: String? {
    // The ID is a folder name.
    if id.text.hasPrefix(".") { return "the id of what is added begins with a point" }
    if planKey.isEmpty { return "it names no plan" }
    if manifestPath.isEmpty || folder.isEmpty { return "it does not say what is added" }
    if let fault = carried?.fault { return fault }
    if by.utf8.count > OrderRequest.longestNameBytes {
      return "`by` has \(by.utf8.count) bytes, and may have \(OrderRequest.longestNameBytes)"
    }
    return nil
  }
}

extension AddRequest {
  /// Checks it against the plan and the requester.
  ///
  /// - Parameter task: the requesting task, found by process; `none` from outside.
  package func expectFit(_ plan: Plan, from task: TaskID) throws(OrderRefusal) {
    let key = plan.key.description
    guard planKey == key else {
      throw OrderRefusal(
        what: "\(Self.outdated): its plan was \(planKey), and is \(key) by now")
    }
    guard adder.index < plan.taskCount else {
      throw OrderRefusal(
        what: "the plan has \(plan.taskCount) tasks, and no task number \(adder.rawValue)")
    }
    // Otherwise its additions would be lost when it runs again.
    guard task.isNone || task == adder else {
      throw OrderRefusal(
        what: "\(plan.nameString(task)) is a task of this run, and what it adds is to wait for its"
          + " end: add it to its own run, with OPFLOW_RUN and OPFLOW_TASK as the task has them")
    }
    guard adder.isNone || plan.flags(adder).contains(.control) else {
      throw OrderRefusal(
        what: "\(plan.nameString(adder)) is a task of this run, and may steer it with"
          + " `control: true` only")
    }
  }
}

/// A request on control.sock.
package enum ControlRequest: Equatable, Sendable {
  case order(OrderRequest)
  case add(AddRequest)
  case host(HostRequest)
}

extension ControlRequest {
  package var id: OrderID {
    switch self {
    case .order(let order): order.id
    case .add(let addition): addition.id
    case .host(let host): host.id
    }
  }
}

/// A short addition that goes into the journal without a file. Nothing is synced before its line,
/// from which a resume can compile it.
package struct CarriedAddition: Equatable, Sendable {
  /// The manifest as read; it includes no other file.
  package var copy: [UInt8]
  /// The compiled plan file.
  package var segment: [UInt8]

  /// Longer ones are kept in files: views read every journal line.
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
    if copy.isEmpty || segment.isEmpty { return "it carries a part of what is added only" }
    return isShort ? nil : "what it carries is too long"
  }
}
