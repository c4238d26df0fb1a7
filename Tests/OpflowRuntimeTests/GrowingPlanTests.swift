import Foundation
import OpflowManifest
import OpflowPlan
import OpflowWire
import Testing

@testable import OpflowRuntime
@testable import OpflowSystem

/// The plan file of a live run, which tasks are added to.
struct GrowingPlanTests {
  private let fixture: StateFixture
  private let folder: RunFolder

  init() throws {
    fixture = try StateFixture()
    folder = try fixture.run(of: "m.yaml", at: 1)
    let first = "tasks: { first: { run: x }, second: { needs: first, run: x } }"
    let manifest = ManifestFile(
      bytes: Array(first.utf8), displayPath: "m.yaml", realPath: "-", folder: "/")
    try folder.write(
      plan: manifest.compile(runID: "r", set: [], maxParallel: nil).planBytes)
  }

  private func segment(_ text: String, of plan: Plan) throws -> Plan {
    let source = ManifestFile(
      bytes: Array(text.utf8), displayPath: "add.yaml", realPath: "-", folder: "/")
    let compiled = try source.compile(
      addedTo: plan, by: .none, runID: "r", state: StateFolder(holding: folder))
    return try #require(compiled.added).openPlan()
  }

  /// All that the file has.
  private func open() throws -> Plan {
    let file = try MappedFile(folder.plan)
    let plan = try Plan(bytes: file.bytes, checksum: true, release: MappedFile.unmap)
    try plan.validate()
    return plan
  }

  @Test func `the file has what was added, whoever opens it`() throws {
    let growing = GrowingPlan(try open(), in: folder)
    let before = growing.plan
    let (count, name) = (before.taskCount, before.nameString(TaskID(0 as Int)))
    var files: Set<FileIdentity> = []
    for round in 0..<200 {
      let need = round == 0 ? "second" : "t\(round - 1)"
      let plan = growing.plan
      let grown = try growing.grow(
        by: segment("tasks: { t\(round): { needs: [\(need), \(name)], run: x } }", of: plan))
      #expect(grown.taskCount == count + round + 1 && growing.plan === grown)
      #expect(plan.taskCount == count + round)
      #expect(try open().nameString(TaskID(count + round)) == "t\(round)")
      files.insert(try Path.status(folder.plan).identity)
    }
    // Room is made seldom.
    #expect(files.count < 12)
    #expect(before.taskCount == count)
  }

  /// The file to sync before the journal.
  private func takeUnsynced(of growing: GrowingPlan) -> FileIdentity? {
    guard let file = growing.takeUnsynced() else { return nil }
    return try? file.status().identity
  }

  @Test func `what may be synced behind its line is synced with that, all else before`() throws {
    let growing = GrowingPlan(try open(), in: folder, .group)
    func grow(_ name: String, mayFollow: Bool) throws -> Plan {
      let segment = try segment("tasks: { \(name): { run: x } }", of: growing.plan)
      return try growing.grow(by: segment, mayFollow: mayFollow)
    }
    // The first one makes a new file.
    _ = try grow("a", mayFollow: true)
    #expect(takeUnsynced(of: growing) == nil)
    _ = try grow("b", mayFollow: false)
    #expect(takeUnsynced(of: growing) == nil)
    _ = try grow("c", mayFollow: true)
    #expect(try takeUnsynced(of: growing) == Path.status(folder.plan).identity)
    #expect(takeUnsynced(of: growing) == nil)
    let first = try grow("d", mayFollow: true)
    _ = try grow("e", mayFollow: true)
    try growing.syncNow()
    #expect(takeUnsynced(of: growing) == nil)
    // One that was synced at once has taken what was written before along.
    _ = try grow("f", mayFollow: true)
    _ = try grow("g", mayFollow: false)
    #expect(takeUnsynced(of: growing) == nil)
    #expect(try open().taskCount == first.taskCount + 3)
    for durability in [Durability.none, .each] {
      let other = GrowingPlan(growing.plan, in: folder, durability)
      let segment = try segment("tasks: { x\(durability): { run: x } }", of: other.plan)
      _ = try other.grow(by: segment, mayFollow: true)
      #expect(takeUnsynced(of: other) == nil)
    }
  }

  @Test func `who follows a plan looks at what is new`() throws {
    let growing = GrowingPlan(try open(), in: folder)
    let followed = FollowedPlan(of: folder)
    var plan = growing.plan
    for round in 0..<100 {
      let need = round == 0 ? "second" : "t\(round - 1)"
      let grown = try growing.grow(
        by: segment("tasks: { t\(round): { needs: [\(need), first], run: x } }", of: growing.plan))
      #expect(followed.open(grownTo: grown.taskCount + 1, from: plan) == nil)
      let next = try #require(followed.open(grownTo: grown.taskCount, from: plan))
      #expect(next.taskCount == grown.taskCount && next.key == plan.key)
      #expect(next.nameString(TaskID(next.taskCount - 1)) == "t\(round)")
      plan = next
    }
    // The plan that was open before is unchanged.
    try plan.validate()
  }

  @Test func `a file that another run has as well is left as it is`() throws {
    let (other, growing) = (folder.path + "/other", GrowingPlan(try open(), in: folder))
    try Path.link(folder.plan, to: other)
    let bytes = try File.read(other)
    for round in 0..<3 {
      _ = try growing.grow(by: segment("tasks: { t\(round): { run: x } }", of: growing.plan))
      // A plan with room, too.
      if round == 0 { try Path.link(folder.plan, to: other + "2") }
    }
    #expect(try File.read(other) == bytes)
    #expect(try Path.status(other + "2").identity != Path.status(folder.plan).identity)
  }

  @Test func `after a write that failed it goes on in a new file`() throws {
    let growing = GrowingPlan(try open(), in: folder)
    _ = try growing.grow(by: segment("tasks: { a: { run: x } }", of: growing.plan))
    let plan = growing.plan
    try Path.remove(folder.plan)
    let next = try segment("tasks: { b: { needs: a, run: x } }", of: plan)
    #expect(throws: GrowthFault.self) { _ = try growing.grow(by: next) }
    #expect(growing.plan === plan)
    _ = try growing.grow(by: next)
    #expect(try open().taskCount == plan.taskCount + 1)
  }

  @Test func `what was compiled for another plan is refused as outdated`() throws {
    let growing = GrowingPlan(try open(), in: folder)
    let first = try segment("tasks: { a: { run: x } }", of: growing.plan)
    _ = try growing.grow(by: first)
    do throws(GrowthFault) {
      _ = try growing.grow(by: first)
      Issue.record("it grew")
    } catch {
      #expect(error.detail(in: folder).hasPrefix(AddRequest.outdated))
    }
  }
}
