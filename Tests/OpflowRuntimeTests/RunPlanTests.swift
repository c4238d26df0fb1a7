import Foundation
import Glibc
import OpflowJournal
import OpflowPlan
import OpflowRuntime
import OpflowSystem
import Testing

@Suite("Plans of runs that grow") struct RunPlanTests {
  let fixture: StateFixture
  let folder: RunFolder

  init() throws {
    fixture = try StateFixture()
    folder = try fixture.run(of: "/m", at: 1)
    try folder.write(plan: fixture.planBytes)
  }

  /// Writes them into the plan's file, as a session does before it records them.
  private func grow(_ names: String..., inPlace: Bool = true) throws -> Plan {
    let segment = try StateFixture.planBytes(names, key: 2)
    let bytes = try fixture.bytes(folder.plan)
    let growth = try PlanGrowth(
      of: Plan(copying: bytes), by: Plan(copying: segment), intoNewFile: !inPlace)
    let grown = growth.applied(to: bytes)
    if growth.newFileByteCount == nil {
      #expect(Glibc.chmod(folder.plan, 0o600) == 0)
      let file = try File.open(folder.plan, .readWrite)
      for write in growth.writes {
        try file.seek(to: Int64(write.offset))
        try file.writeAll(write.bytes)
      }
    } else {
      try Data(grown).write(to: URL(fileURLWithPath: folder.plan + ".new"))
      try Path.rename(folder.plan + ".new", to: folder.plan)
    }
    return try Plan(copying: grown)
  }

  /// Says it.
  private func tell(_ plan: Plan, added: Int) throws {
    var encoder = try folder.readHistory(plan: plan).history.encoder
    let id = try #require(RequestID("o\(plan.taskCount)"))
    encoder.append(
      .extend(
        ExtendEntry(
          id: id, requester: Requester(pid: 1, user: 1, name: "opflow add"),
          taskCount: plan.taskCount, added: added)), at: 9, plan: plan)
    try append(encoder.bytes)
  }

  private func run(_ name: String, _ plan: Plan) throws {
    var encoder = try folder.readHistory(plan: plan).history.encoder
    let task = try #require(plan.task(named: name))
    encoder.append(Transition(.start, task, attempt: 1), at: 10, plan: plan)
    try append(encoder.bytes)
  }

  private func append(_ bytes: [UInt8]) throws {
    try File.open(folder.journal, [.writeOnly, .append]).writeAll(bytes)
  }

  private func names(_ plan: Plan) -> [String] { plan.tasks.map { plan.nameString(TaskID($0)) } }

  @Test func `tasks that no line tells of are not there yet`() throws {
    #expect(names(try folder.openPlan()) == ["a", "b", "c"])
    let first = try grow("d")
    #expect(names(try folder.openPlan()) == ["a", "b", "c"])
    try tell(first, added: 1)
    #expect(names(try folder.openPlan()) == ["a", "b", "c", "d"])
    let second = try grow("e", "f")
    #expect(names(try folder.openPlan()) == ["a", "b", "c", "d"])
    #expect(try folder.openPlan().isCut)
    try tell(second, added: 2)
    #expect(names(try folder.openPlan()) == ["a", "b", "c", "d", "e", "f"])
    #expect(try folder.openPlan().firstTaskCount == 3)
    let read = try ReadRun(folder)
    #expect(read.status.counts.total == 6)
  }

  @Test func `a plan has no more tasks than its file, whatever the journal tells`() throws {
    let first = try grow("d")
    var wrong = ExtendEntry(
      id: try #require(RequestID("o")), requester: Requester(pid: 1, user: 1, name: "x"),
      taskCount: 1 << 40, added: 1)
    var encoder = try folder.readHistory(plan: first).history.encoder
    encoder.append(.extend(wrong), at: 9, plan: first)
    try append(encoder.bytes)
    #expect(names(try folder.openPlan()) == ["a", "b", "c", "d"])
    #expect(try ReadRun(folder).status.counts.total == 4)
    wrong.taskCount = 2
    encoder = try folder.readHistory(plan: first).history.encoder
    encoder.append(.extend(wrong), at: 9, plan: first)
    try append(encoder.bytes)
    #expect(names(try folder.openPlan()) == ["a", "b"])
    #expect(try ReadRun(folder).status.counts.total == 2)
  }

  @Test func `a plan that a resume made again and told nothing of yet is taken whole`() throws {
    try tell(try grow("d"), added: 1)
    let edited = try Plan(copying: StateFixture.planBytes(["z", "y", "x", "a", "b", "c"], key: 3))
    let segment = try Plan(copying: StateFixture.planBytes(["d"], key: 2))
    let bytes = try PlanGrowth(of: edited, by: segment).applied(to: [])
    try folder.write(plan: bytes, hasRoom: true)
    let plan = try folder.openPlan()
    #expect(names(plan) == ["z", "y", "x", "a", "b", "c", "d"])
    #expect(!plan.isCut)
    let read = try ReadRun(folder)
    #expect(read.status.counts.total == 7)
  }

  @Test(arguments: [true, false])
  func `who follows a run sees tasks when they are added`(_ inPlace: Bool) throws {
    var followed = try FollowedRun(folder)
    try followed.look()
    var plan = followed.plan
    for name in ["d", "e", "f"] {
      let grown = try grow(name, inPlace: inPlace)
      try followed.look()
      #expect(followed.plan === plan)
      try tell(grown, added: 1)
      try run(name, grown)
      try followed.look()
      plan = followed.plan
      #expect(names(plan) == names(grown))
      #expect(followed.model[try #require(plan.task(named: name))].attempts == 1)
      #expect(followed.model.removed.isEmpty)
    }
  }

  @Test func `what came with a line that is lost is seen with the next one`() throws {
    var journal = FollowedJournal(folder, plan: try folder.openPlan())
    try journal.look()
    let first = try grow("d")
    let intact = try fixture.bytes(folder.journal).count
    try tell(first, added: 1)
    var damaged = try fixture.bytes(folder.journal)
    damaged[intact + 20] ^= 1
    var encoder = try folder.readHistory(plan: first).history.encoder
    let file = try File.open(folder.journal, .readWrite)
    try file.writeAll(damaged)
    let task = try #require(first.task(named: "d"))
    encoder.append(Transition(.start, task, attempt: 1), at: 10, plan: first)
    try append(encoder.bytes)
    try journal.look()
    #expect(journal.model.removed == ["d"])
    try tell(try grow("e"), added: 1)
    try journal.look()
    #expect(names(journal.plan) == ["a", "b", "c", "d", "e"])
    #expect(journal.model.removed.isEmpty)
    #expect(journal.model[task].state == .running)
  }

  @Test func `a plan to which tasks were added is no other run's`() throws {
    let other = try fixture.run(of: "/m", at: 2)
    let mine = try folder.openPlan()
    _ = try grow("d")
    try other.share(mine, of: folder)
    #expect(names(try other.openPlan()) == ["a", "b", "c"])
    #expect(try !other.openPlan().hasRoom)
    let third = fixture.state.plan(ofManifest: "/m") { $0.key == mine.key }
    #expect(third?.run.path == other.path)
  }
}
