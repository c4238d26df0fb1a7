internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowViews
internal import OpflowWire

/// Requests by keys in a view of another process's run. They go over that run's socket, one at a
/// time, without blocking.
final class KeyOrders {
  private let folder: RunFolder
  private var queue: [OrderRequest] = []
  private var asked: OrderRequest?
  private var socket: Descriptor?
  private var heard: [UInt8] = []

  private static let connectTimeout = Duration.milliseconds(500)

  init(_ folder: RunFolder) { self.folder = folder }

  /// -1 while no request is open.
  var rawDescriptor: Int32 { socket?.rawValue ?? -1 }

  typealias Outcome = (request: OrderRequest, told: String)

  /// Returns the results of requests that cannot be sent.
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
      // The run may have answered and closed before it read the whole request.
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

  func take() -> [Outcome] {
    guard let asked, socket != nil else { return [] }
    var room = [UInt8](repeating: 0, count: 4096)
    // An error counts as the end.
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
