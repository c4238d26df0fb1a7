internal import OpflowBase
package import OpflowPlan

// The lines of control.sock
// =========================
//
// One line in each direction, in the alphabet and escapes of the journal: fields separated by TAB,
// ended by LF, at most 1 MiB with the LF.
//
//   order ID VERB plan=KEY [tasks=RANGES] [among=RANGES] [resource=NAME] [value=N] [expects=N]
//         [by=TEXT]
//   add ID plan=KEY manifest=PATH folder=PATH [file=HASH-PATH]... [tasks=N]
//         [copy=TEXT segment=BYTES] [by=TEXT]
//   host ID stop|go-on
//   hello …               a client with external tasks; then `ExternalTaskLines`
//   done ID count=N
//   refused ID what=TEXT
//
// - `host`: the connection is a client of the run; the word says what happens to the run at its
//   end.
// - VERB: a word of `ControlAction`.
// - `tasks` of `add`: the generator's number. `copy` and `segment`: the manifest and the compiled
//   plan, if the run folder does not have them under the ID.
// - RANGES: ascending task numbers in the plan with that key, as `0-4,7`. The requester has mapped
//   the plan and resolved names and patterns.
//
// Keys come in any order, each once except `file`. An unknown key refuses the request. The refusal
// of a line without ID has an empty ID. An invalid line is refused with the reason, and the next
// line is read.

package enum RequestLines {
  /// Includes the LF.
  package static let longestLineBytes = 1 << 20
  private static let longestReason = 1000

  // MARK: - Requests

  /// nil if too long, with many scattered tasks.
  package static func line(_ request: ClientRequest) -> [UInt8]? {
    var writer = FieldWriter()
    writer.raw("order\t")
    writer.raw(request.id.text)
    writer.tab()
    writer.raw(request.verb.rawValue)
    var request = request
    FieldPass.write(to: &writer) { request.list(&$0) }
    writer.endLine()
    return writer.bytes.count <= longestLineBytes ? writer.bytes : nil
  }

  /// - Throws: The ID, if any, and the reason.
  package static func request(
    _ line: UnsafeRawBufferPointer
  ) throws(UnreadableRequest) -> SocketRequest {
    var fields = MessageFields(line)
    let words: [StaticString] = ["order", "add", "host"]
    guard let word = fields.next(), words.contains(where: { word.equals($0) }) else {
      throw UnreadableRequest(nil, "a request must start with `order`, `add` or `host`")
    }
    guard let id = fields.next().flatMap({ RequestID(String(decoding: $0, as: UTF8.self)) }) else {
      throw UnreadableRequest(
        nil, "a request ID has 1 to 64 letters, digits, dots, dashes and underscores")
    }
    switch word {
    case "order": return .request(try clientRequest(id, &fields))
    case "add": return .add(try addition(id, &fields))
    default: return .host(try host(id, &fields))
    }
  }

  private static func clientRequest(
    _ id: RequestID, _ fields: inout MessageFields
  ) throws(UnreadableRequest) -> ClientRequest {
    guard let verb = fields.next().flatMap({ Field.text($0) }) else {
      throw UnreadableRequest(id, "the request has no command")
    }
    guard let verb = ControlAction(rawValue: verb) else {
      throw UnreadableRequest(id, "`\(brief(verb))` is not a valid command")
    }
    var request = ClientRequest(id: id, verb: verb, planKey: "")
    try forEachField(of: id, &fields) { request.list(&$0) }
    if let fault = request.fault { throw UnreadableRequest(id, fault) }
    return request
  }

  private static func forEachField(
    of id: RequestID, _ fields: inout MessageFields, list: (inout FieldPass) -> Void
  ) throws(UnreadableRequest) {
    var seen: Set<Key> = []
    while let bytes = fields.next() {
      guard let field = LineField(bytes) else {
        throw UnreadableRequest(id, "`\(brief(bytes))` is not a valid field; use `KEY=VALUE`")
      }
      let pass = FieldPass.read(field, list)
      guard let key = field.key, pass.isKnown else {
        throw UnreadableRequest(id, "`\(brief(field.name))` is not a valid key of a request")
      }
      guard seen.insert(key).inserted || key == .file else {
        throw UnreadableRequest(id, "`\(key.name)` occurs twice")
      }
      guard pass.isValid, !field.value.isEmpty else {
        throw UnreadableRequest(
          id, "`\(key.name)` must be \(meaning(of: key)), not `\(brief(field.value))`")
      }
    }
  }

  private static func meaning(of key: Key) -> String {
    switch key {
    case .tasks, .among: "ascending task numbers, such as 0-4,7"
    case .value, .expects: "a whole number"
    default: "a string that is not empty"
    }
  }

  // MARK: - Additions

  /// nil if too long, with many files.
  package static func line(_ request: AddRequest) -> [UInt8]? {
    var writer = FieldWriter()
    writer.raw("add\t")
    writer.raw(request.id.text)
    var request = request
    FieldPass.write(to: &writer) { request.list(&$0) }
    writer.endLine()
    return writer.bytes.count <= longestLineBytes ? writer.bytes : nil
  }

  private static func addition(
    _ id: RequestID, _ fields: inout MessageFields
  ) throws(UnreadableRequest) -> AddRequest {
    var request = AddRequest(id: id, planKey: "", manifestPath: "", folder: "")
    try forEachField(of: id, &fields) { request.list(&$0) }
    if let fault = request.fault { throw UnreadableRequest(id, fault) }
    return request
  }

  // MARK: - Clients

  package static func line(_ request: ClientHello) -> [UInt8] {
    var writer = FieldWriter()
    writer.raw("host\t")
    writer.raw(request.id.text)
    writer.tab()
    writer.raw(request.afterClient.rawValue)
    writer.endLine()
    return writer.bytes
  }

  private static func host(
    _ id: RequestID, _ fields: inout MessageFields
  ) throws(UnreadableRequest) -> ClientHello {
    guard let word = fields.next().flatMap({ Field.text($0) }),
      let afterClient = AfterClient(rawValue: word), fields.next() == nil
    else {
      let words = AfterClient.allCases.map { "`\($0.rawValue)`" }.joined(separator: " or ")
      throw UnreadableRequest(id, "only \(words) can follow the ID of a client")
    }
    return ClientHello(id: id, afterClient: afterClient)
  }

  // MARK: - Answers

  package static func line(_ answer: RequestAnswer, to id: RequestID?) -> [UInt8] {
    var writer = FieldWriter()
    switch answer {
    case .done: writer.raw("done\t")
    case .refused: writer.raw("refused\t")
    }
    writer.raw(id?.text ?? "")
    switch answer {
    case .done(let count): writer.field(.count, count)
    case .refused(let detail): writer.field(.detail, cut(detail, to: longestReason))
    }
    writer.endLine()
    return writer.bytes
  }

  package static func answer(
    _ line: UnsafeRawBufferPointer
  ) -> (id: RequestID?, answer: RequestAnswer)? {
    var fields = MessageFields(line)
    guard let word = fields.next(), let name = fields.text() else { return nil }
    let id = RequestID(name)
    if id == nil, !name.isEmpty { return nil }
    let answer: RequestAnswer
    if word.equals("done") {
      guard id != nil, let count = fields.number(.count, as: Int.self), count >= 0 else {
        return nil
      }
      answer = .done(count: count)
    } else if word.equals("refused") {
      guard let detail = fields.text(.detail) else { return nil }
      answer = .refused(detail: detail)
    } else {
      return nil
    }
    return fields.isWholeMessage ? (id, answer) : nil
  }

  // MARK: - Text

  private static func brief(_ bytes: UnsafeRawBufferPointer) -> String {
    brief(String(decoding: bytes.prefix(200), as: UTF8.self))
  }

  private static func brief(_ text: String) -> String {
    let short = cut(text, to: 40)
    return CleanText.string(short)
      + (short.unicodeScalars.count < text.unicodeScalars.count ? "…" : "")
  }

  /// A character may have any length.
  private static func cut(_ text: String, to count: Int) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.prefix(count)))
  }
}

extension ClientRequest {
  fileprivate mutating func list(_ pass: inout FieldPass) {
    pass.text(.plan, &planKey, evenIfEmpty: true)
    tasks.list(.tasks, &pass)
    among.list(.among, &pass)
    carried.list(&pass)
    pass.number(.expects, &expects, atLeast: 1)
    pass.text(.by, &by)
  }
}

extension TaskRanges {
  fileprivate mutating func list(_ key: Key, _ pass: inout FieldPass) {
    pass.value(key, &self, read: { TaskRanges($0.value) }) { ranges, writer in
      if ranges.isEmpty { return }
      writer.begin(key)
      ranges.write(to: &writer)
    }
  }
}

extension AddRequest {
  fileprivate mutating func list(_ pass: inout FieldPass) {
    pass.text(.plan, &planKey, evenIfEmpty: true)
    pass.text(.manifest, &manifestPath, evenIfEmpty: true)
    pass.text(.folder, &folder, evenIfEmpty: true)
    pass.texts(.file, &files)
    pass.value(.tasks, &generator, read: { $0.small.flatMap { $0 < 0 ? nil : TaskID($0) } }) {
      if !$0.isNone { $1.field(.tasks, $0.rawValue) }
    }
    var addition = carried ?? CarriedAddition(copy: [], segment: [])
    pass.bytes(.copy, &addition.copy)
    pass.bytes(.segment, &addition.segment)
    if addition != CarriedAddition(copy: [], segment: []) { carried = addition }
    pass.text(.by, &by)
  }
}

package struct UnreadableRequest: Error, Equatable, Sendable {
  package let id: RequestID?
  package let detail: String

  init(_ id: RequestID?, _ detail: String) {
    self.id = id
    self.detail = detail
  }
}

/// Ascending task numbers of a plan: `0-4,7`. A few bytes may name all numbers: check `last` before
/// you expand them.
package struct TaskRanges: Equatable, Sendable {
  /// Neither adjacent nor empty.
  package private(set) var ranges: [ClosedRange<Int32>] = []

  package init() {}

  package init(_ tasks: some Sequence<TaskID>) {
    for task in tasks { append(task.rawValue...task.rawValue) }
  }

  package var isEmpty: Bool { ranges.isEmpty }
  package var count: Int { ranges.reduce(0) { $0 + $1.count } }

  package var last: TaskID { ranges.last.map { TaskID($0.upperBound) } ?? .none }

  package var tasks: [TaskID] {
    var tasks: [TaskID] = []
    tasks.reserveCapacity(count)
    for range in ranges {
      for number in range { tasks.append(TaskID(number)) }
    }
    return tasks
  }

  private mutating func append(_ range: ClosedRange<Int32>) {
    guard let last = ranges.last else {
      ranges.append(range)
      return
    }
    precondition(range.lowerBound > last.upperBound, "tasks are in ascending order")
    if range.lowerBound == last.upperBound + 1 {
      ranges[ranges.count - 1] = last.lowerBound...range.upperBound
    } else {
      ranges.append(range)
    }
  }

  // MARK: - Text

  func write(to writer: inout FieldWriter) {
    var isFirst = true
    for range in ranges {
      if !isFirst { writer.raw(",") }
      isFirst = false
      writer.number(range.lowerBound)
      if range.count > 1 {
        writer.raw("-")
        writer.number(range.upperBound)
      }
    }
  }

  init?(_ field: UnsafeRawBufferPointer) {
    var start = 0
    while start <= field.count {
      let end = field.position(of: UInt8(ascii: ","), from: start)
      guard let range = Self.range(field.part(start, end)) else { return nil }
      if let last = ranges.last, range.lowerBound <= last.upperBound { return nil }
      append(range)
      start = end + 1
    }
  }

  private static func range(_ text: UnsafeRawBufferPointer) -> ClosedRange<Int32>? {
    let dash = text.position(of: UInt8(ascii: "-"), from: 0)
    guard let first = natural(text.part(0, dash)) else { return nil }
    if dash == text.count { return first...first }
    guard let last = natural(text.part(dash + 1, text.count)), last >= first else { return nil }
    return first...last
  }

  private static func natural(_ digits: UnsafeRawBufferPointer) -> Int32? {
    digits.natural.flatMap { Int32(exactly: $0) }
  }
}
