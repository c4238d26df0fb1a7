internal import OpflowBase
package import OpflowJournal
internal import OpflowPlan
internal import OpflowViews
internal import OpflowWire

/// A run as OpenTelemetry spans: one for the run, each later session, and each attempt. Attributes
/// follow the conventions for CI/CD and processes. Produced in pieces, to save memory.
///
/// IDs depend on the journal only, so later reports contain the same spans. Tasks that did not run
/// have no span; the run's span counts them.
package struct SpanReport {
  private let status: RunStatus
  private let trace: RunTrace
  private let sessions: SpanSessions
  private var attempts: SpanAttempts
  private var writer = SpanWriter()
  private var next = 0

  private static let pieceBytes = 65_536
  private static let mostEvents = 1000

  package init(_ status: RunStatus) {
    self.status = status
    let unknown = OpenEntry(
      run: status.run, planKey: "", opflowVersion: "", manifestPath: "", folder: "")
    trace = RunTrace(
      status.history.open ?? unknown, openedMilliseconds: status.history.openedMilliseconds)
    sessions = SpanSessions(status, trace)
    attempts = SpanAttempts(status, trace)
  }

  package mutating func nextPiece() -> [UInt8]? {
    let all = status.history.attempts.all
    let count = sessions.all.count + all.count
    while next < count, writer.byteCount < Self.pieceBytes {
      if !writer.isInLine { beginLine() }
      if next < sessions.all.count {
        write(sessions.all[next])
      } else {
        let attempt = all[next - sessions.all.count]
        attempts.write(attempt, in: sessions.place(of: attempt), &writer)
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

  private mutating func write(_ session: SpanSessions.Session) {
    let record = session.record
    let isRun = session.place.span == trace.span
    let state = isRun ? status.state : session.state
    let name = CleanText.string(status.name)
    writer.beginSpan(
      session.place, isRun ? "RUN \(name)" : "RESUME \(name)", isRun ? .server : .internal,
      milliseconds: session.milliseconds)
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
      if !isOver { writer.attribute("opflow.unfinished", true) }
      if isRun {
        writer.attribute("opflow.drives", status.history.sessions)
        writer.attribute(
          "opflow.manifest", CleanText.string(status.history.open?.manifestPath ?? ""))
        Self.write(status.counts, &writer)
      } else {
        writer.attribute("opflow.drive", record.number)
        writer.attribute("opflow.reused", record.reused)
      }
    }
    write(sessions.events(of: session, status))
    if let around = session.link { writer.link(to: around, trace.span, flags: trace.flags) }
    if state == .failed {
      let count = status.counts.failed
      writer.error(isRun ? "\(count) \(count == 1 ? "task" : "tasks") failed" : "failed")
    } else if state == .interrupted, !isOver {
      writer.error("the opflow process of the run died")
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

  private mutating func write(_ events: [SpanSessions.Event]) {
    if events.isEmpty { return }
    writer.events(dropped: max(0, events.count - Self.mostEvents)) { writer in
      for event in events.prefix(Self.mostEvents) { event.write(&writer) }
    }
  }

  /// The result by OpenTelemetry's conventions; nil while the run is live.
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
  mutating func event(_ signal: SessionRecord.Signal) {
    switch signal.effect {
    case .stop(let number):
      event("stop", at: signal.milliseconds) { $0.attribute("opflow.signal", number) }
    case .pause: event("stopped by a signal", at: signal.milliseconds) { _ in }
    case .proceed: event("continued by a signal", at: signal.milliseconds) { _ in }
    }
  }

  mutating func event(_ addition: GrowthRecord) {
    event("add", at: addition.milliseconds) { writer in
      writer.attribute("opflow.order.by", CleanText.string(addition.entry.requester.text))
      writer.attribute("opflow.tasks.added", addition.entry.added)
    }
  }

  mutating func event(_ request: RequestRecords.Record, _ plan: Plan) {
    event(request.verb.rawValue, at: request.milliseconds) { writer in
      writer.attribute("opflow.order.by", CleanText.string(request.requester.text))
      if !request.tasks.isEmpty {
        let names = NameList.text(request.tasks, plan: plan, limit: 3)
        writer.attribute("opflow.order.tasks", CleanText.string(names))
      }
      if !request.carried.resource.isEmpty {
        writer.attribute(
          "opflow.order.carried.resource", CleanText.string(request.carried.resource))
      }
      if let value = request.carried.number {
        writer.attribute("opflow.order.carried.number", value)
      }
    }
  }
}

/// The first session's span is the run's and lasts until the end. A later span is its child, or is
/// in the trace that the session was started in.
struct SpanSessions {
  struct Session {
    let record: SessionRecord
    let place: SpanWriter.Place
    let milliseconds: ClosedRange<Int64>
    let state: RunState
    /// The run's trace, if this span is in another one.
    let link: TraceID?
  }

  typealias Event = (milliseconds: Int64, write: (inout SpanWriter) -> Void)

  private(set) var all: [Session] = []
  private var places: [Int: Int] = [:]

  init(_ status: RunStatus, _ trace: RunTrace) {
    let history = status.history
    var heard: [Int32: Int64] = [:]
    for attempt in history.attempts.all {
      heard[attempt.session] = max(heard[attempt.session] ?? 0, attempt.endedMilliseconds)
    }
    var records = history.sessionRecords
    if records.isEmpty { records = [SessionRecord(1, at: history.openedMilliseconds)] }
    for (index, record) in records.enumerated() {
      let isNewest = index == records.count - 1
      let state = isNewest ? status.state : record.close?.entry.state ?? .interrupted
      var end = record.close?.milliseconds ?? heard[Int32(clamping: record.number)] ?? 0
      for signal in record.signals { end = max(end, signal.milliseconds) }
      if isNewest || index == 0 { end = history.lastMilliseconds }
      // The clock may have been set back.
      end = max(end, record.begunMilliseconds)
      places[record.number] = all.count
      all.append(
        Session(
          record: record, place: index == 0 ? Self.run(trace) : Self.place(of: record, trace),
          milliseconds: record.begunMilliseconds...end, state: state,
          link: index > 0 && record.trace != nil ? trace.id : nil))
    }
  }

  private static func run(_ trace: RunTrace) -> SpanWriter.Place {
    SpanWriter.Place(
      trace: trace.id, span: trace.span, parent: trace.parent?.span, flags: trace.flags,
      isRemote: trace.parent != nil)
  }

  private static func place(of record: SessionRecord, _ trace: RunTrace) -> SpanWriter.Place {
    let context = trace.context(ofSession: record.trace)
    return SpanWriter.Place(
      trace: context.trace, span: trace.span.session(record.number),
      parent: record.trace?.span ?? trace.span, flags: context.flags, isRemote: record.trace != nil)
  }

  func place(of attempt: TaskAttempt) -> SpanWriter.Place {
    all[places[Int(attempt.session)] ?? 0].place
  }

  func events(of session: Session, _ status: RunStatus) -> [Event] {
    let requests = status.history.requests.all.filter { $0.session == session.record.number }
    let additions = status.history.additions.filter { $0.session == session.record.number }
    var events: [Event] = session.record.signals.map { signal in
      (signal.milliseconds, { $0.event(signal) })
    }
    events += requests.map { request in (request.milliseconds, { $0.event(request, status.plan) }) }
    events += additions.map { addition in (addition.milliseconds, { $0.event(addition) }) }
    return events.sorted { $0.milliseconds < $1.milliseconds }
  }
}

struct SpanAttempts {
  private let status: RunStatus
  private let trace: RunTrace
  /// A damaged journal may contain an attempt twice.
  private var lastNumbers: [Int32]
  private var writtenCount = 0
  private var failedPlaces: [TaskID: Int] = [:]
  private let requests: [TaskID: [Int]]

  init(_ status: RunStatus, _ trace: RunTrace) {
    self.status = status
    self.trace = trace
    lastNumbers = [Int32](repeating: -1, count: status.plan.taskCount)
    var requests: [TaskID: [Int]] = [:]
    for (place, request) in status.history.requests.all.enumerated() {
      for task in request.tasks { requests[task, default: []].append(place) }
    }
    self.requests = requests
  }

  mutating func write(
    _ attempt: TaskAttempt, in session: SpanWriter.Place, _ writer: inout SpanWriter
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
      SpanWriter.Place(
        trace: session.trace, span: span, parent: session.span, flags: session.flags),
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
      let word = attempt.end == .lost ? "lost" : TaskVerdict.word(attempt.outcome)
      writer.attribute("error.type", word)
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
    writer.attribute("opflow.drive", attempt.session)
    if attempt.worker != .none {
      writer.attribute("cicd.worker.id", "\(attempt.session).\(attempt.worker.rawValue)")
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
    guard attempt.end == .succeeded, isNewest(attempt) else { return }
    if status.history[attempt.task].isRestored { writer.attribute("opflow.restored", true) }
    guard let report = status.report(attempt.task) else { return }
    writer.attribute("opflow.download.bytes", report.sizeBytes)
    writer.attribute("opflow.download.fetched_bytes", report.fetchedBytes)
  }

  private func writeEvents(
    of attempt: TaskAttempt, within time: ClosedRange<Int64>, _ writer: inout SpanWriter
  ) {
    let places = requests.isEmpty ? [] : requests[attempt.task] ?? []
    let all = status.history.requests.all
    let told = places.filter {
      all[$0].session == Int(attempt.session) && time.contains(all[$0].milliseconds)
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

  private mutating func message(of attempt: TaskAttempt) -> String? {
    switch attempt.end {
    case .none, .succeeded, .cancelled: return nil
    case .lost: return "the opflow process of the run died"
    case .interrupted where attempt.reason != .workerLost: return nil
    case .failed, .failedAllowed, .retried, .interrupted:
      return CleanText.string(OutcomeText.text(attempt.outcome, detail: detail(of: attempt)))
    }
  }

  private mutating func detail(of attempt: TaskAttempt) -> String {
    let details = status.history.details
    if attempt.end != .retried {
      return isNewest(attempt) ? details.complaints[attempt.task] ?? "" : ""
    }
    guard let tries = details.failedTries[attempt.task] else { return "" }
    var place = failedPlaces[attempt.task] ?? 0
    while place < tries.count, tries[place].attempt < attempt.number { place += 1 }
    failedPlaces[attempt.task] = place
    return place < tries.count && tries[place].attempt == attempt.number ? tries[place].detail : ""
  }

  private func isNewest(_ attempt: TaskAttempt) -> Bool {
    status.history[attempt.task].attempts == attempt.number
  }

  /// The result by OpenTelemetry's conventions; nil while the attempt runs.
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
