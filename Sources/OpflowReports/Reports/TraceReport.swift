internal import OpflowBase
package import OpflowJournal
internal import OpflowPlan
internal import OpflowViews

/// A run as a trace for Perfetto, Chrome and Speedscope: JSON in the Trace Event Format. Produced
/// in pieces, to save memory.
///
/// A process is a node, a thread one of its tracks (`AttemptTracks`), a complete event (`X`) an
/// attempt. Counters (`C`) show running tasks and resource use, flows (`s`, `f`) the critical path,
/// instants requests and additions. Times are microseconds since the run began. Readers order by
/// time alone, so attempts of a track are kept a microsecond apart where the journal's milliseconds
/// are equal.
package struct TraceReport {
  private let status: RunStatus
  private let tracks: AttemptTracks
  private let use: ResourceUse
  private let path: [TaskID]
  private let hosts: [String]
  private let resources: [Int]
  private var events = TraceEvents()
  private var part = Part.head
  private var next = 0
  private var trackEnds: [Int64]
  /// The last attempts of the critical path.
  private var steps: [TaskID: Step] = [:]
  private var lastUse: ResourceUse.Step?

  private struct Step {
    let track: Int
    let begin: Int64
    let end: Int64
  }

  private enum Part: Int {
    case head, tries, counters, flows, requests, additions, machines, foot, none
  }

  private static let pieceBytes = 65_536

  package init(_ status: RunStatus) {
    self.status = status
    let history = status.history
    tracks = AttemptTracks(history.attempts, until: history.lastMilliseconds)
    use = ResourceUse(status, tracks.entries)
    path = MeasuredPath(status).tasks
    var hosts: [String] = []
    for track in tracks.tracks where hosts.last != track.host { hosts.append(track.host) }
    self.hosts = hosts
    let steps = use.steps
    resources = status.plan.resources.indices.filter { resource in
      steps.contains { $0.amounts[resource] > 0 }
    }
    trackEnds = [Int64](repeating: .min, count: tracks.tracks.count)
    for task in path { self.steps[task] = Step(track: -1, begin: 0, end: 0) }
  }

  package mutating func nextPiece() -> [UInt8]? {
    while part != .none, events.json.bytes.count < Self.pieceBytes {
      if next < count {
        writeNext()
      } else {
        part = Part(rawValue: part.rawValue + 1) ?? .none
        next = 0
      }
    }
    return events.json.bytes.isEmpty ? nil : events.json.take()
  }

  private var count: Int {
    switch part {
    case .head, .foot: 1
    case .tries: tracks.entries.count
    case .counters: use.steps.count
    case .flows: path.count - 1
    case .requests: status.history.requests.all.count
    case .additions: status.history.additions.count
    case .machines: status.history.nodes.all.count
    case .none: 0
    }
  }

  private mutating func writeNext() {
    switch part {
    case .head: writeHead()
    case .tries: write(tracks.entries[next])
    case .counters: write(use.steps[next])
    case .flows: writeFlow(next)
    case .requests: write(status.history.requests.all[next])
    case .additions: write(status.history.additions[next])
    case .machines: write(status.history.nodes.all[next])
    case .foot:
      events.json.endArray()
      events.json.endObject()
      events.json.endLine()
    case .none: break
    }
    next += 1
  }

  private func microseconds(_ milliseconds: Int64) -> Int64 {
    let passed = milliseconds.subtractingReportingOverflow(status.openedMilliseconds)
    let most: Int64 = 1 << 52
    // If the clock was set back, this is the start of the run.
    return passed.overflow ? most : min(max(0, passed.partialValue), most / 1000) * 1000
  }

  private mutating func writeHead() {
    events.json.beginObject()
    events.json.add("displayTimeUnit", "ms")
    events.json.object("otherData") { json in
      json.add("run", status.run)
      json.add("name", CleanText.string(status.name))
      json.add("state", status.state.rawValue)
      json.add("began_ms", status.openedMilliseconds)
    }
    events.json.key("traceEvents")
    events.json.beginArray()
    for (number, host) in hosts.enumerated() {
      let name = host.isEmpty ? "this machine" : CleanText.string(host)
      events.name("process_name", process: number + 1, thread: 0, name)
    }
    for (number, track) in tracks.tracks.enumerated() {
      let place = track.place > 0 ? " (\(track.place + 1))" : ""
      let name = track.worker == .none ? "no worker" : "worker \(track.worker.rawValue)"
      events.name("thread_name", process: process(track), thread: number + 1, name + place)
      events.order(process: process(track), thread: number + 1, number)
    }
  }

  private func process(_ track: AttemptTracks.Track) -> Int {
    (hosts.firstIndex(of: track.host) ?? 0) + 1
  }

  private mutating func write(_ entry: AttemptTracks.Entry) {
    let attempt = status.history.attempts.all[entry.attempt]
    let begin = max(microseconds(entry.begin), trackEnds[entry.track])
    let end = max(microseconds(entry.end), begin + 1)
    trackEnds[entry.track] = end
    if steps[attempt.task] != nil {
      steps[attempt.task] = Step(track: entry.track, begin: begin, end: end)
    }
    let name = CleanText.string(status.plan.nameString(attempt.task))
    let process = process(tracks.tracks[entry.track])
    events.json.object { json in
      json.add("ph", "X")
      json.add("name", name)
      json.add("cat", Self.word(attempt.end))
      json.add("ts", begin)
      json.add("dur", end - begin)
      json.add("pid", process)
      json.add("tid", entry.track + 1)
      json.object("args") { Self.write(attempt, into: &$0) }
    }
  }

  private static func write(_ attempt: TaskAttempt, into json: inout JSONWriter) {
    json.add("end", word(attempt.end))
    if attempt.end != .none, attempt.end != .succeeded, attempt.end != .lost {
      json.add("outcome", OutcomeText.text(attempt.outcome))
    }
    json.add("attempt", attempt.number)
    json.add("drive", attempt.session)
    if attempt.wallMicroseconds > 0 {
      json.add("wall_us", attempt.wallMicroseconds)
      json.add("cpu_us", attempt.cpuMicroseconds)
      json.add("peak_kib", attempt.peakKibibytes)
    }
    if attempt.suspendedMilliseconds > 0 {
      json.add("suspended_ms", attempt.suspendedMilliseconds)
    }
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
      events.counter("running", time, "tasks", "\(step.running)")
    }
    for resource in resources where step.amounts[resource] != lastUse?.amounts[resource] {
      let amount = step.amounts[resource]
      let name = CleanText.string(status.plan.string(status.plan.resources[resource].name))
      let text = ResourceEntry.text(amount, of: UInt32(truncatingIfNeeded: resource))
      events.counter(name, time, "held", text)
    }
    lastUse = step
  }

  private mutating func writeFlow(_ number: Int) {
    guard let from = steps[path[number]], let to = steps[path[number + 1]], from.track >= 0,
      to.track >= 0
    else { return }
    // An arrow must start within its source.
    let start = min(from.end - 1, to.begin)
    guard start >= from.begin else { return }
    events.flow(
      "s", number + 1, at: start, process: process(tracks.tracks[from.track]), from.track + 1)
    events.flow(
      "f", number + 1, at: to.begin, process: process(tracks.tracks[to.track]), to.track + 1)
  }

  private mutating func write(_ node: NodeRecord) {
    let name = MachineText.name(node.host)
    events.instant("\(name) joined", microseconds(node.joinedMilliseconds))
    if node.state == .joined { return }
    events.instant(StatusMachines.text(node), microseconds(node.stateMilliseconds))
  }

  private mutating func write(_ addition: GrowthRecord) {
    let text = CleanText.string(RequestText.text(addition.entry))
    events.instant(text, microseconds(addition.milliseconds))
  }

  private mutating func write(_ request: RequestRecords.Record) {
    let names = NameList.text(request.tasks, plan: status.plan, limit: 3)
    let text = RequestText.text(
      request.verb, of: names, request.carried, by: request.requester, plan: status.plan)
    events.instant(CleanText.string(text), microseconds(request.milliseconds))
  }
}

struct TraceEvents {
  var json = JSONWriter()

  mutating func name(_ kind: String, process: Int, thread: Int, _ name: String) {
    event("M", kind, process: process, thread: thread) { json in
      json.object("args") { $0.add("name", name) }
    }
  }

  mutating func order(process: Int, thread: Int, _ place: Int) {
    event("M", "thread_sort_index", process: process, thread: thread) { json in
      json.object("args") { $0.add("sort_index", place) }
    }
  }

  mutating func counter(_ name: String, _ time: Int64, _ series: StaticString, _ value: String) {
    json.object { json in
      json.add("ph", "C")
      json.add("name", name)
      json.add("ts", time)
      json.add("pid", 1)
      json.object("args") { $0.add(series, decimal: value) }
    }
  }

  mutating func flow(_ phase: String, _ number: Int, at time: Int64, process: Int, _ thread: Int) {
    event(phase, "critical path", process: process, thread: thread) { json in
      json.add("cat", "critical path")
      json.add("id", number)
      json.add("ts", time)
      // Binds to the enclosing slice, not to the next one.
      if phase == "f" { json.add("bp", "e") }
    }
  }

  mutating func instant(_ name: String, _ time: Int64) {
    event("i", name, process: 1, thread: 0) { json in
      json.add("ts", time)
      json.add("s", "g")
    }
  }

  private mutating func event(
    _ phase: String, _ name: String, process: Int, thread: Int, _ rest: (inout JSONWriter) -> Void
  ) {
    json.object { json in
      json.add("ph", phase)
      json.add("name", name)
      json.add("pid", process)
      json.add("tid", thread)
      rest(&json)
    }
  }
}
