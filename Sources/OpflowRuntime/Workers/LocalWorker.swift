internal import OpflowCore
internal import OpflowSystem

/// A worker that is a process of this machine, with two pipes.
final class LocalWorker {
  var link: WorkerLink
  let process: SpawnedProcess
  let reports: Descriptor
  private var orders: Descriptor?
  /// That it and all below it are in, where there are such.
  private let group: KillGroup?
  /// Where the file of complaints ended when it was started.
  let complaintStart: Int64

  /// It was read from since it was last asked for.
  var wasRead = false
  /// How much of the outbox the pipe has taken.
  private var sent = 0
  /// The watch is to say when the pipe has room again.
  private(set) var awaitsRoom = false
  /// It has closed the pipe of its orders.
  private(set) var isDeaf = false

  init(
    link: WorkerLink, process: consuming SpawnedProcess, group: KillGroup?,
    orders: consuming Descriptor, reports: consuming Descriptor, complaintStart: Int64
  ) {
    self.link = link
    self.process = process
    self.group = group
    self.orders = consume orders
    self.reports = reports
    self.complaintStart = complaintStart
  }

  var ordersRawDescriptor: Int32 { orders?.rawValue ?? -1 }

  /// It sees that no more orders come, and ends what it runs.
  func hangUp() { orders = nil }

  var isTalking: Bool {
    if case .talking = link.state { true } else { false }
  }

  /// Reads once into the inbox; 0 when it has closed its end.
  func read() throws(Errno) -> Int {
    try link.inbox.lines.fill { room throws(Errno) in try reports.read(into: room) }
  }

  /// Kills it, and all below it where the kernel does that in one stroke.
  func kill() {
    group?.kill()
    process.kill()
  }

  /// Kills a worker that was given nothing to do yet, and waits for its end.
  func endAtOnce() throws(Errno) {
    kill()
    defer { removeGroup() }
    _ = try process.wait()
  }

  /// It and all that was below it are gone.
  func removeGroup() { group?.remove() }

  /// Sends what the pipe takes. One that has closed its end has ended, or is of no use: it is killed,
  /// which does nothing to one that has ended. What it said before is read, and its end is told, by its
  /// other pipe.
  func send() throws(Errno) {
    do throws(Errno) {
      try orders?.write(link.outbox.bytes, behind: &sent)
    } catch .wouldBlock {
      awaitsRoom = true
      return
    } catch .brokenPipe {
      isDeaf = true
      kill()
    }
    awaitsRoom = false
    sent = 0
    link.outbox.removeAll()
  }
}
