import OpflowBase
import OpflowJournal
import OpflowPlan
import OpflowWire
import Testing

struct LastDownloadsTests {
  private func plan() throws -> Plan {
    var builder = PlanBuilder()
    for name in ["cpu", "memory", "download"] {
      builder.resources.append(ResourceEntry(name: builder.intern(name), capacity: 0))
    }
    var task = TaskEntry(name: builder.intern("fetch"), kind: .shell)
    task.record.script = builder.intern("true")
    task.record.shell = builder.list([builder.intern("/bin/sh"), builder.intern("-ec")])
    task.record.directory = builder.intern("/")
    task.demand = builder.demand([DemandItem(resource: 0, amount: 1)])
    _ = builder.add(task)
    builder.endNeeds()
    let manifest = ManifestEntry(
      name: builder.intern("test"), description: .empty, folder: builder.intern("/"),
      maxParallel: 0, maxFailures: 1, usesRunID: false)
    guard case .plan(let bytes) = builder.finish(manifest: manifest, key: PlanKey(high: 1, low: 2))
    else { throw PlanError.tooShort }
    return try Plan(copying: bytes)
  }

  @Test func `a success is found in a journal by its source`() throws {
    let plan = try plan()
    var encoder = JournalEncoder()
    let open = OpenEntry(
      run: "r", planKey: "k", opflowVersion: "1", manifestPath: "m", folder: "/")
    encoder.append(.open(open), at: 1, plan: plan)
    var report = FetchReport()
    report.source = FetchReport.sourceHash("http://h/x")
    report.sizeBytes = 300
    var transition = Transition(.success, TaskID(0), attempt: 1)
    transition.outcome = Outcome(status: .success)
    transition.fetch = FetchRecord(report)
    encoder.append(transition, at: 2, plan: plan)
    var downloads = LastDownloads()
    encoder.bytes.withUnsafeBytes { downloads.read($0) }
    #expect(downloads.report(from: "http://h/x") == report)
    #expect(downloads.report(from: "http://h/y") == nil)
  }
}
