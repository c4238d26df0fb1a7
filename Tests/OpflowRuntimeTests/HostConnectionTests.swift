import OpflowEngine
import OpflowPlan
import OpflowWire
import Testing

@testable import OpflowRuntime
@testable import OpflowSystem

/// Connections of programs that a run is for.
@Suite(.timeLimit(.minutes(30))) struct HostConnectionTests {
  private let start = Instant(nanoseconds: 0)

  private func connection(_ number: Int32) -> ConnectionID { ConnectionID(number) }

  @Test func `the run stops when the last one ends that wants it to`() {
    var hosts = Clients()
    let isFirst = hosts.add(connection(1), .stop)
    let isSecond = hosts.add(connection(2), .stop)
    #expect(isFirst && isSecond)
    hosts.remove(connection(1))
    #expect(hosts.stopDueAt == nil)
    hosts.remove(connection(2))
    #expect(hosts.stopDueAt != nil)
    let isDue = hosts.takeStop(at: start) { false }
    #expect(isDue)
    #expect(hosts.stopDueAt == nil)
  }

  @Test func `a program that has the run and is not connected yet keeps it`() throws {
    var hosts = Clients()
    _ = hosts.add(connection(1), .stop)
    hosts.remove(connection(1))
    let isDue = hosts.takeStop(at: start) { true }
    #expect(!isDue)
    let next = try #require(hosts.stopDueAt)
    #expect(next > start)
    let isEarly = hosts.takeStop(at: start) { false }
    let isLate = hosts.takeStop(at: next) { false }
    #expect(!isEarly && isLate)
  }

  @Test func `one after which it is to go on stops nothing, and what is said again counts`() {
    var hosts = Clients()
    _ = hosts.add(connection(1), .stop)
    _ = hosts.add(connection(1), .goOn)
    hosts.remove(connection(1))
    #expect(hosts.stopDueAt == nil)
    _ = hosts.add(connection(1), .goOn)
    _ = hosts.add(connection(1), .stop)
    hosts.remove(connection(1))
    #expect(hosts.stopDueAt != nil)
  }

  @Test func `one that comes before the run was stopped keeps it`() {
    var hosts = Clients()
    _ = hosts.add(connection(1), .stop)
    hosts.remove(connection(1))
    _ = hosts.add(connection(2), .goOn)
    let isDue = hosts.takeStop(at: start) { false }
    #expect(!isDue)
    hosts.remove(connection(2))
    #expect(hosts.stopDueAt == nil)
  }

  @Test func `so many may be there, and who is one may say it again`() {
    var hosts = Clients()
    for number in 0..<Int32(Clients.most) {
      let isOne = hosts.add(connection(number), .stop)
      #expect(isOne)
    }
    let isOne = hosts.add(connection(1000), .stop)
    #expect(!isOne)
    let isStill = hosts.add(connection(3), .goOn)
    #expect(isStill)
    hosts.remove(connection(1000))
    #expect(hosts.count == Clients.most)
  }

  @Test func `its end is noticed, whatever it said before`() throws {
    let host = try ControlHost()
    do {
      let requester = try ControlRequester(host)
      try requester.say("host\th\tstop\n")
      try requester.say(host.line("a", .pause))
      try host.settle()
      #expect(try requester.hear().text == "done\th\tcount=1\ndone\ta\tcount=0\n")
      #expect(host.stops == 0)
    }
    try host.settle()
    #expect(host.stops == 1)
    #expect(host.control?.connections.isEmpty == true)
  }

  @Test func `one that said so and left at once is noticed too`() throws {
    let host = try ControlHost()
    do {
      let requester = try ControlRequester(host)
      try requester.say("host\th\tstop\n")
    }
    while host.stops == 0 { try host.turn(waiting: .seconds(1)) }
    #expect(host.control?.nextWake { host.now } == nil)
  }

  @Test func `it makes room for nobody, and takes none from others`() throws {
    let host = try ControlHost()
    let hosts = try (0..<3).map { _ in try ControlRequester(host) }
    for one in hosts { try one.say("host\th\tstop\n") }
    try host.settle()
    let silent = try (0..<ControlSocket.mostConnections).map { _ in try ControlRequester(host) }
    try host.settle()
    let late = try (0..<5).map { _ in try ControlRequester(host) }
    for (number, one) in late.enumerated() { try one.say(host.line("\(number)", .pause)) }
    for _ in 0..<20 {
      host.now = host.now.advanced(byMilliseconds: ControlSocket.patience)
      try host.settle()
    }
    for one in late { #expect(try one.hear().text.hasPrefix("done\t")) }
    #expect(try silent.count { try $0.hear().isOver } == 5)
    for one in hosts {
      let heard = try one.hear()
      #expect(heard.text == "done\th\tcount=1\n")
      #expect(!heard.isOver)
    }
  }
}
