import Fixtures
import Testing

@testable import OpflowBase
@testable import OpflowPlan
@testable import OpflowWire

/// What asks for tasks to join a run, as a line of control.sock.
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
    ("add\t..\tplan=k\tmanifest=m\tfolder=f", "the id of what is added begins with a point"),
    ("add\t.a\tplan=k\tmanifest=m\tfolder=f", "the id of what is added begins with a point"),
    ("add\ta\tmanifest=m\tfolder=f", "it names no plan"),
    ("add\ta\tplan=k\tfolder=f", "it does not say what is added"),
    ("add\ta\tplan=k\tmanifest=m", "it does not say what is added"),
    ("add\ta\tplan=k\tplan=k\tmanifest=m\tfolder=f", "`plan` stands twice"),
    ("add\ta\tplan=k\tvalue=1\tmanifest=m\tfolder=f", "a request has no `value`"),
    (
      "add\ta\tplan=k\tmanifest=m\tfolder=f\tcopy=x",
      "it carries a part of what is added only"
    ),
    (
      "add\ta\tplan=k\tmanifest=m\tfolder=f\tsegment=x",
      "it carries a part of what is added only"
    ),
    (
      """
      add\ta\tplan=k\tmanifest=m\tfolder=f\
      \tcopy=\(String(repeating: "x", count: 1 << 14 + 1))\tsegment=x
      """,
      "what it carries is too long"
    ),
    (
      "add\ta\tplan=k\tmanifest=m\tfolder=f\tcopy=\\x\tsegment=x",
      "`copy` is text that is not empty, not `\\x`"
    ),
    ("adds\ta", "it begins with none of `order`, `add` and `host`"),
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
    #expect(try refusal(1, from: -1)?.contains("`control: true` only") == true)
    #expect(try refusal(-1, from: 0)?.contains("is to wait for its end") == true)
    #expect(try refusal(2, from: -1) == "the plan has 2 tasks, and no task number 2")
  }
}
