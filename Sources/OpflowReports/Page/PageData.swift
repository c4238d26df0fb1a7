internal import OpflowBase
internal import OpflowJournal
internal import OpflowPlan
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
  private let tracks: AttemptTracks
  private let entries: [Int]
  private let ready: ReadyTimes
  private let notes: PageStrings
  private let outcomes: PageStrings
  private var texts: PageTexts
  private var part = Part.run
  private var next = 0
  private var lastName: [UInt8] = []
  private var lastTry: (task: Int, begin: Int64)
  private var needsRoom = 1_200_000

  private enum Part { case run, tasks, tries, needs, none }

  private static let blockRows = 2000

  init(_ status: RunStatus, _ numbers: PageNumbers, _ comparison: RunComparison?) {
    self.comparison = comparison
    self.status = status
    self.numbers = numbers
    let history = status.history
    tracks = AttemptTracks(history.attempts, until: history.lastMilliseconds)
    entries = tracks.entries.indices.filter { [tracks] in
      numbers[history.attempts.all[tracks.entries[$0].attempt].task] != nil
    }
    ready = ReadyTimes(status, tracks.entries)
    path = MeasuredPath(status)
    notes = PageStrings(numbers.tasks, mostBytes: 400_000) { Self.note($0, status) }
    outcomes = PageStrings(history.attempts.all, mostTexts: 2000, Self.outcome)
    texts = PageTexts(status.plan)
    lastTry = (0, status.openedMilliseconds)
  }

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
    json.add("run", status.run)
    json.add("tasks", numbers.tasks.count)
    json.add("began", status.openedMilliseconds)
    json.add("ended", status.lastMilliseconds)
    json.add("drive", status.history.sessions)
    json.add("driveBegan", status.history.sessionMilliseconds)
    json.array("path", path.tasks.compactMap { numbers[$0] }) { $0.number($1) }
    json.array("lanes", tracks.tracks) { json, track in
      json.beginArray()
      json.string(CleanText.string(track.host))
      json.number(track.worker == .none ? -1 : track.worker.rawValue)
      json.number(track.place)
      json.endArray()
    }
    writeResources(into: &json)
    json.add("notes", notes.texts)
    json.add("outcomes", outcomes.texts)
    json.endObject()
    return json.bytes
  }

  private func writeResources(into json: inout JSONWriter) {
    let plan = status.plan
    json.array("resources", plan.resources.enumerated()) { json, place in
      let (index, resource) = place
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
    json.array("demands", 0..<plan.demandCount) { json, index in
      json.beginArray()
      for item in plan.demandList(UInt32(truncatingIfNeeded: index)) {
        json.beginArray()
        json.number(item.resource)
        json.decimal(ResourceEntry.text(item.amount, of: item.resource))
        json.endArray()
      }
      json.endArray()
    }
  }

  /// nil if unknown, and for a resource that each of several nodes has of its own.
  private func capacity(of resource: Int) -> UInt64? {
    let gpu = status.plan.gpuResource ?? -1
    if ResourceEntry.isOfMachine(resource, gpu: gpu), !status.history.nodes.all.isEmpty {
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
      let isApproval = status.plan.kind(task) == .approve
      states.add(
        Self.number(of: status.state(task)) | (isReused ? 16 : 0) | (isApproval ? 32 : 0)
          | (status.history[task].isInterrupted || status.isCut(task) ? 64 : 0)
          | (status.plan.flags(task).contains(.finally) ? 128 : 0))
      why.add(notes.numbers[number])
      demands.add(status.plan.demand[task.index])
      // The time plus one; 0 means unknown.
      if let wall = comparison?.wallBefore[task.index] {
        before.add(wall < 0 ? 0 : wall / 1000 + 1)
      }
    }
    lastName = names.last
    var json = JSONWriter(isInMarkup: true)
    json.object { json in
      names.write("names", heads: "heads", tails: "tails", &json)
      write(["states": states, "why": why, "demands": demands], &json)
      if comparison != nil { write(["before": before], &json) }
      texts.write(numbers.tasks[rows], into: &json)
    }
    return json.bytes
  }

  /// The script's number, not the raw value, which a new state could shift.
  private static func number(of state: TaskState) -> Int {
    switch state {
    case .waiting: 0
    case .ready, .checking: 1
    case .prefetched: 2
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

  private func write(
    _ columns: KeyValuePairs<StaticString, PageDigits>, _ json: inout JSONWriter
  ) {
    for (key, digits) in columns { json.add(key, utf8: digits.bytes) }
  }

  // MARK: - Attempts

  private mutating func tries(_ rows: Range<Int>) -> [UInt8] {
    var (tasks, begins, times, waits) = (PageDigits(), PageDigits(), PageDigits(), PageDigits())
    var (places, ends, tries) = (PageDigits(), PageDigits(), PageDigits())
    var (walls, processors, peaks, stood) = (PageDigits(), PageDigits(), PageDigits(), PageDigits())
    var outcomes = PageDigits()
    var hasOutcomes = false
    for place in entries[rows] {
      let entry = tracks.entries[place]
      let attempt = status.history.attempts.all[entry.attempt]
      guard let number = numbers[attempt.task] else { continue }
      tasks.add(signed: number - lastTry.task)
      let begin = max(entry.begin, lastTry.begin)
      begins.add(begin - lastTry.begin)
      times.add(entry.end - entry.begin)
      waits.add(entry.begin - ready.milliseconds[place])
      places.add(entry.track)
      ends.add(attempt.end.rawValue)
      tries.add(attempt.number)
      let wall = attempt.wallMicroseconds == 0 ? 0 : attempt.wallMicroseconds / 1000
      walls.add(signed: Int(wall - (entry.end - entry.begin)))
      // Tenths of a millisecond.
      processors.add(attempt.cpuMicroseconds / 100)
      peaks.add(attempt.peakKibibytes >> 6)
      stood.add(attempt.suspendedMilliseconds)
      let outcome = self.outcomes.numbers[entry.attempt]
      if outcome > 0 { hasOutcomes = true }
      outcomes.add(outcome)
      lastTry = (number, begin)
    }
    var json = JSONWriter(isInMarkup: true)
    json.object { json in
      write(
        [
          "tries": tasks, "begins": begins, "times": times, "waits": waits, "lanes": places,
          "ends": ends, "numbers": tries, "walls": walls, "processors": processors,
          "peaks": peaks, "stood": stood,
        ], &json)
      if hasOutcomes { write(["outcomes": outcomes], &json) }
    }
    return json.bytes
  }

  // MARK: - Dependencies

  private mutating func needs(_ rows: Range<Int>) -> [UInt8] {
    let digits = PageNeeds.digits(rows, status, numbers)
    needsRoom -= digits.bytes.count
    var json = JSONWriter(isInMarkup: true)
    json.object { json in write(["needs": digits], &json) }
    return json.bytes
  }
}

struct PageTexts {
  private let plan: Plan
  /// The remaining bytes; the last tasks get no texts.
  private var room = 800_000
  private var (lastAction, lastDescription): ([UInt8], [UInt8]) = ([], [])

  private static let longestDescription = 200

  init(_ plan: Plan) { self.plan = plan }

  mutating func write(_ tasks: ArraySlice<TaskID>, into json: inout JSONWriter) {
    var actions = PageLines(after: lastAction)
    var descriptions = PageLines(after: lastDescription)
    for task in tasks {
      let hasRoom = actions.byteCount + descriptions.byteCount < room
      actions.add(hasRoom ? Array(ActionText.text(task, plan: plan).utf8) : [])
      descriptions.add(hasRoom ? description(of: task) : [])
    }
    // The script starts with an empty text.
    lastAction = actions.hasText ? actions.last : []
    lastDescription = descriptions.hasText ? descriptions.last : []
    if actions.hasText {
      actions.write("actions", heads: "actionHeads", tails: "actionTails", &json)
      room -= actions.byteCount
    }
    if descriptions.hasText {
      descriptions.write("words", heads: "wordHeads", tails: "wordTails", &json)
      room -= descriptions.byteCount
    }
  }

  private func description(of task: TaskID) -> [UInt8] {
    let text = CleanText.string(plan.description(of: task))
    let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
    let cut = line.prefix(Self.longestDescription)
    return Array((cut.count < line.count ? cut + "…" : cut).utf8)
  }
}

/// Stores each text once. Beyond the limits, items get the first, empty text.
struct PageStrings {
  private(set) var texts = [""]
  private(set) var numbers: [Int] = []

  init<Items: Collection>(
    _ items: Items, mostBytes: Int = .max, mostTexts: Int = .max, _ text: (Items.Element) -> String
  ) {
    var places = ["": 0]
    var room = mostBytes
    numbers.reserveCapacity(items.count)
    for item in items {
      let text = text(item)
      var place = places[text]
      if place == nil, texts.count < mostTexts {
        room -= text.utf8.count
        if room > 0 {
          place = texts.count
          places[text] = texts.count
          texts.append(text)
        }
      }
      numbers.append(place ?? 0)
    }
  }
}

extension PageData {
  private static let longestNote = 300

  private static func note(_ task: TaskID, _ status: RunStatus) -> String {
    var text = TaskVerdict.reason(task, status).message
    if let rerun = status.history.details.reruns[task] {
      text += text.isEmpty ? "" : "; "
      text += "re-run by the last resume (\(ReasonText.text(.rerun(rerun), plan: status.plan)))"
    }
    let clean = CleanText.string(text)
    return clean.count > longestNote ? "\(clean.prefix(longestNote))…" : clean
  }

  private static func outcome(_ attempt: TaskAttempt) -> String {
    switch attempt.end {
    case .none, .succeeded, .lost: ""
    case .failed, .failedAllowed, .retried, .cancelled, .interrupted:
      OutcomeText.text(attempt.outcome)
    }
  }
}

/// Per task: the number of ranges of consecutive numbers. Per range: its distance from the task, or
/// from the range before, with the lowest bit set if the range has more than one number; then the
/// number of further numbers. So a whole matrix takes a few bytes.
enum PageNeeds {
  static func digits(_ rows: Range<Int>, _ status: RunStatus, _ numbers: PageNumbers) -> PageDigits
  {
    let plan = status.plan
    var digits = PageDigits()
    for row in rows {
      let needs = plan.needs(numbers.tasks[row])
        .compactMap { numbers[TaskID(plan.needTargets[$0])] }.sorted()
      let runs = runs(of: needs)
      digits.add(runs.count)
      for (place, run) in runs.enumerated() {
        let gap =
          place == 0
          ? PageDigits.signed(row - run.lowerBound)
          : UInt64(run.lowerBound - runs[place - 1].upperBound)
        digits.add(gap << 1 | (run.count > 1 ? 1 : 0))
        if run.count > 1 { digits.add(run.count - 1) }
      }
    }
    return digits
  }

  private static func runs(of numbers: [Int]) -> [ClosedRange<Int>] {
    var runs: [ClosedRange<Int>] = []
    for number in numbers {
      if let last = runs.last, last.upperBound + 1 >= number {
        runs[runs.count - 1] = last.lowerBound...number
      } else {
        runs.append(number...number)
      }
    }
    return runs
  }
}

/// When attempts could have started: after all dependencies and the attempt before. From there on
/// they waited for a worker, for resources or for a retry's delay.
struct ReadyTimes {
  /// Per entry, since the epoch; never after its start.
  let milliseconds: [Int64]

  init(_ status: RunStatus, _ entries: [AttemptTracks.Entry]) {
    let (plan, attempts) = (status.plan, status.history.attempts.all)
    let sessions = Self.sessionBeginnings(status, entries)
    var ends = [Int64](repeating: .min, count: plan.taskCount)
    var lastEnd = Int64.min
    var ready: [Int64] = []
    ready.reserveCapacity(entries.count)
    for entry in entries {
      let attempt = attempts[entry.attempt]
      var time = sessions[Int(attempt.session)] ?? entry.begin
      time = max(time, ends[attempt.task.index])
      for edge in plan.needs(attempt.task) {
        time = max(time, ends[Int(plan.needTargets[edge])])
      }
      if plan.flags(attempt.task).contains(.finally) { time = max(time, lastEnd) }
      ready.append(min(time, entry.begin))
      ends[attempt.task.index] = entry.end
      lastEnd = max(lastEnd, entry.end)
    }
    milliseconds = ready
  }

  /// The starts of sessions, or of their first attempt if unknown. Only for sessions with attempts,
  /// since the number of sessions in the journal is untrusted.
  private static func sessionBeginnings(
    _ status: RunStatus, _ entries: [AttemptTracks.Entry]
  ) -> [Int: Int64] {
    let history = status.history
    var beginnings: [Int: Int64] = [:]
    for entry in entries {
      let session = Int(history.attempts.all[entry.attempt].session)
      beginnings[session] = min(beginnings[session] ?? .max, entry.begin)
    }
    if history.sessions > 0 { beginnings[history.sessions] = history.sessionMilliseconds }
    if history.sessions > 1 { beginnings[1] = history.openedMilliseconds }
    return beginnings
  }
}
