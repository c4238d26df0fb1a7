import OpflowBase
import OpflowJournal
import OpflowPlan
import OpflowViews
import OpflowWire

/// Checks the journal of a run of five tasks, from bytes to a decision about each task.
enum FuzzJournal {
  static func check(_ bytes: UnsafeRawBufferPointer) throws(FuzzFinding) {
    guard let plan else { throw FuzzFinding("the plan for the journal does not hold") }
    let sealed = Seal.lines(bytes)
    for journal in [Array(bytes), sealed] {
      guard let first = Reading(journal, plan) else { continue }
      try checkProofs(first, journal, plan)
      try checkRepair(first, journal, plan)
      try checkDecision(first, journal, plan)
      try checkEntries(journal, plan)
      checkViews(first, plan)
    }
  }

  static let plan: Plan? = {
    var builder = PlanBuilder()
    let policy = builder.policy(TaskPolicy())
    let names = ["a", "b", "c/d", "e\\f", "end"]
    for (number, name) in names.enumerated() {
      var entry = TaskEntry(name: builder.intern(name), kind: .shell)
      entry.policy = policy
      entry.flags = number == 1 ? .failWhenInterrupted : number == 4 ? .finally : []
      entry.fingerprint = Fingerprint(whole: UInt64(number), parts: UInt64(number))
      _ = builder.add(entry)
    }
    for number in names.indices {
      if number == 1 || number == 2 { builder.addNeed(TaskID(0), on: .success) }
      if number == 3 { builder.addNeed(TaskID(1), on: .failure) }
      builder.endNeeds()
    }
    let manifest = ManifestEntry(
      name: .empty, description: .empty, folder: .empty, maxParallel: 0, maxFailures: 1,
      usesRunID: false)
    guard case .plan(let bytes) = builder.finish(manifest: manifest, key: PlanKey(high: 1, low: 2)),
      let plan = try? Plan(copying: bytes), (try? plan.validate()) != nil
    else { return nil }
    return plan
  }()

  /// The result of reading a journal; nil if it is not a journal.
  private struct Reading {
    var history: RunModel
    var recovery: JournalRecovery

    init?(_ journal: [UInt8], _ plan: Plan) {
      let read = journal.withUnsafeBytes { try? RunModel.read($0, plan: plan) }
      guard let read else { return nil }
      (history, recovery) = read
    }

    func brief(_ plan: Plan) -> String {
      let tasks = plan.tasks.map { index in
        let record = history[TaskID(index)]
        return
          "\(record.state) \(record.why?.word ?? "") \(record.attempts) \(record.startSequence)"
          + " \(record.settleSequence) \(record.isUnproven) \(record.isChanged)"
      }
      return "\(tasks) \(history.sessions) \(history.isSuspended)\(history.requests.all.count)"
        + " \(String(describing: history.close))"
        + " \(history.removed) \(recovery.lineCount) \(recovery.lastSequence)"
    }
  }

  // MARK: - Proof

  /// Returns the lines that are valid by the format's definition, found without the reader.
  private static func intactLines(of journal: [UInt8]) -> [[[UInt8]]] {
    var highest: UInt64 = 0
    var lines: [[[UInt8]]] = []
    for part in journal.split(separator: 10, omittingEmptySubsequences: false) {
      var line = Array(part)
      if line.last == 13 { line.removeLast() }
      let fields = line.split(separator: 9, omittingEmptySubsequences: false).map { Array($0) }
      guard fields.count >= 5, fields[0].count == 8, let checksum = Hexadecimal.value(fields[0]),
        line.dropFirst(9).withContiguousStorageIfAvailable({
          UInt64(Hash.crc32c(UnsafeRawBufferPointer($0)))
        }) == checksum,
        fields[1].count < 20, let sequence: UInt64 = Field.number(fields[1]), sequence > highest,
        sequence < 1 << 62, fields[1].first != UInt8(ascii: "-"),
        fields[2].count < 20, let time: UInt64 = Field.number(fields[2]), time < 1 << 62,
        fields[2].first != UInt8(ascii: "-")
      else { continue }
      highest = sequence
      lines.append(fields)
    }
    return lines
  }

  /// Checks that the reader sees exactly the valid lines, and that each good end has a line.
  private static func checkProofs(
    _ reading: Reading, _ journal: [UInt8], _ plan: Plan
  ) throws(FuzzFinding) {
    let lines = intactLines(of: journal)
    try expect(
      reading.recovery.lineCount == lines.count,
      "\(reading.recovery.lineCount) lines were read, \(lines.count) are intact")
    for index in plan.tasks {
      let task = TaskID(index)
      let name = Array(plan.nameBytes(task))
      let told = { (word: String) in
        lines.contains {
          $0[3].elementsEqual(word.utf8) && Field.unescaped($0[4]) ?? [] == name
        }
      }
      let record = reading.history[task]
      try expect((0..<1_000_000_000).contains(record.attempts), "\(record.attempts) tries")
      switch record.state {
      case .succeeded: try expect(told("success"), "task \(index) succeeded, and no line says so")
      case .failed, .failedAllowed:
        try expect(told("failure"), "task \(index) failed, and no line says so")
      case .skipped: try expect(told("skip"), "task \(index) was skipped, and no line says so")
      case .cancelled: try expect(told("cancel"), "task \(index): no line says cancelled")
      case .prefetched, .running, .suspended:
        try expect(told("start"), "task \(index) runs without a start")
      case .upToDate: try expect(told("fresh"), "task \(index) is up to date, and no line says so")
      case .waiting, .ready, .checking: break
      }
    }
    // Applying each line twice does not change the result.
    let twice = journal.withUnsafeBytes { bytes -> RunModel? in
      guard var reader = try? JournalReader(bytes) else { return nil }
      var history = RunModel()
      while let line = reader.next() {
        history.apply(line, plan: plan)
        history.apply(line, plan: plan)
      }
      return history
    }
    var again = reading
    if let twice { again.history = twice }
    try expect(again.brief(plan) == reading.brief(plan), "folding twice gives another history")
    // Reading without a plan yields the same run.
    if let run = journal.withUnsafeBytes({ try? RunModel.readRun($0) }) {
      try expect(
        run.close == reading.history.close && run.set == reading.history.set
          && run.sessions == reading.history.sessions, "without a plan the run is another")
    }
  }

  // MARK: - Repair

  /// Checks that repair keeps the meaning at each of its points, and that it is needed only once.
  private static func checkRepair(
    _ reading: Reading, _ journal: [UInt8], _ plan: Plan
  ) throws(FuzzFinding) {
    let repair = reading.recovery.repair
    let cut = Array(journal.prefix(repair.truncateTo ?? journal.count))
    let whole = repair.appendsLineFeed ? cut + [10] : cut
    for state in [cut, whole] {
      guard let again = Reading(state, plan) else {
        throw FuzzFinding("a repair leaves no journal")
      }
      try expect(again.brief(plan) == reading.brief(plan), "a repair changes what the journal says")
      try expect(again.recovery.repair.truncateTo == nil, "a repair has to be done twice")
    }
    try expect(
      Reading(whole, plan)?.recovery.repair
        == JournalRepair(truncateTo: nil, appendsLineFeed: false), "a repair leaves work to do")
    // An appended line is read, and does not change others.
    var encoder = reading.history.encoder
    encoder.append(.worker(WorkerEntry(pid: 4, startTime: 1, bootID: "b")), at: 1, plan: plan)
    guard let more = Reading(whole + encoder.bytes, plan) else {
      throw FuzzFinding("a line more, and it is no journal")
    }
    try expect(
      more.recovery.lineCount == reading.recovery.lineCount + 1
        && more.history.workers.last == WorkerEntry(pid: 4, startTime: 1, bootID: "b"),
      "a line that is appended is not read")
  }

  // MARK: - Decisions

  /// Checks that a resume can decide about each task, and journal and read its decisions.
  private static func checkDecision(
    _ reading: Reading, _ journal: [UInt8], _ plan: Plan
  ) throws(FuzzFinding) {
    let decision = ResumeDecision(plan: plan, history: reading.history)
    try expect(
      decision.keptCount + decision.runCount + decision.failCount == plan.taskCount,
      "a task without a verdict")
    for index in plan.tasks where decision[TaskID(index)].isKept {
      let record = reading.history[TaskID(index)]
      try expect(record.settleSequence > 0, "task \(index) is kept and never ended")
    }
    var encoder = reading.history.encoder
    var entry = ResumeEntry(planKey: "k", opflowVersion: "1")
    decision.complete(&entry)
    encoder.append(.resume(entry), at: 2, plan: plan)
    for transition in decision.transitions { encoder.append(transition, at: 2, plan: plan) }
    let repair = reading.recovery.repair
    var next = Array(journal.prefix(repair.truncateTo ?? journal.count))
    if repair.appendsLineFeed { next.append(10) }
    guard let after = Reading(next + encoder.bytes, plan) else {
      throw FuzzFinding("after a resume it is no journal")
    }
    for index in plan.tasks where decision[TaskID(index)].isKept {
      try expect(
        after.history[TaskID(index)].state == reading.history[TaskID(index)].state,
        "a resume takes back what it keeps")
    }
    let second = ResumeDecision(plan: plan, history: after.history)
    try expect(
      second.keptCount >= decision.keptCount, "a resume that died at once keeps less than before")
    _ = decision.initialStates(ResumeRequest())
  }

  /// Checks that a line that is decoded and encoded again stays the same.
  private static func checkEntries(_ journal: [UInt8], _ plan: Plan) throws(FuzzFinding) {
    var written: [[UInt8]] = []
    journal.withUnsafeBytes { bytes in
      guard var reader = try? JournalReader(bytes) else { return }
      while let line = reader.next(), written.count < 64 {
        if let entry = line.entry(plan: plan) { written.append(encoded(entry, plan)) }
      }
    }
    for line in written {
      let again = line.withUnsafeBytes { bytes in
        JournalLine(UnsafeRawBufferPointer(rebasing: bytes.dropLast()))?.entry(plan: plan)
      }
      guard let again else { throw FuzzFinding("what was written is no line: \(line)") }
      try expect(
        encoded(again, plan) == line,
        "a line changes: \(String(decoding: line, as: UTF8.self))")
    }
  }

  private static func encoded(_ entry: JournalEntry, _ plan: Plan) -> [UInt8] {
    var encoder = JournalEncoder()
    encoder.append(entry, at: 1, plan: plan)
    return encoder.bytes
  }

  private static func checkViews(_ reading: Reading, _ plan: Plan) {
    for isHeld in [true, false] {
      let status = RunStatus(
        run: "r", plan: plan, history: reading.history,
        included: .all(taskCount: plan.taskCount), isHeld: isHeld)
      _ = StatusView(
        status, resumeCommand: "opflow resume r1", nowMilliseconds: 1, showsAll: true, color: false
      ).text()
      _ = StatusJSON.text(status, nowMilliseconds: 2500) { _ in nil }
      _ = JournalVerdict(path: "j", recovery: reading.recovery, isHeld: isHeld)
        .text(plan: plan, history: reading.history)
    }
  }
}

extension ResumeDecision.Verdict {
  fileprivate var isKept: Bool {
    if case .keep = self { return true }
    return false
  }
}
