import Fixtures
import OpflowBase
import OpflowJournal
import OpflowPlan
import OpflowViews
import Testing

/// What people see of tasks that are added to a run.
@Suite("Views of runs that grow") struct ViewGrowthTests {
  private let growing: GrowingPlan

  init() throws {
    growing = GrowingPlan(try ViewFixture.plan([("a", []), ("b", ["a"])]))
  }

  private func segment(_ names: [String]) throws -> Plan {
    var maker = PlanMaker()
    for name in names { maker.add(name) { $0.outerNeeds = [("a", .success)] } }
    return try maker.make()
  }

  private func owner(
    _ mode: OutputMode, seconds: [Int64] = [], json: Bool = false
  ) -> ViewDriver {
    var options = ProgressOptions(mode: mode)
    options.json = json
    return ViewDriver(growing.first, options, seconds: seconds)
  }

  @Test(arguments: [OutputMode.line, .group, .gitHub, .gitLab, .quiet])
  func `it is told who added how many, and then what becomes of them`(_ mode: OutputMode) throws {
    var owner = owner(mode)
    owner.start("a")
    owner.extend(try growing.add(segment(["c", "d"])))
    owner.end("a", .success)
    owner.start("d")
    owner.output("d", "hello\n")
    owner.end("d", .failure, .exit(2), outputBytes: 6)
    owner.close(.failed, exit: 1)
    let text = owner.errorText()
    #expect(
      text.contains("2 tasks added by opflow add (pid 7)\n") == (mode != .quiet))
    #expect(text.contains("d failed"))
    #expect(text.contains("log: logs/d.log"))
    #expect(text.contains("run r1 failed in 0.00s: 1 succeeded, 1 failed, 2 pending"))
    #expect(text.contains("pending: b, c\n"))
  }

  @Test func `an object tells it to programs`() throws {
    var owner = owner(.quiet, json: true)
    owner.extend(try growing.add(segment(["c", "d"])))
    owner.start("d")
    #expect(
      owner.outputText().split(separator: "\n").dropFirst() == [
        #"""
        {"time_ms":1000,"event":"extend","by":"opflow add",\#
        "pid":7,"uid":0,"file":"","added":2,"tasks":4}
        """#,
        #"{"time_ms":1000,"event":"start","task":"d","attempt":1}"#,
      ])
  }

  @Test func `a frame counts them, and takes them for as long as it knows others to be`() throws {
    var owner = owner(.live, seconds: [10, 10])
    owner.start("a")
    let before = owner.frame(columns: 80, rows: 24)
    #expect(before.contains { $0.contains("0/2") })
    owner.extend(try growing.add(segment(["c", "d"])))
    owner.end("a", .success, wall: 10_000_000)
    owner.start("d")
    owner.wait(2000)
    let after = owner.frame(columns: 80, rows: 24)
    #expect(after.contains { $0.contains("1/4") }, "\(after)")
    #expect(after.contains { $0.contains("d") && $0.contains("2.") }, "\(after)")
  }

  @Test func `matrices that are added are counted by their tasks`() throws {
    var model = SessionModel(plan: growing.first, scope: SessionScope([.run, .run]))
    let grown = try growing.add(segment(["c", "d", "e"]))
    model.grow(to: grown, [.run, .excluded, .run])
    #expect(model.checkInvariants() == nil)
    #expect(model.counts.pending == 4)
    model.apply(Transition(.start, TaskID(4), attempt: 1), atMilliseconds: 5)
    #expect(model.counts.running == 1)
    #expect(model.checkInvariants() == nil)
  }

  // MARK: - Of a journal

  private func status(_ extensions: [(names: [String], by: String)], tasks: [String] = []) throws
    -> RunStatus
  {
    var encoder = JournalEncoder()
    var open = OpenEntry.example
    open.tasks = tasks
    encoder.append(.open(open), at: 1000, plan: growing.first)
    for (number, (names, by)) in extensions.enumerated() {
      let plan = try growing.add(segment(names))
      var entry = ExtendEntry(
        id: try #require(RequestID("o\(number)")), requester: Requester(pid: 7, user: 0, name: by),
        taskCount: plan.taskCount, added: names.count)
      entry.manifestPath = "/demo/more.yaml"
      if by == "task a" {
        entry.generator = TaskID(0)
        entry.attempt = 1
      }
      encoder.append(.extend(entry), at: 2000, plan: plan)
    }
    let plan = try growing.open(toldBy: encoder.bytes)
    let history = try RunModel.read(encoder.bytes, plan)
    return RunStatus(
      run: "r1", plan: plan, history: history,
      included: RunScope.of(history, plan) ?? .all(taskCount: plan.taskCount), isHeld: true)
  }

  private func text(_ status: RunStatus) -> String {
    String(
      decoding: StatusView(
        status, resumeCommand: "opflow resume r1", nowMilliseconds: 3000, showsAll: false,
        color: false
      ).text(), as: UTF8.self)
  }

  @Test func `status shows what was added like the rest, and who added it`() throws {
    let status = try status([(["c", "d"], "opflow add"), (["e"], "task a")])
    let text = text(status)
    #expect(
      text.hasPrefix(
        """
        run r1 (demo): running for 2.0s
        5 tasks: 5 pending
        2 tasks added by opflow add (pid 7)
        1 task added by task a (pid 7)

        """), "\(text)")
    for name in ["a", "b", "c", "d", "e"] { #expect(text.contains("\n\(name) ")) }
    let json = String(
      decoding: StatusJSON.text(status, nowMilliseconds: 3000) { _ in nil }, as: UTF8.self)
    #expect(
      json.contains(
        #""extensions":[{"by":"opflow add","pid":7,"uid":0,"file":"/demo/more.yaml","added":2},"#
          + #"{"by":"task a","pid":7,"uid":0,"task":"a","attempt":1,"#
          + #""file":"/demo/more.yaml","added":1}]"#
      ),
      "\(json)")
    #expect(json.contains(#"{"id":"e","state":"pending""#), "\(json)")
  }

  @Test func `of many times the last few are told by themselves`() throws {
    let names = (0..<6).map { (["x\($0)"], "opflow add") }
    #expect(
      text(try status(names)).contains(
        """
        3 tasks added by 3 requests before these
        1 task added by opflow add (pid 7)
        1 task added by opflow add (pid 7)
        1 task added by opflow add (pid 7)

        """))
  }

  @Test func `a run of named tasks is about what was added to it as well`() throws {
    let status = try status([(["c", "d"], "opflow add")], tasks: ["a"])
    #expect(ViewFixture.names(status.plan, status.included) == ["a", "c", "d"])
    #expect(
      EnteredSession.states(status.history, status.plan) == [.run, .excluded, .run, .run])
  }

  @Test func `a retraction is told once for all tasks, and they count no more`() throws {
    var maker = PlanMaker()
    maker.add("scan")
    maker.add("last", needs: ["scan"])
    let growing = GrowingPlan(try maker.make())
    for json in [false, true] {
      let growing = GrowingPlan(growing.first)
      var options = ProgressOptions(mode: json ? .quiet : .line)
      options.json = json
      var owner = ViewDriver(growing.first, options)
      owner.start("scan")
      var segment = PlanMaker()
      for name in ["a", "b"] { segment.add(name) { $0.outerNeeds = [("scan", .success)] } }
      owner.extend(try growing.add(segment.make()))
      let plan = try growing.retract(2..<4, attempt: 1)
      owner.retract(
        RetractEntry(generator: TaskID(0), attempt: 1, requests: ["o"], count: 2), plan)
      owner.tell(Transition(.skip(.retracted), TaskID(2)))
      owner.tell(Transition(.skip(.retracted), TaskID(3)))
      if json {
        #expect(
          owner.outputText().hasSuffix(
            #"""
            {"time_ms":1000,"event":"withdraw","task":"scan","attempt":1,"ids":["a","b"],"tasks":2}
            """#
              + "\n"), "\(owner.outputText())")
      } else {
        let text = owner.errorText()
        #expect(
          text.hasSuffix("removed 2 tasks that an earlier attempt of scan added\n"), "\(text)")
      }
    }
  }
}
