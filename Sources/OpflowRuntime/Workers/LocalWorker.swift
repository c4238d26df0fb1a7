internal import OpflowCore
internal import OpflowSystem

/// A worker that is a process of this machine.
final class LocalWorker {
  var link: WorkerLink
  private(set) var child: WorkerChild

  /// It was read from since it was last asked for.
  var wasRead = false
  /// How much of the outbox the pipe has taken.
  private var sent = 0
  /// The watch is to say when the pipe has room again.
  private(set) var awaitsRoom = false
  /// It has closed the pipe of its orders.
  private(set) var isDeaf = false

  init(_ child: consuming WorkerChild, link: WorkerLink) {
    self.child = child
    self.link = link
  }

  var pid: Int32 { child.process.pid }

  var ordersRawDescriptor: Int32 { child.orders?.rawValue ?? -1 }

  /// It sees that no more orders come, and ends what it runs.
  func hangUp() { child.orders = nil }

  var isTalking: Bool {
    if case .talking = link.state { true } else { false }
  }

  /// Reads once into the inbox; 0 when it has closed its end.
  func read() throws(Errno) -> Int {
    try link.inbox.lines.fill { room throws(Errno) in try child.reports.read(into: room) }
  }

  /// Sends what the pipe takes. One that has closed its end has ended, or is of no use: it is killed,
  /// which does nothing to one that has ended. What it said before is read, and its end is told, by its
  /// other pipe.
  func send() throws(Errno) {
    do throws(Errno) {
      try child.orders?.write(link.outbox.bytes, behind: &sent)
    } catch .wouldBlock {
      awaitsRoom = true
      return
    } catch .brokenPipe {
      isDeaf = true
      child.kill()
    }
    awaitsRoom = false
    sent = 0
    link.outbox.removeAll()
  }
}
