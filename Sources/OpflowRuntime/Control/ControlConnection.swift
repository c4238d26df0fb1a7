internal import OpflowBase
internal import OpflowJournal
package import OpflowPlan
package import OpflowSystem
internal import OpflowViews
internal import OpflowWire

/// Why a request got no answer; it may have taken effect.
package enum ControlError: Error, Equatable {
  case notLive
  /// The run is live, but its process does not listen; nil if the lock file cannot be read.
  case unheard(LockHolder?)
  case crowded
  case failed(Errno)
}

/// A request to a live run: connects, sends the request, and waits for the answer.
///
/// - A run takes its lock before it opens its socket, so the client retries for `patience`.
/// - The connection may close without an answer: the run ended or made room for others. If the
///   journal lacks the request's ID and the run is live, the client sends the request again with
///   the same ID; a duplicate has no effect.
/// - A stopped process (Ctrl-Z) answers when it continues. There is no time limit: the request
///   might take effect later, unknown to the user. The user is informed and may leave.
package struct ControlConnection {
  package static let socketName = ControlSocket.name

  private let folder: RunFolder
  private let plan: Plan

  /// Nanoseconds from lock to socket.
  private static let patience: Int64 = 3_000_000_000
  private static let interval: Int64 = 20_000_000
  private static let connectTimeout = Duration.seconds(10)
  /// Nanoseconds until a waiting user is informed.
  private static let silence: Int64 = 3_000_000_000
  private static let mostTries = 20

  package init(_ folder: RunFolder, plan: Plan) {
    self.folder = folder
    self.plan = plan
  }

  /// Calls `waits` once with the lock's holder if the answer is late.
  package func ask(
    _ line: [UInt8], _ id: RequestID, waits: (LockHolder?) -> Void
  ) throws(ControlError) -> RequestAnswer {
    var hasTold = false
    var isFirst = true
    for _ in 0..<Self.mostTries {
      let socket: Descriptor
      do throws(ControlError) {
        socket = try connect()
      } catch {
        // The request may have taken effect meanwhile.
        if !isFirst, error == .notLive, let answer = try journaled(id) { return answer }
        throw error
      }
      isFirst = false
      let answer = try Self.exchange(socket, line, id) {
        if !hasTold { waits(RunFolderLock.holder(folder)) }
        hasTold = true
      }
      if let answer { return answer }
      if let answer = try journaled(id) { return answer }
    }
    throw .crowded
  }

  // MARK: - Connecting

  private func connect() throws(ControlError) -> Descriptor {
    let deadline = Clock.monotonicNanoseconds + Self.patience
    while true {
      do throws(Errno) {
        let at = try File.open(folder.path, [.readOnly, .directory])
        return try UnixSocket.connect(
          to: ControlSocket.name, in: at, timeout: Self.connectTimeout)
      } catch .wouldBlock {
        throw .crowded
      } catch .noSuchFile {
        try expectSocket(until: deadline)
      } catch .connectionRefused {
        try expectSocket(until: deadline)
      } catch {
        throw .failed(error)
      }
    }
  }

  private func expectSocket(until deadline: Int64) throws(ControlError) {
    guard try isHeld() else { throw .notLive }
    guard Clock.monotonicNanoseconds < deadline else {
      throw .unheard(RunFolderLock.holder(folder))
    }
    // An error only shortens the pause.
    try? PollSet.pause(nanoseconds: Self.interval)
  }

  private func isHeld() throws(ControlError) -> Bool {
    do throws(RunFolderError) {
      return try RunFolderLock.isHeld(folder)
    } catch {
      if case .file(_, _, let errno) = error { throw .failed(errno) }
      throw .notLive
    }
  }

  /// Returns nil if the request may be sent again.
  private func journaled(_ id: RequestID) throws(ControlError) -> RequestAnswer? {
    // The lock is checked first: a session that has ended writes no more.
    let isHeld = try isHeld()
    let history = try? folder.readHistory(plan: plan).history
    if let count = history?.requests.counts[id] { return .done(count: count) }
    if isHeld { return nil }
    throw .notLive
  }

  // MARK: - Messages

  private static func exchange(
    _ socket: borrowing Descriptor, _ line: [UInt8], _ id: RequestID, waits: () -> Void
  ) throws(ControlError) -> RequestAnswer? {
    do throws(Errno) {
      // The run may answer and close before it has read the whole request.
      do throws(Errno) { try socket.writeAll(line) } catch .brokenPipe {}
      guard let answer = try readLine(socket, waits: waits) else { return nil }
      let read = answer.withUnsafeBytes { RequestLines.answer($0) }
      guard let (answered, answer) = read, answered == id || answered == nil else {
        return .refused(detail: foreignAnswer)
      }
      return answer
    } catch .connectionReset {
      return nil
    } catch {
      throw .failed(error)
    }
  }

  private static let foreignAnswer = "the run sent an answer that this opflow does not understand"

  private static func readLine(
    _ socket: borrowing Descriptor, waits: () -> Void
  ) throws(Errno) -> [UInt8]? {
    var line: [UInt8] = []
    var poll = PollSet(slots: 1)
    poll.set(0, socket.rawValue)
    if try !poll.wait(nanoseconds: silence) { waits() }
    var room = [UInt8](repeating: 0, count: 4096)
    while line.count <= RequestLines.longestLineBytes {
      let count = try room.withUnsafeMutableBufferPointer { room throws(Errno) in
        try socket.read(into: UnsafeMutableRawBufferPointer(room))
      }
      if count == 0 { return nil }
      line += room[..<count]
      if let end = line.firstIndex(of: Field.lineFeed) { return Array(line[..<end]) }
    }
    return line
  }
}

extension RequestID {
  package static func new() -> RequestID {
    let text = "\(ProcessID.own).\(Clock.monotonicNanoseconds).\(UInt32.random(in: .min ... .max))"
    guard let id = RequestID(text) else { preconditionFailure("not a request ID: \(text)") }
    return id
  }
}

/// Sends requests by keys to another process's run, one at a time, without blocking.
final class KeyRequests {
  private let folder: RunFolder
  private var queue: [ClientRequest] = []
  private var asked: ClientRequest?
  private var socket: Descriptor?
  private var heard: [UInt8] = []

  private static let connectTimeout = Duration.milliseconds(500)

  init(_ folder: RunFolder) { self.folder = folder }

  var rawDescriptor: Int32 { socket?.rawValue ?? -1 }

  typealias Outcome = (request: ClientRequest, told: String)

  /// Returns the results of requests that cannot be sent.
  func ask(_ request: ClientRequest) -> [Outcome] {
    queue.append(request)
    return askNext()
  }

  private func askNext() -> [Outcome] {
    guard asked == nil, !queue.isEmpty else { return [] }
    let request = queue.removeFirst()
    guard let line = RequestLines.line(request) else {
      return [(request, "\(request.verb.rawValue): the request is too long")] + askNext()
    }
    do throws(Errno) {
      let at = try File.open(folder.path, [.readOnly, .directory])
      let new = try UnixSocket.connect(to: ControlSocket.name, in: at, timeout: Self.connectTimeout)
      do throws(Errno) { try new.writeAll(line) } catch .brokenPipe {}
      socket = consume new
      asked = request
      return []
    } catch {
      let refused = [request] + queue
      queue = []
      return refused.map { ($0, "\($0.verb.rawValue): cannot connect to the run: \(error)") }
    }
  }

  func take() -> [Outcome] {
    guard let asked, socket != nil else { return [] }
    var room = [UInt8](repeating: 0, count: 4096)
    // An error means end-of-file.
    let read = try? room.withUnsafeMutableBufferPointer { room throws(Errno) -> Int? in
      try socket?.read(into: UnsafeMutableRawBufferPointer(room))
    }
    let count = read ?? 0
    heard += room[..<count]
    let end = heard.firstIndex(of: Field.lineFeed)
    if end == nil, count > 0, heard.count < RequestLines.longestLineBytes { return [] }
    let line = Array(heard[..<(end ?? 0)])
    let answer = line.withUnsafeBytes { RequestLines.answer($0) }
    socket = nil
    self.asked = nil
    heard = []
    let told =
      answer.map { asked.outcome($0.1) }
      ?? "\(asked.verb.rawValue): the run did not answer"
    return [(asked, told)] + askNext()
  }
}
