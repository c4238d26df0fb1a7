internal import OpflowBase
internal import OpflowEngine
internal import OpflowPlan
internal import OpflowSystem

/// A connection to a run's control socket.
///
/// States
/// ------
///
///     listening ──> queued ──> asked ──> answering ──> listening …
///         └────────────────────────────────┴──> gone
///
/// - *listening*: no complete line has arrived. The watch reports more.
/// - *queued*: a complete line waits for its turn.
/// - *asked*: the engine has the request.
/// - *answering*: the kernel had no room for the whole answer. The watch reports when it has.
///
/// Only one request per client is in progress, and nothing is read meanwhile: a client that sends
/// without end, or never reads answers, fills the kernel's buffers and blocks there.
final class ControlClient {
  enum State: Equatable { case listening, queued, asked, answering }

  let id: ClientID
  let peer: UnixSocket.Peer
  let origin: PeerOrigin
  private let descriptor: Descriptor
  var state = State.listening
  /// The time of the last answer, or of the connection.
  var since: Instant
  /// At most a complete line, and what came with its end.
  private var inbox: [UInt8] = []
  private var start = 0
  /// No newline occurs before this index.
  private var scanned = 0
  private var outbox: [UInt8] = []
  private var sent = 0
  /// Complete lines are still answered.
  private(set) var hasEnded = false
  var isDismissed = false

  init(
    _ id: ClientID, _ peer: UnixSocket.Peer, _ origin: PeerOrigin,
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

  /// Throws if the client is useless, not if there is nothing to read.
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

  /// Remembers what was scanned: a line may come byte by byte.
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

  /// Returns whether the kernel took the whole line.
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
