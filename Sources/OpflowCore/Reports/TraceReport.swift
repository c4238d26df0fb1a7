/// A run as a trace that Perfetto, Chrome and Speedscope open: JSON in the Trace Event Format.
///
/// A process of the trace is a machine, a thread a lane of it (`AttemptLanes`); each try is a complete event (`X`)
/// there. Counters (`C`) tell how many tasks ran and what they held of each resource, flows (`s` and `f`)
/// lead along the critical path, orders are instants. Times are microseconds since the run began; readers order
/// events that touch by them alone, so tries of one lane are kept apart by a microsecond where the journal,
/// which has milliseconds, cannot tell them apart.
///
/// It is made in pieces, so that it need not be held as a whole.
package struct TraceReport {
  private let status: RunStatus
  private let lanes: AttemptLanes
  private let use: ResourceUse
  private let path: [TaskID]
  private let hosts: [String]
  /// Resources that some task held.
  private let resources: [Int]
  private var json = JSONWriter()
  private var part = Part.head
  /// Of the part's events, the next one.
  private var next = 0
  /// By lane: where its last try ended, in microseconds.
  private var laneEnds: [Int64]
  /// By task of the path: its last try.
  private var steps: [TaskID: Step] = [:]
  private var lastUse: ResourceUse.Step?

  private struct Step {
    let lane: Int
    let begin: Int64
    let end: Int64
  }

  private enum Part: Int { case head, tries, counters, flows, orders, foot, none }

  private static let pieceBytes = 65_536

  package init(_ status: RunStatus) {
    self.status = status
    let history = status.history
    lanes = AttemptLanes(history.attempts, until: history.lastMilliseconds)
    use = ResourceUse(status, lanes.entries)
    path = MeasuredPath(status).tasks
    var hosts: [String] = []
    for lane in lanes.lanes where hosts.last != lane.host { hosts.append(lane.host) }
    self.hosts = hosts
    let steps = use.steps
    resources = status.plan.resources.indices.filter { resource in
      steps.contains { $0.amounts[resource] > 0 }
    }
    laneEnds = [Int64](repeating: .min, count: lanes.lanes.count)
    for task in path { self.steps[task] = Step(lane: -1, begin: 0, end: 0) }
  }

  /// The bytes that come next; nil when there are no more.
  package mutating func nextPiece() -> [UInt8]? {
    while part != .none, json.bytes.count < Self.pieceBytes {
      if !writeNext() {
        part = Part(rawValue: part.rawValue + 1) ?? .none
        next = 0
      }
    }
    return json.bytes.isEmpty ? nil : json.take()
  }

  /// Whether there was anything of the part.
  private mutating func writeNext() -> Bool {
    defer { next += 1 }
    switch part {
    case .head:
      guard next == 0 else { return false }
      writeHead()
    case .tries:
      guard next < lanes.entries.count else { return false }
      write(lanes.entries[next])
    case .counters:
      guard next < use.steps.count else { return false }
      write(use.steps[next])
    case .flows:
      guard next + 1 < path.count else { return false }
      writeFlow(next)
    case .orders:
      guard next < status.history.orders.all.count else { return false }
      write(status.history.orders.all[next])
    case .foot:
      guard next == 0 else { return false }
      json.endArray()
      json.endObject()
      json.endLine()
    case .none: return false
    }
    return true
  }

  /// On the trace's clock.
  private func microseconds(_ milliseconds: Int64) -> Int64 {
    let passed = milliseconds.subtractingReportingOverflow(status.openedMilliseconds)
    let most: Int64 = 1 << 52
    // A clock that was set back puts nothing before the run.
    return passed.overflow ? most : min(max(0, passed.partialValue), most / 1000) * 1000
  }

  private mutating func writeHead() {
    json.beginObject()
    json.key("displayTimeUnit")
    json.string("ms")
    json.key("otherData")
    json.beginObject()
    json.key("run")
    json.string(status.run)
    json.key("name")
    json.string(CleanText.string(status.name))
    json.key("state")
    json.string(status.state.rawValue)
    json.key("began_ms")
    json.number(status.openedMilliseconds)
    json.endObject()
    json.key("traceEvents")
    json.beginArray()
    for (number, host) in hosts.enumerated() {
      let name = host.isEmpty ? "this machine" : CleanText.string(host)
      writeName("process_name", process: number + 1, thread: 0, name)
    }
    for (number, lane) in lanes.lanes.enumerated() {
      let place = lane.place > 0 ? " (\(lane.place + 1))" : ""
      let name = lane.worker == .none ? "no worker" : "worker \(lane.worker.rawValue)"
      writeName("thread_name", process: process(lane), thread: number + 1, name + place)
      json.beginObject()
      writeStart("M", "thread_sort_index", process: process(lane), thread: number + 1)
      json.key("args")
      json.beginObject()
      json.key("sort_index")
      json.number(number)
      json.endObject()
      json.endObject()
    }
  }

  private func process(_ lane: AttemptLanes.Lane) -> Int {
    (hosts.firstIndex(of: lane.host) ?? 0) + 1
  }

  private mutating func writeName(
    _ kind: String, process: Int, thread: Int, _ name: String
  ) {
    json.beginObject()
    writeStart("M", kind, process: process, thread: thread)
    json.key("args")
    json.beginObject()
    json.key("name")
    json.string(name)
    json.endObject()
    json.endObject()
  }

  private mutating func writeStart(
    _ phase: String, _ name: String, process: Int, thread: Int
  ) {
    json.key("ph")
    json.string(phase)
    json.key("name")
    json.string(name)
    json.key("pid")
    json.number(process)
    json.key("tid")
    json.number(thread)
  }

  private mutating func write(_ entry: AttemptLanes.Entry) {
    let attempt = status.history.attempts.all[entry.attempt]
    let begin = max(microseconds(entry.begin), laneEnds[entry.lane])
    let end = max(microseconds(entry.end), begin + 1)
    laneEnds[entry.lane] = end
    if steps[attempt.task] != nil {
      steps[attempt.task] = Step(lane: entry.lane, begin: begin, end: end)
    }
    json.beginObject()
    json.key("ph")
    json.string("X")
    json.key("name")
    json.string(CleanText.string(status.plan.nameString(attempt.task)))
    json.key("cat")
    json.string(Self.word(attempt.end))
    json.key("ts")
    json.number(begin)
    json.key("dur")
    json.number(end - begin)
    json.key("pid")
    json.number(process(lanes.lanes[entry.lane]))
    json.key("tid")
    json.number(entry.lane + 1)
    json.key("args")
    json.beginObject()
    json.key("end")
    json.string(Self.word(attempt.end))
    if attempt.end != .none, attempt.end != .succeeded, attempt.end != .lost {
      json.key("outcome")
      json.string(OutcomeText.text(Outcome(status: attempt.status, reason: attempt.reason)))
    }
    json.key("attempt")
    json.number(attempt.number)
    json.key("drive")
    json.number(attempt.drive)
    if attempt.wallMicroseconds > 0 {
      json.key("wall_us")
      json.number(attempt.wallMicroseconds)
      json.key("cpu_us")
      json.number(attempt.cpuMicroseconds)
      json.key("peak_kib")
      json.number(attempt.peakKibibytes)
    }
    if attempt.suspendedMilliseconds > 0 {
      json.key("suspended_ms")
      json.number(attempt.suspendedMilliseconds)
    }
    json.endObject()
    json.endObject()
  }

  static func word(_ end: TaskAttempt.End) -> String {
    switch end {
    case .none: "running"
    case .succeeded: "succeeded"
    case .failed: "failed"
    case .failedAllowed: "failed (allowed)"
    case .retried: "retried"
    case .cancelled: "cancelled"
    case .interrupted: "interrupted"
    case .lost: "lost"
    }
  }

  private mutating func write(_ step: ResourceUse.Step) {
    let time = microseconds(step.milliseconds)
    if step.running != lastUse?.running {
      writeCounter("running", time, step.running, "tasks")
    }
    for resource in resources where step.amounts[resource] != lastUse?.amounts[resource] {
      let amount = step.amounts[resource]
      let name = CleanText.string(status.plan.string(status.plan.resources[resource].name))
      json.beginObject()
      writeCounterStart(name, time)
      json.key("held")
      json.decimal(ResourceEntry.text(amount, of: UInt32(truncatingIfNeeded: resource)))
      json.endObject()
      json.endObject()
    }
    lastUse = step
  }

  private mutating func writeCounter(
    _ name: String, _ time: Int64, _ value: Int, _ series: StaticString
  ) {
    json.beginObject()
    writeCounterStart(name, time)
    json.key(series)
    json.number(value)
    json.endObject()
    json.endObject()
  }

  private mutating func writeCounterStart(_ name: String, _ time: Int64) {
    json.key("ph")
    json.string("C")
    json.key("name")
    json.string(name)
    json.key("ts")
    json.number(time)
    json.key("pid")
    json.number(1)
    json.key("args")
    json.beginObject()
  }

  /// From a task of the critical path to the one after it.
  private mutating func writeFlow(_ number: Int) {
    guard let from = steps[path[number]], let to = steps[path[number + 1]], from.lane >= 0,
      to.lane >= 0
    else { return }
    // An arrow begins within what it leads from, and never after it ends.
    let start = min(from.end - 1, to.begin)
    guard start >= from.begin else { return }
    write(flow: "s", number, at: start, lane: from.lane)
    write(flow: "f", number, at: to.begin, lane: to.lane)
  }

  private mutating func write(flow phase: String, _ number: Int, at time: Int64, lane: Int) {
    json.beginObject()
    writeStart(
      phase, "critical path", process: process(lanes.lanes[lane]), thread: lane + 1)
    json.key("cat")
    json.string("critical path")
    json.key("id")
    json.number(number + 1)
    json.key("ts")
    json.number(time)
    // It leads to what goes on then, not to what begins next.
    if phase == "f" {
      json.key("bp")
      json.string("e")
    }
    json.endObject()
  }

  private mutating func write(_ order: OrderRecords.Record) {
    let about = NameList.text(order.tasks, plan: status.plan, limit: 3)
    let name = "\(order.verb.rawValue)\(about.isEmpty ? "" : " \(about)")"
    json.beginObject()
    writeStart(
      "i", CleanText.string("\(name), asked by \(order.asker.text)"), process: 1, thread: 0)
    json.key("ts")
    json.number(microseconds(order.milliseconds))
    json.key("s")
    json.string("g")
    json.endObject()
  }
}
