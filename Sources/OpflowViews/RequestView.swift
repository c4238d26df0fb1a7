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

  /// Describes a run without a session: `it failed 2 h ago`.
  package static func state(_ status: RunStatus, nowMilliseconds: Int64) -> String {
    let age = RunsView.age(nowMilliseconds - status.lastMilliseconds)
    switch status.state {
    case .succeeded: return "it succeeded \(age)"
    case .failed: return "it failed \(age)"
    case .cancelled: return "it was cancelled \(age)"
    case .interrupted: return "it was interrupted \(age)"
    case .running: return "it runs"
    }
  }
}

package enum RequestText {
  private static let maxNames = 5

  /// `cancel a, b and 3 more, asked by opflow cancel (pid 123)`
  static func text(_ request: RequestEntry, plan: Plan) -> String {
    "\(detail(request, plan: plan)), asked by \(request.requester.text)"
  }

  package static func text(_ entry: ExtendEntry) -> String {
    "add \(CountText.tasks(entry.added)), asked by \(entry.requester.text)"
  }

  static func text(_ entry: RetractEntry, plan: Plan) -> String {
    let generator = entry.generator.isNone ? "a task" : plan.nameString(entry.generator)
    return "withdraw \(CountText.tasks(entry.count)) that \(generator) added before this try"
  }

  private static func detail(_ request: RequestEntry, plan: Plan) -> String {
    let row = request.verb.row
    let carried = request.carried.text(row.carries, plan: plan)
    let asked = request.verb.rawValue + (carried.isEmpty ? "" : " \(carried)")
    if request.tasks.isEmpty { return row.ofRun ?? asked }
    let names = NameList.text(request.tasks, plan: plan, limit: maxNames)
    return carried.isEmpty ? "\(asked) \(names)" : "\(asked) of \(names)"
  }
}

package enum AddView {
  package static let verb = "add"
  private static let mostNames = 5

  /// `added` and `unchanged` are IDs as declared: a matrix has one.
  package static func text(
    run: String, count: Int, _ added: [String], unchanged: [String]
  ) -> String {
    let there = unchanged.isEmpty ? "" : "has \(names(unchanged)) already"
    if count == 0 {
      return there.isEmpty ? "nothing to add to run \(run)" : "nothing to add: run \(run) \(there)"
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
