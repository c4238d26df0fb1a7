internal import OpflowEngine
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

/// `control.sock` in a live run's folder. It turns lines into requests and answers into lines; the
/// engine decides what a request does.
///
/// The socket
/// ----------
///
/// It exists from before the first task until the session ends, and only while this process holds
/// the run's lock. So a socket found when the lock was taken is left by a killed session and is
/// removed. Daemons that listen beside such a file, or refuse to start because of it, need a manual
/// clean-up (Supervisor issues 261 and 1567). A socket file without a listener refuses connections,
/// so no client waits for a dead run.
///
/// Who may ask
/// -----------
///
/// - The file's mode admits its owner and root; the kernel identifies the peer as of its connection
///   (SO_PEERCRED).
/// - A descendant of one of the run's workers acts for the task that this worker runs *when the
///   request's turn comes*, after all reports of workers in the same turn of the loop: a prefetched
///   task may ask before its `started` was read.
///
/// What a client cannot do
/// -----------------------
///
/// - Stop the loop: nothing blocks, and a turn processes at most `mostBytesPerTurn` of lines,
///   except for a single line of a million tasks. Schedulers have stalled because one client did
///   not read its answer (openpbs pull request 1466).
/// - Exhaust memory: each client has one line buffered, and incomplete lines together at most
///   `mostUnreadBytes` (see `ControlClient`).
/// - Lock others out: there are at most `mostClients`, or as many as descriptors allow; more wait
///   in the backlog. If all are silent for `patience`, the one silent longest is dropped; half a
///   line counts as silence. Clients of the library (`Hosts`) are exempt, up to `Hosts.most`.
/// - Make the loop spin: while no client can be accepted, even for lack of descriptors, the socket
///   is not watched (libuv issue 690, twisted issue 5368).
final class ControlSocket {
  static let name = "control.sock"

  static let mostClients = 64
  /// In milliseconds. Clients send their request when they connect; with a longer time a few
  /// hundred silent ones would lock out the others.
  static let patience: Int64 = 250
  static let mostUnreadBytes = 8 << 20
  /// Counts lines, and four bytes for each task.
  static let mostBytesPerTurn = 1 << 20
  private static let mostAcceptedPerTurn = 16
  private static let backlog: Int32 = 128
  /// Until descriptors are tried again.
  private static let retryMilliseconds: Int64 = 1000

  var plan: Plan
  let watch: Watch
  private var listener: Listener?
  /// When to watch the socket again; nil while it is watched.
  private var reopensAt: Instant?
  private(set) var clients: [Int32: ControlClient] = [:]
  var hosts = Hosts()
  /// Fewer clients after descriptors ran out, until that is tried again.
  private var limit = ControlSocket.mostClients
  private var limitEndsAt = Instant(nanoseconds: 0)
  private var lastClient: Int32 = 0
  /// By arrival.
  var queue: [ControlClient] = []
  // SAFETY: only bytes that were read into it are used. Zeroing would touch pages that most runs
  // never need.
  var room = [UInt8](unsafeUninitializedCapacity: 1 << 16) { $1 = $0.count }

  private final class Listener {
    let descriptor: Descriptor
    private let folder: Descriptor
    private let identity: FileIdentity

    init(in folder: consuming Descriptor) throws(Errno) {
      descriptor = try UnixSocket.listen(name, in: folder, backlog: backlog)
      guard let status = try folder.status(of: name) else { throw .noSuchFile }
      identity = status.identity
      self.folder = folder
    }

    func removeFile() {
      guard let status = try? folder.status(of: name), status.identity == identity else { return }
      try? folder.remove(name)
    }
  }

  /// Clients have their numbers.
  private static let listenerPlace: UInt32 = 0

  // MARK: - Opening and closing

  init(plan: Plan, watch: Watch) {
    self.plan = plan
    self.watch = watch
  }

  /// Called once, under the run's lock. Throws why no client can connect.
  func listen(in path: String) throws(ControlFault) {
    do throws(Errno) {
      let folder = try File.open(path, [.readOnly, .directory])
      if let status = try folder.status(of: Self.name) {
        guard status.kind == .socket else { throw .exists }
        try folder.remove(Self.name)
      }
      let listener = try Listener(in: folder)
      try watch.add(listener.descriptor.rawValue, .control, Self.listenerPlace)
      self.listener = listener
    } catch {
      throw ControlFault(
        what: error == .exists
          ? "\(path)/\(Self.name) is no socket and stays as it is: this run takes no orders"
          : "this run takes no orders, its folder can have no socket: \(error)")
    }
  }

  func close() {
    clients.removeAll()
    queue.removeAll()
    listener?.removeFile()
    listener = nil
  }

  func nextWake(_ now: () -> Instant) -> Instant? {
    if !queue.isEmpty { return now() }
    guard let stop = hosts.stopDueAt else { return reopensAt }
    return reopensAt.map { min($0, stop) } ?? stop
  }

  /// `workers` of this machine, by process ID.
  func take(at place: UInt32, now: Instant, workers: () -> [Int32: WorkerID]) {
    if place == Self.listenerPlace { return accept(at: now, workers) }
    guard let client = clients[Int32(truncatingIfNeeded: place)] else { return }
    do throws(Errno) {
      switch client.state {
      case .listening: try hear(client)
      case .answering: if try client.sendRest() { try goOn(client, at: now) }
      case .queued, .asked: break
      }
    } catch {
      forget(client)
    }
  }

  private var guestCount: Int { clients.count - hosts.count }

  private func accept(at now: Instant, _ workers: () -> [Int32: WorkerID]) {
    if limitEndsAt <= now { limit = Self.mostClients }
    for count in 0..<Self.mostAcceptedPerTurn {
      guard let listener else { return }
      // Only the first connection is known to be waiting; no client is dropped for one that does
      // not exist.
      if guestCount >= limit, count > 0 || !makeRoom(at: now) { return }
      do throws(Errno) {
        guard let found = try UnixSocket.accept(listener.descriptor) else { return }
        try welcome(found, at: now, workers)
      } catch {
        // Descriptors or memory ran out: others wait until a silent client is dropped.
        limit = guestCount
        limitEndsAt = now.advanced(byMilliseconds: Self.retryMilliseconds)
        if limit == 0 { stopAccepting(until: limitEndsAt) }
        return
      }
    }
  }

  func welcome(
    _ found: consuming UnixSocket.Accepted, at now: Instant, _ workers: () -> [Int32: WorkerID]
  ) throws(Errno) {
    let peer = found.peer
    repeat {
      lastClient = lastClient == .max ? 1 : lastClient + 1
    } while clients[lastClient] != nil
    let client = ControlClient(
      ClientID(lastClient), peer, .of(peer.pid, workers: workers()), found.takeDescriptor(), at: now
    )
    guard peer.user == ProcessID.ownUser || peer.user == 0 else {
      _ = try? client.send(
        OrderLines.line(.refused(what: "the run is that of another user"), to: nil))
      return
    }
    try watch.add(client.rawDescriptor, .control, UInt32(lastClient))
    clients[lastClient] = client
  }

  /// Drops a client that has been silent long enough, or stops accepting until there is one.
  private func makeRoom(at now: Instant) -> Bool {
    let silent = clients.values.filter {
      ($0.state == .listening || $0.state == .answering) && !hosts.contains($0.id)
    }.min { $0.since < $1.since }
    guard let silent else {
      stopAccepting(until: now.advanced(byMilliseconds: Self.retryMilliseconds))
      return false
    }
    // With a lower limit the time is shorter, so that as many clients per second get a turn.
    let patience = Self.patience * Int64(limit) / Int64(Self.mostClients)
    let due = silent.since.advanced(byMilliseconds: patience)
    if due > now {
      stopAccepting(until: due)
      return false
    }
    forget(silent)
    return true
  }

  private func stopAccepting(until then: Instant) {
    if reopensAt == nil, let raw = listener?.descriptor.rawValue { try? watch.remove(raw) }
    reopensAt = then
  }

  func acceptAgain(at now: Instant) {
    guard let due = reopensAt, due <= now || guestCount < limit,
      let raw = listener?.descriptor.rawValue
    else { return }
    do throws(Errno) {
      try watch.add(raw, .control, Self.listenerPlace)
      reopensAt = nil
    } catch {
      reopensAt = now.advanced(byMilliseconds: Self.retryMilliseconds)
    }
  }

  /// Keeps the connection; nil if the client has left.
  func detach(_ client: ClientID) -> ControlClient? { clients.removeValue(forKey: client.rawValue) }

  func forget(_ client: ControlClient) {
    guard clients.removeValue(forKey: client.id.rawValue) != nil else { return }
    // An inherited socket may be open elsewhere too: closing would not remove it from the watch.
    try? watch.remove(client.rawDescriptor)
    queue.removeAll { $0 === client }
    hosts.remove(client.id)
  }
}

struct ControlFault: Error {
  let what: String
}
