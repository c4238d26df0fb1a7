import Fixtures
import OpflowBase
import OpflowEngine
import OpflowJournal
import OpflowPlan
import OpflowViews
import Testing

/// The tasks of a matrix share a row, except for those that run or failed.
@Suite struct ViewMatrixGroupTests {
  private let plan: Plan
  private let names = ["fetch", "b[n=1]", "b[n=2]", "b[n=3]", "t[n=1,m=x]", "t[n=2,m=x]", "last"]

  init() throws {
    var maker = PlanMaker()
    maker.add("fetch")
    for name in names[1...3] { maker.add(name, needs: ["fetch"]) }
    maker.add("t[n=1,m=x]", needs: ["b[n=1]"])
    maker.add("t[n=2,m=x]", needs: ["b[n=2]"])
    maker.add("last", needs: ["b[n=1]", "b[n=2]", "b[n=3]", "t[n=2,m=x]"])
    plan = try Plan(
      copying: maker.bytes { builder in
        builder.addMatrixGroup(
          builder.intern("b"), firstTask: TaskID(1), instanceCount: 3, axes: [builder.intern("n")],
          values: ["1", "2", "3"].map { builder.intern($0) })
        builder.addMatrixGroup(
          builder.intern("t"), firstTask: TaskID(4), instanceCount: 2,
          axes: ["n", "m"].map { builder.intern($0) },
          values: ["1", "x", "2", "x"].map { builder.intern($0) })
      })
    try plan.validate()
  }

  private func planText(
    showsAll: Bool = false, initial: [InitialState]? = nil, reasons: [Transition] = []
  ) -> String {
    let view = PlanView(
      plan: plan,
      options: SchedulerOptions(maxParallel: 2, memoryBytes: 1 << 30, maxFailures: 1, seed: 1),
      resumeState: ResumeState(
        initial: initial ?? plan.tasks.map { _ in .run }, attempts: plan.tasks.map { _ in 0 }),
      reasons: reasons, showsAll: showsAll, color: false)
    return String(decoding: view.text(), as: UTF8.self)
  }

  @Test func `a plan has a row for each matrix`() {
    let rows = planText().split(separator: "\n").prefix(6).map { row in
      row.split(separator: " ").joined(separator: " ")
    }
    #expect(
      rows == [
        "test: 7 tasks, 7 to run, cpu 2", "# TASK AFTER COMMAND", "1 fetch true",
        "2 b (3 tasks) fetch true", "5 t (2 tasks) b true", "7 last b, t[n=2,m=x] true",
      ], "\(planText())")
    let some = planText(initial: [
      .succeeded, .succeeded, .run, .run, .succeeded, .run, .succeeded,
    ])
    #expect(some.contains("b (2 of 3 tasks)"), "\(some)")
    #expect(some.contains("t[n=2,m=x]"), "\(some)")
    let all = planText(showsAll: true)
    #expect(names.allSatisfy { all.contains($0) } && !all.contains(" tasks)"), "\(all)")
  }

  @Test func `a row has the most common reason of its matrix tasks, and counts the others`() {
    let interrupted = [1, 2].map { Transition(.resume(.interrupted), TaskID($0)) }
    let other = Transition(.resume(.failedBefore), TaskID(3))
    for (reasons, told) in [
      (interrupted, "interrupted; 1 task has another reason"),
      (interrupted + [other], "interrupted; 1 task has another reason"),
      ([other, interrupted[0]], "interrupted; 2 have other reasons"),
      (interrupted + [Transition(.resume(.interrupted), TaskID(3))], "interrupted      true"),
    ] {
      let text = planText(reasons: reasons)
      #expect(text.contains(told), "\(told): \(text)")
    }
  }

  @Test func `the row of a matrix counts interrupted tasks`() throws {
    let status = try status(isHeld: false) { journal, id in
      for name in ["fetch", "b[n=1]", "b[n=2]"] {
        journal.append(Transition(.start, id(name)), at: 1000, plan: plan)
      }
    }
    let rows = statusText(status).map { $0.split(separator: " ").joined(separator: " ") }
    #expect(rows.contains("b 0/3 pending 2 interrupted, 1 pending"), "\(rows)")
  }

  private func status(
    isHeld: Bool = true, _ tell: (inout JournalEncoder, (String) -> TaskID) -> Void
  ) throws -> RunStatus {
    var encoder = JournalEncoder()
    encoder.append(
      .open(
        OpenEntry(
          run: "r1", planKey: "00", opflowVersion: "0.1.0", manifestPath: "/demo/opflow.yaml",
          folder: "/demo")), at: 1000, plan: plan)
    tell(&encoder) { plan.task(named: $0) ?? .none }
    let history = try encoder.bytes.withUnsafeBytes {
      try RunModel.read($0, plan: plan, keepingDetails: true).history
    }
    return RunStatus(
      run: "r1", plan: plan, history: history, included: .all(taskCount: plan.taskCount),
      isHeld: isHeld)
  }

  private func statusText(_ status: RunStatus, showsAll: Bool = false) -> [String] {
    let view = StatusView(
      status, resumeCommand: "x", nowMilliseconds: 4000, showsAll: showsAll, color: false)
    return String(decoding: view.text(), as: UTF8.self).split(separator: "\n").map(String.init)
  }

  private func half() throws -> RunStatus {
    try status { journal, id in
      for name in ["fetch", "b[n=1]", "b[n=2]", "b[n=3]"] {
        journal.append(Transition(.start, id(name)), at: 1000, plan: plan)
      }
      for name in ["fetch", "b[n=1]"] {
        var transition = Transition(.success, id(name))
        transition.outcome = Outcome(status: .success)
        journal.append(transition, at: 2000, plan: plan)
      }
      var transition = Transition(.failure, id("b[n=2]"))
      transition.outcome = Outcome(status: .exit(3))
      journal.append(transition, at: 3000, plan: plan)
    }
  }

  @Test func `a status has a row for each matrix, and for its tasks that run or failed`() throws {
    let rows = statusText(try half()).dropFirst(3).map {
      $0.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
    }
    #expect(
      rows == [
        "fetch succeeded 0.00s", "b 2/3 running 1 running, 1 failed, 1 succeeded",
        "b[n=2] failed 0.00s exit 3", "b[n=3] running 3.0s", "t 0/2 pending 2 pending",
        "last pending after b[n=3], t[n=2,m=x]",
      ], "\(rows)")
    #expect(statusText(try half(), showsAll: true).count == 3 + 7)
  }

  @Test func `JSON has all tasks, and the counts of matrices`() throws {
    let text = String(
      decoding: StatusJSON.text(try half(), nowMilliseconds: 4000) { _ in nil }, as: UTF8.self)
    #expect(
      text.contains(
        """
        "families":[{"id":"b","state":"running","counts":{"pending":0,"running":1,"suspended":0,\
        "asking":0,"succeeded":1,"failed":1,"failed_allowed":0,"skipped":0,"cancelled":0,"up_to_date":0}},{"id":"t","state":"pending",\
        "counts":{"pending":2,
        """), "\(text)")
    #expect(
      text.contains(#"{"id":"t[n=2,m=x]","family":"t","matrix":{"n":"2","m":"x"},"state":"#),
      "\(text)")
    #expect(names.allSatisfy { text.contains("{\"id\":\"\($0)\"") })
  }

  @Test func `a live frame shows the progress of matrices with running tasks`() {
    var options = ProgressOptions(mode: .live)
    options.size = TerminalSize(columns: 60, rows: 24)
    var view = ViewDriver(plan, options)
    _ = view.errorText()
    view.start("b[n=1]")
    view.end("b[n=1]", .success)
    view.start("b[n=2]")
    view.start("t[n=1,m=x]")
    view.wait(200)
    view.tick()
    let text = view.errorText()
    #expect(text.contains("b 1/3, t 0/2"), "\(text)")
    view.end("b[n=2]", .success)
    view.end("t[n=1,m=x]", .success)
    view.wait(200)
    view.tick()
    let after = view.errorText()
    #expect(!after.contains("1/3") && !after.contains("2/3"), "\(after)")
  }

  @Test func `the list of tasks has a line for each matrix`() {
    let text = String(
      decoding: TasksView.text(
        plan, manifest: "m", newest: nil, nowMilliseconds: 0, color: false), as: UTF8.self)
    #expect(text == "m: 7 tasks\nTASK\nfetch\nb (3 tasks)\nt (2 tasks)\nlast\n")
  }

  @Test func `only named tasks are listed, and matrix tasks counted`() throws {
    let only = try Selector.tasks(["last", plan.nameString(TaskID(1))], of: plan)
    let text = String(
      decoding: TasksView.text(
        plan, manifest: "m", only: only, newest: nil, nowMilliseconds: 0, color: false),
      as: UTF8.self)
    #expect(text == "m: 7 tasks\nTASK\nb (1 of 3 tasks)\nlast\n")
  }
}
