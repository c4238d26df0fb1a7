/// What was asked for while a run went on, and what of it still holds.
package struct OrderRecords: Sendable {
  /// An order that was obeyed.
  package struct Record: Sendable {
    package let verb: OrderVerb
    package let asker: OrderAsker
    /// Since the epoch.
    package let milliseconds: Int64
    package let drive: Int
    package let tasks: [TaskID]
    package let resource: String
    package let value: Int64?
  }

  /// In their order.
  package private(set) var all: [Record] = []
  /// How many tasks each held for, of all drives.
  package private(set) var counts: [OrderID: Int] = [:]
  /// Of all drives: what holds instead of the manifest's, and who gave it.
  package private(set) var priorities: [TaskID: Int16] = [:]
  package private(set) var prioritisedBy: [TaskID: OrderAsker] = [:]
  /// Of all drives: who skipped tasks.
  package private(set) var skippedBy: [TaskID: OrderAsker] = [:]
  /// Of all drives: what was last said to gates, and by whom.
  package private(set) var answers: [TaskID: Answer] = [:]

  package struct Answer: Sendable {
    package let verb: OrderVerb
    package let asker: OrderAsker
    /// SEQ of its line.
    let sequence: UInt64
    /// By what the gate was defined then; nil where that is not told.
    let fingerprint: UInt64?
  }

  /// Of all drives: by whom the run was closed that had been kept open.
  package private(set) var closedBy: OrderAsker?

  // Of the newest drive

  /// By whom the run is being ended; nil where that is not so, or no order asked for it.
  package private(set) var stoppedBy: Record?
  /// The signal by which the run is being ended; nil where that is not so, or an order asked for it first.
  package private(set) var stopSignal: Int32?
  /// Why the run is being ended, where nobody sent that signal; empty where somebody did.
  package private(set) var stopReason = ""
  /// By whom nothing new starts; nil where that is not so.
  package private(set) var pausedBy: Record?
  /// What stands still or does not start until it is continued, and by whom.
  package private(set) var onHold: [TaskID: OrderAsker] = [:]
  /// What there is of a resource by now, by its name.
  package private(set) var capacities: [String: Capacity] = [:]
  /// Who cancelled tasks by themselves.
  package private(set) var cancelledBy: [TaskID: OrderAsker] = [:]

  package struct Capacity: Sendable {
    package let value: Int64
    package let asker: OrderAsker
  }

  init() {}

  mutating func apply(
    _ order: OrderEntry, atMilliseconds now: Int64, drive: Int, sequence: UInt64 = 0
  ) {
    let record = Record(
      verb: order.verb, asker: order.asker, milliseconds: now, drive: drive, tasks: order.tasks,
      resource: order.resource, value: order.value)
    all.append(record)
    counts[order.id] = order.tasks.count
    switch order.verb {
    case .pause: pausedBy = record
    case .proceed where order.tasks.isEmpty: pausedBy = nil
    case .suspend: for task in order.tasks { onHold[task] = order.asker }
    case .proceed: for task in order.tasks { onHold[task] = nil }
    case .cancel where order.tasks.isEmpty:
      stoppedBy = record
      endHolds()
    case .cancel, .skip, .retry:
      for task in order.tasks {
        onHold[task] = nil
        cancelledBy[task] = order.verb == .cancel ? order.asker : nil
        if order.verb == .skip { skippedBy[task] = order.asker }
      }
    case .priority:
      let priority = Int16(clamping: order.value ?? 0)
      for task in order.tasks {
        priorities[task] = priority
        prioritisedBy[task] = order.asker
      }
    case .approve, .reject:
      for (place, task) in order.tasks.enumerated() {
        answers[task] = Answer(
          verb: order.verb, asker: order.asker, sequence: sequence,
          fingerprint: order.fingerprints.isEmpty ? nil : order.fingerprints[place])
      }
    case .close: closedBy = order.asker
    case .parallel:
      if let value = order.value {
        capacities[order.resource] = Capacity(value: value, asker: order.asker)
      }
    }
  }

  /// What was added answers to an order as well.
  mutating func note(_ entry: ExtendEntry) { counts[entry.id] = entry.added }

  mutating func stop(by stop: StopEntry) {
    stopSignal = stop.signal
    stopReason = stop.what
    endHolds()
  }

  /// None of that holds against a stop.
  private mutating func endHolds() {
    pausedBy = nil
    onHold.removeAll()
  }

  /// What is of a drive alone is over.
  mutating func beginDrive() {
    stoppedBy = nil
    stopSignal = nil
    stopReason = ""
    pausedBy = nil
    onHold.removeAll()
    capacities.removeAll()
    cancelledBy.removeAll()
  }
}
