internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem

/// A non-blocking GET request whose status alone matters.
struct ServiceRequest: ~Copyable {
  enum Answer {
    case waits
    case answered(status: Int)
    case failed(String)
  }

  /// Between two checks for an answer.
  static let pauseMilliseconds: Int64 = 10
  private static let patienceMilliseconds: Int64 = 5_000
  private static let statusBytes = 12

  private let address: ServiceAddress
  private let until: Instant
  private var connection: Descriptor?
  private var unsent: [UInt8]
  private var answer: [UInt8] = []

  init(_ address: ServiceAddress, at now: Instant) {
    self.address = address
    until = now.advanced(byMilliseconds: Self.patienceMilliseconds)
    let host = address.port == 80 ? address.host : "\(address.host):\(address.port)"
    unsent = Array(
      """
      GET \(address.path) HTTP/1.1\r
      Host: \(host)\r
      User-Agent: opflow\r
      Connection: close\r
      \r

      """
      .utf8)
  }

  mutating func goOn(at now: Instant) -> Answer {
    do throws(Errno) {
      if connection == nil { connection = try connect() }
      try send()
      if let status = try receive() { return status }
    } catch .wouldBlock {
      // Try again later.
    } catch {
      return .failed("\(error)")
    }
    return until <= now ? .failed("it did not answer in time") : .waits
  }

  private func connect() throws(Errno) -> Descriptor {
    let port = LocalPort(address.port)
    if address.isIPv6 { return try port.connect(isIPv6: true).takeDescriptor() }
    do throws(Errno) {
      return try port.connect(isIPv6: false).takeDescriptor()
    } catch {
      guard address.host == "localhost" else { throw error }
      return try port.connect(isIPv6: true).takeDescriptor()
    }
  }

  private mutating func send() throws(Errno) {
    while !unsent.isEmpty {
      let count = try unsent.withUnsafeBufferPointer { bytes throws(Errno) -> Int? in
        try connection?.write(UnsafeRawBufferPointer(bytes))
      }
      unsent.removeFirst(count ?? 0)
    }
  }

  /// nil until the status is complete.
  private mutating func receive() throws(Errno) -> Answer? {
    var chunk = [UInt8](repeating: 0, count: 256)
    while answer.count < Self.statusBytes {
      let count = try chunk.withUnsafeMutableBufferPointer { room throws(Errno) -> Int? in
        try connection?.read(into: UnsafeMutableRawBufferPointer(room))
      }
      guard let count, count > 0 else {
        return .failed("it closed the connection without an answer")
      }
      answer += chunk[..<count]
    }
    let words = String(decoding: answer.prefix(Self.statusBytes), as: UTF8.self)
      .split(separator: " ")
    guard words.count == 2, words[0].hasPrefix("HTTP/"), let status = Int(words[1]) else {
      return .failed("what it answers is no HTTP")
    }
    return .answered(status: status)
  }
}
