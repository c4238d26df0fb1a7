import Fixtures
import Testing

@testable import OpflowBase
@testable import OpflowJournal
@testable import OpflowPlan
@testable import OpflowWire

@Suite("The end of a try in lines")
struct OutcomeFieldsTests {
  private let plan: Plan

  init() throws { plan = try TestPlan.make(names: ["a"]) }

  @Test(arguments: UInt64(0)..<500)
  func `any end reads the same from the journal and from the wire`(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let outcome = Self.outcome(&random)
    let areAlive = Bool.random(using: &random)
    let left =
      Bool.random(using: &random)
      ? LeftBehind(["sleep", "a\t\\b\n"], areAlive: areAlive) : nil

    var transition = Transition(.failure, TaskID(0), attempt: 1)
    transition.outcome = outcome
    transition.left = left
    var encoder = JournalEncoder()
    encoder.append(transition, at: 5, plan: plan)
    try Array(encoder.bytes.dropLast()).withUnsafeBytes {
      let line = try #require(JournalLine($0))
      #expect(line.entry(plan: plan) == .transition(transition))
    }

    let reports =
      [WorkerReport.ended(TaskID(0), attempt: 1, outcome)]
      + (left.map { [.left(TaskID(0), attempt: 1, $0)] } ?? [])
    for report in reports {
      var writer = FieldWriter()
      MessageCodec.encode(report, into: &writer)
      let line = Array(writer.bytes.dropLast())
      #expect(line.withUnsafeBytes { MessageCodec.report($0) } == report)
    }
  }

  private static func outcome(_ random: inout SplitMix64) -> Outcome {
    let statuses = [
      ExitStatus.unknown, .exit(0), .exit(7), .exit(255), .exit(-1), .exit(.max), .exit(.min),
      .signal(9), .signal(64),
    ]
    var outcome = Outcome(
      status: statuses.randomElement(using: &random) ?? .unknown,
      reason: Bool.random(using: &random) ? EndReason.allCases.randomElement(using: &random) : nil,
      errorNumber: Bool.random(using: &random) ? Int32.random(in: 0...133, using: &random) : 0)
    func number() -> Int64 {
      let digits = Int.random(in: 0...18, using: &random)
      let limit = (0..<digits).reduce(Int64(1)) { limit, _ in limit * 10 }
      return Int64.random(in: 0..<limit, using: &random)
    }
    outcome.usage.wallMicroseconds = number()
    outcome.usage.userMicroseconds = number()
    outcome.usage.systemMicroseconds = number()
    outcome.usage.peakKibibytes = number()
    outcome.usage.outputBytes = number()
    return outcome
  }
}
