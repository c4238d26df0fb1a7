internal import OpflowBase
package import OpflowPlan

package struct MessageFields {
  private let line: UnsafeRawBufferPointer
  /// Beyond the line's end after the last field.
  private var position = 0

  package init(_ line: UnsafeRawBufferPointer) { self.line = line }

  private var isAtEnd: Bool { position > line.count }

  package var isWholeMessage: Bool { isAtEnd }

  mutating func next() -> UnsafeRawBufferPointer? {
    if isAtEnd { return nil }
    let end = line.position(of: Field.tab, from: position)
    defer { position = end + 1 }
    return line.part(position, end)
  }

  mutating func passRest() { position = line.count + 1 }

  package mutating func number<Value: FixedWidthInteger>(as type: Value.Type) -> Value? {
    next().flatMap { Field.number($0, as: type) }
  }

  package mutating func natural<Value: FixedWidthInteger>(as type: Value.Type) -> Value? {
    guard let value = number(as: type), value >= 0 else { return nil }
    return value
  }

  mutating func task() -> TaskID? { natural(as: Int32.self).map { TaskID($0) } }
  package mutating func attempt() -> Int32? { natural(as: Int32.self) }

  mutating func positive() -> Int32? {
    guard let value = number(as: Int32.self), value > 0 else { return nil }
    return value
  }

  /// `.some(nil)` for a dash; nil if invalid.
  private mutating func orNone<Value>(_ read: (inout Self) -> Value?) -> Value?? {
    var after = self
    if after.next()?.equals("-") == true {
      self = after
      return .some(nil)
    }
    return read(&self).map { .some($0) }
  }

  mutating func naturalOrNone<Value: FixedWidthInteger>(as type: Value.Type) -> Value?? {
    orNone { $0.natural(as: type) }
  }

  mutating func flag(_ yes: StaticString, _ no: StaticString) -> Bool? {
    guard let field = next(), field.equals(yes) || field.equals(no) else { return nil }
    return field.equals(yes)
  }

  mutating func hash() -> UInt64? { next().flatMap { Hexadecimal.value($0) } }
  package mutating func text() -> String? { next().flatMap { Field.text($0) } }
  mutating func bytes() -> [UInt8]? { next().flatMap { Field.unescaped($0) } }

  /// Reads the task, and makes the message with the result of `rest`.
  mutating func ofTask<Value, Message>(
    _ make: (TaskID, Value) -> Message, _ rest: (inout Self) -> Value?
  ) -> Message? {
    guard let task = task(), let value = rest(&self) else { return nil }
    return make(task, value)
  }

  mutating func ofAttempt<Message>(_ make: (TaskID, Int32) -> Message) -> Message? {
    ofTask(make) { $0.attempt() }
  }

  mutating func ofAttempt<Value, Message>(
    _ make: (TaskID, Int32, Value) -> Message, _ rest: (inout Self) -> Value?
  ) -> Message? {
    guard let task = task(), let attempt = attempt(), let value = rest(&self) else { return nil }
    return make(task, attempt, value)
  }

  private mutating func value(_ key: Key) -> UnsafeRawBufferPointer? {
    guard let field = next().flatMap({ LineField($0) }), field.key == key else { return nil }
    return field.value
  }

  mutating func number<Value: FixedWidthInteger>(_ key: Key, as type: Value.Type) -> Value? {
    value(key).flatMap { Field.number($0, as: type) }
  }

  mutating func text(_ key: Key) -> String? { value(key).flatMap { Field.text($0) } }

  mutating func check() -> TaskCheck? {
    guard let task = task(), let serial = attempt(), let needs = hash(),
      let with = orNone({ $0.hash() }), let isAsked = flag("1", "0"), let after = attempt(),
      let keeps = orNone({ $0.hash() })
    else { return nil }
    var check = TaskCheck(
      task: task, serial: serial, with: with, needs: needs, isAsked: isAsked, after: after)
    check.keeps = keeps
    while !isAtEnd {
      guard check.skipped.count < TaskCheck.mostSkipped, let need = self.task() else { return nil }
      check.skipped.append(need)
    }
    return check
  }

  mutating func value(withText: Bool = true) -> TaskValue? {
    guard let name = next(), ValueRules.isName(name), let digits = next(), digits.count == 16,
      let hash = UInt64(String(decoding: digits, as: UTF8.self), radix: 16)
    else { return nil }
    var value = TaskValue(name: String(decoding: name, as: UTF8.self), hash: hash)
    if isAtEnd { return value }
    guard withText, let text = bytes(), text.count <= ValueRules.longestConditionBytes
    else { return nil }
    value.text = text
    return value
  }

  mutating func outcome() -> Outcome? {
    if isAtEnd { return Outcome(status: .unknown) }
    // A tab at the end would start an invalid field.
    guard let bytes = ByteWindow(line), line.last != Field.tab else { return nil }
    var cursor = FieldCursor(bytes, from: position, to: line.count)
    var fields = OutcomeFields()
    fields.read(&cursor)
    guard cursor.isAtEnd, !cursor.isBroken else { return nil }
    passRest()
    let outcome = fields.outcome
    // A reason, even an empty one, must be known.
    return (fields.reason.baseAddress == nil) == (outcome.reason == nil) ? outcome : nil
  }

  mutating func ports() -> [UInt16]? {
    var ports: [UInt16] = []
    while !isAtEnd {
      guard let port = natural(as: UInt16.self), port > 0, ports.count < ServicePorts.mostPorts
      else { return nil }
      ports.append(port)
    }
    return ports
  }

  mutating func jobs() -> (own: Int32, all: Int32)? {
    guard let own = attempt(), let all = number(as: Int32.self), all > own else { return nil }
    return (own, all)
  }

  mutating func refusal() -> (number: Int32, detail: String)? {
    guard let number = number(.errno, as: Int32.self), let detail = text(.detail) else {
      return nil
    }
    return (number, detail)
  }

  /// Reads ascending numbers, separated by commas.
  mutating func devices() -> DeviceSet? {
    guard let list = next() else { return nil }
    var numbers: [Int] = []
    for part in list.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
      guard let number: Int = Field.number(part), number >= 0, number < DeviceSet.most,
        numbers.last.map({ $0 < number }) ?? true
      else { return nil }
      numbers.append(number)
    }
    return DeviceSet(numbers)
  }

  mutating func fetch() -> FetchRecord? {
    var report = FetchReport()
    while let bytes = next() {
      guard let field = LineField(bytes) else { return nil }
      let pass = FieldPass.read(field) { report.list(&$0) }
      guard pass.isKnown, pass.isValid else { return nil }
    }
    return FetchRecord(report)
  }

  mutating func progress() -> WorkerProgress? {
    guard let task = task(), let done = natural(as: Int64.self), let total = number(as: Int64.self),
      total >= -1, let speed = natural(as: Int64.self), let text = text()
    else { return nil }
    return WorkerProgress(
      task: task, doneBytes: done, totalBytes: total, bytesPerSecond: speed, text: text)
  }

  package mutating func left() -> LeftBehind? {
    text().flatMap { LeftBehind(text: $0, processes: text() ?? "") }
  }

  mutating func hello() -> WorkerHello? {
    guard let version = natural(as: Int.self) else { return nil }
    var hello = WorkerHello(
      version: version, planKey: "", pid: 0, offer: WorkerOffer(cores: 0, actions: []), host: "")
    if version != WorkerHello.currentVersion {
      passRest()
      return hello
    }
    guard let planKey = text(), let pid = natural(as: Int32.self) else { return nil }
    hello.planKey = planKey
    hello.pid = pid
    var namesActions = false
    while let field = next() {
      guard let field = LineField(field), FieldPass.read(field, { hello.list(&$0) }).isValid
      else { return nil }
      if field.key == .actions { namesActions = true }
    }
    return hello.offer.cores > 0 && namesActions ? hello : nil
  }
}

extension WorkerHello {
  /// - Parameter lineStart: The start of the line to write.
  mutating func list(_ pass: inout FieldPass, lineStart: Int = 0) {
    pass.number(.cores, &offer.cores, atLeast: 1)
    pass.number(.memory, &offer.memoryBytes, atLeast: 1)
    pass.value(.actions, &offer.actions, read: { WorkerActions($0.value) }) { actions, writer in
      let words = WorkerActions.words.filter { actions.contains($0.action) }
      writer.field(.actions, words.map(\.word.description).joined(separator: ","))
    }
    pass.number(.start, &startTime)
    pass.number(.group, &autogroup)
    pass.cut(.host, &host, lineStart: lineStart)
  }
}

extension AgentHello {
  mutating func list(_ pass: inout FieldPass, lineStart: Int = 0) {
    pass.number(.cores, &cores, evenIfZero: true)
    pass.number(.memory, &memoryBytes, evenIfZero: true)
    pass.value(.gpus, &gpus, read: { $0.text.split(separator: ",").map(String.init) }) {
      $1.fieldUnlessEmpty(.gpus, $0.joined(separator: ","))
    }
    pass.number(.time, &secondsLeft)
    pass.text(.boot, &bootID)
    pass.text(.job, &job)
    pass.text(.step, &step)
    pass.text(.incarnation, &incarnation)
    pass.cut(.host, &host, lineStart: lineStart)
  }
}

extension FieldPass {
  /// Writes as much as fits the line; comes last.
  fileprivate mutating func cut(_ key: Key, _ text: inout String, lineStart: Int) {
    value(key, &text, read: { Field.text($0.value) }) { text, writer in
      if text.isEmpty { return }
      writer.begin(key)
      writer.cut(text, lineStart: lineStart)
    }
  }
}

extension WorkerActions {
  fileprivate init(_ words: UnsafeRawBufferPointer) {
    self = []
    for part in words.split(separator: UInt8(ascii: ",")) {
      let part = UnsafeRawBufferPointer(rebasing: part)
      for (action, word) in Self.words where part.equals(word) { insert(action) }
    }
  }
}

extension FieldWriter {
  mutating func message(_ word: StaticString, _ number: some FixedWidthInteger) {
    raw(word)
    field(number)
  }

  mutating func message(_ word: StaticString, _ text: String) {
    let start = bytes.count
    raw(word)
    cutField(text, lineStart: start)
  }

  mutating func word(_ word: StaticString) {
    tab()
    raw(word)
  }

  mutating func field(_ number: some FixedWidthInteger) {
    tab()
    self.number(number)
  }

  mutating func numberOrDash(_ number: (some FixedWidthInteger)?) {
    if let number { field(number) } else { word("-") }
  }

  /// nil is a dash.
  mutating func hash(_ hash: UInt64?) {
    tab()
    if let hash { hexadecimal(hash, digitCount: 16) } else { raw("-") }
  }

  mutating func field(_ text: String) {
    tab()
    escaped(text)
  }

  mutating func field(_ bytes: some Sequence<UInt8>) {
    tab()
    escaped(bytes)
  }

  /// Writes as many names as fit beside the pids.
  package mutating func left(_ left: LeftBehind, lineStart: Int) {
    let processes = left.processesText
    cutField(left.text, lineStart: lineStart - processes.utf8.count - 1)
    if !processes.isEmpty { field(processes) }
  }

  mutating func cutField(_ text: String, lineStart: Int) {
    tab()
    cut(text, lineStart: lineStart)
  }

  /// Leaves room for a line feed.
  mutating func cut(_ text: String, lineStart: Int) {
    for character in text {
      let before = bytes.count
      escaped(character.utf8)
      if bytes.count - lineStart >= MessageCodec.longestLineBytes {
        removeLast(bytes.count - before)
        return
      }
    }
  }
}
