internal import OpflowCore

/// The spans of sessions. The first one's span is the run's and lasts until the end. A later one's
/// is its child, or is in the trace that the session was started in.
struct SpanDrives {
  struct Drive {
    let record: DriveRecord
    let place: SpanWriter.Place
    /// Since the epoch.
    let milliseconds: ClosedRange<Int64>
    let state: RunState
    /// The run's trace, if this span is elsewhere.
    let link: TraceID?
  }

  enum Event {
    case signal(DriveRecord.Signal)
    case order(OrderRecords.Record)
    case addition(GrowthRecord)

    var milliseconds: Int64 {
      switch self {
      case .signal(let signal): signal.milliseconds
      case .order(let order): order.milliseconds
      case .addition(let addition): addition.milliseconds
      }
    }
  }

  /// The run's first.
  private(set) var all: [Drive] = []
  private var places: [Int: Int] = [:]

  init(_ status: RunStatus, _ trace: RunTrace) {
    let history = status.history
    var heard: [Int32: Int64] = [:]
    for attempt in history.attempts.all {
      heard[attempt.drive] = max(heard[attempt.drive] ?? 0, attempt.endedMilliseconds)
    }
    var records = history.driveRecords
    if records.isEmpty { records = [DriveRecord(1, at: history.openedMilliseconds)] }
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
        Drive(
          record: record,
          place: index == 0 ? Self.run(trace) : Self.place(of: record, trace),
          milliseconds: record.begunMilliseconds...end, state: state,
          link: index > 0 && record.trace != nil ? trace.id : nil))
    }
  }

  private static func run(_ trace: RunTrace) -> SpanWriter.Place {
    SpanWriter.Place(
      trace: trace.id, span: trace.span, parent: trace.parent?.span, flags: trace.flags,
      isRemote: trace.parent != nil)
  }

  private static func place(of record: DriveRecord, _ trace: RunTrace) -> SpanWriter.Place {
    let context = trace.context(ofDrive: record.trace)
    return SpanWriter.Place(
      trace: context.trace, span: trace.span.drive(record.number),
      parent: record.trace?.span ?? trace.span, flags: context.flags,
      isRemote: record.trace != nil)
  }

  /// The run's if the session is unknown.
  func place(of attempt: TaskAttempt) -> SpanWriter.Place {
    all[places[Int(attempt.drive)] ?? 0].place
  }

  /// Signals, requests and additions, by time.
  func events(of drive: Drive, _ status: RunStatus) -> [Event] {
    let orders = status.history.orders.all.filter { $0.drive == drive.record.number }
    let additions = status.history.additions.filter { $0.drive == drive.record.number }
    let events =
      drive.record.signals.map { Event.signal($0) } + orders.map { Event.order($0) }
      + additions.map { Event.addition($0) }
    return events.sorted { $0.milliseconds < $1.milliseconds }
  }
}
