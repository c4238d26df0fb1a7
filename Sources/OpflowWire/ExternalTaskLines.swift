package import OpflowBase
package import OpflowPlan

// The lines of a client with external tasks
// =========================================
//
// A connection to control.sock that sends `hello` with the action `block` then uses these lines of
// the worker protocol (`MessageCodec`).
//
//   to the client                       from the client
//   run ID ATTEMPT                      hello VERSION PLAN-KEY PID cores=N actions=block
//   stop ID ATTEMPT REASON              offer ID
//   bye                                 withdraw ID
//                                       started ID ATTEMPT PID
//                                       ended ID ATTEMPT [exit=N|signal=N] [wall=US] … [what=TEXT]
//                                       revoked ID ATTEMPT
//                                       progress ID DONE TOTAL SPEED TEXT
//                                       pulse N
//
// `revoked` answers a `run` that crossed a `withdraw`. PLAN-KEY names the plan that the client read
// in this session; task numbers do not change within a session. A reason in `ended` is ignored: the
// coordinator knows why it stopped an attempt.

package enum ExternalTaskReport: Equatable, Sendable {
  case fact(ExternalTaskFact)
  /// Has no effect on scheduling.
  case heard
}

package enum ExternalTaskLines {
  /// Writes nothing for `joined` and `gone`.
  package static func encode(_ fact: ExternalTaskFact, into writer: inout FieldWriter) {
    switch fact {
    case .offers(let task):
      writer.message("offer", task.rawValue)
      writer.endLine()
    case .retracts(let task):
      writer.message("withdraw", task.rawValue)
      writer.endLine()
    case .ended(let task, let attempt, let outcome, let detail):
      let start = writer.bytes.count
      MessageCodec.encode(.ended(task, attempt: attempt, outcome), into: &writer)
      if detail.isEmpty { return }
      writer.removeLast(1)
      writer.begin(.detail)
      writer.cut(detail, lineStart: start)
      writer.endLine()
    case .gaveBack(let task, let attempt):
      MessageCodec.encode(.revoked(task, attempt: attempt), into: &writer)
    case .joined, .gone: break
    }
  }

  /// nil for other lines.
  package static func fact(_ line: UnsafeRawBufferPointer) -> ExternalTaskFact? {
    guard case .fact(let fact) = report(line) else { return nil }
    return fact
  }

  /// `line` has no line feed.
  package static func report(_ line: UnsafeRawBufferPointer) -> ExternalTaskReport? {
    var fields = MessageFields(line)
    guard let word = fields.next() else { return nil }
    if word.equals("offer") || word.equals("withdraw") {
      guard let task = fields.task(), fields.isWholeMessage else { return nil }
      return .fact(word.equals("offer") ? .offers(task) : .retracts(task))
    }
    let (message, detail) = split(line)
    switch MessageCodec.report(message) {
    case .ended(let task, let attempt, let outcome):
      return .fact(.ended(task, attempt: attempt, outcome, detail: detail ?? ""))
    case let report? where detail == nil:
      switch report {
      case .revoked(let task, let attempt): return .fact(.gaveBack(task, attempt: attempt))
      case .started, .progress, .pulse: return .heard
      default: return nil
      }
    default: return nil
    }
  }

  private static func split(
    _ line: UnsafeRawBufferPointer
  ) -> (message: UnsafeRawBufferPointer, detail: String?) {
    guard let tab = line.lastIndex(of: Field.tab),
      let field = LineField(line.part(tab + 1, line.count)), field.key == .detail,
      let detail = Field.text(field.value)
    else { return (line, nil) }
    return (line.part(0, tab), detail)
  }
}

package struct ClientID: Hashable, Sendable {
  package let rawValue: Int32
  package init(_ rawValue: Int32) { self.rawValue = rawValue }
}

/// A report from or about a client with external tasks.
package enum ExternalTaskFact: Equatable, Sendable {
  /// Comes first.
  case joined
  case offers(TaskID)
  case retracts(TaskID)
  case ended(TaskID, attempt: Int32, Outcome, detail: String)
  /// The task did not start.
  case gaveBack(TaskID, attempt: Int32)
  /// All tasks that ran in the client are gone, too.
  case gone(complaint: String)
}
