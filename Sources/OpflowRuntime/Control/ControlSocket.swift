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

extension ControlSocket {
  func hear(_ client: ControlClient) throws(Errno) {
    try room.withUnsafeMutableBufferPointer { room throws(Errno) in
      try client.read(through: UnsafeMutableRawBufferPointer(room))
    }
    if client.hasLine {
      enqueue(client)
    } else if client.hasEnded {
      forget(client)
    } else if client.unreadBytes >= OrderLines.longestLineBytes {
      try dismiss(client, "a line has \(OrderLines.longestLineBytes) bytes at most")
    } else {
      boundMemory()
    }
  }

  private func enqueue(_ client: ControlClient) {
    // Further input waits.
    if client.state == .listening { try? watch.remove(client.rawDescriptor) }
    client.state = .queued
    queue.append(client)
  }

  /// Dismisses the client with the longest incomplete line, not the last one that came.
  private func boundMemory() {
    while true {
      let halfLines = clients.values.filter { $0.state == .listening }
      guard halfLines.reduce(0, { $0 + $1.unreadBytes }) > Self.mostUnreadBytes,
        let most = halfLines.max(by: { $0.unreadBytes < $1.unreadBytes })
      else { return }
      do throws(Errno) {
        try dismiss(most, "too much is being said at once; ask again")
      } catch {
        forget(most)
      }
    }
  }

  func dismiss(_ client: ControlClient, _ what: String, at now: Instant) {
    _ = try? client.send(OrderLines.line(.refused(what: what), to: nil))
  }

  /// Drops the client once it has the answer.
  private func dismiss(_ client: ControlClient, _ what: String) throws(Errno) {
    client.forgetInbox()
    client.isDismissed = true
    try answer(client, nil, .refused(what: what), at: client.since)
  }

  enum Demand {
    case order(Order)
    case addition(AddRequest, OrderAsker)
    /// The client has external tasks; its connection becomes a worker channel.
    case hello(WorkerHello)
  }

  private enum Line {
    case demand(Demand)
    case host(HostRequest)
  }

  private func join(_ host: HostRequest, as client: ClientID) -> OrderAnswer {
    if hosts.isLeaving { return .refused(what: HostRequest.leaving) }
    return hosts.add(client, host.afterHost)
      ? .done(count: 1)
      : .refused(what: "the run is for \(Hosts.most) programs already that are connected")
  }

  /// The requests whose turn has come, after all reports of workers. `running` returns a worker's
  /// task.
  func takeTurn(
    at now: Instant, running: (WorkerID) -> TaskID
  ) -> [(client: ClientID, demand: Demand)] {
    acceptAgain(at: now)
    var demands: [(client: ClientID, demand: Demand)] = []
    var bytes = 0
    while !queue.isEmpty, bytes < Self.mostBytesPerTurn {
      let client = queue.removeFirst()
      guard
        let (id, outcome) = client.takeLine({ line in
          bytes += line.count + 100
          return read(line, of: client, running)
        })
      else { continue }
      switch outcome {
      case .success(.host(let host)):
        client.state = .asked
        answer(client.id, host.id, join(host, as: client.id), at: now)
      case .success(.demand(let demand)):
        if case .order(let order) = demand {
          bytes += 4 * (order.tasks.count + order.among.count)
        }
        client.state = .asked
        demands.append((client.id, demand))
      case .failure(let refusal):
        client.state = .asked
        answer(client.id, id, .refused(what: refusal.what), at: now)
      }
    }
    return demands
  }

  private func read(
    _ line: UnsafeRawBufferPointer, of client: ControlClient, _ running: (WorkerID) -> TaskID
  ) -> (OrderID?, Result<Line, OrderRefusal>) {
    if case .hello(let hello) = MessageCodec.report(line) {
      return (
        nil,
        Result { () throws(OrderRefusal) in
          _ = try asker("", client, running)
          guard !hosts.contains(client.id) else {
            throw OrderRefusal(what: "blocks are offered over another connection")
          }
          return .demand(.hello(hello))
        }
      )
    }
    do throws(UnreadableOrder) {
      let request = try OrderLines.request(line)
      return (
        request.id,
        Result { () throws(OrderRefusal) in
          switch request {
          case .order(let order):
            let (asker, _) = try asker(
              order.by, client, running, answers: order.verb.row.isAnswer)
            return .demand(.order(try order.order(of: plan, from: asker)))
          case .add(let addition):
            let (asker, task) = try asker(addition.by, client, running)
            try addition.expectFit(plan, from: task)
            return .demand(.addition(addition, asker))
          case .host(let host):
            _ = try asker("", client, running)
            return .host(host)
          }
        }
      )
    } catch {
      return (error.id, .failure(OrderRefusal(what: error.what)))
    }
  }

  /// Returns also the requester's task of the run, or `none`. `answers`: the request approves or
  /// rejects.
  private func asker(
    _ by: String, _ client: ControlClient, _ running: (WorkerID) -> TaskID, answers: Bool = false
  ) throws(OrderRefusal) -> (OrderAsker, TaskID) {
    var name = by.isEmpty ? "another process" : by
    var own = TaskID.none
    switch client.origin {
    case .outside: break
    case .inside:
      throw OrderRefusal(what: "what the run started itself, and is no task of it, cannot steer it")
    case .worker(let worker):
      let task = running(worker)
      if task.isNone {
        throw OrderRefusal(what: "a process that a task left behind cannot steer the run")
      }
      let taskName = plan.nameString(task)
      if answers {
        throw OrderRefusal(
          what: "\(taskName) is a task of this run, and a run does not answer its own questions")
      }
      guard plan.flags(task).contains(.control) else {
        throw OrderRefusal(
          what: "\(taskName) is a task of this run, and may steer it with `control: true` only")
      }
      name = "task \(taskName)"
      own = task
    }
    return (OrderAsker(pid: client.peer.pid, user: client.peer.user, name: name), own)
  }

  // MARK: - Answers

  func answer(_ client: ClientID, _ id: OrderID?, _ answer: OrderAnswer, at now: Instant) {
    guard let client = clients[client.rawValue] else { return }
    do throws(Errno) {
      try self.answer(client, id, answer, at: now)
    } catch {
      forget(client)
    }
  }

  private func answer(
    _ client: ControlClient, _ id: OrderID?, _ answer: OrderAnswer, at now: Instant
  ) throws(Errno) {
    if client.state == .listening { try? watch.remove(client.rawDescriptor) }
    client.state = .answering
    if try client.send(OrderLines.line(answer, to: id)) {
      try goOn(client, at: now, isWatched: false)
    } else {
      try watch.add(
        client.rawDescriptor, .control, UInt32(client.id.rawValue), for: .writable)
    }
  }

  func goOn(_ client: ControlClient, at now: Instant, isWatched: Bool = true) throws(Errno) {
    if isWatched { try watch.remove(client.rawDescriptor) }
    client.since = now
    client.state = .queued
    if client.isDismissed { return forget(client) }
    if client.hasLine {
      queue.append(client)
    } else if client.hasEnded {
      forget(client)
    } else {
      try watch.add(client.rawDescriptor, .control, UInt32(client.id.rawValue))
      client.state = .listening
    }
  }
}

/// The connected client programs that use the run as their queue.
struct Hosts {
  /// Each occupies a descriptor without time limit.
  static let most = 64

  private var afterEach: [ClientID: AfterHost] = [:]
  private var wantsStop = false
  private var notBefore = Instant(nanoseconds: 0)
  private var patience: Int64 = 1
  var isLeaving = false

  var count: Int { afterEach.count }

  func contains(_ client: ClientID) -> Bool { afterEach[client] != nil }

  /// Replaces an earlier request; returns false if there are too many.
  mutating func add(_ client: ClientID, _ afterHost: AfterHost) -> Bool {
    if afterEach[client] == nil, count >= Self.most { return false }
    afterEach[client] = afterHost
    return true
  }

  mutating func remove(_ client: ClientID) {
    guard afterEach.removeValue(forKey: client) == .stop, afterEach.isEmpty else { return }
    wantsStop = true
    patience = 1
  }

  /// When to check whether the run stops.
  var stopDueAt: Instant? { wantsStop && afterEach.isEmpty ? notBefore : nil }

  /// Whether to stop the run now; true only once. After its coordinator died, each client
  /// reconnects in its own time (`areOthersThere`).
  mutating func takeStop(at now: Instant, areOthersThere: () -> Bool) -> Bool {
    guard let due = stopDueAt else {
      wantsStop = false
      return false
    }
    if due > now { return false }
    if areOthersThere() {
      // An ending process closes its files one by one.
      patience = min(2 * patience, Self.longestPatience)
      notBefore = now.advanced(byMilliseconds: patience)
      return false
    }
    wantsStop = false
    return true
  }

  private static let longestPatience: Int64 = 1_000
}

/// How a client process relates to the run.
enum PeerOrigin: Equatable {
  case outside
  /// Descends from the worker, and so from its task.
  case worker(WorkerID)
  case inside

  /// Follows the chain of parents, as a guard against accidents, not against the user: a process of
  /// a container or service manager, or one that has ended, counts as outside. `workers` are by
  /// process ID.
  static func of(_ pid: Int32, workers: [Int32: WorkerID]) -> PeerOrigin {
    let own = ProcessID.own
    if pid <= 0 || pid == own { return .outside }
    // If a parent ends meanwhile, its children move to the worker, the subreaper; then the chain is
    // read again.
    for _ in 0..<mostReadings {
      var current = pid
      for _ in 0..<longestChain {
        if let worker = workers[current] { return .worker(worker) }
        if current == own { return .inside }
        if current <= 1 { return .outside }
        guard let status = ProcessStatus.read(current) else { break }
        current = status.parent
      }
      if current == pid { return .outside }
    }
    return .outside
  }

  private static let mostReadings = 8
  private static let longestChain = 4096
}
