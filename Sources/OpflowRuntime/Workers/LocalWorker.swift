internal import OpflowBase
internal import OpflowSystem
internal import OpflowWire

final class LocalWorker {
  var link: WorkerLink
  private(set) var child: WorkerChild

  /// Since the last call of `next`.
  var wasRead = false
  private var sent = 0
  /// The watch reports when the pipe has room again.
  private(set) var awaitsRoom = false
  /// It has closed its end of the input pipe.
  private(set) var isDeaf = false

  init(_ child: consuming WorkerChild, link: WorkerLink) {
    self.child = child
    self.link = link
  }

  var pid: Int32 { child.process.pid }

  var ordersRawDescriptor: Int32 { child.orders?.rawValue ?? -1 }

  func releaseRecordLocks() { child.recordLocks = nil }

  /// The worker then ends its tasks.
  func hangUp() { child.orders = nil }

  var isTalking: Bool {
    if case .talking = link.state { true } else { false }
  }

  func read() throws(Errno) -> Int {
    try link.inbox.lines.fill { room throws(Errno) in try child.reports.read(into: room) }
  }

  /// A worker that has closed its end is dead or useless, so it is killed; its last reports and its
  /// end arrive over the other pipe.
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
