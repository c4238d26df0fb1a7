import Foundation
import Glibc
import OpflowPlan
import Testing

@testable import OpflowRuntime
@testable import OpflowSystem

/// The socket of a run, with an engine that does whatever is asked.
@Suite(.timeLimit(.minutes(30))) struct ControlSocketTests {
  // MARK: - The file

  @Test func `the socket is its owner's alone, and goes with the run`() throws {
    let host = try ControlHost()
    let status = try Path.linkStatus(host.path)
    #expect(status.kind == .socket)
    #expect(status.mode == 0o600)
    host.control?.close()
    #expect(Path.isMissing(host.path))
    host.control?.close()
  }

  @Test func `one that a dead session left is replaced`() throws {
    let host = try ControlHost()
    // As after a kill: the file is there and nobody listens.
    host.control = nil
    #expect(!Path.isMissing(host.path))
    host.control = try host.listening()
    let requester = try ControlRequester(host)
    try requester.say(host.line("a", .pause))
    try host.settle()
    #expect(try requester.hear().text == "done\ta\tcount=0\n")
  }

  @Test(arguments: ["file", "folder", "link"])
  func `what is no socket is left as it is`(_ kind: String) throws {
    let host = try ControlHost()
    host.control?.close()
    host.control = nil
    switch kind {
    case "file": try "mine".write(toFile: host.path, atomically: false, encoding: .utf8)
    case "folder": try Path.makeDirectory(host.path)
    default: try Path.symbolicLink(host.folder.journal, at: host.path)
    }
    let before = try Path.linkStatus(host.path)
    do throws(ControlFault) {
      try ControlSocket(plan: host.fixture.plan, watch: host.watch).listen(in: host.folder.path)
      Issue.record("it listens")
    } catch {
      #expect(
        error.detail
          == "other processes cannot control this run: \(host.path) is not a socket;"
          + " remove it, then resume")
    }
    #expect(try Path.linkStatus(host.path) == before)
  }

  @Test func `the file of another is not removed at the end`() throws {
    let host = try ControlHost()
    try Path.remove(host.path)
    let at = try File.open(host.folder.path, [.readOnly, .directory])
    let other = try UnixSocket.listen("control.sock", in: at, backlog: 1)
    host.control?.close()
    #expect(!Path.isMissing(host.path))
    _ = consume other
  }

  // MARK: - Asking

  @Test func `many ask at once, each in turn, and each gets its own answer`() throws {
    let host = try ControlHost()
    let requesters = try (0..<40).map { _ in try ControlRequester(host) }
    for round in 0..<5 {
      for (number, requester) in requesters.enumerated() {
        try requester.say(host.line("\(number).\(round)", .skip, [0, 2]))
      }
      try host.settle()
      for (number, requester) in requesters.enumerated() {
        #expect(try requester.hear().text == "done\t\(number).\(round)\tcount=2\n")
      }
    }
    #expect(Set(host.requests).count == 200)
    #expect(host.requests.contains("7.3 skip test"))
  }

  @Test func `a request may come byte by byte, and several may come in one piece`() throws {
    let host = try ControlHost()
    let requester = try ControlRequester(host)
    for byte in try host.line("slow", .pause) {
      try requester.say([byte])
      try host.turn()
    }
    try host.settle()
    #expect(try requester.hear().text == "done\tslow\tcount=0\n")
    try requester.say(host.line("a", .pause) + host.line("b", .skip, [1]) + host.line("c", .pause))
    try host.settle()
    #expect(try requester.hear().text == "done\ta\tcount=0\ndone\tb\tcount=1\ndone\tc\tcount=0\n")
    #expect(host.requests.map { String($0.prefix { $0 != " " }) } == ["slow", "a", "b", "c"])
  }

  @Test func `who says what he has to say and no more is answered all the same`() throws {
    let host = try ControlHost()
    let requester = try ControlRequester(host)
    try requester.say(host.line("a", .pause) + host.line("b", .pause))
    #expect(shutdown(requester.socket.rawValue, Int32(SHUT_WR)) == 0)
    try host.settle()
    let heard = try requester.hear()
    #expect(heard.text == "done\ta\tcount=0\ndone\tb\tcount=0\n")
    #expect(heard.isOver)
  }

  @Test func `who has left has asked all the same`() throws {
    let host = try ControlHost()
    do {
      let requester = try ControlRequester(host)
      try requester.say(host.line("a", .cancel))
    }
    try host.settle()
    #expect(host.requests == ["a cancel test"])
  }

  @Test func `one request of a client is on its way at a time`() throws {
    let host = try ControlHost()
    host.answers = false
    let requester = try ControlRequester(host)
    let other = try ControlRequester(host)
    try requester.say(host.line("a", .pause) + host.line("b", .pause))
    try other.say(host.line("c", .pause))
    try host.settle()
    #expect(host.requests.map { $0.prefix(1) } == ["a", "c"])
    // The client leaves: its answers are dropped, and its second request counts.
    for (connection, id) in host.held {
      host.control?.answer(connection, id, .done(count: 0), at: host.now)
    }
    try host.settle()
    #expect(host.requests.map { $0.prefix(1) } == ["a", "c", "b"])
    #expect(try other.hear().text == "done\tc\tcount=0\n")
  }

  // MARK: - What nobody can do

  @Test func `an invalid request is refused, and the next ones are read`() throws {
    let host = try ControlHost()
    let requester = try ControlRequester(host)
    try requester.say("GET / HTTP/1.1\r\n")
    try requester.say([0, 255, 10])
    try requester.say("order\ta\tskip\tplan=\(host.fixture.plan.key)\ttasks=0-2147483647\n")
    try requester.say("order\tb\tpause\tplan=other\n")
    try requester.say(host.line("c", .pause))
    try host.settle()
    #expect(
      try requester.hear().text.split(separator: "\n") == [
        "refused\t\twhat=a request must start with `order`, `add` or `host`",
        "refused\t\twhat=a request must start with `order`, `add` or `host`",
        "refused\ta\twhat=there is no task number 2147483647; the plan has 3 tasks",
        "refused\tb\twhat=the request is for plan other, but the run now has plan"
          + " \(host.fixture.plan.key); send it again",
        "done\tc\tcount=0",
      ])
    #expect(host.requests == ["c pause test"])
  }

  @Test func `a line without an end is refused when it is too long, and costs nobody else`() throws
  {
    let host = try ControlHost()
    let endless = try ControlRequester(host)
    let other = try ControlRequester(host)
    let chunk = [UInt8](repeating: 120, count: 65_536)
    var isOver = false
    var heard = ""
    var sent = 0
    while !isOver {
      do { sent += try endless.pour(chunk) } catch let error as Errno where error == .brokenPipe {}
      try host.turn()
      let more = try endless.hear()
      heard += more.text
      isOver = more.isOver
      try other.say(host.line("x\(sent)", .pause))
      try host.settle()
      #expect(try other.hear().text.contains("done\t"))
    }
    #expect(heard == "refused\t\twhat=a request may have at most 1048576 bytes\n")
    #expect(sent < 2 << 20)
  }

  @Test func `a client that does not read only delays itself, and its requests are limited`() throws
  {
    let host = try ControlHost()
    let unheard = try ControlRequester(host)
    let other = try ControlRequester(host)
    let many = try Array((0..<500).map { try host.line("m\($0)", .pause) }.joined())
    var stalls = 0
    var rest = many
    while stalls < 3 {
      let count = try unheard.pour(rest)
      rest = count == rest.count ? many : Array(rest[count...])
      try host.settle()
      stalls = count == 0 ? stalls + 1 : 0
    }
    let asked = host.requests.count
    try host.settle()
    #expect(host.requests.count == asked)
    try other.say(host.line("x", .pause))
    try host.settle()
    #expect(try other.hear().text == "done\tx\tcount=0\n")
    // The client reads after all, so its requests continue.
    #expect(try unheard.hear().text.contains("done\tm0\tcount=0\n"))
    try host.settle()
    #expect(host.requests.count > asked + 1)
  }

  @Test func `one who asks without end gets no more turns than others`() throws {
    let host = try ControlHost()
    let greedy = try ControlRequester(host)
    _ = try greedy.pour(Array((0..<1000).map { try host.line("g\($0)", .pause) }.joined()))
    try host.turn()
    try host.turn()
    let other = try ControlRequester(host)
    try other.say(host.line("x", .pause))
    let before = host.requests.count
    while try other.hear().text.isEmpty { try host.turn() }
    #expect(host.requests.count < before + 10)
  }

  @Test func `all that is said and not taken is bounded, and the longest half line goes first`()
    throws
  {
    let host = try ControlHost()
    let requesters = try (0..<12).map { _ in try ControlRequester(host) }
    let chunk = [UInt8](repeating: 120, count: 32_768)
    // Just below the longest line each.
    var said = [Int](repeating: 0, count: requesters.count)
    for _ in 0..<31 {
      for (number, requester) in requesters.enumerated() {
        do { said[number] += try requester.pour(chunk) } catch let error as Errno
          where error == .brokenPipe
        {}
        try host.settle()
      }
    }
    let told = try requesters.map { try $0.hear() }
    let over = told.filter(\.isOver)
    #expect((4...6).contains(over.count), "\(over.count)")
    for end in over {
      #expect(end.text == "refused\t\twhat=too many requests at once; try again\n")
    }
    let other = try ControlRequester(host)
    try other.say(host.line("x", .pause))
    try host.settle()
    #expect(try other.hear().text == "done\tx\tcount=0\n")
  }

  @Test func `a thousand come, and all are answered though few are let in at a time`() throws {
    let host = try ControlHost()
    var waiting: [ControlRequester] = []
    var answered = 0
    var isFull = false
    for number in 0..<1000 {
      let requester = try ControlRequester(host)
      try requester.say(host.line("n\(number)", .pause))
      waiting.append(requester)
      // The backlog is no larger.
      if waiting.count == 120 {
        try host.settle()
        isFull = isFull || host.control?.nextWake { host.now } != nil
        while !waiting.isEmpty {
          try host.settle()
          let before = waiting.count
          waiting.removeAll { requester in (try? requester.hear().text.isEmpty) == false }
          answered += before - waiting.count
        }
      }
    }
    try host.settle()
    waiting.removeAll { requester in (try? requester.hear().text.isEmpty) == false }
    #expect(waiting.count <= 40)
    #expect(answered + 40 >= 1000)
    #expect(isFull)
  }

  @Test func `those who are silent make room, and not before their time`() throws {
    let host = try ControlHost()
    let silent = try (0..<ControlSocket.mostConnections).map { _ in try ControlRequester(host) }
    try silent[5].say("order\thalf")
    try host.settle()
    let late = try ControlRequester(host)
    try late.say(host.line("x", .pause))
    try host.settle()
    // Nobody is sent away yet, and the loop does not spin for the one who waits.
    #expect(try late.hear().text == "")
    let due = try #require(host.control?.nextWake { host.now })
    #expect(due == host.now.advanced(byMilliseconds: ControlSocket.patience))
    #expect(try host.turn() == 0)
    host.now = due
    try host.turn()
    try host.settle()
    #expect(try late.hear().text == "done\tx\tcount=0\n")
    #expect(try silent.count { try $0.hear().isOver } == 1)
    #expect(host.control?.nextWake { host.now } == nil)
  }

  // MARK: - Who asks

  /// Sends a request from another process, below a shell in the role of a worker.
  private func ask(_ host: ControlHost, _ body: (Int32) throws -> Void) throws {
    let python = """
      import os, socket, sys
      s = socket.socket(socket.AF_UNIX)
      # A socket's whole path may be longer than an address may be.
      os.chdir(os.path.dirname(sys.argv[1]))
      s.connect(os.path.basename(sys.argv[1]))
      s.sendall(sys.argv[2].encode() + b"\\n")
      sys.stdout.write(s.makefile().readline())
      """
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    let line = String(decoding: try host.line("a", .pause).dropLast(), as: UTF8.self)
    // Two more between the asker and the shell.
    process.arguments = [
      "-c",
      """
      sh -c "python3 -c \\"\\$1\\" \\"\\$2\\" \\"\\$3\\"; true" sh "$1" "$2" "$3"; true
      """,
      "sh", python, host.path, line,
    ]
    let output = Foundation.Pipe()
    process.standardOutput = output
    try process.run()
    try body(process.processIdentifier)
    while host.requests.isEmpty, process.isRunning { try host.turn(waiting: .milliseconds(20)) }
    try host.settle()
    process.waitUntilExit()
    let text = String(
      decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    answer.value = text
  }

  private final class Box { var value = "" }
  private let answer = Box()

  @Test func `a task cannot control its run without the key control`() throws {
    let host = try ControlHost()
    host.running = TaskID(1 as Int)
    try ask(host) { host.workers[$0] = WorkerID(3) }
    #expect(
      answer.value
        == "refused\ta\twhat=`b` is a task of this run; to control the run, it needs"
        + " `control: true`\n")
    #expect(host.requests.isEmpty)
  }

  @Test func `a process that a task left behind or that opflow started cannot, either`() throws {
    let host = try ControlHost()
    try ask(host) { host.workers[$0] = WorkerID(3) }
    #expect(
      answer.value
        == "refused\ta\twhat=a process that an ended task left behind cannot control the run\n")
    try ask(host) { _ in host.workers = [:] }
    #expect(
      answer.value
        == "refused\ta\twhat=a process that opflow started for the run, but not as a task,"
        + " cannot control it\n")
  }

  @Test func `who has no parents here is outside`() {
    #expect(PeerOrigin.of(0, workers: [:]) == .outside)
    #expect(PeerOrigin.of(ProcessID.own, workers: [:]) == .outside)
    #expect(PeerOrigin.of(1, workers: [:]) == .outside)
    #expect(PeerOrigin.of(ProcessID.parent, workers: [:]) == .outside)
    #expect(PeerOrigin.of(.max, workers: [:]) == .outside)
    #expect(
      PeerOrigin.of(ProcessID.own, workers: [ProcessID.parent: WorkerID(1)]) == .outside)
  }
}
