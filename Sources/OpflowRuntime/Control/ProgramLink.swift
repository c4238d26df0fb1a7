internal import OpflowBase
internal import OpflowEngine
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

/// A client with external tasks: a connection of control.sock that became a worker channel. The
/// coordinator neither starts nor ends the program, nor waits for it.
final class ProgramLink {
  static let mostUnreadBytes = 8 << 20

  let id: HostID
  private let client: ControlClient
  private let watch: Watch
  private var outbox = FieldWriter()
  private var sent = 0
  private var isFull = false
  var isListed = false

  init(_ client: ControlClient, watch: Watch) throws(Errno) {
    id = HostID(client.id.rawValue)
    self.client = client
    self.watch = watch
    try watch.add(client.rawDescriptor, .program, place)
  }

  private var place: UInt32 { UInt32(bitPattern: id.rawValue) }

  func close() { try? watch.remove(client.rawDescriptor) }

  // MARK: - Reports

  func read(through room: UnsafeMutableRawBufferPointer) throws(Errno) {
    try client.read(through: room)
  }

  /// nil if no line is complete. After an error nothing can be trusted.
  func nextReport() throws(ProgramFault) -> BlockReport? {
    guard client.hasLine else {
      if client.unreadBytes >= MessageCodec.longestLineBytes { throw .malformed }
      return nil
    }
    let report = client.takeLine { line in
      line.count < MessageCodec.longestLineBytes ? BlockLines.report(line) : nil
    }
    guard case .some(.some(let found)) = report else { throw .malformed }
    return found
  }

  var hasEnded: Bool { client.hasEnded }

  // MARK: - Messages

  func enqueue(_ order: WorkerOrder) { MessageCodec.encode(order, into: &outbox) }

  /// As far as there is room. Throws why the program is useless.
  func send() throws(ProgramFault) {
    if outbox.bytes.isEmpty { return }
    do throws(Errno) {
      try client.write(outbox.bytes, behind: &sent)
    } catch .wouldBlock {
      if outbox.bytes.count - sent > Self.mostUnreadBytes { throw .deaf }
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
      try watch.remove(client.rawDescriptor)
      try watch.add(
        client.rawDescriptor, .program, place, for: isFull ? [.readable, .writable] : .readable)
    } catch {
      throw .unsendable(error)
    }
  }
}

enum ProgramFault: Error {
  case malformed
  case deaf
  case unsendable(Errno)
  case noSuchTask(TaskID)

  var what: String {
    switch self {
    case .malformed: "it sent a line that is no message"
    case .deaf: "it does not read what it is told"
    case .unsendable(let error): "orders could not be sent to it: \(error)"
    case .noSuchTask(let task):
      "it offers task number \(task.rawValue), which the plan does not have"
    }
  }
}
