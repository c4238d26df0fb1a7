package import OpflowCore
internal import OpflowViews

/// The JSON for `--notify` at the end of a session.
package enum DriveSummary {
  /// Further failures are only counted.
  private static let mostFailures = 100

  /// - Parameter logPath: nil if the task printed nothing.
  package static func text(
    _ status: RunStatus, resumeCommand: String, logPath: (TaskID) -> String?
  ) -> [UInt8] {
    let close = status.history.close
    let state = close?.state ?? .interrupted
    var json = JSONWriter()
    json.beginObject()
    json.key("run")
    json.string(status.run)
    json.key("name")
    json.string(status.name)
    json.key("manifest")
    json.string(status.history.open?.manifestPath ?? "")
    json.key("state")
    json.string(state.rawValue)
    json.key("exit")
    json.optional(close?.exitCode)
    json.key("signal")
    json.optional((close?.signal).flatMap { $0 == 0 ? nil : $0 })
    json.key("started_ms")
    json.number(status.openedMilliseconds)
    json.key("ended_ms")
    json.number(status.lastMilliseconds)
    json.key("counts")
    StatusJSON.write(status.counts, into: &json)
    json.key("failed")
    json.beginArray()
    for task in RunFailures.of(status).prefix(mostFailures) {
      write(task, status, logPath(task), into: &json)
    }
    json.endArray()
    json.key("resume")
    json.optional(state == .succeeded ? nil : resumeCommand)
    json.endObject()
    json.endLine()
    return json.bytes
  }

  private static func write(
    _ task: TaskID, _ status: RunStatus, _ log: String?, into json: inout JSONWriter
  ) {
    let record = status.history[task]
    json.beginObject()
    json.key("id")
    json.string(status.plan.nameBytes(task))
    json.key("attempts")
    json.number(record.attempts)
    json.key("exit")
    if case .exit(let code) = record.status { json.number(code) } else { json.null() }
    json.key("signal")
    if case .signal(let number) = record.status { json.number(number) } else { json.null() }
    json.key("what")
    json.string(EndReasons(status).outcome(task))
    json.key("log")
    json.optional(log)
    json.endObject()
  }
}

/// The tasks of a run that failed, in the order in which they did.
enum RunFailures {
  /// Those that are not allowed to fail.
  static func of(_ status: RunStatus) -> [TaskID] {
    status.counts.failed > 0 ? tasks(of: status, .failed) : []
  }

  static func allowed(_ status: RunStatus) -> [TaskID] {
    status.counts.failedAllowed > 0 ? tasks(of: status, .failedAllowed) : []
  }

  private static func tasks(of status: RunStatus, _ state: TaskState) -> [TaskID] {
    let failed = status.plan.tasks.lazy.map { TaskID($0) }.filter {
      status.included.contains($0) && status.state($0) == state
    }
    return failed.sorted {
      status.history[$0].settleSequence < status.history[$1].settleSequence
    }
  }
}
