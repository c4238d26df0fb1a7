import Foundation
import OpflowJournal
import OpflowPlan
import OpflowRuntime
import OpflowSystem
import Testing

/// Removing runs of a state folder. Targets of links are in a folder of the test's own.
struct StateFolderCleaningTests {
  let fixture: StateFixture

  init() throws { fixture = try StateFixture() }

  private var runsFolder: String { fixture.state.path + "/runs" }
  private static let hour: Int64 = 3_600_000

  private func clean(
    keep: Int? = nil, olderThan: Int64? = nil, in hours: Int64 = 0, dryRun: Bool = false
  ) throws -> RunCleaning {
    try fixture.state.clean(
      RunRetention.Limits(keep: keep, ageMilliseconds: olderThan),
      nowMilliseconds: Clock.wallMilliseconds + hours * Self.hour, isDryRun: dryRun)
  }

  private func names() throws -> [String] { try Path.names(in: runsFolder).sorted() }

  @Test func `old runs go whole, and newer ones stay whole`() throws {
    let runs = try (1...4).map { try fixture.run(of: "/m", at: Int64($0), end: .succeeded) }
    for run in runs { try run.write(plan: fixture.planBytes) }
    let shown = try clean(keep: 2, dryRun: true)
    #expect(shown.gone.map(\.run) == [runs[1].id, runs[0].id])
    #expect(try names().count == 4)
    let cleaning = try clean(keep: 2)
    #expect(cleaning.gone.map(\.run) == [runs[1].id, runs[0].id])
    #expect(cleaning.gone.map(\.bytes) == shown.gone.map(\.bytes))
    #expect(cleaning.gone.allSatisfy { $0.bytes > 0 && $0.end == .succeeded })
    #expect(cleaning.kept == 2)
    #expect(try names() == [runs[2], runs[3]].map(\.id.description))
    #expect(try runs[3].openPlan().key == fixture.plan.key)
    #expect(try clean(keep: 2).gone.isEmpty)
  }

  @Test func `each manifest says how many of its runs stay`() throws {
    for second in 1...3 {
      let run = try fixture.run(of: "/m", at: Int64(second), end: .succeeded)
      try run.write(plan: fixture.planBytes)
    }
    #expect(try clean().gone.isEmpty)
  }

  @Test func `a live run stays, and so does one whose workers live`() throws {
    let live = try fixture.run(of: "/m", at: 1, end: .succeeded)
    let orphaned = try fixture.run(of: "/m", at: 2)
    let lock = try RunFolderLock.take(live)
    let workers = try FileLock.lock(orphaned.path + "/workers.lock", .shared)
    for dryRun in [true, false] {
      let cleaning = try clean(keep: 0, olderThan: 0, in: 1, dryRun: dryRun)
      #expect(cleaning.live == 2)
      #expect(cleaning.gone.isEmpty)
    }
    _ = consume lock
    _ = consume workers
    #expect(try clean(keep: 0, olderThan: 0, in: 1).gone.count == 2)
  }

  @Test func `nobody goes on with a run that is gone`() throws {
    let run = try fixture.run(of: "/m", at: 1)
    #expect(try clean(keep: 0, olderThan: 0, in: 1).gone.count == 1)
    let error = RunFolderError.removed(run: run.id.description)
    #expect(throws: error) { _ = try RunFolderLock.take(run) }
    #expect(try names().isEmpty)
    #expect(throws: RunFolderError.noSuchRun(run.id.description)) {
      _ = try fixture.state.run(run.id.description)
    }
  }

  @Test func `a removal that was cut short is no run, and is gone on with`() throws {
    let run = try fixture.run(of: "/m", at: 1, end: .succeeded)
    try Path.rename(run.path, to: run.path + ".removed")
    #expect(try fixture.state.runs().isEmpty)
    #expect(try clean(dryRun: true).gone.isEmpty)
    #expect(try names() == [run.id.description + ".removed"])
    // One of the same name, as after a clock that was set back, is not in the way.
    try fixture.run(of: "/m", at: 1, end: .succeeded)
    #expect(try clean(keep: 0).gone.count == 1)
    #expect(try names().isEmpty)
  }

  @Test func `links in place of folders and files are not followed`() throws {
    let outside = fixture.root + "/outside"
    try Path.makeDirectory(outside)
    let kept = outside + "/kept"
    try Data("kept".utf8).write(to: URL(fileURLWithPath: kept))
    let run = try fixture.run(of: "/m", at: 1, end: .succeeded)
    try Path.symbolicLink(outside, at: run.path + "/values")
    try Path.symbolicLink(kept, at: run.logs + "/a.log")
    let elsewhere = try fixture.run(of: "/m", at: 2, end: .succeeded)
    try Path.rename(elsewhere.path, to: outside + "/run")
    try Path.symbolicLink(outside + "/run", at: elsewhere.path)
    let cleaning = try clean(keep: 0)
    #expect(cleaning.gone.map(\.run) == [run.id])
    #expect(cleaning.failures.map(\.path) == [elsewhere.path])
    #expect(try names() == [elsewhere.id.description])
    #expect(try Set(Path.names(in: outside)) == ["kept", "run"])
    #expect(try Path.names(in: outside + "/run").contains("journal.log"))
  }

  @Test func `where the runs are behind a link nothing is removed`() throws {
    try fixture.run(of: "/m", at: 1, end: .succeeded)
    let elsewhere = fixture.root + "/elsewhere"
    try Path.rename(runsFolder, to: elsewhere)
    try Path.symbolicLink(elsewhere, at: runsFolder)
    #expect(throws: RunFolderError.link(runsFolder)) {
      _ = try clean(keep: 0)
    }
    #expect(try Path.names(in: elsewhere).count == 1)
  }

  @Test func `what is no run of ours stays`() throws {
    let newer = try fixture.run(of: "/m", at: 1, end: .succeeded)
    let text = String(decoding: try fixture.bytes(newer.journal), as: UTF8.self)
    try Data(text.replacing("format=1", with: "format=9").utf8).write(
      to: URL(fileURLWithPath: newer.journal))
    let foreign = runsFolder + "/20200101-000000-0000"
    try Path.makeDirectory(foreign)
    _ = try fixture.write(".opflow/runs/20200101-000000-0000/notes.txt", "mine")
    _ = try fixture.write(".opflow/runs/notes.txt", "mine")
    try Path.makeDirectory(runsFolder + "/20200101")
    let before = try names()
    let cleaning = try clean(keep: 0, olderThan: 0, in: 10_000)
    #expect(cleaning.unknown == 2)
    #expect(cleaning.gone.isEmpty)
    #expect(try names() == before)
  }

  @Test func `a run that never began goes after an hour`() throws {
    let run = try fixture.state.makeRun(nowMilliseconds: 1000, random: 1)
    let locked = try fixture.state.makeRun(nowMilliseconds: 2000, random: 1)
    let lock = try RunFolderLock.take(locked)
    _ = try JournalFile.create(locked.journal)
    #expect(try clean(keep: 0, olderThan: 0).gone.isEmpty)
    let cleaning = try clean(keep: 5, in: 2)
    #expect(cleaning.gone.map(\.run) == [run.id])
    #expect(cleaning.live == 1)
    _ = consume lock
    #expect(try clean(keep: 5, in: 2).gone.map(\.run) == [locked.id])
  }

  @Test func `the age of a run is that of its last line`() throws {
    let run = try fixture.run(of: "/m", at: 1, end: .failed)
    #expect(try clean(olderThan: Self.hour).gone.isEmpty)
    #expect(try clean(olderThan: Self.hour, in: 2, dryRun: true).gone.map(\.run) == [run.id])
    #expect(try clean(keep: 0, in: 24 * 6).resumable == 1)
    #expect(try clean(keep: 0, in: 24 * 8).gone.map(\.run) == [run.id])
  }

  @Test func `runs of one manifest go at the end of a run of it, and no others`() throws {
    for second in 1...3 {
      try fixture.run(of: "/m", at: Int64(second * 2), end: .succeeded)
      try fixture.run(of: "/n", at: Int64(second * 2 + 1), end: .succeeded)
    }
    let cleaning = try fixture.state.clean(
      ofManifest: "/m", keep: 1, nowMilliseconds: Clock.wallMilliseconds)
    #expect(cleaning.gone.count == 2)
    #expect(try fixture.state.runs().map(\.seconds) == [7, 6, 5, 3])
  }

  @Test func `the end of a run that has no time for it removes more than it adds`() throws {
    for second in 1...5 { try fixture.run(of: "/m", at: Int64(second), end: .succeeded) }
    let cleaning = try fixture.state.clean(
      ofManifest: "/m", keep: 1, nowMilliseconds: Clock.wallMilliseconds, patienceNanoseconds: 0)
    #expect(cleaning.gone.count == 2)
    #expect(try fixture.state.runs().map(\.seconds) == [5, 2, 1])
  }
}
