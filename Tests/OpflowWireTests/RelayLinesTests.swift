import Testing

@testable import OpflowBase
@testable import OpflowPlan
@testable import OpflowWire

@Suite struct RelayLinesTests {
  private enum Heard: Equatable {
    case report(WorkerID, WorkerReport)
    case garbage(WorkerID)
    case gone(WorkerID, String?)
    case pulse(Int32)
    case other(AgentReport)
    case malformed
  }

  /// The lines of a stream that arrives in pieces.
  private func hear(_ stream: String, pieceBytes: Int = .max) -> [Heard] {
    var heard: [Heard] = []
    var buffer = LineBuffer(longestLineBytes: RelayLines.longestLineBytes, bytes: 4096)
    var lines = LineBuffer()
    var rest = Array(stream.utf8)[...]
    while true {
      switch buffer.nextRelayed(into: &lines) {
      case .message(.gone(let worker, let complaint)): heard.append(.gone(worker, complaint))
      case .message(.pulse(let number)): heard.append(.pulse(number))
      case .message(.line(let worker)):
        switch lines.nextReport() {
        case .message(let report): heard.append(.report(worker, report))
        case .malformed, .needsMore: heard.append(.garbage(worker))
        }
      case .message(let report): heard.append(.other(report))
      case .malformed: return heard + [.malformed]
      case .needsMore:
        if rest.isEmpty { return heard }
        buffer.fill { room in
          let piece = rest.prefix(min(pieceBytes, room.count))
          room.copyBytes(from: piece)
          rest = rest.dropFirst(piece.count)
          return piece.count
        }
      }
    }
  }

  @Test(arguments: [1, 2, 7, 64, 4096])
  func `lines of many workers come apart however the stream is cut`(pieceBytes: Int) {
    let stream =
      "0\tpulse\t5\n12\tstarted\t3\t1\t99\n0\trevoked\t4\t1\ngone\t12\n"
      + "2147483647\trefused\t1\t1\terrno=2\twhat=a\\tb\ngone\t0\tits agent received\\nKILL\n"
    #expect(
      hear(stream, pieceBytes: pieceBytes) == [
        .report(WorkerID(0), .pulse(5)),
        .report(WorkerID(12), .started(TaskID(3), attempt: 1, pid: 99)),
        .report(WorkerID(0), .revoked(TaskID(4), attempt: 1)),
        .gone(WorkerID(12), nil),
        .report(
          WorkerID(.max), .refused(TaskID(1), attempt: 1, errorNumber: 2, detail: "a\tb")),
        .gone(WorkerID(0), "its agent received\nKILL"),
      ])
  }

  @Test func `what an agent could not end comes before the end of its worker`() throws {
    let left = try #require(LeftBehind(alive: [("7 (sleep)", ProcessMark(pid: 7, startTime: 88))]))
    var writer = FieldWriter()
    RelayLines.survived(WorkerID(3), left, into: &writer)
    RelayLines.gone(WorkerID(3), complaint: nil, into: &writer)
    let stream = String(decoding: writer.bytes, as: UTF8.self)
    #expect(stream == "survived\t3\talive 1 7 (sleep)\t7:88\ngone\t3\n")
    #expect(hear(stream) == [.other(.survived(WorkerID(3), left)), .gone(WorkerID(3), nil)])
    for line in ["survived\t3\n", "survived\t3\tsleep\n", "survived\t3\talive 1 sh\t7:88\tx\n"] {
      #expect(hear(line) == [.malformed])
    }
  }

  @Test(arguments: ["1\tpulse\n", "1\t\n", "1\t\tpulse\t1\n"])
  func `a worker's line that is no message is that worker's, and the next one is heard`(
    line: String
  ) {
    #expect(
      hear(line + "2\tpulse\t7\n") == [.garbage(WorkerID(1)), .report(WorkerID(2), .pulse(7))])
  }

  @Test(arguments: [
    "\n", "pulse\tx\n", "pulse\t1\t2\n", "pulse\t-1\n", "bye\t1\n", "launch\t1\tcommand\n", "1\n",
    "-1\tpulse\t1\n", "x\tpulse\t1\n", "2147483648\tpulse\t1\n",
    "gone\n",
    "gone\t\n", "gone\tx\n", "gone\t1\ta\tb\n", "gone\t1\t\\x\n", " 1\tpulse\t1\n",
  ])
  func `what is no line of an agent's is refused`(line: String) {
    #expect(hear(line) == [.malformed])
  }

  @Test func `the longest line of a worker passes, and one of the stream's own length does not`() {
    let start = "2147483647\trefused\t1\t1\terrno=2\twhat="
    func line(_ bytes: Int) -> String {
      start + String(repeating: "x", count: bytes - start.utf8.count) + "\n"
    }
    // 999 bytes of a worker's behind its number.
    guard case .report(WorkerID(.max), .refused) = hear(line(1010)).first else {
      Issue.record("a line that a worker may send was not heard")
      return
    }
    #expect(hear(line(1011)) == [.garbage(WorkerID(.max))])
    #expect(hear(line(1023)) == [.garbage(WorkerID(.max))])
    #expect(hear(line(1024)) == [.malformed])
    #expect(hear(String(repeating: "1", count: 1024)) == [.malformed])
  }

  @Test func `an agent is told in lines of its own`() {
    var writer = FieldWriter()
    RelayLines.launch(WorkerID(3), .command, into: &writer)
    RelayLines.launch(WorkerID(4), .download, into: &writer)
    RelayLines.number(WorkerID(3), into: &writer)
    MessageCodec.encode(.run(TaskID(9), attempt: 2), into: &writer)
    RelayLines.kill(WorkerID(4), into: &writer)
    #expect(
      String(decoding: writer.bytes, as: UTF8.self)
        == "launch\t3\tcommand\nlaunch\t4\tdownload\n3\trun\t9\t2\nkill\t4\n")
  }
}
