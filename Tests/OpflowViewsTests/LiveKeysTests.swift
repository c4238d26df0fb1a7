import Fixtures
import OpflowBase
import OpflowJournal
import OpflowPlan
import OpflowViews
import OpflowWire
import Testing

/// What keys do, and how the frame looks meanwhile.
@Suite struct LiveKeysTests {
  private struct Typist {
    var keys = LiveKeys()
    var model: SessionModel
    var now: Int64 = 0

    init(_ names: [String]) throws {
      let plan = try TestPlan.make(names: names)
      model = SessionModel(plan: plan, scope: SessionScope(plan.tasks.map { _ in .run }))
    }

    func id(_ name: String) -> TaskID { model.plan.task(named: name) ?? .none }

    mutating func start(_ name: String) {
      now += 1
      model.apply(Transition(.start, id(name), attempt: 1), atMilliseconds: now)
    }

    mutating func end(_ name: String) {
      now += 1
      model.apply(Transition(.success, id(name), attempt: 1), atMilliseconds: now)
    }

    mutating func request(_ verb: ControlAction, value: Int64? = nil, id: String? = nil) throws {
      now += 1
      var request = RequestEntry(
        id: try #require(RequestID(id ?? "o\(now)")), verb: verb,
        requester: Requester(pid: 1, user: 0, name: "keys"))
      request.carried.number = value
      if verb == .parallel { request.carried.resource = "cpu" }
      model.apply(request, atMilliseconds: now)
    }

    mutating func type(_ text: String, parallel: Int64? = 4) -> [LiveKeys.Action] {
      keys.type(Array(text.utf8), model, parallel: parallel)
    }
  }

  @Test func `p pauses a run that goes on, and continues one that is paused`() throws {
    var typist = try Typist(["a"])
    #expect(typist.type("p") == [.request(.pause, .none, value: nil)])
    try typist.request(.pause)
    #expect(typist.type("p") == [.request(.proceed, .none, value: nil)])
    try typist.request(.proceed)
    #expect(typist.type("p") == [.request(.pause, .none, value: nil)])
    #expect(typist.type("q") == [.leave])
    #expect(typist.type("xyz\u{7f}\u{1}") == [])
  }

  @Test func `plus and minus count from what holds now, down to one`() throws {
    for (now, key, wanted) in [
      (nil, "+", 5), (nil, "-", 3), (2, "-", 1), (1, "-", nil), (1, "=", 2),
    ] as [(Int64?, String, Int64?)] {
      var typist = try Typist(["a"])
      if let now { try typist.request(.parallel, value: now) }
      let actions = wanted.map { [LiveKeys.Action.request(.parallel, .none, value: $0)] } ?? []
      #expect(typist.type(key) == actions)
    }
    var blind = try Typist(["a"])
    #expect(blind.type("+", parallel: nil) == [])
  }

  @Test func `keys that were pressed quickly count on from each other until they are answered`()
    throws
  {
    var typist = try Typist(["a"])
    let plan = typist.model.plan
    func ask(_ value: Int64, _ name: String) throws -> ClientRequest {
      let action = LiveKeys.Action.request(.parallel, .none, value: value)
      let id = try #require(RequestID(name))
      let request = try #require(action.request(id, plan))
      typist.keys.ask(request)
      return request
    }
    let both = typist.type("++")
    #expect(both == [.request(.parallel, .none, value: 5), .request(.parallel, .none, value: 6)])
    _ = try ask(5, "k1")
    let second = try ask(6, "k2")
    // The first one was obeyed, which a later look at the journal shows.
    try typist.request(.parallel, value: 5, id: "k1")
    #expect(typist.type("+") == [.request(.parallel, .none, value: 7)])
    let third = try ask(7, "k3")
    try typist.request(.parallel, value: 6, id: "k2")
    typist.keys.tell("", of: second)
    typist.keys.tell("parallel: no", of: third)
    #expect(typist.type("-") == [.request(.parallel, .none, value: 5)])
  }

  @Test func `a task is chosen by moving the mark, and Enter hits what is marked`() throws {
    var typist = try Typist(["a", "b", "c"])
    #expect(typist.type("c\r") == [])
    for name in ["a", "b", "c"] { typist.start(name) }
    #expect(typist.type("c") == [])
    #expect(typist.keys.mode == .choosing(.cancel, typist.id("a")))
    // Beyond the ends there is nothing.
    #expect(
      typist.type("\u{1b}[B\u{1b}OB\u{1b}[B\u{1b}[A\ry") == [
        .request(.cancel, typist.id("b"), value: nil)
      ])
    #expect(typist.keys.mode == .plain)
    #expect(typist.type("c\u{1b}") == [])
    #expect(typist.keys.mode == .plain)
    #expect(typist.type("\r") == [])
  }

  @Test func `when what is marked has ended, Enter hits nothing before the mark is moved`() throws {
    var typist = try Typist(["a", "b", "c"])
    for name in ["a", "b", "c"] { typist.start(name) }
    _ = typist.type("c\u{1b}[B")
    typist.end("a")
    #expect(typist.keys.mode == .choosing(.cancel, typist.id("b")))
    typist.end("b")
    #expect(typist.type("\r") == [])
    #expect(typist.type("\u{1b}[B\ry") == [.request(.cancel, typist.id("c"), value: nil)])
    _ = typist.type("c")
    typist.end("c")
    #expect(typist.type("\u{1b}[B") == [])
    #expect(typist.keys.mode == .plain)
  }

  @Test func `letters search in the names of running tasks, and Backspace takes one back`() throws {
    var typist = try Typist(["lint", "test-api", "test-Web", "pack"])
    for name in ["lint", "test-api", "test-Web", "pack"] { typist.start(name) }
    #expect(typist.type("cq") == [])
    #expect(typist.keys.mode == .choosing(.cancel, .none))
    #expect(typist.type("\r\u{1b}[B") == [])
    #expect(typist.keys.mode == .choosing(.cancel, .none))
    #expect(typist.type("\u{7f}web") == [])
    #expect(typist.keys.mode == .choosing(.cancel, typist.id("test-Web")))
    #expect(typist.type("\u{8}\u{8}\u{8}test\u{1b}[B\r") == [])
    #expect(typist.keys.mode == .confirming(.cancel, typist.id("test-Web")))
    #expect(typist.type("y") == [.request(.cancel, typist.id("test-Web"), value: nil)])
  }

  @Test func `a cancel is asked for once more, and is not of a task that has ended meanwhile`()
    throws
  {
    var typist = try Typist(["a", "b"])
    for name in ["a", "b"] { typist.start(name) }
    for other in ["n", "\r", "\u{1b}", "c", " "] {
      #expect(typist.type("c\r\(other)") == [])
      #expect(typist.keys.mode == .plain)
    }
    #expect(typist.type("c\r") == [])
    typist.end("a")
    #expect(typist.type("y") == [])
  }

  @Test func `modes are left by their own key, and others act from within`() throws {
    var typist = try Typist(["a", "b"])
    typist.start("a")
    for (key, mode) in [("t", LiveKeys.Mode.tails), ("?", .help)] {
      _ = typist.type(key)
      #expect(typist.keys.mode == mode)
      _ = typist.type(key)
      #expect(typist.keys.mode == .plain)
    }
    _ = typist.type("?l\r")
    #expect(typist.keys.mode == .following(typist.id("a")))
    #expect(typist.type("p") == [.request(.pause, .none, value: nil)])
    #expect(typist.keys.mode == .following(typist.id("a")))
    // q leaves the mode first, then the view.
    #expect(typist.type("q") == [])
    #expect(typist.type("q") == [.leave])
    #expect(typist.type("a") == [])
    #expect(typist.keys.mode == .plain)
  }

  @Test func `a request of a key is one as a command asks for it`() throws {
    let typist = try Typist(["a", "b"])
    let plan = typist.model.plan
    let id = try #require(RequestID("k1"))
    let cancel = LiveKeys.Action.request(.cancel, typist.id("b"), value: nil).request(id, plan)
    #expect(cancel?.tasks.tasks == [typist.id("b")])
    #expect(cancel?.by == "keys")
    for action in [
      LiveKeys.Action.request(.cancel, typist.id("b"), value: nil),
      .request(.parallel, .none, value: 3), .request(.pause, .none, value: nil),
      .request(.proceed, .none, value: nil), .request(.approve, typist.id("a"), value: nil),
      .request(.reject, typist.id("a"), value: nil),
    ] {
      let request = try #require(action.request(id, plan))
      #expect(request.fault == nil, "\(action)")
      #expect(RequestLines.line(request) != nil)
    }
    #expect(LiveKeys.Action.leave.request(id, plan) == nil)
  }

  @Test func `every mode fits into the terminal, however narrow and low`() throws {
    let long = String(repeating: "long", count: 30)
    let plan = try TestPlan.make(names: ["a", long] + (0..<30).map { "t\($0)" })
    for columns in [1, 12, 40, 80, 200] {
      for rows in [1, 3, 10, 24] {
        var options = ProgressOptions(mode: .live)
        options.size = TerminalSize(columns: columns, rows: rows)
        var view = ViewDriver(plan, options)
        _ = view.errorText()
        view.start("a")
        view.start(long)
        for index in 0..<30 { view.start("t\(index)") }
        for typed in ["t", "t?", "?", "c", "j", "\u{1b}", "l", "\r", "a", "l-"] {
          view.type(typed)
          let screen = view.frame(columns: columns, rows: rows)
          #expect(screen.count < max(2, rows), "\(typed) at \(columns)x\(rows): \(screen)")
        }
      }
    }
  }
}
