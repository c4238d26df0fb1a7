internal import OpflowCore
internal import OpflowSystem

/// Where a live run takes orders: `control.sock` in its folder. Lines become orders here, and answers become
/// lines; what an order does is the engine's to say.
///
/// The socket
/// ----------
///
/// It is there from before the first task starts until the drive is over, and only while this process holds
/// the run's lock: so what stands under its name when the lock was taken is what a drive that was killed
/// left, and is removed, provided that it is a socket. A daemon that listens beside such a file instead, or
/// that refuses to start because of it, needs a person to clean up (Supervisor issues 261 and 1567). A file
/// without a listener refuses whoever connects, so nobody waits for a run that is dead.
///
/// Who asks
/// --------
///
/// - The file's mode lets in its owner and root; the kernel says who is at the other end besides
///   (SO_PEERCRED), as of when they connected.
/// - Whoever descends from one of the run's own workers asks for the task that this worker runs *when the
///   order's turn comes*, after all that workers said in the same turn of the loop: a task that was handed
///   ahead may ask before its `started` was read.
///
/// What nobody can do
/// ------------------
///
/// - Stop the loop: nothing waits here, and no turn takes more than `mostBytesPerTurn` of lines, a line of a
///   million tasks aside. Schedulers have stood still for all since one client did not read its answer
///   (openpbs pull request 1466).
/// - Take the memory: of a client one line is kept, and of all lines that have no end yet `mostUnreadBytes`
///   (see `ControlClient`).
/// - Keep others out: there are `mostClients` at a time, or as many as there are descriptors for, further
///   ones wait in the backlog, and where all are silent for `patience` the one that is so longest goes. Who
///   has said half a line is silent. Programs that the run is for (`Hosts`) are no such clients: they stay, and
///   `Hosts.most` of them may.
/// - Make the loop spin: while no client can be taken, for want of descriptors too, the socket is not
///   watched (libuv issue 690, twisted issue 5368).
final class ControlSocket {
  static let name = "control.sock"

  static let mostClients = 64
  /// What is silent for so long, in milliseconds, makes room for others. Who has something to ask says it
  /// when it connects; with a long patience a few hundred silent ones keep everybody out for as long.
  static let patience: Int64 = 250
  static let mostUnreadBytes = 8 << 20
  /// Of lines and of tasks, four bytes each.
  static let mostBytesPerTurn = 1 << 20
  private static let mostAcceptedPerTurn = 16
  private static let backlog: Int32 = 128
  /// Until it is looked again whether there are descriptors, in milliseconds.
  private static let retryMilliseconds: Int64 = 1000

  /// Grows with the run.
  var plan: Plan
  let watch: Watch
  /// nil where it does not listen.
  private var listener: Listener?
  /// While the socket is not watched: when it is to be again.
  private var reopensAt: Instant?
  private(set) var clients: [Int32: ControlClient] = [:]
  /// Those of them that the run is for.
  var hosts = Hosts()
  /// How many there may be by now: fewer where there were no descriptors for more, until it is tried again.
  private var limit = ControlSocket.mostClients
  private var limitEndsAt = Instant(nanoseconds: 0)
  private var lastClient: Int32 = 0
  /// Those that wait for their turn, in the order in which their lines came.
  var queue: [ControlClient] = []
  // SAFETY: only what was read into it is looked at. Zeroing it would touch pages that most runs have no use for.
  var room = [UInt8](unsafeUninitializedCapacity: 1 << 16) { $1 = $0.count }

  /// Closed when it goes.
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
      // Another one in its place is somebody else's.
      guard let status = try? folder.status(of: name), status.identity == identity else { return }
      try? folder.remove(name)
    }
  }

  /// Place 0 is the socket's own, a client's is its number.
  private static let listenerPlace: UInt32 = 0

  // MARK: - Coming and going

  init(plan: Plan, watch: Watch) {
    self.plan = plan
    self.watch = watch
  }

  /// Called under the run's lock, once.
  ///
  /// - Throws: why nobody can connect to this drive.
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

  /// Who still waits is told by the end of the connection.
  func close() {
    clients.removeAll()
    queue.removeAll()
    listener?.removeFile()
    listener = nil
  }

  /// When there is something to do though nobody says anything.
  func nextWake(_ now: () -> Instant) -> Instant? {
    if !queue.isEmpty { return now() }
    guard let stop = hosts.stopDueAt else { return reopensAt }
    return reopensAt.map { min($0, stop) } ?? stop
  }

  /// Something is ready there.
  ///
  /// - Parameter workers: those of this machine, by their pids.
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
      // That somebody waits is known of the first alone, and nobody goes for one who is not there.
      if guestCount >= limit, count > 0 || !makeRoom(at: now) { return }
      do throws(Errno) {
        guard let found = try UnixSocket.accept(listener.descriptor) else { return }
        try welcome(found, at: now, workers)
      } catch {
        // For want of descriptors or memory: who waits goes on waiting, until one who is silent goes.
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
      // As far as he reads it.
      _ = try? client.send(
        OrderLines.line(.refused(what: "the run is that of another user"), to: nil))
      return
    }
    try watch.add(client.rawDescriptor, .control, UInt32(lastClient))
    clients[lastClient] = client
  }

  /// Lets one go that is silent. Where none is for long enough, nobody is accepted until one is, or leaves.
  private func makeRoom(at now: Instant) -> Bool {
    let silent = clients.values.filter {
      ($0.state == .listening || $0.state == .answering) && !hosts.contains($0.id)
    }.min { $0.since < $1.since }
    guard let silent else {
      stopAccepting(until: now.advanced(byMilliseconds: Self.retryMilliseconds))
      return false
    }
    // Where there is room for few, as many take their turns as fast.
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

  /// It is no client any more, and its connection stays; nil where it has left.
  func detach(_ client: ClientID) -> ControlClient? { clients.removeValue(forKey: client.rawValue) }

  func forget(_ client: ControlClient) {
    guard clients.removeValue(forKey: client.id.rawValue) != nil else { return }
    // The file of one that this process was started with may be open elsewhere.
    try? watch.remove(client.rawDescriptor)
    queue.removeAll { $0 === client }
    hosts.remove(client.id)
  }
}

/// Why a drive takes no orders, in words for a person.
struct ControlFault: Error {
  let what: String
}
