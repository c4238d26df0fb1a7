/// The fields of a line, taken one after the other.
struct MessageFields {
  private let line: UnsafeRawBufferPointer
  /// Behind the end once the last field was taken.
  private var position = 0
  /// A field had the right key and a value that is none.
  private var isBroken = false

  init(_ line: UnsafeRawBufferPointer) { self.line = line }

  private var isAtEnd: Bool { position > line.count }

  /// Whether every field was taken and made sense.
  var isWholeMessage: Bool { isAtEnd && !isBroken }

  mutating func next() -> UnsafeRawBufferPointer? {
    if isAtEnd { return nil }
    let end = line.position(of: Field.tab, from: position)
    defer { position = end + 1 }
    return line.part(position, end)
  }

  mutating func number<Value: FixedWidthInteger>(as type: Value.Type) -> Value? {
    next().flatMap { Field.number($0, as: type) }
  }

  /// A number that counts something.
  private mutating func natural<Value: FixedWidthInteger>(as type: Value.Type) -> Value? {
    guard let value = number(as: type), value >= 0 else { return nil }
    return value
  }

  mutating func task() -> TaskID? { natural(as: Int32.self).map { TaskID($0) } }
  mutating func attempt() -> Int32? { natural(as: Int32.self) }
  mutating func pulse() -> Int32? { natural(as: Int32.self) }
  mutating func stopReason() -> StopReason? { next().flatMap { StopReason(word: $0) } }
  mutating func text() -> String? { next().flatMap { Field.text($0) } }

  /// The value of the next field, which must be `KEY=VALUE`.
  private mutating func value(_ key: StaticString) -> UnsafeRawBufferPointer? {
    let start = position
    guard let field = next() else { return nil }
    let length = key.utf8CodeUnitCount
    guard field.count > length, field[length] == UInt8(ascii: "="),
      field.part(0, length).equals(key)
    else {
      position = start
      return nil
    }
    return field.part(length + 1, field.count)
  }

  mutating func value<Value: FixedWidthInteger>(
    _ key: StaticString, as type: Value.Type
  ) -> Value? {
    guard let field = value(key) else { return nil }
    let number = Field.number(field, as: type)
    if number == nil { isBroken = true }
    return number
  }

  mutating func text(key: StaticString) -> String? { value(key).flatMap { Field.text($0) } }

  mutating func outcome() -> Outcome? {
    var outcome = Outcome(status: .unknown)
    if let code = value("exit", as: Int32.self) {
      outcome.status = .exit(code)
    } else if let signal = value("signal", as: Int32.self) {
      outcome.status = .signal(signal)
    }
    if let text = value("reason") {
      guard let reason = EndReason(word: text) else { return nil }
      outcome.reason = reason
    }
    if let number = value("errno", as: Int32.self) { outcome.errorNumber = number }
    guard let wall = value("wall", as: Int64.self), wall >= 0,
      let user = value("user", as: Int64.self), user >= 0,
      let system = value("sys", as: Int64.self), system >= 0,
      let peak = value("rss", as: Int64.self), peak >= 0,
      let output = value("out", as: Int64.self), output >= 0
    else { return nil }
    outcome.usage.wallMicroseconds = wall
    outcome.usage.userMicroseconds = user
    outcome.usage.systemMicroseconds = system
    outcome.usage.peakKibibytes = peak
    outcome.usage.outputBytes = output
    return outcome
  }

  /// All that is left.
  mutating func fetch() -> FetchRecord? {
    var report = FetchReport()
    while let field = next() {
      let equals = field.position(of: UInt8(ascii: "="), from: 0)
      guard equals < field.count,
        report.take(
          key: String(decoding: field.part(0, equals), as: UTF8.self),
          value: field.part(equals + 1, field.count))
      else { return nil }
    }
    return FetchRecord(report)
  }

  mutating func progress() -> WorkerProgress? {
    guard let task = task(), let done = natural(as: Int64.self),
      let total = number(as: Int64.self), total >= -1,
      let speed = natural(as: Int64.self), let text = text()
    else { return nil }
    return WorkerProgress(
      task: task, doneBytes: done, totalBytes: total, bytesPerSecond: speed, text: text)
  }

  /// All that is left.
  mutating func hello() -> WorkerHello? {
    guard let version = natural(as: Int.self) else { return nil }
    var hello = WorkerHello(
      version: version, planKey: "", pid: 0, offer: WorkerOffer(cores: 0, actions: []), host: "")
    if version != WorkerHello.currentVersion {
      while next() != nil {}
      return hello
    }
    guard let planKey = text(), let pid = natural(as: Int32.self) else { return nil }
    hello.planKey = planKey
    hello.pid = pid
    var namesActions = false
    while let field = next() {
      let equals = field.position(of: UInt8(ascii: "="), from: 0)
      guard equals < field.count else { return nil }
      let (key, value) = (field.part(0, equals), field.part(equals + 1, field.count))
      if key.equals("cores") {
        guard let cores = Field.number(value, as: Int.self), cores > 0 else { return nil }
        hello.offer.cores = cores
      } else if key.equals("memory") {
        guard let memory = Field.number(value, as: Int64.self), memory > 0 else { return nil }
        hello.offer.memoryBytes = memory
      } else if key.equals("actions") {
        hello.offer.actions = Self.actions(value)
        namesActions = true
      } else if key.equals("host") {
        guard let host = Field.text(value) else { return nil }
        hello.host = host
      }
    }
    return hello.offer.cores > 0 && namesActions ? hello : nil
  }

  /// The known ones among words that are separated by commas.
  private static func actions(_ field: UnsafeRawBufferPointer) -> WorkerActions {
    var actions = WorkerActions(rawValue: 0)
    var start = 0
    while start <= field.count {
      let end = field.position(of: UInt8(ascii: ","), from: start)
      for (action, word) in WorkerActions.words where field.part(start, end).equals(word) {
        actions = WorkerActions(rawValue: actions.rawValue | action.rawValue)
      }
      start = end + 1
    }
    return actions
  }
}
