internal import OpflowCore
internal import OpflowSystem

/// Somebody who is connected to a run's socket.
///
/// States
/// ------
///
///     listening ──> queued ──> asked ──> answering ──> listening …
///         └────────────────────────────────┴──> gone
///
/// - *listening*: no whole line of it is there. The watch tells when it says more.
/// - *queued*: a whole line is there and waits for its turn.
/// - *asked*: its order is with the engine, which answers it.
/// - *answering*: the kernel had no room for all of the answer. The watch tells when there is some.
///
/// One order of a client is on its way at a time, and while it is, nothing more is read: so who sends
/// without end, or never reads what is answered, fills the buffers that the kernel gives him and waits there.
final class ControlClient {
  enum State: Equatable { case listening, queued, asked, answering }

  let id: ClientID
  let peer: UnixSocket.Peer
  let origin: PeerOrigin
  private let descriptor: Descriptor
  var state = State.listening
  /// Since when nothing was answered.
  var since: Instant
  /// What it said and nobody took; a whole line at most, and what came with its end.
  private var inbox: [UInt8] = []
  private var start = 0
  /// Up to there no line feed stands.
  private var scanned = 0
  /// An answer, or what is left of it.
  private var outbox: [UInt8] = []
  private var sent = 0
  /// It says no more. What it has said is answered all the same.
  private(set) var hasEnded = false
  /// Nothing that it says is taken any more.
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

  // MARK: - What it says

  var unreadBytes: Int { inbox.count - start }

  /// Reads once into `room`, which is shared, and keeps what came.
  ///
  /// - Throws: what makes it useless; that nothing is there does not.
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

  /// Whether a whole line is there.
  var hasLine: Bool { endOfLine() != nil }

  /// Where the first line ends. What was looked through is not looked through again: a line may come byte by
  /// byte.
  private func endOfLine() -> Int? {
    let from = scanned
    let end = inbox.withUnsafeBytes { $0[from...].firstIndex(of: Field.lineFeed) }
    scanned = end ?? inbox.count
    return end
  }

  /// Calls `body` with the first line, without its line feed, and takes it away.
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

  // MARK: - What it is answered

  /// - Returns: whether the kernel took all of it.
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

  /// The same of bytes of another's.
  func write(_ bytes: [UInt8], behind sent: inout Int) throws(Errno) {
    try descriptor.write(bytes, behind: &sent)
  }
}
