internal import OpflowBase
package import OpflowJournal
package import OpflowPlan
package import OpflowWire

/// The keys of a live view. Pure: bytes in, actions out; `LivePanel` draws the mode.
///
/// Modes
/// -----
///
///     plain ── t ──> tails ── t, Esc ──> plain
///     plain ── ? ──> help ── ?, Esc ──> plain
///     plain ── l, c, a ──> choosing ── Enter ──> following (l), confirming (c, a)
///                             └── Esc ──> plain
///     confirming ── y, r (of a) ──> plain, with an action
///         └── any other key ──> plain
///     following ── l, Esc, q ──> plain
///
/// While choosing, letters search the names. The choice is a task, not a position: if that task
/// ends, nothing is chosen until a key moves the mark, so Enter cannot hit another task. Cancels
/// and answers cannot be undone, so they are confirmed first.
package struct LiveKeys: Sendable {
  package enum Purpose: Equatable, Sendable { case follow, cancel, answer }

  package enum Mode: Equatable, Sendable {
    case plain, tails, help
    case choosing(Purpose, TaskID)
    case confirming(Purpose, TaskID)
    case following(TaskID)
  }

  package enum Action: Equatable, Sendable {
    case request(ControlAction, TaskID, value: Int64?)
    /// Leave the view, if the run continues without it.
    case leave
  }

  package private(set) var mode = Mode.plain
  /// The requested values of `cpu` without an answer yet; the next key continues from the last one.
  /// `request` is nil until it is sent.
  private var asked: [(request: RequestID?, value: Int64)] = []
  /// Filters the names while choosing, ignoring case.
  private(set) var search = ""
  private static let longestSearch = 64
  private(set) var message = ""

  static let resource = "cpu"

  package init() {}

  package mutating func ask(_ request: ClientRequest) {
    guard request.verb == .parallel, let place = asked.firstIndex(where: { $0.request == nil })
    else { return }
    asked[place].request = request.id
  }

  package mutating func tell(_ message: String, of request: ClientRequest?) {
    self.message = message
    if let request, !message.isEmpty { asked.removeAll { $0.request == request.id } }
  }

  // MARK: - Keys

  private enum Key { case letter(UInt8), up, down, enter, escape }

  /// `typed` are the bytes of one read: an ESC at its end is the key itself, not the start of a
  /// sequence. `parallel` is the initial capacity of `cpu`; nil if unknown.
  package mutating func type(
    _ typed: [UInt8], _ model: SessionModel, parallel: Int64?
  ) -> [Action] {
    Self.keys(typed).compactMap { press($0, model, parallel) }
  }

  private static func keys(_ typed: [UInt8]) -> [Key] {
    var keys: [Key] = []
    var rest = typed[...]
    while let byte = rest.popFirst() {
      switch byte {
      case 0x1B:
        guard rest.first == UInt8(ascii: "[") || rest.first == UInt8(ascii: "O") else {
          keys.append(.escape)
          continue
        }
        rest.removeFirst()
        // The sequence ends at its final byte (ECMA-48, 5.4); other keys are ignored.
        let end = rest.firstIndex { (0x40...0x7E).contains($0) } ?? rest.endIndex
        let last = rest[end...].first
        rest = rest[end...].dropFirst()
        if last == UInt8(ascii: "A") { keys.append(.up) }
        if last == UInt8(ascii: "B") { keys.append(.down) }
      case 0x0A, 0x0D: keys.append(.enter)
      default: keys.append(.letter(byte))
      }
    }
    return keys
  }

  private mutating func press(_ key: Key, _ model: SessionModel, _ parallel: Int64?) -> Action? {
    message = ""
    switch mode {
    case .choosing(let purpose, let task): return choose(key, purpose, task, model)
    case .confirming(let purpose, let task): return confirm(key, purpose, task, model)
    case .following, .tails, .help:
      guard case .letter(let byte) = key, byte != leavingKey, byte != UInt8(ascii: "q") else {
        mode = .plain
        return nil
      }
      if mode == .help { mode = .plain }
      return letter(byte, model, parallel)
    case .plain:
      guard case .letter(let byte) = key else { return nil }
      return letter(byte, model, parallel)
    }
  }

  private var leavingKey: UInt8? {
    switch mode {
    case .plain, .choosing, .confirming: nil
    case .tails: UInt8(ascii: "t")
    case .help: UInt8(ascii: "?")
    case .following: UInt8(ascii: "l")
    }
  }

  private mutating func letter(
    _ byte: UInt8, _ model: SessionModel, _ parallel: Int64?
  ) -> Action? {
    switch byte {
    case UInt8(ascii: "t"): mode = .tails
    case UInt8(ascii: "?"), UInt8(ascii: "h"): mode = .help
    case UInt8(ascii: "l"): begin(.follow, model, none: "no running task has a log")
    case UInt8(ascii: "c"): begin(.cancel, model, none: "no task is running")
    case UInt8(ascii: "a"): begin(.answer, model, none: "no task asks for approval")
    case UInt8(ascii: "p"):
      return .request(model.requests.pausedBy == nil ? .pause : .proceed, .none, value: nil)
    case UInt8(ascii: "+"), UInt8(ascii: "="): return change(by: 1, model, parallel)
    case UInt8(ascii: "-"): return change(by: -1, model, parallel)
    case UInt8(ascii: "q"): return .leave
    default: break
    }
    return nil
  }

  private mutating func change(
    by step: Int64, _ model: SessionModel, _ parallel: Int64?
  ) -> Action? {
    asked.removeAll { asked in asked.request.map { model.requests.counts[$0] != nil } ?? false }
    guard
      let now = asked.last?.value ?? model.requests.capacity(Self.resource)?.carried.number
        ?? parallel
    else {
      message = "the limit of cpu is unknown here; set it with `opflow parallel N`"
      return nil
    }
    let wanted = now.plus(step)
    guard wanted >= 1 else {
      message = "the limit of cpu cannot be below 1; to start no more tasks, press p"
      return nil
    }
    asked.append((nil, wanted))
    return .request(.parallel, .none, value: wanted)
  }

  // MARK: - Choosing

  private mutating func begin(_ purpose: Purpose, _ model: SessionModel, none: String) {
    search = ""
    guard let first = candidates(purpose, model).first else {
      message = none
      mode = .plain
      return
    }
    mode = .choosing(purpose, first)
  }

  /// The longest running first.
  func candidates(_ purpose: Purpose, _ model: SessionModel) -> [TaskID] {
    let wanted = search.lowercased()
    return model.running.map(\.task).filter { task in
      let isApproval = model.plan.kind(task) == .approve
      let isOffered =
        switch purpose {
        case .follow: !isApproval && !model.plan.flags(task).contains(.interactive)
        case .cancel: true
        case .answer: isApproval
        }
      return isOffered && (wanted.isEmpty || model.name(task).lowercased().contains(wanted))
    }
  }

  private mutating func choose(
    _ key: Key, _ purpose: Purpose, _ task: TaskID, _ model: SessionModel
  ) -> Action? {
    let tasks = candidates(purpose, model)
    let place = tasks.firstIndex(of: task)
    switch key {
    case .escape: mode = .plain
    case .up: mark(purpose, tasks, (place ?? 1) - 1)
    case .down: mark(purpose, tasks, (place ?? -1) + 1)
    case .enter:
      guard place != nil else { return nil }
      mode = purpose == .follow ? .following(task) : .confirming(purpose, task)
    case .letter(0x08), .letter(0x7F): find(String(search.dropLast()), purpose, model)
    case .letter(let byte) where (0x21...0x7E).contains(byte):
      if search.count < Self.longestSearch {
        find(search + String(Unicode.Scalar(byte)), purpose, model)
      }
    case .letter: break
    }
    return nil
  }

  private mutating func find(_ text: String, _ purpose: Purpose, _ model: SessionModel) {
    search = text
    mode = .choosing(purpose, candidates(purpose, model).first ?? .none)
  }

  private mutating func mark(_ purpose: Purpose, _ tasks: [TaskID], _ place: Int) {
    guard let last = tasks.indices.last else {
      if search.isEmpty { mode = .plain }
      return
    }
    mode = .choosing(purpose, tasks[min(max(0, place), last)])
  }

  private mutating func confirm(
    _ key: Key, _ purpose: Purpose, _ task: TaskID, _ model: SessionModel
  ) -> Action? {
    mode = .plain
    let verb: ControlAction
    switch (key, purpose) {
    case (.letter(UInt8(ascii: "y")), .cancel): verb = .cancel
    case (.letter(UInt8(ascii: "y")), .answer): verb = .approve
    case (.letter(UInt8(ascii: "r")), .answer): verb = .reject
    default: return nil
    }
    guard candidates(purpose, model).contains(task) else {
      message = "\(model.name(task)) has already ended"
      return nil
    }
    return .request(verb, task, value: nil)
  }
}

extension LiveKeys.Action {
  package func request(_ id: RequestID, _ plan: Plan) -> ClientRequest? {
    guard case .request(let verb, let task, let value) = self else { return nil }
    var request = ClientRequest(id: id, verb: verb, planKey: plan.key.description)
    request.by = Self.name
    request.tasks = TaskRanges(task.isNone ? [] : [task])
    request.carried.number = value
    if verb == .parallel { request.carried.resource = LiveKeys.resource }
    return request
  }

  package static var name: String { "keys" }
}

extension ClientRequest {
  /// Empty for an applied request, because the view shows its effect.
  package func outcome(_ answer: RequestAnswer) -> String {
    switch answer {
    case .done: ""
    case .refused(let detail): "\(verb.rawValue): \(CleanText.string(detail))"
    }
  }
}

/// A frame of the live view while its keys are on, within half of the terminal's rows.
struct LivePanel {
  let keys: LiveKeys
  let frame: LiveFrame
  let tails: [TaskID: [UInt8]]

  private static let keyWords = [
    "t last output", "l follow a log", "p pause or continue", "c cancel a task",
    "a approve or reject", "+ - limit of cpu", "? help", "Esc back",
  ]

  private var columns: Int { max(0, frame.size.columns - LiveFrame.spareColumns) }
  private var model: SessionModel { frame.model }
  private var room: Int { max(0, frame.rows - (keys.message.isEmpty ? 1 : 2)) }

  var lines: [StyledLine] {
    var frame = frame
    frame.hasKeys = keys.mode == .plain
    let plain = frame.lines
    var lines: [StyledLine]
    switch keys.mode {
    case .plain: lines = plain
    case .help: lines = Self.flow(Self.keyWords, columns) + plain.suffix(1)
    case .tails: lines = withTails + plain.suffix(1)
    case .following(let task): lines = following(task) + plain.suffix(1)
    case .choosing(let purpose, let task):
      // The task that Enter selects must be visible.
      lines = choosing(purpose, task) + (frame.rows < 3 ? [] : plain.suffix(1))
    case .confirming(let purpose, let task): lines = plain + [confirming(purpose, task)]
    }
    if !keys.message.isEmpty { lines.append(Self.line(keys.message, .yellow)) }
    // If rows are few, the last lines matter most.
    return lines.suffix(frame.rows).map { $0.cut(to: columns) }
  }

  private static func line(_ text: String, _ style: StyledLine.Style) -> StyledLine {
    StyledLine(TextWidth.expandingTabs(CleanText.string(text)), style)
  }

  private static func flow(_ words: [String], _ columns: Int) -> [StyledLine] {
    var lines: [StyledLine] = []
    var text = ""
    for word in words {
      let longer = text.isEmpty ? word : "\(text) · \(word)"
      if !text.isEmpty, TextWidth.of(longer) > columns {
        lines.append(line(text, .plain))
        text = word
      } else {
        text = longer
      }
    }
    return lines + [line(text, .plain)]
  }

  /// Each task with its last lines of output, as many as fit, and the number of omitted tasks.
  private var withTails: [StyledLine] {
    if model.running.isEmpty { return [Self.line("no task is running", .dim)] }
    var tasks = model.running.prefix(max(1, room / 2))
    let isCut = model.running.count > tasks.count && room > 1
    if isCut { tasks = model.running.prefix(max(1, (room - 1) / 2)) }
    let count = min(Self.mostTailLines, max(1, (isCut ? room - 1 : room) / tasks.count - 1))
    let rows = plainFrame.rowLines(tasks, columns: columns)
    let lines = zip(tasks, rows).flatMap { running, row in
      let last = LastLines.of(tails[running.task] ?? [], count: count)
      return [row] + LineSlices(last).map { Self.printed($0) }
    }
    if !isCut { return lines }
    return lines.prefix(room - 1)
      + [Self.line("… and \(model.running.count - tasks.count) more", .dim)]
  }

  private static let mostTailLines = 5

  /// The output is printed below the rows.
  private var plainFrame: LiveFrame {
    var frame = frame
    frame.tails = [:]
    return frame
  }

  private static func printed(_ line: ArraySlice<UInt8>) -> StyledLine {
    Self.line("  | \(String(decoding: line, as: UTF8.self))", .dim)
  }

  private func following(_ task: TaskID) -> [StyledLine] {
    let isRunning = model.running.contains { $0.task == task }
    let end = isRunning ? "" : ", ended"
    let title = Self.line("log of \(model.name(task))\(end) (Esc to go back)", .plain)
    let last = LastLines.of(tails[task] ?? [], count: max(1, room - 1))
    return [title] + LineSlices(last).map { Self.printed($0) }
  }

  private func choosing(_ purpose: LiveKeys.Purpose, _ task: TaskID) -> [StyledLine] {
    let tasks = keys.candidates(purpose, model)
    let place = tasks.firstIndex(of: task)
    let rows = max(1, room - 1)
    let first = max(0, min((place ?? 0) - rows / 2, tasks.count - rows))
    let shown = tasks.dropFirst(first).prefix(rows)
    let running = model.running.filter { shown.contains($0.task) }
    let texts = frame.rowLines(running[...], columns: max(0, columns - 2))
    let marked = zip(running, texts).map { running, text -> StyledLine in
      var line = StyledLine(running.task == task ? "> " : "  ")
      line.append(text)
      return line
    }
    let question =
      switch purpose {
      case .follow: "follow the log of which task?"
      case .cancel: "cancel which task?"
      case .answer: "approve or reject which task?"
      }
    let found = tasks.isEmpty ? "no running task matches" : "up, down, Enter; Esc to go back"
    let search = keys.search.isEmpty ? "type to search" : "search: \(keys.search)"
    return marked + [Self.line("\(question) \(search); \(found)", .plain)]
  }

  private func confirming(_ purpose: LiveKeys.Purpose, _ task: TaskID) -> StyledLine {
    let name = model.name(task)
    return switch purpose {
    case .answer:
      Self.line("\(name): y to approve, r to reject, any other key to go back", .yellow)
    case .cancel, .follow:
      Self.line("cancel \(name)? y to cancel, any other key to go back", .yellow)
    }
  }
}
