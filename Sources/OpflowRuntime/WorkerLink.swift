internal import OpflowCore
internal import OpflowSystem

/// The coordinator's end of one worker: its process, its two pipes, what it is still to be told and
/// what it has begun to say.
final class WorkerLink {
  enum State {
    case talking
    /// Its end was seen or ordered; it is to be reaped, and what it left is to be ended.
    case ending(complaint: String)
  }

  let id: WorkerID
  let kind: WorkerKind
  let process: SpawnedProcess
  /// That it and all below it are in, where there are such.
  private let group: KillGroup?
  let reports: Descriptor
  private let orders: Descriptor
  var state = State.talking
  /// While it is ending: when to go on without having seen its end.
  var giveUpAt = Instant(nanoseconds: .max)
  var lines = LineBuffer()

  /// It is listed among those that have orders which are not sent yet.
  var isListed = false
  /// Encoded orders that the pipe had no room for.
  private var outbox = FieldWriter()
  private var sent = 0
  /// The poller is to say when the pipe has room again.
  private(set) var awaitsRoom = false

  init(
    id: WorkerID, kind: WorkerKind, process: consuming SpawnedProcess, group: KillGroup?,
    orders: consuming Descriptor, reports: consuming Descriptor
  ) {
    self.id = id
    self.kind = kind
    self.process = process
    self.group = group
    self.reports = reports
    self.orders = orders
  }

  var ordersRawDescriptor: Int32 { orders.rawValue }

  /// Kills the worker, and all below it where the kernel does that in one stroke. What is left is to
  /// be ended once the worker is gone.
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

  /// The worker and all that was below it are gone.
  func removeGroup() { group?.remove() }

  func enqueue(_ order: WorkerOrder) { MessageCodec.encode(order, into: &outbox) }

  /// Sends what the pipe takes. A pipe that nobody reads any more is no error here: the worker's end is
  /// told by its other pipe.
  func send() throws(Errno) {
    while sent < outbox.bytes.count {
      do throws(Errno) {
        let from = sent
        let bytes = outbox.bytes
        let written = try bytes.withUnsafeBufferPointer { all throws(Errno) -> Int in
          try orders.write(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: all[from...])))
        }
        sent += written
      } catch .wouldBlock {
        awaitsRoom = true
        return
      } catch .brokenPipe {
        break
      }
    }
    awaitsRoom = false
    sent = 0
    outbox.removeAll()
  }
}
