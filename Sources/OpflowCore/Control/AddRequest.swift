/// Tasks that are to join a live run, as a line of control.sock asks for that. The run's folder has them
/// already, as a segment of the run's plan, by the name of the id, or the line carries them itself.
package struct AddRequest: Equatable, Sendable {
  package var id: OrderID
  /// The plan that the segment was compiled against.
  package var planKey: String
  /// The task of the run that adds it, which what is added was compiled to need; `none` for another process.
  package var adder = TaskID.none
  /// The real path of what is added; `-` for standard input.
  package var manifestPath: String
  /// The folder that its relative paths start at.
  package var folder: String
  /// `HASH PATH` of each file that it was compiled from, as in `OpenEntry`.
  package var files: [String] = []
  /// What is added, where the run's folder has nothing of it.
  package var carried: CarriedAddition?
  /// What the asker calls itself.
  package var by = ""

  package init(id: OrderID, planKey: String, manifestPath: String, folder: String) {
    self.id = id
    self.planKey = planKey
    self.manifestPath = manifestPath
    self.folder = folder
  }

  /// Begins the refusal of what was compiled when the run had other tasks than it has by now: compiled anew it
  /// may be added, or be wrong.
  package static let outdated = "the run has grown meanwhile"
  /// How a refusal begins for which nobody is to blame who asks: an error of output, such as a full disk.
  package static let unwritable = "cannot write"

  /// What is wrong with it in itself, whatever the run; nil where nothing is.
  var fault: String? {
    // It names a folder.
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
  /// Sees whether it may be about that plan, and says of who adds what is known of him.
  ///
  /// - Parameter task: of the run, by the processes; `none` for one from outside.
  /// - Throws: what is wrong with it, as a refusal says it.
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
    // What waits for nobody may not come from a task, since it would be lost with what that one says next time.
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

/// What somebody asks of a live run.
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

/// A short addition, which goes from who adds it into the journal without a file of its own: nothing has to be synced before
/// the line that tells of it, since that has all that a resume compiles it from.
package struct CarriedAddition: Equatable, Sendable {
  /// The manifest as it was read. It names no other file.
  package var copy: [UInt8]
  /// What it was compiled to: a plan file.
  package var segment: [UInt8]

  /// What is longer is kept in files: views read every line of the journal.
  private static let mostCopyBytes = 1 << 14
  private static let mostSegmentBytes = 1 << 17

  package init(copy: [UInt8], segment: [UInt8]) {
    self.copy = copy
    self.segment = segment
  }

  /// Whether it is short enough.
  package var isShort: Bool {
    copy.count <= Self.mostCopyBytes && segment.count <= Self.mostSegmentBytes
  }

  /// What is wrong with it in itself; nil where nothing is.
  var fault: String? {
    if copy.isEmpty || segment.isEmpty { return "it carries a part of what is added only" }
    return isShort ? nil : "what it carries is too long"
  }
}
