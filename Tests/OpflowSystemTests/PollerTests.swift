import Testing

@testable import OpflowSystem

@Suite struct PollerTests {
  @Test func `a pipe with bytes wakes the poller with its token`() throws {
    let pipe = try Pipe()
    var poller = try Poller()
    var events: [PollEvent] = []
    try poller.add(pipe.read.rawValue, token: 7)
    try poller.wait(timeout: .zero, into: &events)
    #expect(events.isEmpty)
    try pipe.write.writeAll("x")
    try poller.wait(timeout: nil, into: &events)
    #expect(events.map(\.token) == [7])
    #expect(events.first?.readiness == .readable)
    try poller.remove(pipe.read.rawValue)
    try poller.wait(timeout: .milliseconds(1), into: &events)
    #expect(events.isEmpty)
  }

  @Test func `interest in writing is told and can be taken back`() throws {
    let pipe = try Pipe()
    var poller = try Poller()
    var events: [PollEvent] = []
    try poller.add(pipe.write.rawValue, token: .max, interest: .writable)
    try poller.wait(timeout: nil, into: &events)
    #expect(events.first?.token == .max)
    #expect(events.first?.readiness == .writable)
    try poller.modify(pipe.write.rawValue, token: 1, interest: [])
    try poller.wait(timeout: .zero, into: &events)
    #expect(events.isEmpty)
  }

  @Test func `an event counts what was added`() throws {
    let event = try EventDescriptor()
    #expect(try event.take() == 0)
    try event.signal()
    try event.signal()
    var poller = try Poller()
    var events: [PollEvent] = []
    try poller.add(event.rawValue, token: 1)
    try poller.wait(timeout: nil, into: &events)
    #expect(events.count == 1)
    #expect(try event.take() == 2)
  }

  @Test func `a small set passes over empty places and tells who is gone`() throws {
    let written = try Pipe()
    var set = PollSet(slots: 3)
    do {
      let closed = try Pipe()
      set.set(2, written.read.rawValue)
      #expect(try !set.wait(nanoseconds: 0))
      try written.write.writeAll("x")
      #expect(try set.wait(nanoseconds: -1))
      #expect(set[2] == .readable)
      set.set(0, closed.read.rawValue)
      try closed.write.duplicate().close()
      #expect(try set.wait(nanoseconds: 0))
      #expect(set[0] == [])
    }
    set.clear(0)
    #expect(try set.wait(nanoseconds: -1))
    #expect(set[0] == [] && set[1] == [] && set[2] == .readable)
  }

  @Test func `durations become nanoseconds, cut where they do not fit`() {
    #expect(Duration.milliseconds(3).wholeNanoseconds == 3_000_000)
    #expect(Duration.seconds(-1).wholeNanoseconds == 0)
    #expect(Duration.seconds(Int64.max).wholeNanoseconds == .max)
  }

  @Test func `a syncer reports what it synced`() throws {
    let folder = try TemporaryFolder()
    let file = try File.open(folder("f"), [.writeOnly, .create])
    try file.writeAll("line")
    let syncer = try Syncer(file)
    var poller = try Poller()
    var events: [PollEvent] = []
    try poller.add(syncer.rawDescriptor, token: 1)
    syncer.request(1)
    syncer.request(5)
    while try syncer.result() < 5 { try poller.wait(timeout: nil, into: &events) }
    #expect(try syncer.result() == 5)
  }

  @Test func `another file is synced before, and closed`() throws {
    let folder = try TemporaryFolder()
    let file = try File.open(folder("f"), [.writeOnly, .create])
    let syncer = try Syncer(file)
    var poller = try Poller()
    var events: [PollEvent] = []
    try poller.add(syncer.rawDescriptor, token: 1)
    let pipe = try Pipe()
    let first = try File.open(folder("first"), [.writeOnly, .create])
    try first.writeAll("record")
    syncer.request(1, first: first)
    while try syncer.result() < 1 { try poller.wait(timeout: nil, into: &events) }
    // A pipe cannot be synced: what is synced behind it is not.
    let end = pipe.takeWrite()
    syncer.request(2, first: end)
    try poller.wait(timeout: nil, into: &events)
    #expect(throws: Errno.invalid) { _ = try syncer.result() }
  }

  @Test func `a syncer that failed once does not try again`() throws {
    // A pipe cannot be synced: EINVAL.
    let pipe = try Pipe()
    let syncer = try Syncer(pipe.write)
    var poller = try Poller()
    var events: [PollEvent] = []
    try poller.add(syncer.rawDescriptor, token: 1)
    syncer.request(1)
    try poller.wait(timeout: nil, into: &events)
    #expect(throws: Errno.invalid) { _ = try syncer.result() }
    syncer.request(2)
    #expect(throws: Errno.invalid) { _ = try syncer.result() }
  }
}
