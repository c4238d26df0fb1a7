import Fixtures
import OpflowJournal
import OpflowPlan
import Testing

@Suite struct EarlierDurationsTests {
  /// The journal of a run in which the tasks ended in this order; a negative time is a failure.
  private func journal(_ plan: Plan, _ ends: [(String, Int64)]) throws -> [UInt8] {
    var text = JournalText(plan)
    for (name, wall) in ends {
      try text.start(name)
      let event: TransitionEvent = wall < 0 ? .failure : .success
      var transition = Transition(event, try plan.id(name), attempt: 1)
      transition.outcome = Outcome(status: .exit(wall < 0 ? 1 : 0))
      transition.outcome.usage.wallMicroseconds = abs(wall)
      text.append(transition)
    }
    return text.bytes
  }

  private func read(_ journals: [[UInt8]], _ plan: Plan) -> TaskDurations {
    var earlier = EarlierDurations(plan: plan)
    for journal in journals { journal.withUnsafeBytes { earlier.read($0) } }
    return earlier.durations()
  }

  @Test func `the newest run that knows a task counts`() throws {
    let plan = try TestPlan.make(names: ["a", "b"])
    let newest = try journal(plan, [("a", 10)])
    let older = try journal(plan, [("a", 99), ("b", 20)])
    let durations = read([newest, older], plan)
    #expect(durations[try plan.id("a")] == 10)
    #expect(durations[try plan.id("b")] == 20)
    #expect(durations.knownCount == 2)
  }

  @Test func `in one run the last end counts, and a success more than a failure`() throws {
    let plan = try TestPlan.make(names: ["a", "b", "c"])
    let newest = try journal(plan, [("a", 10), ("a", 11), ("b", 20), ("b", -5), ("c", -7)])
    let older = try journal(plan, [("a", 99), ("b", 99), ("c", 30)])
    let durations = read([newest, older], plan)
    #expect(plan.tasks.map { durations[TaskID($0)] } == [11, 20, 30])
    #expect(read([newest], plan)[try plan.id("c")] == 7)
  }

  @Test func `older runs are no longer needed once every task went well`() throws {
    let plan = try TestPlan.make(names: ["a", "b"])
    var earlier = EarlierDurations(plan: plan)
    #expect(!earlier.isComplete)
    try journal(plan, [("a", 10), ("b", -5)]).withUnsafeBytes { earlier.read($0) }
    #expect(!earlier.isComplete)
    try journal(plan, [("b", 5)]).withUnsafeBytes { earlier.read($0) }
    #expect(earlier.isComplete)
  }

  @Test func `damaged lines and tasks of old tell nothing`() throws {
    let plan = try TestPlan.make(names: ["a", "b"])
    let old = try TestPlan.make(names: ["a", "b", "gone"])
    var bytes = try journal(old, [("gone", 50), ("a", 10), ("b", 20)])
    let wall = Array("wall=20".utf8)
    let place = bytes.indices.first { bytes[$0...].starts(with: wall) }
    bytes[try #require(place) + 5] = UInt8(ascii: "9")
    let durations = read([bytes], plan)
    #expect(durations.knownCount == 1)
    #expect(durations[try plan.id("a")] == 10)
    #expect(durations.isGuess(try plan.id("b")))
  }

  @Test func `a journal may be read from any byte on`() throws {
    let plan = try TestPlan.make(names: ["a", "b"])
    let bytes = try journal(plan, [("a", 10), ("b", 20)])
    for start in bytes.indices {
      let durations = read([Array(bytes[start...])], plan)
      let known = plan.tasks.filter { !durations.isGuess(TaskID($0)) }
      #expect(known.allSatisfy { durations[TaskID($0)] == ($0 == 0 ? 10 : 20) })
    }
  }

  @Test func `a task that nobody timed counts as the median of its matrix, else of all`() throws {
    let names = ["x[v=1]", "x[v=2]", "x[v=3]", "x[v=4]", "a", "b", "c", "new"]
    let plan = try TestPlan.make(names: names)
    let durations = TaskDurations(measured: [100, 300, 200, -1, 1, 2, 3, -1], plan: plan)
    #expect(durations[try plan.id("x[v=4]")] == 200)
    #expect(durations[try plan.id("new")] == 100)
    #expect(durations.isGuess(try plan.id("new")))
    #expect(!durations.isGuess(try plan.id("a")))
  }

  @Test func `where nothing is known every task counts as one`() throws {
    let plan = try TestPlan.make(names: ["a", "b"])
    let durations = TaskDurations(measured: [-1, -1], plan: plan)
    #expect(!durations.areKnown)
    #expect(durations[TaskID(1)] == 1)
  }
}
