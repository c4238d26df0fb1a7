import Fixtures
import Testing

@testable import OpflowBase
@testable import OpflowPlan
@testable import OpflowWire

/// Requests to add tasks to a run, as lines of control.sock.
struct AddRequestTests {
  private func read(_ line: String) throws(UnreadableRequest) -> SocketRequest {
    let bytes = Array(line.utf8)
    return try bytes.withUnsafeBytes { bytes in
      Result { () throws(UnreadableRequest) in try RequestLines.request(bytes) }
    }.get()
  }

  private func request(_ id: String = "7.x") throws -> AddRequest {
    AddRequest(
      id: try #require(RequestID(id)), planKey: "k", manifestPath: "/d/more.yaml", folder: "/d")
  }

  @Test func `it is one line that a person can read`() throws {
    var request = try request()
    request.files = ["h1 more.yaml", "h2 a\tb"]
    request.generator = TaskID(3 as Int)
    request.by = "opflow add"
    let line = String(decoding: try #require(RequestLines.line(request)), as: UTF8.self)
    #expect(
      line
        == "add\t7.x\tplan=k\tmanifest=/d/more.yaml\tfolder=/d\tfile=h1 more.yaml\tfile=h2 a\\tb"
        + "\ttasks=3\tby=opflow add\n")
    #expect(try read(String(line.dropLast())) == .add(request))
  }

  @Test func `a short addition is carried as it is`() throws {
    var request = try request()
    let copy = Array("tasks:\n  a: { run: \"x\\ty\" }\r\n".utf8)
    request.carried = CarriedAddition(copy: copy, segment: (0...255).map { $0 } + [0, 0, 92, 48])
    let line = try #require(RequestLines.line(request))
    #expect(line.count { $0 == Field.lineFeed } == 1)
    let found = try line.dropLast().withUnsafeBytes { bytes in
      Result { () throws(UnreadableRequest) in try RequestLines.request(bytes) }
    }.get()
    #expect(found == .add(request))
  }

  @Test func `what is long is not carried`() {
    let (most, text) = (1 << 14, UInt8(ascii: "x"))
    func isShort(_ copy: Int, _ segment: Int) -> Bool {
      CarriedAddition(
        copy: [UInt8](repeating: text, count: copy),
        segment: [UInt8](repeating: text, count: segment)
      ).isShort
    }
    #expect(isShort(most, 1 << 17) && !isShort(most + 1, 1) && !isShort(1, 1 << 17 + 1))
  }

  @Test(arguments: [
    ("add\t..\tplan=k\tmanifest=m\tfolder=f", "the ID of an addition must not start with a dot"),
    ("add\t.a\tplan=k\tmanifest=m\tfolder=f", "the ID of an addition must not start with a dot"),
    ("add\ta\tmanifest=m\tfolder=f", "the request has no plan"),
    ("add\ta\tplan=k\tfolder=f", "the request has no manifest"),
    ("add\ta\tplan=k\tmanifest=m", "the request has no manifest"),
    ("add\ta\tplan=k\tplan=k\tmanifest=m\tfolder=f", "`plan` occurs twice"),
    ("add\ta\tplan=k\tvalue=1\tmanifest=m\tfolder=f", "`value` is not a valid key of a request"),
    (
      "add\ta\tplan=k\tmanifest=m\tfolder=f\tcopy=x",
      "the addition is incomplete"
    ),
    (
      "add\ta\tplan=k\tmanifest=m\tfolder=f\tsegment=x",
      "the addition is incomplete"
    ),
    (
      """
      add\ta\tplan=k\tmanifest=m\tfolder=f\
      \tcopy=\(String(repeating: "x", count: 1 << 14 + 1))\tsegment=x
      """,
      "the addition is too long"
    ),
    (
      "add\ta\tplan=k\tmanifest=m\tfolder=f\tcopy=\\x\tsegment=x",
      "`copy` must be a string that is not empty, not `\\x`"
    ),
    ("adds\ta", "a request must start with `order`, `add` or `host`"),
  ])
  func `a line that is none is refused`(line: String, detail: String) {
    let error = #expect(throws: UnreadableRequest.self) { try read(line) }
    #expect(error?.detail == detail)
  }

  @Test func `the task that adds is one of the run, may steer it, and is who asks`() throws {
    var maker = PlanMaker()
    maker.add("a") { $0.flags = .control }
    maker.add("b")
    let plan = try maker.make()
    func refusal(_ generator: Int, from task: Int) throws -> String? {
      var request = try request()
      request.planKey = plan.key.description
      request.generator = TaskID(generator)
      do throws(RequestRefusal) {
        try request.expectFit(plan, from: TaskID(task))
        return nil
      } catch {
        return error.detail
      }
    }
    #expect(try refusal(-1, from: -1) == nil)
    #expect(try refusal(0, from: 0) == nil)
    #expect(try refusal(0, from: -1) == nil)
    #expect(try refusal(1, from: -1)?.contains("needs `control: true`") == true)
    #expect(try refusal(-1, from: 0)?.contains("must start after it") == true)
    #expect(try refusal(2, from: -1) == "there is no task number 2; the plan has 2 tasks")
  }
}
