import Foundation
import OpflowBase
import OpflowPlan
import OpflowSystem
import OpflowWire
import Testing

@testable import OpflowRuntime

/// The coordinator's end of a stream, against an agent that is the test itself.
@Suite struct RelayLauncherTests {
  /// A launcher and the far end of its stream.
  private struct Fixture {
    let watch: EventLoop
    let launcher: RelayLauncher
    let agent: Agent

    init(_ first: String = Fixture.hello) throws {
      watch = try EventLoop()
      let messages = try OpflowSystem.Pipe()
      let reports = try OpflowSystem.Pipe()
      agent = Agent(messages: try messages.read.duplicate(), reports: try reports.write.duplicate())
      launcher = try RelayLauncher(
        node: 0, watch: watch, name: "node2", input: reports.takeRead(),
        output: messages.takeWrite(), at: Instant(nanoseconds: 0))
      try agent.say(first)
      _ = try hear()
    }

    static let hello = "hello\t1\t0123\t77\tcores=4\tmemory=1000\thost=node2\n"

    /// All that there is to hear now.
    func hear() throws -> [Heard] {
      var events: [PollEvent] = []
      var heard: [Heard] = []
      try watch.wait(timeout: .zero, into: &events)
      while !events.isEmpty {
        for event in events {
          #expect(event.owner == .node(0))
          while let news = launcher.next(at: event.place) { heard.append(contentsOf: take(news)) }
        }
        try watch.wait(timeout: .zero, into: &events)
      }
      return heard
    }

    private func take(_ news: LinkNews) -> [Heard] {
      switch news {
      case .silent(let link, let complaint): return [.silent(link.id.rawValue, complaint)]
      case .gone(let link, let complaint, let warnings, _):
        #expect(warnings.isEmpty)
        return [.gone(link.id.rawValue, complaint)]
      case .spoke(let link): return said(by: link)
      case .joined(_, let hello): return [.joined(hello.host)]
      case .heard: return []
      case .leaving(_, let detail): return [.leaving(detail)]
      case .lost(_, let complaint): return [.lost(complaint)]
      }
    }

    private func said(by link: WorkerLink) -> [Heard] {
      var heard: [Heard] = []
      while case .message(let report) = link.inbox.lines.nextReport() {
        heard.append(.report(link.id.rawValue, report))
      }
      // An invalid line stays in the buffer.
      if case .malformed = link.inbox.lines.nextReport() {
        heard.append(.garbage(link.id.rawValue))
      }
      return heard
    }

    func launch(_ numbers: Int32...) throws -> [WorkerLink] {
      try numbers.map { try launcher.launch(WorkerID($0), .command) }
    }
  }

  private enum Heard: Equatable {
    case report(Int32, WorkerReport)
    case garbage(Int32)
    case silent(Int32, String?)
    case gone(Int32, String?)
    case joined(String)
    case leaving(String)
    case lost(String)
  }

  private final class Agent {
    private var messages: Descriptor?
    private var reports: Descriptor?

    init(messages: consuming Descriptor, reports: consuming Descriptor) {
      self.messages = consume messages
      self.reports = consume reports
    }

    func say(_ text: String) throws { try reports?.writeAll(text) }
    func stopReading() { messages = nil }
    func stopTalking() { reports = nil }

    /// The messages that have arrived; nil at the end.
    func told() throws -> String? {
      guard let raw = messages?.rawValue else { return nil }
      try messages?.setNonblocking(true)
      var text: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 65_536)
      var count = read(raw, &buffer, buffer.count)
      let isAtEnd = count == 0
      while count > 0 {
        text += buffer[..<count]
        count = read(raw, &buffer, buffer.count)
      }
      return isAtEnd ? nil : String(decoding: text, as: UTF8.self)
    }
  }

  @Test func `workers are launched, told, heard and ended through one stream`() throws {
    let node = try Fixture()
    let links = try node.launch(3, 4)
    #expect(links.allSatisfy { $0.entry == nil })
    links[1].enqueue(.run(TaskID(7), attempt: 1))
    links[1].enqueue(.pulse(2))
    node.launcher.send(to: links[1])
    #expect(
      try node.agent.told() == "launch\t3\tcommand\nlaunch\t4\tcommand\n4\trun\t7\t1\n4\tpulse\t2\n"
    )
    try node.agent.say("4\tpulse\t2\n3\tpulse\t1\n3\tnonsense\n4\tpul")
    let expected0: [Heard] = [.report(4, .pulse(2)), .report(3, .pulse(1)), .garbage(3)]
    #expect(try node.hear() == expected0)
    try node.agent.say("se\t9\n")
    let expected1: [Heard] = [.report(4, .pulse(9))]
    #expect(try node.hear() == expected1)
    // Messages that were not sent are dropped, so that it does not run the task.
    links[0].enqueue(.run(TaskID(8), attempt: 1))
    let now = Instant(nanoseconds: 5)
    #expect(node.launcher.end(links[0], at: now) > now)
    #expect(try node.agent.told() == "kill\t3\n")
    try node.agent.say("3\tpulse\t4\ngone\t3\tkilled\n4\tpulse\t5\n")
    let expected2: [Heard] = [.report(3, .pulse(4)), .gone(3, "killed"), .report(4, .pulse(5))]
    #expect(try node.hear() == expected2)
  }

  private static let nonsense: [(String, String)] = [
    ("9\tpulse\t1\n", "it sent a line of worker 9, which does not exist"),
    ("gone\t3\n3\tpulse\t1\n", "it sent a line of worker 3, which does not exist"),
    ("gone\t9\n", "it reported the end of worker 9, which does not exist"),
    ("pulse\tx\n", "it sent an invalid line"),
    (Fixture.hello, "it sent an invalid line"),
    ("refused\tno\n", "it sent an invalid line"),
    (String(repeating: "x", count: 1100), "it sent an invalid line"),
  ]

  @Test(arguments: nonsense)
  func `what cannot be believed costs the stream and all workers behind it`(
    line: String, complaint: String
  ) throws {
    let node = try Fixture()
    let links = try node.launch(3, 4, 5)
    _ = try node.agent.told()
    let now = Instant(nanoseconds: Clock.monotonicNanoseconds)
    try node.agent.say("4\tpulse\t1\n" + line)
    let heard = try node.hear()
    #expect(heard.first == Heard.report(4, .pulse(1)))
    let losses: [Heard] = [.lost(complaint), .silent(4, complaint), .silent(5, complaint)]
    #expect(heard.filter { losses.contains($0) } == losses)
    // The agent sees it, and when they are gone is not for this to say.
    #expect(try node.agent.told() == nil)
    #expect(node.launcher.end(links[1], at: now) == Instant(nanoseconds: .max))
    #expect(node.launcher.giveUp(links[1]) == [])
    let failure = #expect(throws: LaunchFailure.self) { _ = try node.launch(6) }
    #expect(failure?.detail == complaint)
  }

  @Test func `the end of the stream costs all workers behind it`() throws {
    let node = try Fixture()
    _ = try node.launch(3, 4)
    try node.agent.say("3\tpulse\t1\n4\tpul")
    node.agent.stopTalking()
    let ended = "its connection was closed"
    let expected3: [Heard] = [
      .report(3, .pulse(1)), .lost(ended), .silent(3, ended), .silent(4, ended),
    ]
    #expect(try node.hear() == expected3)
  }

  @Test func `a stream that nobody reads any more is lost, though its other direction lives`()
    throws
  {
    try Dispositions.ignore(.pipe)
    let node = try Fixture()
    let links = try node.launch(3, 4)
    node.agent.stopReading()
    links[0].enqueue(.pulse(1))
    node.launcher.send(to: links[0])
    let heard = try node.hear()
    #expect(heard.count == 3)
    for (link, one) in zip(links, heard.dropFirst()) {
      guard case .silent(let number, let complaint) = one else {
        Issue.record("\(one)")
        return
      }
      #expect(number == link.id.rawValue)
      let start = "cannot send to it: "
      #expect(complaint?.hasPrefix(start) == true)
    }
  }

  @Test func `an agent that does not read holds up nothing, and gets all in its order`() throws {
    let node = try Fixture()
    let links = try node.launch(3, 4)
    // Far more than the stream and its own buffer take.
    for round in 0..<20_000 {
      let link = links[round % 2]
      link.enqueue(.pulse(Int32(round)))
      node.launcher.send(to: link)
    }
    let kept = links.reduce(0) { $0 + $1.outbox.bytes.count }
    #expect(kept > 100_000)
    try node.agent.say("4\tpulse\t1\n")
    let expected4: [Heard] = [.report(4, .pulse(1))]
    #expect(try node.hear() == expected4)
    var told = ""
    while let more = try node.agent.told(), !more.isEmpty {
      told += more
      let expected5: [Heard] = []
      #expect(try node.hear() == expected5)
    }
    let all: [String] = told.split(separator: "\n").map { String($0) }
    for link in links {
      #expect(link.outbox.isEmpty)
      let start = "\(link.id.rawValue)\tpulse\t"
      let own: [String] = all.filter { $0.hasPrefix(start) }
      let first = link === links[0] ? 0 : 1
      var expected: [String] = []
      for round in stride(from: first, to: 20_000, by: 2) { expected.append(start + "\(round)") }
      #expect(own == expected)
    }
    #expect(told.hasPrefix("launch\t3\tcommand\nlaunch\t4\tcommand\n3\tpulse\t0\n"))
    links[0].enqueue(.bye)
    node.launcher.send(to: links[0])
    #expect(try node.agent.told() == "3\tbye\n")
  }

  @Test func `one that was given up may still tell its end`() throws {
    let node = try Fixture()
    let links = try node.launch(3)
    _ = node.launcher.end(links[0], at: Instant(nanoseconds: 0))
    #expect(
      node.launcher.giveUp(links[0]) == ["cannot end worker 3 on node node2"])
    try node.agent.say("3\tpulse\t1\ngone\t3\n")
    let expected6: [Heard] = [.report(3, .pulse(1)), .gone(3, nil)]
    #expect(try node.hear() == expected6)
  }

  @Test func `pulses are answered with their numbers, and tell that the agent lives`() throws {
    let node = try Fixture()
    let before = node.launcher.heardAt
    try node.agent.say("pulse\t1\npulse\t2\n")
    #expect(try node.hear() == [])
    #expect(try node.agent.told() == "pulse\t1\npulse\t2\n")
    #expect(node.launcher.heardAt > before)
    try node.agent.say("leaving\tits agent received SIGTERM\nbye\n")
    #expect(
      try node.hear() == [
        .leaving("its agent received SIGTERM"), .lost("its agent exited"),
      ])
    #expect(node.launcher.saidBye)
  }

  @Test func `an agent is told once to leave`() throws {
    let node = try Fixture()
    #expect(!node.launcher.isDismissed)
    for _ in 0..<2 {
      node.launcher.dismiss()
      #expect(node.launcher.isDismissed)
    }
    #expect(try node.agent.told() == "bye\n")
  }

  @Test func `what comes before the agent's first word is passed over, and kept for people`() throws
  {
    let node = try Fixture("Welcome to node2\n\nbye\n\u{1b}[1mnow\n" + Fixture.hello)
    #expect(node.launcher.hello?.host == "node2")
    #expect(node.launcher.lastWords == "Welcome to node2; now")
    let links = try node.launch(3)
    try node.agent.say("3\tpulse\t1\nWelcome\n")
    let lost = "it sent an invalid line"
    #expect(try node.hear() == [.report(3, .pulse(1)), .lost(lost), .silent(3, lost)])
    _ = links
  }

  @Test func `a command that prints without end is not an agent's, and little of it is shown`()
    throws
  {
    let node = try Fixture("yes\n")
    var heard: [Heard] = []
    for _ in 0..<200 where heard.isEmpty {
      try node.agent.say(String(repeating: "yes\n", count: 4096))
      heard = try node.hear()
    }
    #expect(heard == [.lost("the first 1MiB of its output contain no greeting of an opflow agent")])
    #expect(node.launcher.lastWords.count < 500 && node.launcher.lastWords.hasPrefix("yes; yes"))
  }

  @Test func `an agent that refuses the run says why`() throws {
    let node = try Fixture("refused\tthere is no such folder\n")
    #expect(node.launcher.hello == nil)
    let failure = #expect(throws: LaunchFailure.self) { _ = try node.launch(6) }
    #expect(failure?.detail == "its agent cannot work for this run: there is no such folder")
  }
}
