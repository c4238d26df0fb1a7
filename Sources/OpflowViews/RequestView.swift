internal import OpflowBase
package import OpflowJournal
package import OpflowPlan
package import OpflowWire

package enum RequestView {
  package static func text(
    _ request: ClientRequest, count: Int, amount: String, words: [String],
    resumeCommand: @autoclosure @escaping () -> String, controlCommand: @escaping RequestLineText
  ) -> String {
    request.verb.row.done(
      AppliedRequest(
        isOfRun: request.tasks.isEmpty && request.among.isEmpty, count: count, words: words,
        carried: request.carried, amount: amount, resumeCommand: resumeCommand,
        controlCommand: controlCommand))
  }

  package static func json(
    _ request: ClientRequest, run: String, _ answer: RequestAnswer
  ) -> [UInt8] {
    let verb = request.verb.rawValue
    return switch answer {
    case .done(let count): json(verb, run: run, request.id) { $0.add("tasks", count) }
    case .refused(let detail): json(verb, run: run, request.id, refused: detail)
    }
  }

  package static func json(
    _ verb: String, run: String? = nil, _ id: RequestID? = nil, refused: String? = nil,
    _ rest: (inout JSONWriter) -> Void = { _ in }
  ) -> [UInt8] {
    JSONWriter.line { json in
      json.add("run", run)
      json.add("order", id?.text)
      json.add("verb", verb)
      json.add("done", refused == nil)
      if let refused { json.add("what", refused) }
      rest(&json)
    }
  }

  /// Describes a run that is not live: `it failed 2 hours ago`.
  package static func state(_ status: RunStatus, nowMilliseconds: Int64) -> String {
    let age = RunsView.age(nowMilliseconds - status.lastMilliseconds)
    switch status.state {
    case .succeeded: return "it succeeded \(age)"
    case .failed: return "it failed \(age)"
    case .cancelled: return "it was cancelled \(age)"
    case .interrupted: return "it was interrupted \(age)"
    case .running: return "it is live"
    }
  }
}

package enum RequestText {
  private static let maxNames = 5

  /// `paused by opflow pause (pid 12)`, `a, b and 3 more cancelled by opflow cancel (pid 12)`.
  static func text(_ request: RequestEntry, plan: Plan) -> String {
    let names =
      request.lacksTasks
      ? "removed tasks" : NameList.text(request.tasks, plan: plan, limit: maxNames)
    return text(request.verb, of: names, request.carried, by: request.requester, plan: plan)
  }

  /// `names` is empty for a request about the run.
  package static func text(
    _ verb: ControlAction, of names: String, _ carried: CarriedValue, by requester: Requester,
    plan: Plan
  ) -> String {
    let start = names.isEmpty ? "" : "\(names) "
    let effect =
      switch verb {
      case .cancel: "\(start)cancelled"
      case .pause: "paused"
      case .proceed: "\(start)continued"
      case .suspend: "\(start)suspended"
      case .priority: "priority of \(names) set to \(priority(carried.number ?? 0))"
      case .parallel: "limit of \(carried.resource) set to \(amount(carried, plan))"
      case .retry: "retry of \(names) requested"
      case .skip: "\(start)skipped"
      case .approve: "\(start)approved"
      case .reject: "\(start)rejected"
      case .close: "queue closed"
      }
    return "\(effect) by \(requester.text)"
  }

  package static func text(_ entry: ExtendEntry) -> String {
    "\(CountText.tasks(entry.added)) added by \(entry.requester.text)"
  }

  static func text(_ entry: RetractEntry, plan: Plan) -> String {
    let generator = entry.generator.isNone ? "a task" : plan.nameString(entry.generator)
    let tasks = CountText.tasks(entry.count)
    return "removed \(tasks) that an earlier attempt of \(generator) added"
  }

  private static func priority(_ number: Int64) -> String {
    PriorityLevels.all.first { Int64($0.value) == number }?.word.description ?? "\(number)"
  }

  private static func amount(_ carried: CarriedValue, _ plan: Plan) -> String {
    let amount = UInt64(clamping: carried.number ?? 0)
    let place = plan.resources.indices.first {
      plan.text(plan.resources[$0].name).elementsEqual(carried.resource.utf8)
    }
    guard let place else { return "\(amount)" }
    return AmountText.text(amount, of: UInt32(truncatingIfNeeded: place))
  }
}

package enum AddView {
  package static let verb = "add"
  private static let mostNames = 5

  /// `added` and `unchanged` are IDs as declared: a matrix has one.
  package static func text(
    run: String, count: Int, _ added: [String], unchanged: [String]
  ) -> String {
    let there = unchanged.isEmpty ? "" : "already has \(names(unchanged))"
    if count == 0 {
      return there.isEmpty
        ? "nothing to add to run \(run)" : "nothing to add; run \(run) \(there)"
    }
    let tasks = "\(count) task\(count == 1 ? "" : "s")"
    return "added \(tasks) to run \(run): \(names(added))" + (there.isEmpty ? "" : "; it \(there)")
  }

  private static func names(_ ids: [String]) -> String {
    NameList.text(ids, limit: mostNames) { CleanText.string($0) }
  }

  /// `id` is nil if nothing was to be added.
  package static func json(
    run: String, _ id: RequestID?, count: Int, _ added: [String], unchanged: [String]
  ) -> [UInt8] {
    RequestView.json("add", run: run, id) { json in
      json.add("tasks", count)
      json.add("ids", added)
      json.add("unchanged", unchanged)
    }
  }
}
