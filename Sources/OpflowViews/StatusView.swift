internal import OpflowBase
package import OpflowJournal
package import OpflowPlan
internal import OpflowWire

package struct StatusView {
  private let status: RunStatus
  private let nowMilliseconds: Int64
  private let palette: Palette
  private let showsAll: Bool
  private let resumeCommand: String
  private let controlCommand: RequestLineText
  private let columns: Int?

  private static let maxRows = 50
  private static let maxNeeds = 3

  package init(
    _ status: RunStatus, resumeCommand: String, nowMilliseconds: Int64, showsAll: Bool, color: Bool,
    columns: Int? = nil, controlCommand: @escaping RequestLineText = ControlAction.plainCommand
  ) {
    self.controlCommand = controlCommand
    self.columns = columns
    self.status = status
    self.resumeCommand = resumeCommand
    self.nowMilliseconds = nowMilliseconds
    self.showsAll = showsAll
    palette = Palette(isOn: color)
  }

  package func text() -> [UInt8] {
    var text = TextBuffer()
    writeHeading(into: &text)
    let (rows, rest) = shownRows()
    let tasks = rows.compactMap { if case .task(let task) = $0 { task } else { nil } }
    // Without nodes the NODE column is empty, and omitted.
    var table = TextTable(
      ["TASK", "STATE", "TIME", "ATTEMPTS", "NODE", "WHY"], rightAligned: [2, 3])
    for row in rows {
      switch row {
      case .task(let task): table.add(self.row(task))
      case .matrixGroup(let number, let matrixGroup):
        table.add([
          matrixGroup.label, matrixGroup.state.word, "", "", "", why(number, matrixGroup),
        ])
      }
    }
    if !rows.isEmpty {
      text.endLine()
      table.write(into: &text, palette: palette, fitting: columns) { column, cell in
        column == 1 ? palette.painted(cell) : cell
      }
    }
    if showsAll { writeDownloads(tasks, into: &text) }
    if rest > 0 { text.add(palette.dim("… and \(rest) more (-v shows all)") + "\n") }
    for task in tasks where status.plan.kind(task) == .approve && status.state(task) == .running {
      text.add("\nto answer \(status.plan.nameString(task)): ")
      text.addCleaned(ApprovalText.howToAnswer(task, plan: status.plan, controlCommand))
      text.endLine()
    }
    if status.state == .interrupted || status.state == .failed || status.state == .cancelled {
      text.endLine()
      ResumeAdvice(plan: status.plan, guarded: guarded).write(
        resumeCommand, isOpen: isOpen, into: &text)
    }
    return text.take()
  }

  /// The tasks with `on_interrupted: fail` that were interrupted.
  private var guarded: [TaskID] {
    let status = status
    return status.plan.tasks.lazy.map { TaskID($0) }.filter { task in
      guard status.included.contains(task),
        status.plan.flags(task).contains(.failWhenInterrupted)
      else { return false }
      return status.waitsForRerun(task) || status.failsOnResume(task)
        || status.state(task) == .cancelled && status.history[task].isInterrupted
    }
  }

  /// A resume would run the task if its dependencies allow it.
  private func isOpen(_ task: TaskID) -> Bool {
    guard status.included.contains(task) else { return false }
    switch status.state(task) {
    case .failed, .cancelled, .waiting, .ready, .checking, .prefetched, .running, .suspended:
      return true
    case .succeeded, .upToDate, .failedAllowed, .skipped: return false
    }
  }

  private func writeHeading(into text: inout TextBuffer) {
    let isRunning = status.state == .running
    let elapsed = DurationText.text(milliseconds: status.sessionsMilliseconds(at: nowMilliseconds))
    text.add(palette.bold("run \(status.run)"))
    text.add(" (")
    text.addCleaned(status.name)
    text.add("): \(palette.painted(status.state.rawValue)) ")
    text.add("\(isRunning ? "for" : "after") \(elapsed)\(status.sessionWords)")
    if isRunning, status.history.isSuspended {
      text.add(", \(palette.painted("suspended")) by a signal")
    } else if isRunning, let stop = status.history.requests.stoppedBy {
      text.add(", \(palette.painted("stopping"))")
      text.addSentence(": cancelled\(stop.requester.by)")
    } else if isRunning, let signal = status.history.requests.stopSignal {
      let reason = CleanText.string(status.history.requests.stopReason)
      let cause = reason.isEmpty ? SignalName.spelled(signal) : reason
      text.add(", \(palette.painted("stopping"))")
      text.addSentence(": \(cause)")
    } else if isRunning, let pause = status.history.requests.pausedBy {
      text.add(", \(palette.painted("paused"))")
      text.addSentence(pause.requester.by)
    }
    text.endLine()
    let counts = status.counts
    let restored = status.restoredCount(of: status.plan.tasks)
    let parts = counts.parts.map { part in
      let note = part.state == .succeeded && restored > 0 ? " (\(restored) cached)" : ""
      return "\(part.count) \(part.word)\(note)"
    }
    text.add("\(counts.total) \(counts.total == 1 ? "task" : "tasks")")
    text.add(parts.isEmpty ? "\n" : ": \(parts.joined(separator: ", "))\n")
    for line in StatusMachines(status).lines { text.addLine(line) }
    for line in StatusRequests(status).extensions { text.add("\(line)\n") }
    for line in StatusRequests(status).capacities { text.add("\(line)\n") }
    if let open = status.history.open, let task = open.tasks.first, !open.arguments.isEmpty {
      text.add(
        "arguments of \(QuotedWords.quoted(task)): \(ActionText.text(ofWords: open.arguments))\n")
    }
  }

  private enum Row {
    case task(TaskID)
    /// Includes tasks that have rows of their own.
    case matrixGroup(MatrixGroupID, MatrixGroupStatus)
  }

  /// Few rows are in manifest order. Else running tasks come first, then failed and cancelled ones,
  /// then pending ones, then the rest.
  private func shownRows() -> (rows: [Row], rest: Int) {
    // Copied once, not once per task.
    let status = status
    let plan = status.plan
    if showsAll || (status.counts.total <= Self.maxRows && plan.matrixGroups.isEmpty) {
      return (
        plan.tasks.map { TaskID($0) }.filter { status.included.contains($0) }.map { .task($0) }, 0
      )
    }
    if plan.matrixGroups.isEmpty { return shownTasks() }
    var all: [Row] = []
    var groups: [[Row]] = [[], [], [], []]
    var count = 0
    func add(_ row: Row, _ state: TaskState) {
      count += 1
      if all.count < Self.maxRows { all.append(row) }
      let group = Self.group(state)
      if groups[group].count < Self.maxRows { groups[group].append(row) }
    }
    var next = 0
    while next < plan.taskCount {
      let task = TaskID(next)
      next += 1
      guard let matrixGroup = plan.matrixGroup(of: task) else {
        // The generated matrix tasks are shown instead.
        let isMade = plan.instances(madeBy: task) != nil && status.state(task).isSuccess
        if !isMade, status.included.contains(task) { add(.task(task), status.state(task)) }
        continue
      }
      next = plan.instances(matrixGroup).upperBound
      addMatrixGroup(matrixGroup, add)
    }
    if count <= Self.maxRows { return (all, 0) }
    let rows = Array(groups.joined().prefix(Self.maxRows))
    return (rows, count - rows.count)
  }

  /// Used for more tasks than fit, without matrices. Scans few tasks if most succeeded.
  private func shownTasks() -> (rows: [Row], rest: Int) {
    let status = status
    let counts = status.counts
    let sizes = [
      counts.begun, counts.allFailed + counts.cancelled, counts.pending,
      counts.succeeded + counts.upToDate + counts.skipped,
    ]
    var wanted = 0
    var room = sizes.map { size in
      let shown = min(size, Self.maxRows - wanted)
      wanted += shown
      return shown
    }
    var groups: [[Row]] = [[], [], [], []]
    for task in status.plan.tasks.lazy.map({ TaskID($0) }) where status.included.contains(task) {
      let group = Self.group(status.state(task))
      if room[group] == 0 { continue }
      room[group] -= 1
      groups[group].append(.task(task))
      wanted -= 1
      if wanted == 0 { break }
    }
    return (Array(groups.joined()), counts.total - Self.maxRows)
  }

  /// Adds a row for a matrix, and one per task in it that runs, failed or was cancelled.
  private func addMatrixGroup(_ matrixGroup: MatrixGroupID, _ add: (Row, TaskState) -> Void) {
    let status = status
    let instances = status.plan.instances(matrixGroup).lazy.map { TaskID($0) }
      .filter { status.included.contains($0) }
    guard let first = instances.first else { return }
    if instances.dropFirst().isEmpty { return add(.task(first), status.state(first)) }
    let row = MatrixGroupStatus(matrixGroup, status)
    add(.matrixGroup(matrixGroup, row), row.state)
    for instance in instances where Self.group(status.state(instance)) < 2 {
      add(.task(instance), status.state(instance))
    }
  }

  private static func group(_ state: TaskState) -> Int {
    switch state {
    case .running, .suspended: 0
    case .failed, .failedAllowed, .cancelled: 1
    case .waiting, .ready, .checking, .prefetched: 2
    case .succeeded, .upToDate, .skipped: 3
    }
  }

  private func row(_ task: TaskID) -> [String] {
    let record = status.history[task]
    let state = status.state(task)
    return [
      status.plan.nameString(task), state.shown,
      time(record, state), attempts(task, record), node(task, state), why(task, state),
    ]
  }

  /// Empty if the run never had nodes.
  private func node(_ task: TaskID, _ state: TaskState) -> String {
    if status.history.nodes.all.isEmpty { return "" }
    switch state {
    case .waiting, .ready, .checking, .skipped: return ""
    case .prefetched, .running, .suspended, .succeeded, .upToDate, .failedAllowed, .failed,
      .cancelled:
      break
    }
    guard status.history[task].startSequence > 0, status.plan.kind(task) != .approve else {
      return ""
    }
    return status.history.node(of: task).map { MachineText.name($0.host) } ?? "this machine"
  }

  /// First attempts are not numbered, unless another one follows.
  private func attempts(_ task: TaskID, _ record: TaskRecord) -> String {
    record.attempts > 1 || status.awaitsNextTry(task) ? "\(record.attempts)" : ""
  }

  private func time(_ record: TaskRecord, _ state: TaskState) -> String {
    switch state {
    case .running, .suspended:
      return DurationText.text(milliseconds: nowMilliseconds - record.startedMilliseconds)
    case .succeeded, .upToDate, .failed, .failedAllowed, .cancelled:
      return record.startedMilliseconds == 0
        ? "" : DurationText.text(microseconds: record.wallMicroseconds)
    case .waiting, .ready, .checking, .prefetched, .skipped: return ""
    }
  }

  private static let mostReasons = 1000

  /// Never empty: the counts of the matrix, or the most common reason of its tasks.
  private func why(_ number: MatrixGroupID, _ matrixGroup: MatrixGroupStatus) -> String {
    if !matrixGroup.words.isEmpty { return matrixGroup.words }
    let status = status
    let tasks = status.plan.instances(number).lazy.map { TaskID($0) }
      .filter { status.included.contains($0) }
    switch matrixGroup.state {
    case .waiting, .ready, .checking, .prefetched, .skipped:
      let reasons = tasks.prefix(Self.mostReasons).map { why($0, status.state($0)) }
      let common = FoldedInstances.commonest(
        Array(reasons), areAll: matrixGroup.count <= Self.mostReasons)
      return common.isEmpty ? matrixGroup.allWords : common
    case .running, .suspended, .succeeded, .upToDate, .failed, .failedAllowed, .cancelled:
      return matrixGroup.allWords
    }
  }

  private func why(_ task: TaskID, _ state: TaskState) -> String {
    var words = reason(task, state)
    if let request = StatusRequests(status).words(task, state) {
      words = state == .waiting && !words.isEmpty ? "\(request); \(words)" : request
    }
    guard let kept = status.keptBytes[task] else { return words }
    let text = "\(DownloadText.size(kept)) kept"
    return words.isEmpty ? text : "\(words); \(text)"
  }

  private func reason(_ task: TaskID, _ state: TaskState) -> String {
    let record = status.history[task]
    switch state {
    case .failed, .failedAllowed: return status.outcome(of: task)
    case .waiting where status.awaitsNextTry(task):
      guard let next = status.nextTry(task) else { return status.outcome(of: task) }
      let left = next.minus(nowMilliseconds)
      let when = left > 0 ? "in \(DurationText.text(wholeSeconds: left.plus(999) / 1000))" : "now"
      return "\(status.outcome(of: task)); attempt \(record.attempts + 1) \(when)"
    case .waiting, .ready, .checking:
      let needs = status.waitsFor(task)
      let reason = record.isInterrupted ? "interrupted" : status.words(record)
      if needs.isEmpty {
        let isOffered = status.state != .running || status.plan.kind(task) != .block
        return isOffered || !reason.isEmpty ? reason : "waits for a client that offers it"
      }
      let list = NameList.text(needs, plan: status.plan, limit: Self.maxNeeds)
      return reason.isEmpty ? "after \(list)" : "\(reason); after \(list)"
    case .prefetched: return "is next on its worker"
    case .skipped where status.hasEmptyMatrix(task): return Plan.emptyMatrixText
    case .skipped: return status.words(record)
    case .running, .suspended:
      if status.plan.kind(task) == .approve { return ApprovalText.asks(task, plan: status.plan) }
      if status.plan.isService(task) {
        if status.isStopping(task) { return "stopping" }
        let ports = status.history.details.ports[task].map { ", \($0.words)" } ?? ""
        return record.isReady ? "ready\(ports)" : "not ready yet"
      }
      if status.plan.flags(task).contains(.interactive) { return "uses the terminal" }
      if let inner = status.inner[task] { return "\(inner.words) of run \(inner.run)" }
      return status.progress(task).map {
        DownloadText.running($0, atMilliseconds: nowMilliseconds, tellsResume: true)
      } ?? ""
    case .succeeded where record.isRestored: return "restored from the cache"
    case .succeeded:
      guard status.plan.hasApprovals, let answer = status.history.requests.answer(to: task) else {
        return ""
      }
      return ApprovalText.answered(answer)
    case .upToDate, .cancelled: return ""
    }
  }

  private func writeDownloads(_ tasks: [TaskID], into text: inout TextBuffer) {
    for task in tasks {
      guard let report = status.report(task) else { continue }
      let spec = status.plan.download(task)
      text.endLine()
      text.add(palette.bold(status.plan.nameString(task)))
      text.add(": ")
      text.add(
        DownloadText.finished(report, wallMicroseconds: status.history[task].wallMicroseconds))
      text.endLine()
      for (label, value) in [
        ("to", spec.target), ("sha256", report.sha256), ("sha512", report.sha512),
        ("url", report.url),
      ] where !value.isEmpty {
        text.add(palette.dim("  " + TextWidth.padded(label, to: 6)))
        text.add("  ")
        text.addCleaned(value)
        text.endLine()
      }
    }
  }
}

struct MatrixGroupStatus {
  let name: String
  private let counts: TaskCounts
  private var restored = 0
  /// Pending tasks that began before the run crashed.
  private var interrupted = 0

  init(_ matrixGroup: MatrixGroupID, _ status: RunStatus) {
    var counts = TaskCounts()
    var interrupted = 0
    for index in status.plan.instances(matrixGroup) where status.included.contains(TaskID(index)) {
      let task = TaskID(index)
      counts.add(status.state(task), asks: status.plan.kind(task) == .approve)
      if status.isCut(task) { interrupted += 1 }
    }
    self.init(name: status.plan.matrixGroupName(matrixGroup), counts: counts)
    self.interrupted = interrupted
    restored = status.restoredCount(of: status.plan.instances(matrixGroup))
  }

  init(name: String, counts: TaskCounts) {
    self.name = name
    self.counts = counts
  }

  var label: String { "\(name) \(counts.ended)/\(counts.total)" }

  var state: TaskState {
    if counts.running + counts.asking > 0 { return .running }
    if counts.suspended > 0 { return .suspended }
    if counts.failed > 0 { return .failed }
    if counts.cancelled > 0 { return .cancelled }
    if counts.pending > 0 { return .waiting }
    if counts.failedAllowed > 0 { return .failedAllowed }
    if counts.succeeded > 0 { return .succeeded }
    return counts.upToDate > 0 ? .upToDate : .skipped
  }

  /// Empty if `state` is sufficient.
  var words: String {
    parts.count > 1 || counts.asking > 0 || restored > 0 || interrupted > 0 ? allWords : ""
  }

  /// `2 running, 1 pending`
  var allWords: String { parts.map { "\($0.count) \($0.word)" }.joined(separator: ", ") }

  var count: Int { counts.total }

  private var parts: [(count: Int, word: String)] {
    let all = [
      (counts.running, "running"), (counts.suspended, "suspended"),
      (counts.asking, "waiting for approval"), (counts.failed, "failed"),
      (counts.failedAllowed, "failed (allowed)"), (counts.cancelled, "cancelled"),
      (interrupted, "interrupted"), (counts.pending - interrupted, "pending"),
      (counts.succeeded, "succeeded" + restoredWords),
      (counts.upToDate, "up to date"), (counts.skipped, "skipped"),
    ]
    return all.filter { $0.0 > 0 }.map { (count: $0.0, word: $0.1) }
  }

  private var restoredWords: String {
    if restored == 0 { return "" }
    return restored == counts.succeeded ? " (cached)" : " (\(restored) cached)"
  }

  func write(into json: inout JSONWriter) {
    json.object { json in
      json.add("id", name)
      json.add("state", state.word)
      json.add("counts", counts)
      if restored > 0 { json.add("restored", restored) }
    }
  }
}

struct StatusRequests {
  let status: RunStatus
  private var requests: RequestRecords { status.history.requests }

  init(_ status: RunStatus) { self.status = status }

  /// `by opflow suspend (pid 12)`
  func words(_ task: TaskID, _ state: TaskState) -> String? {
    let isLive = status.state == .running
    switch state {
    case .running, .suspended:
      if isLive, let requester = requests.of(task, .cancel)?.requester {
        return "being cancelled\(requester.by)"
      }
    case .waiting, .ready, .checking:
      guard isLive, let (record, phrase) = requests.ofPending(task).first else { return nil }
      return phrase.short(record.carried) + record.requester.by
    case .prefetched, .succeeded, .upToDate, .failedAllowed, .failed, .skipped, .cancelled: break
    }
    return requester(of: task).map { "by \($0.words)" }
  }

  private func requester(of task: TaskID) -> Requester? {
    switch status.state(task) {
    case .suspended, .waiting, .ready, .checking: requests.holder(of: task)
    case .cancelled: requests.of(task, .cancel)?.requester
    case .skipped:
      status.history[task].why == .skipped(.request) ? requests.of(task, .skip)?.requester : nil
    case .prefetched, .running, .succeeded, .upToDate, .failedAllowed, .failed: nil
    }
  }

  /// `3 tasks added by opflow add (pid 12)`.
  var extensions: [String] {
    let all = status.history.extensions
    let shown = all.suffix(Self.mostExtensions)
    let lines = shown.map { "\(CountText.tasks($0.added)) added\($0.requester.by)" }
    let hidden = all.dropLast(shown.count)
    if hidden.isEmpty { return lines }
    let added = hidden.reduce(0) { $0 + $1.added }
    let requests = hidden.count == 1 ? "1 request" : "\(CountText.grouped(hidden.count)) requests"
    return ["\(CountText.tasks(added)) added by \(requests) before these"] + lines
  }

  private static let mostExtensions = 3

  /// `limit of net is 0, set by opflow parallel (pid 12)`.
  var capacities: [String] {
    guard status.state == .running else { return [] }
    return requests.capacities.map { request in
      let (name, value) = (request.carried.resource, request.carried.number ?? 0)
      let amount = resource(name).map { AmountText.text(UInt64(clamping: value), of: $0) }
      let limit = "limit of \(CleanText.string(name)) is \(amount ?? "\(value)")"
      return "\(limit), set\(request.requester.by)"
    }
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
    json.objects("extensions", extensions) { $0.fields(of: $1, status.plan) }
  }

  func write(into json: inout JSONWriter) {
    guard status.state == .running else { return }
    json.add("stopped_by", requests.stoppedBy?.requester)
    json.add("stop_signal", requests.stopSignal)
    json.add("paused_by", requests.pausedBy?.requester)
    json.objects("capacities", requests.capacities) { json, request in
      let (name, value) = (request.carried.resource, request.carried.number ?? 0)
      json.add("resource", name)
      json.add(
        "value",
        resource(name).map { ResourceEntry.text(UInt64(clamping: value), of: $0) } ?? "\(value)")
      json.add("by", request.requester)
    }
  }

  func write(_ task: TaskID, into json: inout JSONWriter) {
    if let requester = requester(of: task) { json.add("ordered_by", requester) }
    if let priority = requests.of(task, .priority) {
      json.add("priority", priority.carried.priority)
    }
  }
}

package struct StatusMachines {
  let status: RunStatus

  private static let mostColumns = 200
  private static let mostOthers = 3

  init(_ status: RunStatus) { self.status = status }

  private var nodes: [NodeRecord] {
    Array(status.history.nodes.of(session: status.history.sessions))
  }

  /// The wait of the run, the nodes in use, and the others.
  var lines: [String] {
    var lines: [String] = []
    if status.state == .running, let awaited = status.awaited {
      lines.append("waits for nodes: \(CleanText.string(awaited))")
    }
    let nodes = nodes
    if nodes.isEmpty { return lines }
    var inUse: Set<String> = []
    let hosts = nodes.filter(\.isInUse).map(\.host).filter { inUse.insert($0).inserted }
    lines.append("nodes: \(MachineText.list(hosts, columns: Self.mostColumns))")
    // For a node that came back, only the newest record counts.
    let others = nodes.filter { !$0.isInUse && !inUse.contains($0.host) }
    for node in others.suffix(Self.mostOthers) { lines.append("  \(Self.text(node))") }
    if others.count > Self.mostOthers {
      lines.append("  … and \(others.count - Self.mostOthers) more not in use")
    }
    return lines
  }

  /// `n2 is lost (it sent nothing within the heartbeat timeout)`
  package static func text(_ node: NodeRecord) -> String {
    let detail = CleanText.string(node.detail)
    return "\(MachineText.name(node.host)) \(word(node.state))"
      + (detail.isEmpty ? "" : " (\(detail))")
  }

  package static func word(_ state: NodeState) -> String {
    switch state {
    case .joined: "is in use"
    case .readmitted: "is used again"
    case .leaving: "is leaving"
    case .quarantined: "gets no further tasks"
    case .silent: "does not respond"
    case .lost: "is lost"
    }
  }
}

extension TaskState {
  var shown: String { self == .failedAllowed ? "failed (allowed)" : word }
}

extension TaskCounts {
  /// The counts above zero, with a representative state.
  package var parts: [(count: Int, word: String, state: TaskState)] {
    [
      (succeeded, "succeeded", .succeeded), (upToDate, "up to date", .upToDate),
      (running, "running", .running), (suspended, "suspended", .suspended),
      (asking, "waiting for approval", .running),
      (failed, "failed", .failed), (failedAllowed, "failed (allowed)", .failedAllowed),
      (skipped, "skipped", .skipped), (cancelled, "cancelled", .cancelled),
      (pending, "pending", .waiting),
    ].filter { $0.count > 0 }
  }
}

extension InnerRun {
  /// `[12/40] 1 failed, 3 running`
  var words: String {
    let parts = [
      (counts.failed, "failed"), (counts.running, "running"), (counts.suspended, "suspended"),
      (counts.asking, "waiting for approval"),
    ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    let head = "[\(counts.ended + counts.cancelled)/\(counts.total)]"
    return parts.isEmpty ? head : "\(head) \(parts.joined(separator: ", "))"
  }
}
