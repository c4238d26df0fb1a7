internal import OpflowCore
internal import OpflowViews

/// Writes the spans of attempts, in journal order.
struct SpanAttempts {
  private let status: RunStatus
  private let trace: RunTrace
  /// A damaged journal may contain an attempt twice.
  private var lastNumbers: [Int32]
  private var writtenCount = 0
  private var failedPlaces: [TaskID: Int] = [:]
  private let orders: [TaskID: [Int]]

  init(_ status: RunStatus, _ trace: RunTrace) {
    self.status = status
    self.trace = trace
    lastNumbers = [Int32](repeating: -1, count: status.plan.taskCount)
    var orders: [TaskID: [Int]] = [:]
    for (place, order) in status.history.orders.all.enumerated() {
      for task in order.tasks { orders[task, default: []].append(place) }
    }
    self.orders = orders
  }

  mutating func write(
    _ attempt: TaskAttempt, in drive: SpanWriter.Place, _ writer: inout SpanWriter
  ) {
    let (plan, task) = (status.plan, attempt.task)
    let name = CleanText.string(plan.nameString(task))
    var span = trace.span.attempt(attempt.number, ofTask: plan.nameBytes(task))
    if attempt.number <= lastNumbers[task.index] { span = span.repeated(writtenCount) }
    lastNumbers[task.index] = max(lastNumbers[task.index], attempt.number)
    writtenCount += 1
    let begin = attempt.begunMilliseconds
    let known = attempt.end == .none ? status.lastMilliseconds : attempt.endedMilliseconds
    let end = max(begin, known)
    writer.beginSpan(
      SpanWriter.Place(trace: drive.trace, span: span, parent: drive.span, flags: drive.flags),
      name, .internal, milliseconds: begin...end)
    writer.attributes { writer in
      writer.attribute("cicd.pipeline.task.name", name)
      writer.attribute("cicd.pipeline.task.run.id", "\(name)#\(attempt.number)")
      writeEnd(of: attempt, &writer)
      writeMeasures(of: attempt, &writer)
    }
    writeEvents(of: attempt, within: begin...end, &writer)
    if let message = message(of: attempt) { writer.error(message) }
    writer.endSpan()
  }

  private func writeEnd(of attempt: TaskAttempt, _ writer: inout SpanWriter) {
    let result = Self.result(of: attempt)
    if let result { writer.attribute("cicd.pipeline.task.run.result", result) }
    if result == "failure" || result == "error" || result == "timeout" {
      let outcome = Outcome(status: attempt.status, reason: attempt.reason)
      writer.attribute("error.type", attempt.end == .lost ? "lost" : TaskVerdict.word(outcome))
    }
    switch attempt.status {
    case .unknown: break
    case .exit(let code): writer.attribute("process.exit.code", code)
    case .signal(let number): writer.attribute("opflow.signal", number)
    }
    writer.attribute("opflow.end", TraceReport.word(attempt.end))
    if attempt.end == .none { writer.attribute("opflow.unfinished", true) }
  }

  private func writeMeasures(of attempt: TaskAttempt, _ writer: inout SpanWriter) {
    writer.attribute("opflow.attempt", attempt.number)
    writer.attribute("opflow.drive", attempt.drive)
    if attempt.worker != .none {
      writer.attribute("cicd.worker.id", "\(attempt.drive).\(attempt.worker.rawValue)")
      let host = status.history.attempts.host(of: attempt)
      if !host.isEmpty { writer.attribute("host.name", CleanText.string(host)) }
    }
    if attempt.wallMicroseconds > 0 {
      writer.attribute("opflow.wall_us", attempt.wallMicroseconds)
      writer.attribute("opflow.cpu_us", attempt.cpuMicroseconds)
      writer.attribute("opflow.peak_kib", attempt.peakKibibytes)
    }
    if attempt.suspendedMilliseconds > 0 {
      writer.attribute("opflow.suspended_ms", attempt.suspendedMilliseconds)
    }
    if attempt.end == .succeeded, isNewest(attempt), status.history[attempt.task].isRestored {
      writer.attribute("opflow.restored", true)
    }
    guard attempt.end == .succeeded, isNewest(attempt), let report = status.report(attempt.task)
    else { return }
    writer.attribute("opflow.download.bytes", report.sizeBytes)
    writer.attribute("opflow.download.fetched_bytes", report.fetchedBytes)
  }

  /// The requests during the attempt, and the delay of a retry.
  private func writeEvents(
    of attempt: TaskAttempt, within time: ClosedRange<Int64>, _ writer: inout SpanWriter
  ) {
    let places = orders.isEmpty ? [] : orders[attempt.task] ?? []
    let all = status.history.orders.all
    let told = places.filter {
      all[$0].drive == Int(attempt.drive) && time.contains(all[$0].milliseconds)
    }
    if told.isEmpty, attempt.end != .retried { return }
    writer.events { [status] writer in
      for place in told { writer.event(all[place], status.plan) }
      if attempt.end == .retried {
        writer.event("retry", at: time.upperBound) {
          $0.attribute("opflow.delay_ms", attempt.delayMilliseconds)
        }
      }
    }
  }

  /// The error message; nil after success.
  private mutating func message(of attempt: TaskAttempt) -> String? {
    switch attempt.end {
    case .none, .succeeded, .cancelled: return nil
    case .lost: return "the process that drove the run died"
    case .interrupted where attempt.reason != .workerLost: return nil
    case .failed, .failedAllowed, .retried, .interrupted:
      let outcome = Outcome(status: attempt.status, reason: attempt.reason)
      return CleanText.string(OutcomeText.text(outcome, what: what(of: attempt)))
    }
  }

  private mutating func what(of attempt: TaskAttempt) -> String {
    let details = status.history.details
    if attempt.end != .retried {
      return isNewest(attempt) ? details.complaints[attempt.task] ?? "" : ""
    }
    guard let tries = details.failedTries[attempt.task] else { return "" }
    var place = failedPlaces[attempt.task] ?? 0
    while place < tries.count, tries[place].attempt < attempt.number { place += 1 }
    failedPlaces[attempt.task] = place
    return place < tries.count && tries[place].attempt == attempt.number ? tries[place].what : ""
  }

  private func isNewest(_ attempt: TaskAttempt) -> Bool {
    status.history[attempt.task].attempts == attempt.number
  }

  /// The result by OpenTelemetry's conventions; nil while it runs.
  private static func result(of attempt: TaskAttempt) -> String? {
    switch attempt.end {
    case .none: return nil
    case .succeeded: return "success"
    case .cancelled: return "cancellation"
    case .lost: return "error"
    case .interrupted: return attempt.reason == .workerLost ? "error" : "cancellation"
    case .failed, .failedAllowed, .retried: break
    }
    switch attempt.reason {
    case .timeout: return "timeout"
    case .workerLost, .output, .refused, .interrupted: return "error"
    case .fetch, .fetchFinal, .revoked, .value, .input, .noOutput, .memory, .rejected, .unready,
      .ended,
      .stopped, nil:
      return "failure"
    }
  }
}
