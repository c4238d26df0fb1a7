internal import OpflowCore
internal import OpflowSystem

/// The coordinator's end of a program that has blocks: a connection of control.sock that became a worker's channel.
///
/// Nothing of the program is the coordinator's: it is not launched, not ended and not waited for. That it is gone shows
/// as the end of the connection, which a killed process leaves as well; all that it says before is read first.
final class ProgramLink {
  /// What it may have been told without reading it, in bytes.
  static let mostUnreadBytes = 8 << 20

  let id: HostID
  private let client: ControlClient
  private let watch: Watch
  /// Orders that were not handed to the kernel.
  private var outbox = FieldWriter()
  private var sent = 0
  private var isFull = false
  /// It is listed among those that have orders which are not sent yet.
  var isListed = false

  init(_ client: ControlClient, watch: Watch) throws(Errno) {
    id = HostID(client.id.rawValue)
    self.client = client
    self.watch = watch
    try watch.add(client.rawDescriptor, .program, place)
  }

  private var place: UInt32 { UInt32(bitPattern: id.rawValue) }

  func close() { try? watch.remove(client.rawDescriptor) }

  // MARK: - What it says

  /// Reads what is there, once.
  func read(through room: UnsafeMutableRawBufferPointer) throws(Errno) {
    try client.read(through: room)
  }

  /// The next thing that it said; nil where there is no whole line.
  ///
  /// - Throws: what is wrong with the line, from which on nothing means anything.
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

  /// It says no more.
  var hasEnded: Bool { client.hasEnded }

  // MARK: - What it is told

  func enqueue(_ order: WorkerOrder) { MessageCodec.encode(order, into: &outbox) }

  /// Sends what there is, as far as there is room; the rest follows when there is more.
  ///
  /// - Throws: why it is of no use any more.
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

/// Why a program is of no use any more.
enum ProgramFault: Error {
  case malformed
  case deaf
  case unsendable(Errno)
  case noSuchTask(TaskID)

  /// For people.
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
