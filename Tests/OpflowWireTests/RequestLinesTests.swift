import Fixtures
import OpflowBase
import Testing

@testable import OpflowPlan
@testable import OpflowWire

/// Requests and their answers as lines of control.sock.
@Suite struct RequestLinesTests {
  private static let key = "00000000000000010000000000000002"

  private func parse(_ line: String) throws(UnreadableRequest) -> ClientRequest {
    let bytes = Array(line.utf8)
    let read = bytes.withUnsafeBytes { bytes in
      Result { () throws(UnreadableRequest) in try RequestLines.request(bytes) }
    }
    guard case .request(let request) = try read.get() else {
      throw UnreadableRequest(nil, "no request")
    }
    return request
  }

  private func text(_ request: ClientRequest) -> String? {
    RequestLines.line(request).map { String(decoding: $0, as: UTF8.self) }
  }

  private func request(_ verb: ControlAction, id: String = "7.x") throws -> ClientRequest {
    ClientRequest(id: try #require(RequestID(id)), verb: verb, planKey: Self.key)
  }

  // MARK: - Written lines

  @Test func `a request is one line that a person can read`() throws {
    var cancel = try request(.cancel)
    cancel.tasks = TaskRanges([0, 1, 2, 3, 4, 7].map { TaskID($0 as Int) })
    cancel.among = TaskRanges([TaskID(9 as Int)])
    cancel.expects = 2
    cancel.by = "opflow\tcancel"
    #expect(
      text(cancel)
        == "order\t7.x\tcancel\tplan=\(Self.key)\ttasks=0-4,7\tamong=9\texpects=2"
        + "\tby=opflow\\tcancel\n")
    var parallel = try request(.parallel)
    parallel.carried.resource = "gpu"
    parallel.carried.number = 0
    #expect(text(parallel) == "order\t7.x\tparallel\tplan=\(Self.key)\tresource=gpu\tvalue=0\n")
    #expect(text(try request(.pause)) == "order\t7.x\tpause\tplan=\(Self.key)\n")
  }

  @Test func `a line that would be too long is none`() throws {
    var request = try request(.cancel)
    // Every other task of so many: six digits and a comma each.
    request.tasks = TaskRanges((0..<100_000).map { TaskID(100_000 + 2 * $0) })
    #expect(try #require(text(request)).utf8.count < RequestLines.longestLineBytes)
    request.tasks = TaskRanges((0..<200_000).map { TaskID(100_000 + 2 * $0) })
    #expect(text(request) == nil)
    request.tasks = TaskRanges((0..<1_000_000).map { TaskID($0) })
    #expect(text(request)?.contains("tasks=0-999999") == true)
  }

  @Test func `whatever is asked comes out as it went in`() throws {
    var random = RandomSource(seed: 42)
    for _ in 0..<3000 {
      let request = try random.request()
      let line = try #require(text(request))
      #expect(try parse(String(line.dropLast())) == request)
    }
  }

  @Test func `an answer comes out as it went in`() throws {
    let id = try #require(RequestID("a"))
    let answers: [(RequestID?, RequestAnswer, String)] = [
      (id, .done(count: 0), "done\ta\tcount=0\n"),
      (id, .done(count: 3), "done\ta\tcount=3\n"),
      (id, .refused(detail: "build\nis done"), "refused\ta\twhat=build\\nis done\n"),
      (nil, .refused(detail: "it is none"), "refused\t\twhat=it is none\n"),
    ]
    for (id, answer, text) in answers {
      let line = RequestLines.line(answer, to: id)
      #expect(String(decoding: line, as: UTF8.self) == text)
      let read = line.dropLast().withUnsafeBytes { RequestLines.answer($0) }
      #expect(read?.id == id)
      #expect(read?.answer == answer)
    }
  }

  @Test(arguments: AfterClient.allCases)
  func `a client says how the run continues`(afterClient: AfterClient) throws {
    let request = ClientHello(id: try #require(RequestID("h.1")), afterClient: afterClient)
    let line = RequestLines.line(request)
    #expect(String(decoding: line, as: UTF8.self) == "host\th.1\t\(afterClient.rawValue)\n")
    #expect(try line.dropLast().withUnsafeBytes { try RequestLines.request($0) } == .host(request))
  }

  @Test(arguments: ["", "\tgo", "\tstop\t", "\tstop\tby=me", "\t\\q", "\tgo-on\tgo-on"])
  func `an invalid line of a client is refused`(rest: String) {
    let expected = UnreadableRequest(
      RequestID("h"), "only `stop` or `go-on` can follow the ID of a client")
    #expect(throws: expected) {
      try Array("host\th\(rest)".utf8).withUnsafeBytes { try RequestLines.request($0) }
    }
  }

  @Test func `a long refusal is cut between characters`() throws {
    let line = RequestLines.line(.refused(detail: String(repeating: "ü", count: 5000)), to: nil)
    let read = line.dropLast().withUnsafeBytes { RequestLines.answer($0) }
    #expect(read?.answer == .refused(detail: String(repeating: "ü", count: 1000)))
  }

  @Test(arguments: [
    "", "done", "done\ta", "done\ta\tcount=-1", "done\ta\tcount=1\tx", "done\t\tcount=1",
    "done\ta b\tcount=1", "refused\ta", "refused\ta\tcount=1", "order\ta\tcancel",
  ])
  func `another line is no answer`(line: String) {
    #expect(Array(line.utf8).withUnsafeBytes { RequestLines.answer($0) == nil })
  }

  // MARK: - Refused lines

  @Test(
    arguments: [
      ("", nil, "a request must start with `order`, `add` or `host`"),
      ("GET / HTTP/1.1", nil, "a request must start with `order`, `add` or `host`"),
      ("order", nil, "a request ID has 1 to 64 letters, digits, dots, dashes and underscores"),
      (
        "order\ta b\tpause", nil,
        "a request ID has 1 to 64 letters, digits, dots, dashes and underscores"
      ),
      ("order\ta", "a", "the request has no command"),
      ("order\ta\tstop", "a", "`stop` is not a valid command"),
      ("order\ta\tpause", "a", "the request has no plan"),
      ("order\ta\tpause\tplan=", "a", "`plan` must be a string that is not empty, not ``"),
      ("order\ta\tpause\tplan=k\tplan=k", "a", "`plan` occurs twice"),
      ("order\ta\tpause\tplan=k\tcolour=red", "a", "`colour` is not a valid key of a request"),
      ("order\ta\tpause\tplan=k\texit=1", "a", "`exit` is not a valid key of a request"),
      ("order\ta\tpause\tplan=k\tnow", "a", "`now` is not a valid field; use `KEY=VALUE`"),
      ("order\ta\tpause\tplan=k\t", "a", "`` is not a valid field; use `KEY=VALUE`"),
      ("order\ta\tpause\tplan=k\ttasks=1", "a", "`pause` takes no tasks"),
      ("order\ta\tskip\tplan=k", "a", "`skip` needs a task"),
      (
        "order\ta\tskip\tplan=k\ttasks=3-1", "a",
        "`tasks` must be ascending task numbers, such as 0-4,7, not `3-1`"
      ),
      (
        "order\ta\tskip\tplan=k\tamong=1,1", "a",
        "`among` must be ascending task numbers, such as 0-4,7, not `1,1`"
      ),
      (
        "order\ta\tskip\tplan=k\ttasks=1\texpects=0", "a",
        "`expects` must be a whole number, not `0`"
      ),
      ("order\ta\tpause\tplan=k\texpects=1", "a", "`expects` needs a task"),
      ("order\ta\tpriority\tplan=k\ttasks=1", "a", "`priority` needs a `value`"),
      (
        "order\ta\tpriority\tplan=k\ttasks=1\tvalue=1001", "a",
        "a priority must be from -1000 to 1000, not 1001"
      ),
      ("order\ta\tpause\tplan=k\tvalue=1", "a", "`pause` takes no `value`"),
      ("order\ta\tparallel\tplan=k\tvalue=1", "a", "`parallel` needs a resource"),
      (
        "order\ta\tparallel\tplan=k\tresource=cpu\tvalue=-1", "a",
        "`value` must not be negative, but is -1"
      ),
      ("order\ta\tpause\tplan=k\tresource=cpu", "a", "`pause` takes no resource"),
      (
        "order\ta\tpause\tplan=k\tby=\\q", "a",
        "`by` must be a string that is not empty, not `\\q`"
      ),
    ] as [(String, String?, String)])
  func `an invalid line has a specific error`(line: String, id: String?, detail: String) {
    do throws(UnreadableRequest) {
      let request = try parse(line)
      Issue.record("a request: \(request)")
    } catch {
      #expect(error.id?.text == id)
      #expect(error.detail == detail)
    }
  }

  @Test(arguments: ["", ",", "1,", ",1", "-1", "1-", "a", "1-2-3", "2147483648", "1 ", "0-1,1"])
  func `text that is no ranges is none`(text: String) {
    #expect(Array(text.utf8).withUnsafeBytes { TaskRanges($0) == nil })
  }

  // MARK: - Against a plan

  private func plan() throws -> Plan {
    var maker = PlanMaker()
    for name in ["a", "b", "c"] { maker.add(name) }
    return try maker.make()
  }

  private let requester = Requester(pid: 7, user: 0, name: "opflow skip")

  @Test func `numbers become tasks of the plan, and none beyond it`() throws {
    let plan = try plan()
    var request = try request(.skip)
    request.planKey = plan.key.description
    request.tasks = TaskRanges([TaskID(0 as Int)])
    request.among = TaskRanges([TaskID(1 as Int), TaskID(2 as Int)])
    let found = try request.controlRequest(of: plan, from: requester)
    #expect(found.tasks.map(\.index) == [0])
    #expect(found.among.map(\.index) == [1, 2])
    #expect(found.requester == requester)
    // A line of few bytes that names all numbers there are costs nothing.
    request.among = try #require(
      Array("1-2147483647".utf8).withUnsafeBytes { TaskRanges($0) })
    let missing = RequestRefusal(
      detail: "there is no task number 2147483647; the plan has 3 tasks")
    #expect(throws: missing) { try request.controlRequest(of: plan, from: requester) }
  }

  @Test func `a request about another plan is refused with both named`() throws {
    let plan = try plan()
    var request = try request(.skip)
    request.tasks = TaskRanges([TaskID(0 as Int)])
    request.planKey = "another"
    #expect(
      throws: RequestRefusal(
        detail: "the request is for plan another, but the run now has plan \(plan.key);"
          + " send it again")
    ) { try request.controlRequest(of: plan, from: requester) }
  }

  @Test func `a resource is found by its name`() throws {
    let plan = try plan()
    var request = try request(.parallel)
    request.planKey = plan.key.description
    request.carried.number = 3
    request.carried.resource = "cpu"
    #expect(
      try request.controlRequest(of: plan, from: requester).value == .capacity(resource: 0, 3))
    request.carried.resource = "gpu"
    #expect(throws: RequestRefusal(detail: "the run has no resource `gpu`")) {
      try request.controlRequest(of: plan, from: requester)
    }
  }
}

/// Requests by chance, always the same ones.
private struct RandomSource {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  private mutating func next(below limit: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(limit))
  }

  private mutating func tasks() -> TaskRanges {
    var number = next(below: 4)
    var tasks: [TaskID] = []
    for _ in 0...next(below: 12) {
      tasks.append(TaskID(number))
      number += 1 + (next(below: 2) == 0 ? 0 : next(below: 1_000_000))
    }
    return TaskRanges(tasks)
  }

  private mutating func text() -> String {
    let letters = ["a", "\t", "\n", "\\", "ü", "\0", "=", " ", "🦊", "\r"]
    return (0...next(below: 8)).map { _ in letters[next(below: letters.count)] }.joined()
  }

  mutating func request() throws -> ClientRequest {
    let verb = ControlAction.allCases[next(below: ControlAction.allCases.count)]
    let id = try #require(RequestID("\(next(below: 1_000_000)).\(next(below: 100))-_Z"))
    var request = ClientRequest(id: id, verb: verb, planKey: text())
    switch verb {
    case .pause, .close: break
    case .parallel:
      request.carried.resource = text()
      request.carried.number = Int64(next(below: 1_000_000)) << 20
    case .cancel, .proceed:
      if next(below: 2) == 0 { request.tasks = tasks() }
      if next(below: 2) == 0 { request.among = tasks() }
    case .suspend, .priority, .retry, .skip, .approve, .reject:
      request.tasks = tasks()
      if next(below: 2) == 0 { request.among = tasks() }
    }
    if verb == .priority { request.carried.number = Int64(next(below: 2001) - 1000) }
    if !request.tasks.isEmpty, next(below: 2) == 0 {
      request.expects = Int32(1 + next(below: 1000))
    }
    if next(below: 2) == 0 { request.by = text() }
    return request
  }
}
