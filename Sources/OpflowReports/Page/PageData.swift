internal import OpflowCore
internal import OpflowViews

/// The data of a page: blocks of JSON, combined by its script (`PageScript.data`).
///
/// The first block is about the run. Others have tasks, attempts or dependencies in columns of
/// numbers (`PageDigits`). Tasks are numbered as in the page. A hundred thousand tasks take about
/// three megabytes.
struct PageData {
  let path: MeasuredPath
  private let status: RunStatus
  private let numbers: PageNumbers
  private let comparison: RunComparison?
  private let lanes: AttemptLanes
  /// The lanes' entries with tasks of the page.
  private let entries: [Int]
  private let ready: ReadyTimes
  private let notes: PageNotes
  private let outcomes: PageOutcomes
  private var texts: PageTexts
  private var part = Part.run
  private var next = 0
  private var lastName: [UInt8] = []
  private var lastTry: (task: Int, begin: Int64)
  /// The remaining bytes for dependencies.
  private var needsRoom = 1_200_000

  private enum Part { case run, tasks, tries, needs, none }

  private static let blockRows = 2000

  init(_ status: RunStatus, _ numbers: PageNumbers, _ comparison: RunComparison?) {
    self.comparison = comparison
    self.status = status
    self.numbers = numbers
    let history = status.history
    lanes = AttemptLanes(history.attempts, until: history.lastMilliseconds)
    entries = lanes.entries.indices.filter { [lanes] in
      numbers[history.attempts.all[lanes.entries[$0].attempt].task] != nil
    }
    ready = ReadyTimes(status, lanes.entries)
    path = MeasuredPath(status)
    notes = PageNotes(status, numbers)
    outcomes = PageOutcomes(history.attempts.all)
    texts = PageTexts(status.plan)
    lastTry = (0, status.openedMilliseconds)
  }

  /// Nil at the end.
  mutating func nextBlock() -> [UInt8]? {
    while true {
      switch part {
      case .run:
        part = .tasks
        return run
      case .tasks:
        if let rows = nextRows(of: numbers.tasks.count) { return tasks(rows) }
        part = .tries
      case .tries:
        if let rows = nextRows(of: entries.count) { return tries(rows) }
        part = .needs
      case .needs:
        if needsRoom > 0, let rows = nextRows(of: numbers.tasks.count) { return needs(rows) }
        part = .none
      case .none: return nil
      }
    }
  }

  private mutating func nextRows(of count: Int) -> Range<Int>? {
    let rows = next..<min(next + Self.blockRows, count)
    next = rows.isEmpty ? 0 : rows.upperBound
    return rows.isEmpty ? nil : rows
  }

  // MARK: - The run

  private var run: [UInt8] {
    var json = JSONWriter(isInMarkup: true)
    json.beginObject()
    json.key("run")
    json.string(status.run)
    json.key("tasks")
    json.number(numbers.tasks.count)
    json.key("began")
    json.number(status.openedMilliseconds)
    json.key("ended")
    json.number(status.lastMilliseconds)
    json.key("drive")
    json.number(status.history.drives)
    json.key("driveBegan")
    json.number(status.history.driveMilliseconds)
    json.key("path")
    json.beginArray()
    for task in path.tasks { if let number = numbers[task] { json.number(number) } }
    json.endArray()
    json.key("lanes")
    json.beginArray()
    for lane in lanes.lanes {
      json.beginArray()
      json.string(CleanText.string(lane.host))
      json.number(lane.worker == .none ? -1 : lane.worker.rawValue)
      json.number(lane.place)
      json.endArray()
    }
    json.endArray()
    writeResources(into: &json)
    json.key("notes")
    json.beginArray()
    for note in notes.texts { json.string(note) }
    json.endArray()
    json.key("outcomes")
    json.beginArray()
    for outcome in outcomes.texts { json.string(outcome) }
    json.endArray()
    json.endObject()
    return json.bytes
  }

  private func writeResources(into json: inout JSONWriter) {
    let plan = status.plan
    json.key("resources")
    json.beginArray()
    for (index, resource) in plan.resources.enumerated() {
      let number = UInt32(truncatingIfNeeded: index)
      json.beginArray()
      json.string(CleanText.string(plan.string(resource.name)))
      if let capacity = capacity(of: index) {
        json.decimal(ResourceEntry.text(capacity, of: number))
      } else {
        json.null()
      }
      json.endArray()
    }
    json.endArray()
    json.key("demands")
    json.beginArray()
    for index in 0..<plan.demandCount {
      json.beginArray()
      for item in plan.demandList(UInt32(truncatingIfNeeded: index)) {
        json.beginArray()
        json.number(item.resource)
        json.decimal(ResourceEntry.text(item.amount, of: item.resource))
        json.endArray()
      }
      json.endArray()
    }
    json.endArray()
  }

  /// Nil if unknown, and for what each of several nodes has its own of.
  private func capacity(of resource: Int) -> UInt64? {
    let gpu = status.plan.gpuResource ?? -1
    if ResourceEntry.isOfMachine(resource, gpu: gpu), !status.history.sites.all.isEmpty {
      return nil
    }
    return status.history.capacity(of: resource, status.plan)
  }

  // MARK: - Tasks

  private mutating func tasks(_ rows: Range<Int>) -> [UInt8] {
    var (states, why, demands) = (PageDigits(), PageDigits(), PageDigits())
    var before = PageDigits()
    var names = PageLines(after: rows.lowerBound == 0 ? [] : lastName)
    for number in rows {
      let task = numbers.tasks[number]
      var name: [UInt8] = []
      CleanText.append(status.plan.nameBytes(task), to: &name)
      names.add(name)
      let isReused = ResumeEffects.isReused(task, status)
      let isGate = status.plan.kind(task) == .approve
      states.add(
        Self.number(of: status.state(task)) | (isReused ? 16 : 0) | (isGate ? 32 : 0)
          | (status.history[task].isInterrupted || status.isCut(task) ? 64 : 0)
          | (status.plan.flags(task).contains(.finally) ? 128 : 0))
      why.add(notes.number(of: number))
      demands.add(status.plan.demand[task.index])
      // The time plus one; 0 means unknown.
      if let wall = comparison?.wallBefore[task.index] {
        before.add(wall < 0 ? 0 : wall / 1000 + 1)
      }
    }
    lastName = names.last
    var json = JSONWriter(isInMarkup: true)
    json.beginObject()
    names.write("names", heads: "heads", tails: "tails", &json)
    write(states, "states", &json)
    write(why, "why", &json)
    write(demands, "demands", &json)
    if comparison != nil { write(before, "before", &json) }
    texts.write(numbers.tasks[rows], into: &json)
    json.endObject()
    return json.bytes
  }

  /// The script's number, not the raw value, which a new state could shift.
  private static func number(of state: TaskState) -> Int {
    switch state {
    case .waiting: 0
    case .ready, .checking: 1
    case .handed: 2
    case .running: 3
    case .suspended: 4
    case .succeeded: 5
    case .upToDate: 6
    case .failedAllowed: 7
    case .failed: 8
    case .skipped: 9
    case .cancelled: 10
    }
  }

  private func write(_ digits: PageDigits, _ key: StaticString, _ json: inout JSONWriter) {
    json.key(key)
    digits.bytes.withUnsafeBytes { json.string($0) }
  }

  // MARK: - Attempts

  private mutating func tries(_ rows: Range<Int>) -> [UInt8] {
    var (tasks, begins, times, waits) = (PageDigits(), PageDigits(), PageDigits(), PageDigits())
    var (places, ends, tries) = (PageDigits(), PageDigits(), PageDigits())
    var (walls, processors, peaks, stood) = (PageDigits(), PageDigits(), PageDigits(), PageDigits())
    var outcomes = PageDigits()
    var hasOutcomes = false
    for place in entries[rows] {
      let entry = lanes.entries[place]
      let attempt = status.history.attempts.all[entry.attempt]
      guard let number = numbers[attempt.task] else { continue }
      tasks.add(signed: number - lastTry.task)
      let begin = max(entry.begin, lastTry.begin)
      begins.add(begin - lastTry.begin)
      times.add(entry.end - entry.begin)
      waits.add(entry.begin - ready.milliseconds[place])
      places.add(entry.lane)
      ends.add(attempt.end.rawValue)
      tries.add(attempt.number)
      let wall = attempt.wallMicroseconds == 0 ? 0 : attempt.wallMicroseconds / 1000
      walls.add(signed: Int(wall - (entry.end - entry.begin)))
      // In tenths of a millisecond.
      processors.add(attempt.cpuMicroseconds / 100)
      peaks.add(attempt.peakKibibytes >> 6)
      stood.add(attempt.suspendedMilliseconds)
      let outcome = self.outcomes.number(of: attempt)
      if outcome > 0 { hasOutcomes = true }
      outcomes.add(outcome)
      lastTry = (number, begin)
    }
    var json = JSONWriter(isInMarkup: true)
    json.beginObject()
    write(tasks, "tries", &json)
    write(begins, "begins", &json)
    write(times, "times", &json)
    write(waits, "waits", &json)
    write(places, "lanes", &json)
    write(ends, "ends", &json)
    write(tries, "numbers", &json)
    write(walls, "walls", &json)
    write(processors, "processors", &json)
    write(peaks, "peaks", &json)
    write(stood, "stood", &json)
    if hasOutcomes { write(outcomes, "outcomes", &json) }
    json.endObject()
    return json.bytes
  }

  // MARK: - Dependencies

  private mutating func needs(_ rows: Range<Int>) -> [UInt8] {
    let digits = PageNeeds.digits(rows, status, numbers)
    needsRoom -= digits.bytes.count
    var json = JSONWriter(isInMarkup: true)
    json.beginObject()
    write(digits, "needs", &json)
    json.endObject()
    return json.bytes
  }
}
