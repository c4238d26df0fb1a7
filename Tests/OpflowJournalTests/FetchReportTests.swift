import Fixtures
import OpflowBase
import OpflowJournal
import OpflowPlan
import OpflowWire
import Testing

@Suite("What a download reports")
struct FetchReportTests {
  private var report: FetchReport {
    var report = FetchReport()
    report.resumedBytes = 10
    report.sizeBytes = 300
    report.gainedBytes = 290
    report.waitMilliseconds = 7
    report.isKept = true
    report.sha256 = String(repeating: "a", count: 64)
    report.source = 7
    report.validator = Validator(etag: "\"e\"", lastModified: "Sun, 06 Nov 1994 08:49:37 GMT")
    report.url = "http://h/x"
    report.detail = "tab\there"
    return report
  }

  @Test func `comes over the wire as it was sent`() throws {
    let message = WorkerReport.fetched(TaskID(3), attempt: 2, FetchRecord(report))
    var writer = FieldWriter()
    MessageCodec.encode(message, into: &writer)
    let line = Array(writer.bytes.dropLast())
    #expect(line.withUnsafeBytes { MessageCodec.report($0) } == message)
  }

  @Test func `fits into a line however long its texts are`() throws {
    var long = report
    long.sha512 = String(repeating: "b", count: 128)
    long.url = String(repeating: "ü\t", count: 5000)
    long.detail = String(repeating: "\\", count: 5000)
    long.validator.etag = String(repeating: "e", count: 5000)
    long.sizeBytes = .max
    long.resumedBytes = .max
    long.gainedBytes = .max
    long.waitMilliseconds = .max
    var writer = FieldWriter()
    let message = WorkerReport.fetched(
      TaskID(Int(Int32.max)), attempt: .max, FetchRecord(long))
    MessageCodec.encode(message, into: &writer)
    #expect(writer.bytes.count <= MessageCodec.longestLineBytes)
    let line = Array(writer.bytes.dropLast())
    guard case .fetched(_, _, let read) = line.withUnsafeBytes({ MessageCodec.report($0) }) else {
      Issue.record("no message")
      return
    }
    #expect(read.report.sizeBytes == .max)
    #expect(read.report.validator.etag == "")
  }

  @Test(arguments: [("ab12", true), ("AB", false), ("xy", false), ("", true)])
  func `has digests of digits alone`(digest: String, isOne: Bool) {
    for (key, most) in [("sha256", 64), ("sha512", 128)] {
      let longer = String(repeating: "0", count: most + 1)
      for (text, passes) in [(digest, isOne), (longer, false), (String(longer.dropLast()), true)] {
        let line = Array("fetched\t1\t1\t\(key)=\(text)".utf8)
        #expect((line.withUnsafeBytes { MessageCodec.report($0) } != nil) == passes)
      }
    }
  }

  @Test func `stands in the journal's line of its try`() throws {
    var maker = PlanMaker()
    maker.add("fetch")
    let plan = try maker.make()
    var encoder = JournalEncoder()
    encoder.append(.open(.simulated), at: 1, plan: plan)
    var transition = Transition(.success, TaskID(0), attempt: 1)
    transition.outcome = Outcome(status: .success)
    transition.fetch = FetchRecord(report)
    encoder.append(transition, at: 2, plan: plan)
    var expected = report
    expected.detail = ""
    let found = try encoder.bytes.withUnsafeBytes { bytes in
      var reader = try JournalReader(bytes)
      var found: [FetchReport] = []
      while let line = reader.next() { if let fetch = line.fetch { found.append(fetch.report) } }
      return found
    }
    #expect(found == [expected])
  }
}

extension OpenEntry {
  fileprivate static let simulated = OpenEntry(
    run: "r", planKey: "k", opflowVersion: "1", manifestPath: "m", folder: "/")
}
