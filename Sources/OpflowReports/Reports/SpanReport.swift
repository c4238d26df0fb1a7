package import OpflowCore
internal import OpflowViews

/// A run as OpenTelemetry spans: one for the run, each later session, and each attempt. Attributes
/// follow the conventions for CI/CD and processes.
///
/// IDs depend on the journal only, so later reports contain the same spans. Tasks that did not run
/// have no span; the run's span counts them.
///
/// Produced in pieces, to save memory.
package struct SpanReport {
  private let status: RunStatus
  private let trace: RunTrace
  private let drives: SpanDrives
  private var attempts: SpanAttempts
  private var writer = SpanWriter()
  /// The next span: sessions first, then attempts.
  private var next = 0

  private static let pieceBytes = 65_536
  private static let mostEvents = 1000

  package init(_ status: RunStatus) {
    self.status = status
    let unknown = OpenEntry(
      run: status.run, planKey: "", opflowVersion: "", manifestPath: "", folder: "")
    trace = RunTrace(
      status.history.open ?? unknown, openedMilliseconds: status.history.openedMilliseconds)
    drives = SpanDrives(status, trace)
    attempts = SpanAttempts(status, trace)
  }

  /// Returns the next bytes; nil at the end.
  package mutating func nextPiece() -> [UInt8]? {
    let all = status.history.attempts.all
    let count = drives.all.count + all.count
    while next < count, writer.byteCount < Self.pieceBytes {
      if !writer.isInLine { beginLine() }
      if next < drives.all.count {
        write(drives.all[next])
      } else {
        let attempt = all[next - drives.all.count]
        attempts.write(attempt, in: drives.place(of: attempt), &writer)
      }
      next += 1
      if next == count || writer.isLineFull { writer.endLine() }
    }
    return writer.byteCount == 0 ? nil : writer.take()
  }

  private mutating func beginLine() {
    writer.beginLine(version: Version.text) { [status] resource in
      resource.attribute("service.name", "opflow")
      resource.attribute("service.version", status.history.open?.opflowVersion ?? "")
      resource.attribute("cicd.pipeline.name", CleanText.string(status.name))
      resource.attribute("cicd.pipeline.run.id", CleanText.string(status.run))
    }
  }

  private mutating func write(_ drive: SpanDrives.Drive) {
    let record = drive.record
    let isRun = drive.place.span == trace.span
    let state = isRun ? status.state : drive.state
    let name = CleanText.string(status.name)
    writer.beginSpan(
      drive.place, isRun ? "RUN \(name)" : "RESUME \(name)", isRun ? .server : .internal,
      milliseconds: drive.milliseconds)
    let close = isRun ? status.history.close : record.close?.entry
    let isOver = close != nil && state != .running
    writer.attributes { [status] writer in
      writer.attribute("cicd.pipeline.action.name", "RUN")
      let result = Self.result(state, close)
      if let result { writer.attribute("cicd.pipeline.result", result) }
      if result == "failure" || result == "error" { writer.attribute("error.type", state.rawValue) }
      if let close, isOver { writer.attribute("process.exit.code", close.exitCode) }
      if let close, isOver, close.signal != 0 { writer.attribute("opflow.signal", close.signal) }
      writer.attribute("opflow.state", state.rawValue)
      // The time of the last line.
      if !isOver { writer.attribute("opflow.unfinished", true) }
      if isRun {
        writer.attribute("opflow.drives", status.history.drives)
        writer.attribute(
          "opflow.manifest", CleanText.string(status.history.open?.manifestPath ?? ""))
        Self.write(status.counts, &writer)
      } else {
        writer.attribute("opflow.drive", record.number)
        writer.attribute("opflow.reused", record.reused)
      }
    }
    write(drives.events(of: drive, status))
    if let around = drive.link { writer.link(to: around, trace.span, flags: trace.flags) }
    if state == .failed {
      let count = status.counts.failed
      writer.error(isRun ? "\(count) \(count == 1 ? "task" : "tasks") failed" : "failed")
    } else if state == .interrupted, !isOver {
      writer.error("the process that drove it died")
    }
    writer.endSpan()
  }

  private static func write(_ counts: TaskCounts, _ writer: inout SpanWriter) {
    writer.attribute("opflow.tasks.succeeded", counts.succeeded)
    writer.attribute("opflow.tasks.up_to_date", counts.upToDate)
    writer.attribute("opflow.tasks.failed", counts.failed)
    writer.attribute("opflow.tasks.failed_allowed", counts.failedAllowed)
    writer.attribute("opflow.tasks.skipped", counts.skipped)
    writer.attribute("opflow.tasks.cancelled", counts.cancelled)
    writer.attribute("opflow.tasks.running", counts.begun)
    writer.attribute("opflow.tasks.pending", counts.pending)
  }

  private mutating func write(_ events: [SpanDrives.Event]) {
    if events.isEmpty { return }
    writer.events(dropped: max(0, events.count - Self.mostEvents)) { [status] writer in
      for event in events.prefix(Self.mostEvents) {
        switch event {
        case .signal(let signal): Self.write(signal, &writer)
        case .order(let order): writer.event(order, status.plan)
        case .addition(let addition): writer.event(addition)
        }
      }
    }
  }

  private static func write(_ signal: DriveRecord.Signal, _ writer: inout SpanWriter) {
    switch signal.effect {
    case .stop(let number):
      writer.event("stop", at: signal.milliseconds) { $0.attribute("opflow.signal", number) }
    case .pause: writer.event("stopped by a signal", at: signal.milliseconds) { _ in }
    case .proceed: writer.event("continued by a signal", at: signal.milliseconds) { _ in }
    }
  }

  /// The result by OpenTelemetry's conventions; nil while it runs.
  private static func result(_ state: RunState, _ close: CloseEntry?) -> String? {
    switch state {
    case .running: nil
    case .succeeded: "success"
    case .failed: "failure"
    case .cancelled: "cancellation"
    case .interrupted: close?.signal ?? 0 != 0 ? "cancellation" : "error"
    }
  }
}

extension SpanWriter {
  mutating func event(_ addition: GrowthRecord) {
    event("add", at: addition.milliseconds) { writer in
      writer.attribute("opflow.order.by", CleanText.string(addition.entry.asker.text))
      writer.attribute("opflow.tasks.added", addition.entry.added)
    }
  }

  mutating func event(_ order: OrderRecords.Record, _ plan: Plan) {
    event(order.verb.rawValue, at: order.milliseconds) { writer in
      writer.attribute("opflow.order.by", CleanText.string(order.asker.text))
      if !order.tasks.isEmpty {
        let names = NameList.text(order.tasks, plan: plan, limit: 3)
        writer.attribute("opflow.order.tasks", CleanText.string(names))
      }
      if !order.carried.resource.isEmpty {
        writer.attribute("opflow.order.carried.resource", CleanText.string(order.carried.resource))
      }
      if let value = order.carried.number { writer.attribute("opflow.order.carried.number", value) }
    }
  }
}
