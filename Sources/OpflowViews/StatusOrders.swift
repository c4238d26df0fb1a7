internal import OpflowCore

/// What `opflow status` shows about requests to a live run.
struct StatusOrders {
  let status: RunStatus
  private var orders: OrderRecords { status.history.orders }

  init(_ status: RunStatus) { self.status = status }

  /// Returns `by opflow suspend (pid 12)` if a request caused the task's state; nil otherwise.
  func words(_ task: TaskID, _ state: TaskState) -> String? {
    switch state {
    case .running: beingCancelled(task)
    case .suspended: beingCancelled(task) ?? orders.holder(of: task).map(Self.by)
    case .waiting, .ready, .checking: status.state == .running ? waiting(task) : nil
    case .cancelled: orders.of(task, .cancel).map { Self.by($0.asker) }
    case .skipped:
      status.history[task].why == .skipped(.order)
        ? orders.of(task, .skip).map { Self.by($0.asker) } : nil
    case .handed, .succeeded, .upToDate, .failedAllowed, .failed: nil
    }
  }

  private func beingCancelled(_ task: TaskID) -> String? {
    guard status.state == .running else { return nil }
    return orders.of(task, .cancel).map { "being cancelled \(Self.by($0.asker))" }
  }

  private func waiting(_ task: TaskID) -> String? {
    orders.ofPending(task).first.map { record, phrase in
      "\(phrase.short(record.carried)) \(Self.by(record.asker))"
    }
  }

  private static func by(_ asker: OrderAsker) -> String { "by \(CleanText.string(asker.text))" }

  /// `3 tasks were added by opflow add (pid 12)`, for the last few additions.
  var extensions: [String] {
    let all = status.history.extensions
    let shown = all.suffix(Self.mostExtensions)
    let lines = shown.map {
      "\(CountText.tasks($0.added)) \($0.added == 1 ? "was" : "were") added \(Self.by($0.asker))"
    }
    let hidden = all.dropLast(shown.count)
    if hidden.isEmpty { return lines }
    let added = hidden.reduce(0) { $0 + $1.added }
    let batches = hidden.count == 1 ? "one batch" : "\(CountText.grouped(hidden.count)) batches"
    return [
      "\(CountText.tasks(added)) \(added == 1 ? "was" : "were") added before that, in \(batches)"
    ]
      + lines
  }

  private static let mostExtensions = 3

  /// `net is closed, by opflow parallel (pid 12)`: a line per resource set in this session.
  var capacities: [String] {
    guard status.state == .running else { return [] }
    return orders.capacities.map { order in
      let (name, value) = (order.carried.resource, order.carried.number ?? 0)
      let amount = value == 0 ? "closed" : amount(value, of: name)
      return "\(CleanText.string(name)) is \(amount), \(Self.by(order.asker))"
    }
  }

  private func amount(_ value: Int64, of name: String) -> String {
    let amount = UInt64(clamping: value)
    guard let resource = resource(name) else { return "\(value)" }
    return AmountText.text(amount, of: resource)
  }

  private func resource(_ name: String) -> UInt32? {
    let plan = status.plan
    return plan.resources.indices.first {
      plan.text(plan.resources[$0].name).elementsEqual(name.utf8)
    }.map { UInt32(truncatingIfNeeded: $0) }
  }

  // MARK: - JSON

  func writeExtensions(into json: inout JSONWriter) {
    let extensions = status.history.extensions
    if extensions.isEmpty { return }
    json.key("extensions")
    json.beginArray()
    for entry in extensions {
      json.beginObject()
      ExtendJSON.write(entry, plan: status.plan, into: &json)
      json.endObject()
    }
    json.endArray()
  }

  /// Writes the requests to the run as a whole, if it is live.
  func write(into json: inout JSONWriter) {
    guard status.state == .running else { return }
    json.key("stopped_by")
    if let stop = orders.stoppedBy { Self.write(stop.asker, into: &json) } else { json.null() }
    json.key("stop_signal")
    if let signal = orders.stopSignal { json.number(signal) } else { json.null() }
    json.key("paused_by")
    if let pause = orders.pausedBy { Self.write(pause.asker, into: &json) } else { json.null() }
    json.key("capacities")
    json.beginArray()
    for order in orders.capacities {
      let (name, value) = (order.carried.resource, order.carried.number ?? 0)
      json.beginObject()
      json.key("resource")
      json.string(name)
      json.key("value")
      json.string(
        resource(name).map { ResourceEntry.text(UInt64(clamping: value), of: $0) } ?? "\(value)")
      json.key("by")
      Self.write(order.asker, into: &json)
      json.endObject()
    }
    json.endArray()
  }

  /// Writes the requester that caused a task's state, and its priority if a request set it.
  func write(_ task: TaskID, into json: inout JSONWriter) {
    let asker: OrderAsker? =
      switch status.state(task) {
      case .suspended, .waiting, .ready, .checking: orders.holder(of: task)
      case .cancelled: orders.of(task, .cancel)?.asker
      case .skipped:
        status.history[task].why == .skipped(.order) ? orders.of(task, .skip)?.asker : nil
      case .handed, .running, .succeeded, .upToDate, .failedAllowed, .failed: nil
      }
    if let asker {
      json.key("ordered_by")
      Self.write(asker, into: &json)
    }
    if let priority = orders.of(task, .priority) {
      json.key("priority")
      json.number(priority.carried.priority)
    }
  }

  static func write(_ asker: OrderAsker, into json: inout JSONWriter) {
    json.beginObject()
    json.fields(of: asker)
    json.endObject()
  }
}

extension JSONWriter {
  mutating func fields(of asker: OrderAsker) {
    key("by")
    string(asker.name)
    key("pid")
    number(asker.pid)
    key("uid")
    number(asker.user)
  }
}
