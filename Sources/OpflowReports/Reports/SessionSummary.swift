package import OpflowJournal
package import OpflowPlan
internal import OpflowViews

/// The JSON for `--notify` at the end of a session.
package enum SessionSummary {
  private static let mostFailures = 100

  package static func text(
    _ status: RunStatus, resumeCommand: String, logPath: (TaskID) -> String?
  ) -> [UInt8] {
    let close = status.history.close
    let state = close?.state ?? .interrupted
    return JSONWriter.line { json in
      json.add("run", status.run)
      json.add("name", status.name)
      json.add("manifest", status.history.open?.manifestPath ?? "")
      json.add("state", state.rawValue)
      json.add("exit", close?.exitCode)
      json.add("signal", (close?.signal).flatMap { $0 == 0 ? nil : $0 })
      json.add("started_ms", status.openedMilliseconds)
      json.add("ended_ms", status.lastMilliseconds)
      json.add("counts", status.counts)
      json.objects("failed", RunFailures.of(status).prefix(mostFailures)) { json, task in
        let record = status.history[task]
        json.add("id", status.plan.nameBytes(task))
        json.add("attempts", record.attempts)
        json.add(record.status)
        json.add("what", status.outcome(of: task))
        json.add("log", logPath(task))
      }
      json.add("resume", state == .succeeded ? nil : resumeCommand)
    }
  }
}

/// The failed tasks, in the order of their failures.
enum RunFailures {
  /// Excludes allowed failures.
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
    return failed.sorted { status.history[$0].settleSequence < status.history[$1].settleSequence }
  }
}
