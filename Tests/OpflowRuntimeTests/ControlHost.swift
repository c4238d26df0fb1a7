import Glibc
import OpflowBase
import OpflowEngine
import OpflowPlan
import OpflowWire
import Testing

@testable import OpflowRuntime
@testable import OpflowSystem

/// A run of three tasks, its socket, and time as the test has it.
final class ControlHost {
  let fixture: StateFixture
  let folder: RunFolder
  let watch: EventLoop
  var control: ControlSocket?
  var now = Instant(nanoseconds: 1_000_000_000)
  /// Every request that came out, as `ID VERB NAME`.
  var requests: [String] = []
  var workers: [Int32: WorkerID] = [:]
  var running = TaskID.none
  /// Answers what comes; nil where the engine takes its time.
  var answers = true
  var held: [(ConnectionID, RequestID)] = []
  /// How often the run was to stop, since no program was left that it is for.
  var stops = 0

  init() throws {
    // As in opflow, where a failed write shows that a client is gone.
    try Dispositions.ignore(.pipe)
    fixture = try StateFixture()
    folder = try fixture.run(of: "m.yaml", at: 1)
    watch = try EventLoop()
    control = try listening()
  }

  func listening() throws -> ControlSocket {
    let socket = ControlSocket(plan: fixture.plan, watch: watch)
    try socket.listen(in: folder.path)
    return socket
  }

  var path: String { folder.path + "/control.sock" }

  /// One turn of a loop.
  ///
  /// - Returns: how many things were ready.
  @discardableResult
  func turn(waiting: Duration = .zero) throws -> Int {
    var events: [PollEvent] = []
    try watch.wait(timeout: waiting, into: &events)
    for event in events {
      #expect(event.owner == .control)
      control?.take(at: event.place, now: now) { workers }
    }
    let turn = control?.takeTurn(at: now) { _ in running } ?? []
    for (connection, demand) in turn {
      guard case .request(let request) = demand else {
        if case .addition(let request, let requester) = demand {
          requests.append("\(request.id.text) add \(requester.name)")
          control?.answer(connection, request.id, .done(count: 1), at: now)
        }
        continue
      }
      requests.append("\(request.id.text) \(request.verb.rawValue) \(request.requester.name)")
      if answers {
        control?.answer(connection, request.id, .done(count: request.tasks.count), at: now)
      } else {
        held.append((connection, request.id))
      }
    }
    if control?.hosts.takeStop(
      at: Instant(nanoseconds: Clock.monotonicNanoseconds), areOthersThere: { false }) == true
    {
      stops += 1
    }
    return events.count
  }

  /// Until nothing is ready and nobody waits: what a turn answers may be ready for the next one.
  func settle() throws {
    var quiet = 0
    while quiet < 2 {
      let isBusy = try turn() > 0 || control?.nextWake { now } == now
      quiet = isBusy ? 0 : quiet + 1
    }
  }

  func line(_ id: String, _ verb: ControlAction, _ tasks: [Int] = []) throws -> [UInt8] {
    var request = ClientRequest(
      id: try #require(RequestID(id)), verb: verb, planKey: fixture.plan.key.description)
    request.tasks = TaskRanges(tasks.map { TaskID($0) })
    request.by = "test"
    return try #require(RequestLines.line(request))
  }
}

/// A process that is connected, in this one.
final class ControlRequester {
  let socket: Descriptor

  init(_ host: ControlHost) throws {
    let at = try File.open(host.folder.path, [.readOnly, .directory])
    socket = try UnixSocket.connect(to: "control.sock", in: at, timeout: .seconds(20))
    try socket.setNonblocking(true)
  }

  func say(_ bytes: [UInt8]) throws { try socket.writeAll(bytes) }
  func say(_ text: String) throws { try socket.writeAll(text) }

  /// As much as the kernel takes.
  func pour(_ bytes: [UInt8]) throws -> Int {
    do {
      return try bytes.withUnsafeBytes { try socket.write($0) }
    } catch let error as Errno where error == .wouldBlock {
      return 0
    }
  }

  /// All that is there, and whether the other end is gone.
  func hear() throws -> (text: String, isOver: Bool) {
    var all: [UInt8] = []
    var room = [UInt8](repeating: 0, count: 65_536)
    while true {
      do {
        let count = try room.withUnsafeMutableBytes { try socket.read(into: $0) }
        if count == 0 { return (String(decoding: all, as: UTF8.self), true) }
        all += room[..<count]
      } catch let error as Errno where error == .wouldBlock {
        return (String(decoding: all, as: UTF8.self), false)
      } catch let error as Errno where error == .connectionReset {
        return (String(decoding: all, as: UTF8.self), true)
      }
    }
  }
}
