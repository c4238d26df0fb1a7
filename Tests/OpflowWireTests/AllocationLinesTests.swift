import Testing

@testable import OpflowBase
@testable import OpflowWire

@Suite("The lines of an allocation's keeper")
struct AllocationLinesTests {
  private func report(_ line: String) -> AllocationLines.Report? {
    var line = line
    return line.withUTF8 { AllocationLines.report(UnsafeRawBufferPointer($0)) }
  }

  private func written(_ body: (inout FieldWriter) -> Void) -> String {
    var writer = FieldWriter()
    body(&writer)
    let text = String(decoding: writer.bytes, as: UTF8.self)
    #expect(text.hasSuffix("\n"))
    return String(text.dropLast())
  }

  @Test func `what is written is read as it was meant`() throws {
    let job = try #require(SlurmJob(id: 23, nodes: "n[1-2]", cpus: "4(x2)"))
    let granted: (Int64?) -> String = { left in
      self.written {
        AllocationLines.granted(23, secondsLeft: left, nodes: "n[1-2]", cpus: "4(x2)", into: &$0)
      }
    }
    #expect(report(granted(299)) == .granted(job, secondsLeft: 299))
    #expect(report(granted(nil)) == .granted(job, secondsLeft: nil))
    #expect(
      report(written { AllocationLines.pending(23, "Resources", into: &$0) })
        == .pending(job: 23, reason: "Resources"))
    #expect(
      report(written { AllocationLines.pending(23, nil, into: &$0) })
        == .pending(job: 23, reason: nil))
    #expect(report(written { AllocationLines.left(seconds: 9, into: &$0) }) == .left(seconds: 9))
    #expect(
      report(written { AllocationLines.left(seconds: nil, into: &$0) }) == .left(seconds: nil))
    #expect(
      report(written { AllocationLines.over("the end", into: &$0) }) == .over(complaint: "the end"))
  }

  @Test(arguments: [
    "", "over", "left", "left\tx", "left\t-1", "left\t1\t2", "pending", "pending\t1",
    "pending\t-1\t",
    "granted\t1\t-\tn[1-2]\t4", "granted\t1\t-\tn1", "granted\t0\t-\tn1\t4",
    "granted\t1\t\tn1\t4", "granted\t1\t-\tn1\t4\t5", "over\ta\tb", "hello",
  ])
  func `what is no such line is none`(_ line: String) {
    #expect(report(line) == nil)
  }
}
