package import OpflowCore

/// The answers to requests, for users and for programs.
package enum OrderView {
  /// Returns what was done, as one line without a newline.
  ///
  /// - Parameters:
  ///   - words: the tasks as the user named them.
  ///   - resumeCommand: the command that resumes the run.
  package static func text(
    _ request: OrderRequest, count: Int, amount: String, words: [String],
    resumeCommand: @autoclosure @escaping () -> String, orderCommand: @escaping OrderLineText
  ) -> String {
    request.verb.row.done(
      ObeyedOrder(
        isOfRun: request.tasks.isEmpty && request.among.isEmpty, count: count, words: words,
        carried: request.carried, amount: amount, resumeCommand: resumeCommand,
        orderCommand: orderCommand))
  }

  /// Returns the answer, also a refusal, as one line of JSON.
  package static func json(_ request: OrderRequest, run: String, _ answer: OrderAnswer) -> [UInt8] {
    switch answer {
    case .done(let count):
      json(request.verb.rawValue, run: run, request.id, isDone: true) { json in
        json.key("tasks")
        json.number(count)
      }
    case .refused(let what):
      json(request.verb.rawValue, run: run, request.id, isDone: false) { json in
        json.key("what")
        json.string(what)
      }
    }
  }

  /// Returns the JSON for a request that reached no run.
  package static func json(_ verb: OrderVerb, refused what: String) -> [UInt8] {
    json(verb.rawValue, refused: what)
  }

  static func json(_ verb: String, refused what: String) -> [UInt8] {
    json(verb, run: nil, nil, isDone: false) { json in
      json.key("what")
      json.string(what)
    }
  }

  /// Returns the JSON object that answers a request.
  ///
  /// - Parameter rest: writes further keys.
  static func json(
    _ verb: String, run: String?, _ id: OrderID?, isDone: Bool, _ rest: (inout JSONWriter) -> Void
  ) -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    json.key("run")
    if let run { json.string(run) } else { json.null() }
    json.key("order")
    if let id { json.string(id.text) } else { json.null() }
    json.key("verb")
    json.string(verb)
    json.key("done")
    json.bool(isDone)
    rest(&json)
    json.endObject()
    json.endLine()
    return json.bytes
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
