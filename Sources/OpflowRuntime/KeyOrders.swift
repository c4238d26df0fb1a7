internal import OpflowCore
internal import OpflowSystem

/// Orders of somebody who watches a run that another process drives: they go over that one's socket as those
/// of the commands do, one at a time, and nobody waits for the answer.
final class KeyOrders {
  private let folder: RunFolder
  private var queue: [OrderRequest] = []
  private var asked: OrderRequest?
  private var socket: Descriptor?
  /// Of the answer.
  private var heard: [UInt8] = []

  private static let connectTimeout = Duration.milliseconds(500)

  init(_ folder: RunFolder) { self.folder = folder }

  /// Readable when there is something to `take`; -1 for nothing.
  var rawDescriptor: Int32 { socket?.rawValue ?? -1 }

  /// What became of an order, in words.
  typealias Outcome = (request: OrderRequest, told: String)

  /// What is to be told at once, of orders to which no answer is to come.
  func ask(_ request: OrderRequest) -> [Outcome] {
    queue.append(request)
    return askNext()
  }

  private func askNext() -> [Outcome] {
    guard asked == nil, !queue.isEmpty else { return [] }
    let request = queue.removeFirst()
    guard let line = OrderLines.line(request) else { return [] }
    do throws(Errno) {
      let at = try File.open(folder.path, [.readOnly, .directory])
      let new = try UnixSocket.connect(
        to: ControlSocket.name, in: at, timeout: Self.connectTimeout)
      // It may have been told why before it has read all of it.
      do throws(Errno) { try new.writeAll(line) } catch .brokenPipe {}
      socket = consume new
      asked = request
      return []
    } catch {
      let refused = [request] + queue
      queue = []
      return refused.map { ($0, "\($0.verb.rawValue): the run takes no orders now: \(error)") }
    }
  }

  /// What is to be told of the answer, as far as it has come.
  func take() -> [Outcome] {
    guard let asked, socket != nil else { return [] }
    var room = [UInt8](repeating: 0, count: 4096)
    // An end of it by an error is an end.
    let read = try? room.withUnsafeMutableBufferPointer { room throws(Errno) -> Int? in
      try socket?.read(into: UnsafeMutableRawBufferPointer(room))
    }
    let count = read ?? 0
    heard += room[..<count]
    let end = heard.firstIndex(of: Field.lineFeed)
    if end == nil, count > 0, heard.count < OrderLines.longestLineBytes {
      return []
    }
    let line = Array(heard[..<(end ?? 0)])
    let answer = line.withUnsafeBytes { OrderLines.answer($0) }
    socket = nil
    self.asked = nil
    heard = []
    let told =
      answer.map { asked.outcome($0.1) }
      ?? "\(asked.verb.rawValue): the run did not answer"
    return [(asked, told)] + askNext()
  }
}
