/// What a person, or a program, is told of an order that was asked for.
package enum OrderView {
  /// One line without its line feed: what was done, in the past tense.
  ///
  /// - Parameters:
  ///   - words: the tasks, as they were named.
  ///   - resumeCommand: the command line that continues the run.
  package static func text(
    _ request: OrderRequest, count: Int, amount: String, words: [String],
    resumeCommand: @autoclosure () -> String, orderCommand: OrderLineText
  ) -> String {
    let tasks = "\(count) task\(count == 1 ? "" : "s")"
    let isOfRun = request.tasks.isEmpty && request.among.isEmpty
    switch request.verb {
    case .cancel where isOfRun:
      return "cancelled the run: what runs is ended; `\(resumeCommand())` continues it"
    case .cancel: return "cancelled \(tasks)"
    case .pause: return "paused; `\(orderCommand(.proceed, []))` goes on"
    case .proceed where isOfRun: return "continued"
    case .proceed: return "continued \(tasks)"
    case .suspend:
      return "suspended \(tasks); `\(orderCommand(.proceed, words))` goes on with"
        + (count == 1 ? " it" : " them")
    case .priority: return "set the priority of \(tasks) to \(request.value ?? 0)"
    case .parallel: return "set \(CleanText.string(request.resource)) to \(amount)"
    case .retry: return "set \(tasks) to run again"
    case .skip: return "skipped \(tasks)"
    case .approve: return "approved \(tasks)"
    case .reject: return "rejected \(tasks)"
    case .close: return "closed: the run ends when nothing is left"
    }
  }

  /// The same as one JSON object on a line, of a refusal too.
  package static func json(_ request: OrderRequest, run: String, _ answer: OrderAnswer) -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    json.key("run")
    json.string(run)
    json.key("order")
    json.string(request.id.text)
    json.key("verb")
    json.string(request.verb.rawValue)
    json.key("done")
    switch answer {
    case .done(let count):
      json.bool(true)
      json.key("tasks")
      json.number(count)
    case .refused(let what):
      json.bool(false)
      json.key("what")
      json.string(what)
    }
    json.endObject()
    json.endLine()
    return json.bytes
  }

  /// Of an order that came to no run.
  package static func json(_ verb: OrderVerb, refused what: String) -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    json.key("run")
    json.null()
    json.key("order")
    json.null()
    json.key("verb")
    json.string(verb.rawValue)
    json.key("done")
    json.bool(false)
    json.key("what")
    json.string(what)
    json.endObject()
    json.endLine()
    return json.bytes
  }

  /// Of a run that nobody drives: `it failed 2 h ago`.
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
