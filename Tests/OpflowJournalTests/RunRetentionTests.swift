import Fixtures
import OpflowJournal
import OpflowPlan
import Testing

/// Which runs are removed: of lists of runs, newest first.
struct RunRetentionTests {
  private struct Simulated {
    var manifest = "m"
    var set: [String] = []
    var end: RunState? = .succeeded
    var days: Int64 = 0
  }

  private static let day: Int64 = 86_400_000

  /// What becomes of each; nil for those that stay by their number.
  private func verdicts(
    _ limits: RunRetention.Limits, _ runs: [Simulated], keep: Int = 2
  ) -> [RunRetention.Verdict?] {
    var retention = RunRetention(limits)
    return runs.map { run in
      var open = OpenEntry(
        run: "", planKey: "", opflowVersion: "", manifestPath: run.manifest, folder: "")
      open.set = run.set
      return retention.count(open, of: run.manifest) { keep }.map {
        retention.verdict($0, end: run.end, ageMilliseconds: run.days * Self.day)
      }
    }
  }

  @Test func `of each manifest the newest stay, as many as it says`() {
    let runs = ["m", "n", "m", "m", "n", "n", "m"].map { Simulated(manifest: $0) }
    #expect(verdicts(.init(), runs) == [nil, nil, nil, .goes, nil, .goes, .goes])
    #expect(verdicts(.init(keep: 3), runs) == [nil, nil, nil, nil, nil, nil, .goes])
    #expect(verdicts(.init(keep: 0), runs) == Array(repeating: .goes, count: 7))
  }

  @Test(arguments: [RunState.failed, .cancelled, .interrupted, nil])
  func `what may be resumed stays for a week`(end: RunState?) {
    let runs =
      [Simulated(), Simulated()]
      + [0, 6, 7].map { Simulated(set: ["v=\($0)"], end: end, days: $0) }
    #expect(verdicts(.init(), runs) == [nil, nil, .resumable, .resumable, .goes])
  }

  @Test func `but not where a newer run was begun with the same`() {
    let runs = [
      Simulated(set: ["v=1", "w=2"]), Simulated(end: .failed),
      Simulated(set: ["w=2", "v=1"], end: .failed), Simulated(set: ["v=2"], end: .failed),
      Simulated(end: nil),
    ]
    #expect(verdicts(.init(), runs) == [nil, nil, .goes, .resumable, .goes])
  }

  @Test func `an age is a limit of its own, and with a number both must let a run go`() {
    let runs = (0..<4).map { Simulated(end: .failed, days: $0) }
    let age = 2 * Self.day
    #expect(verdicts(.init(ageMilliseconds: age), runs) == [.young, .young, .goes, .goes])
    #expect(verdicts(.init(keep: 3, ageMilliseconds: age), runs) == [nil, nil, nil, .goes])
    #expect(verdicts(.init(keep: 1, ageMilliseconds: age), runs) == [nil, .young, .goes, .goes])
    #expect(
      verdicts(.init(keep: 0, ageMilliseconds: 0), runs) == Array(repeating: .goes, count: 4))
  }

  @Test func `a run from a time to come is young`() {
    let runs = [Simulated(days: -400)]
    #expect(verdicts(.init(ageMilliseconds: 0), runs) == [.young])
    #expect(verdicts(.init(keep: 0), runs) == [.goes])
  }

  @Test func `a run that has not begun has an hour for it`() {
    #expect(RunRetention.verdict(notBegunFor: 3_599_999) == .young)
    #expect(RunRetention.verdict(notBegunFor: 3_600_000) == .goes)
  }

  @Test func `the manifest of a state folder that was moved is the one beside it`() {
    var open = OpenEntry(
      run: "", planKey: "", opflowVersion: "", manifestPath: "/a/b/m.yaml", folder: "")
    open.stateFolder = "/a/b/.opflow"
    #expect(open.manifest(seenFrom: "/a/b/.opflow") == "/a/b/m.yaml")
    #expect(open.manifest(seenFrom: "/c/.opflow") == "/c/m.yaml")
  }

  @Test(arguments: [RunState.succeeded, .failed], [true, false])
  func `the last line of a journal tells how it ended`(end: RunState, isEnded: Bool) throws {
    var encoder = JournalEncoder()
    let plan = try TestPlan.make(names: ["a"])
    encoder.append(.open(.example), at: 1, plan: plan)
    encoder.append(.close(CloseEntry(state: end, exitCode: 0)), at: 2, plan: plan)
    var bytes = encoder.bytes
    if !isEnded { bytes.removeLast() }
    #expect(close(bytes) == end)
    // Torn, or with something behind it, it tells nothing.
    #expect(close(bytes.dropLast(isEnded ? 2 : 1)) == nil)
    encoder.append(.resume(ResumeEntry(planKey: "k", opflowVersion: "v")), at: 3, plan: plan)
    #expect(close(encoder.bytes) == nil)
    #expect(close([]) == nil)
    #expect(close([10]) == nil)
  }

  private func close(_ bytes: some Sequence<UInt8>) -> RunState? {
    Array(bytes).withUnsafeBytes { JournalReader.close(atEndOf: $0)?.state }
  }
}
