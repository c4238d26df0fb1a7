internal import OpflowSystem
internal import OpflowWire

/// The client's connection to the coordinator, for the reader's thread, which blocks SIGPIPE.
final class HostLink {
  private let descriptor: Descriptor
  /// A forked child must not hold the connection open.
  private let fork: ForkGuard
  private var outbox: [UInt8] = []
  private var sent = 0
  /// Longer than any answer or command.
  private var lines = LineBuffer(longestLineBytes: 1 << 14, bytes: 1 << 16)
  private(set) var hasEnded = false

  init(_ end: consuming Descriptor) throws(Errno) {
    let descriptor = try end.aboveStandard()
    fork = ForkGuard(descriptor.rawValue)
    try descriptor.setNonblocking(true)
    self.descriptor = descriptor
  }

  var rawDescriptor: Int32 { descriptor.rawValue }
  var wantsToWrite: Bool { sent < outbox.count }

  func send(_ line: [UInt8]) {
    outbox.append(contentsOf: line)
    flush()
  }

  func flush() {
    do throws(Errno) {
      try descriptor.write(outbox, behind: &sent)
      outbox.removeAll(keepingCapacity: outbox.capacity <= 1 << 20)
      sent = 0
    } catch .wouldBlock {
      return
    } catch {
      // The next read shows the end.
      outbox.removeAll()
      sent = 0
    }
  }

  func receive(_ body: (UnsafeRawBufferPointer) -> Void) {
    while !hasEnded {
      do throws(Errno) {
        let count = try lines.fill { room throws(Errno) in try descriptor.read(into: room) }
        if count == 0 { hasEnded = true }
      } catch .wouldBlock {
        return
      } catch {
        hasEnded = true
      }
      var step = lines.nextLine(body)
      while case .message = step { step = lines.nextLine(body) }
      if case .malformed = step { hasEnded = true }
    }
  }
}
