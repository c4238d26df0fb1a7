internal import OpflowCore
internal import OpflowSystem

/// The host's connection to the program that drives its run. Only the reader's thread uses it, which has SIGPIPE
/// blocked.
final class HostLink {
  private let descriptor: Descriptor
  /// A child that the host forks must not keep the connection when the host is gone.
  private let fork: ForkGuard
  private var outbox: [UInt8] = []
  private var sent = 0
  /// No answer and no order is longer.
  private var lines = LineBuffer(longestLineBytes: 1 << 14, bytes: 1 << 16)
  /// The other end is gone; what it said before is answered all the same.
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
      // Its end shows in what is read.
      outbox.removeAll()
      sent = 0
    }
  }

  /// Takes in what is there, and hands on each whole line, without its line feed.
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
