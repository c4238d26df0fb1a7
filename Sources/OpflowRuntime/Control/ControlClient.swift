internal import OpflowBase
internal import OpflowEngine
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

/// A connection to a run's control socket.
///
/// States
/// ------
///
///     listening ──> queued ──> asked ──> answering ──> listening …
///         └────────────────────────────────┴──> gone
///
/// - *listening*: no complete line has arrived; the event loop reports more input.
/// - *queued*: a complete line waits for its turn.
/// - *asked*: the engine has the request.
/// - *answering*: the kernel lacks room for the answer; the event loop reports room.
///
/// Each client has one request in progress, and nothing is read meanwhile. A client that sends
/// without end, or never reads answers, fills the kernel's buffers and blocks there.
final class ControlClient {
  enum State: Equatable { case listening, queued, asked, answering }

  let id: ConnectionID
  let peer: UnixSocket.Peer
  let origin: PeerOrigin
  private let descriptor: Descriptor
  var state = State.listening
  /// The time of the last answer, or of the connection.
  var since: Instant
  /// At most one complete line, and the bytes read with its end.
  private var inbox: [UInt8] = []
  private var start = 0
  private var scanned = 0
  private var outbox: [UInt8] = []
  private var sent = 0
  /// True at end-of-file; complete lines are still answered.
  private(set) var hasEnded = false
  var isDismissed = false

  init(
    _ id: ConnectionID, _ peer: UnixSocket.Peer, _ origin: PeerOrigin,
    _ descriptor: consuming Descriptor, at now: Instant
  ) {
    self.id = id
    self.peer = peer
    self.origin = origin
    self.descriptor = descriptor
    since = now
  }

  var rawDescriptor: Int32 { descriptor.rawValue }

  // MARK: - Input

  var unreadBytes: Int { inbox.count - start }

  /// Throws if the connection is unusable, not if there is nothing to read.
  func read(through room: UnsafeMutableRawBufferPointer) throws(Errno) {
    let count: Int
    do throws(Errno) {
      count = try descriptor.read(into: room)
    } catch .wouldBlock {
      return
    }
    if count == 0 { hasEnded = true }
    if start > 0 {
      inbox.removeFirst(start)
      scanned -= start
      start = 0
    }
    inbox.append(contentsOf: room[..<count])
  }

  var hasLine: Bool { endOfLine() != nil }

  /// Remembers the scanned bytes, since a line may arrive byte by byte.
  private func endOfLine() -> Int? {
    let from = scanned
    let end = inbox.withUnsafeBytes { $0[from...].firstIndex(of: Field.lineFeed) }
    scanned = end ?? inbox.count
    return end
  }

  func takeLine<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
    guard let end = endOfLine() else { return nil }
    let from = start
    let result = inbox.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[from..<end])) }
    start = end + 1
    scanned = start
    if start == inbox.count { forgetInbox() }
    return result
  }

  func forgetInbox() {
    inbox = []
    start = 0
    scanned = 0
  }

  // MARK: - Output

  /// Returns true if the kernel took the whole line.
  func send(_ line: [UInt8]) throws(Errno) -> Bool {
    outbox = line
    sent = 0
    return try sendRest()
  }

  func sendRest() throws(Errno) -> Bool {
    do throws(Errno) {
      try descriptor.write(outbox, behind: &sent)
    } catch .wouldBlock {
      return false
    }
    outbox = []
    return true
  }

  func write(_ bytes: [UInt8], behind sent: inout Int) throws(Errno) {
    try descriptor.write(bytes, behind: &sent)
  }
}

/// A client with external tasks: a connection of `control.sock` that became a worker channel. The
/// coordinator does not start, end or await the program.
final class ProgramLink {
  static let mostUnreadBytes = 8 << 20

  let id: ClientID
  private let connection: ControlClient
  private let watch: EventLoop
  private var outbox = FieldWriter()
  private var sent = 0
  private var isFull = false
  var isListed = false

  init(_ connection: ControlClient, watch: EventLoop) throws(Errno) {
    id = ClientID(connection.id.rawValue)
    self.connection = connection
    self.watch = watch
    try watch.add(connection.rawDescriptor, .program, place)
  }

  private var place: UInt32 { UInt32(bitPattern: id.rawValue) }

  func close() { try? watch.remove(connection.rawDescriptor) }

  // MARK: - Reports

  func read(through room: UnsafeMutableRawBufferPointer) throws(Errno) {
    try connection.read(through: room)
  }

  /// Returns nil if no line is complete. After an error, the client cannot be trusted.
  func nextReport() throws(ProgramFault) -> ExternalTaskReport? {
    guard connection.hasLine else {
      if connection.unreadBytes >= MessageCodec.longestLineBytes { throw .malformed }
      return nil
    }
    let report = connection.takeLine { line in
      line.count < MessageCodec.longestLineBytes ? ExternalTaskLines.report(line) : nil
    }
    guard case .some(.some(let found)) = report else { throw .malformed }
    return found
  }

  var hasEnded: Bool { connection.hasEnded }

  // MARK: - Messages

  func enqueue(_ message: WorkerMessage) { MessageCodec.encode(message, into: &outbox) }

  func send() throws(ProgramFault) {
    if outbox.bytes.isEmpty { return }
    do throws(Errno) {
      try connection.write(outbox.bytes, behind: &sent)
    } catch .wouldBlock {
      outbox.removeFirst(sent)
      sent = 0
      if outbox.bytes.count > Self.mostUnreadBytes { throw .unheard }
      return try listen(isFull: true)
    } catch {
      throw .unsendable(error)
    }
    outbox = FieldWriter()
    sent = 0
    try listen(isFull: false)
  }

  private func listen(isFull: Bool) throws(ProgramFault) {
    if self.isFull == isFull { return }
    self.isFull = isFull
    do throws(Errno) {
      try watch.remove(connection.rawDescriptor)
      try watch.add(
        connection.rawDescriptor, .program, place, for: isFull ? [.readable, .writable] : .readable)
    } catch {
      throw .unsendable(error)
    }
  }
}

enum ProgramFault: Error {
  case malformed
  case unheard
  case unsendable(Errno)
  case noSuchTask(TaskID)

  var detail: String {
    switch self {
    case .malformed: "it sent an invalid line"
    case .unheard: "it does not read its messages"
    case .unsendable(let error): "cannot send to it: \(error)"
    case .noSuchTask(let task):
      "it offers to run task number \(task.rawValue), which is not in the plan"
    }
  }
}
