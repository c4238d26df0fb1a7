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
  private var inbox: [UInt8] = []
  private var room = [UInt8](repeating: 0, count: 1 << 16)
  /// The other end is gone; what it said before is answered all the same.
  private(set) var hasEnded = false

  init(_ descriptor: consuming Descriptor) throws(Errno) {
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
        let count = try room.withUnsafeMutableBufferPointer { room throws(Errno) in
          try descriptor.read(into: UnsafeMutableRawBufferPointer(room))
        }
        if count == 0 { hasEnded = true }
        inbox += room[..<count]
      } catch .wouldBlock {
        break
      } catch {
        hasEnded = true
      }
    }
    guard let end = inbox.lastIndex(of: Field.lineFeed) else { return }
    let lines = Array(inbox[...end])
    inbox.removeFirst(end + 1)
    var start = 0
    lines.withUnsafeBytes { all in
      while let end = all[start...].firstIndex(of: Field.lineFeed) {
        body(UnsafeRawBufferPointer(rebasing: all[start..<end]))
        start = end + 1
      }
    }
  }
}
