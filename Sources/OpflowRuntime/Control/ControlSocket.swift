internal import OpflowEngine
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

/// `control.sock` of a live run. It turns lines into requests and answers into lines; the engine
/// decides the effect of a request.
///
/// The socket
/// ----------
///
/// The socket exists from before the first task until the session ends, only while this process
/// holds the run's lock. So a socket found on taking the lock was left by a killed session and is
/// removed. Daemons that listen beside such a file, or do not start because of it, need a manual
/// clean-up (Supervisor issues 261 and 1567). A socket file without a listener refuses connections,
/// so no client waits for a dead run.
///
/// Access
/// ------
///
/// - The file's mode admits its owner and root. The kernel identifies the peer at connect time
///   (SO_PEERCRED).
/// - A descendant of a worker acts for the task that the worker runs *when the request's turn
///   comes*, after all reports of that turn: a prefetched task may send a request before its
///   `started` is read.
///
/// Limits
/// ------
///
/// - The loop never blocks. A turn processes at most `mostBytesPerTurn` of lines, except for a
///   single line of a million tasks. Schedulers have stalled because one client did not read its
///   answer (openpbs pull request 1466).
/// - Each client has one line buffered, and all incomplete lines at most `mostUnreadBytes`.
/// - Clients beyond `mostConnections`, or beyond the available descriptors, wait in the backlog. If
///   all are silent for `patience`, the client that is silent longest is dropped; half a line is
///   silence. Library clients (`Clients`) are exempt, up to `Clients.most`.
/// - While no client can be accepted, even for lack of descriptors, the socket is not watched, so
///   that the loop does not spin (libuv issue 690, twisted issue 5368).
final class ControlSocket {
  static let name = "control.sock"

  static let mostConnections = 64
  /// Milliseconds. Clients send their request on connect; with a longer time, a few hundred silent
  /// clients would lock out the others.
  static let patience: Int64 = 250
  static let mostUnreadBytes = 8 << 20
  /// Limits the bytes of lines, plus four bytes per task.
  static let mostBytesPerTurn = 1 << 20
  private static let mostAcceptedPerTurn = 16
  private static let backlog: Int32 = 128
  private static let retryMilliseconds: Int64 = 1000

  var plan: Plan
  let watch: EventLoop
  private var listener: Listener?
  /// nil while the socket is watched.
  private var reopensAt: Instant?
  private(set) var connections: [Int32: ControlClient] = [:]
  var hosts = Clients()
  /// Lowered for a time after descriptors ran out.
  private var limit = ControlSocket.mostConnections
  private var limitEndsAt = Instant(nanoseconds: 0)
  private var lastConnection: Int32 = 0
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

  /// Clients have numbers from 1.
  private static let listenerPlace: UInt32 = 0

  // MARK: - Opening and closing

  init(plan: Plan, watch: EventLoop) {
    self.plan = plan
    self.watch = watch
  }

  /// Called under the run's lock. Throws why no client can connect.
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
        detail: error == .exists
          ? "other processes cannot control this run: \(path)/\(Self.name) is not a socket;"
            + " remove it, then resume"
          : "other processes cannot control this run: cannot create a socket in its folder:"
            + " \(error)")
    }
  }

  func close() {
    connections.removeAll()
    queue.removeAll()
    listener?.removeFile()
    listener = nil
  }

  func nextWake(_ now: () -> Instant) -> Instant? {
    if !queue.isEmpty { return now() }
    guard let stop = hosts.stopDueAt else { return reopensAt }
    return reopensAt.map { min($0, stop) } ?? stop
  }

  func take(at place: UInt32, now: Instant, workers: () -> [Int32: WorkerID]) {
    if place == Self.listenerPlace { return accept(at: now, workers) }
    guard let connection = connections[Int32(truncatingIfNeeded: place)] else { return }
    do throws(Errno) {
      switch connection.state {
      case .listening: try hear(connection)
      case .answering: if try connection.sendRest() { try goOn(connection, at: now) }
      case .queued, .asked: break
      }
    } catch {
      forget(connection)
    }
  }

  private var guestCount: Int { connections.count - hosts.count }

  private func accept(at now: Instant, _ workers: () -> [Int32: WorkerID]) {
    if limitEndsAt <= now { limit = Self.mostConnections }
    for count in 0..<Self.mostAcceptedPerTurn {
      guard let listener else { return }
      // Only the first connection is known to wait; no client is dropped for others.
      if guestCount >= limit, count > 0 || !makeRoom(at: now) { return }
      do throws(Errno) {
        guard let found = try UnixSocket.accept(listener.descriptor) else { return }
        try welcome(found, at: now, workers)
      } catch {
        // Descriptors or memory ran out: other clients wait until a silent client is dropped.
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
      lastConnection = lastConnection == .max ? 1 : lastConnection + 1
    } while connections[lastConnection] != nil
    let connection = ControlClient(
      ConnectionID(lastConnection), peer, .of(peer.pid, workers: workers()), found.takeDescriptor(),
      at: now)
    guard peer.user == ProcessID.ownUser || peer.user == 0 else {
      _ = try? connection.send(
        RequestLines.line(.refused(detail: "the run belongs to another user"), to: nil))
      return
    }
    try watch.add(connection.rawDescriptor, .control, UInt32(lastConnection))
    connections[lastConnection] = connection
  }

  /// Drops the client that is silent longest, or stops accepting until its time is over.
  private func makeRoom(at now: Instant) -> Bool {
    let silent = connections.values.filter {
      ($0.state == .listening || $0.state == .answering) && !hosts.contains($0.id)
    }.min { $0.since < $1.since }
    guard let silent else {
      stopAccepting(until: now.advanced(byMilliseconds: Self.retryMilliseconds))
      return false
    }
    // A lower limit shortens the time, so that as many clients per second get a turn.
    let patience = Self.patience * Int64(limit) / Int64(Self.mostConnections)
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

  /// Removes a connection without closing it; nil if the client has left.
  func detach(_ connection: ConnectionID) -> ControlClient? {
    connections.removeValue(forKey: connection.rawValue)
  }

  func forget(_ connection: ControlClient) {
    guard connections.removeValue(forKey: connection.id.rawValue) != nil else { return }
    // An inherited socket may be open elsewhere: closing it would not end the watch.
    try? watch.remove(connection.rawDescriptor)
    queue.removeAll { $0 === connection }
    hosts.remove(connection.id)
  }
}

struct ControlFault: Error {
  let detail: String
}

extension ControlSocket {
  func hear(_ connection: ControlClient) throws(Errno) {
    try room.withUnsafeMutableBufferPointer { room throws(Errno) in
      try connection.read(through: UnsafeMutableRawBufferPointer(room))
    }
    if connection.hasLine {
      enqueue(connection)
    } else if connection.hasEnded {
      forget(connection)
    } else if connection.unreadBytes >= RequestLines.longestLineBytes {
      try dismiss(connection, "a request may have at most \(RequestLines.longestLineBytes) bytes")
    } else {
      boundMemory()
    }
  }

  private func enqueue(_ connection: ControlClient) {
    // Further input waits in the kernel.
    if connection.state == .listening { try? watch.remove(connection.rawDescriptor) }
    connection.state = .queued
    queue.append(connection)
  }

  /// Dismisses the client with the longest incomplete line, not the latest client.
  private func boundMemory() {
    while true {
      let halfLines = connections.values.filter { $0.state == .listening }
      guard halfLines.reduce(0, { $0 + $1.unreadBytes }) > Self.mostUnreadBytes,
        let most = halfLines.max(by: { $0.unreadBytes < $1.unreadBytes })
      else { return }
      do throws(Errno) {
        try dismiss(most, "too many requests at once; try again")
      } catch {
        forget(most)
      }
    }
  }

  func dismiss(_ connection: ControlClient, _ detail: String, at now: Instant) {
    _ = try? connection.send(RequestLines.line(.refused(detail: detail), to: nil))
  }

  private func dismiss(_ connection: ControlClient, _ detail: String) throws(Errno) {
    connection.forgetInbox()
    connection.isDismissed = true
    try answer(connection, nil, .refused(detail: detail), at: connection.since)
  }

  enum Demand {
    case request(ControlRequest)
    case addition(AddRequest, Requester)
    case hello(WorkerHello)
  }

  private enum Line {
    case demand(Demand)
    case host(ClientHello)
  }

  private func join(_ host: ClientHello, as connection: ConnectionID) -> RequestAnswer {
    if hosts.isLeaving { return .refused(detail: ClientHello.leaving) }
    return hosts.add(connection, host.afterClient)
      ? .done(count: 1)
      : .refused(detail: "the run already has \(Clients.most) clients, the maximum")
  }

  /// Returns the requests whose turn has come, after all reports of workers.
  func takeTurn(
    at now: Instant, running: (WorkerID) -> TaskID
  ) -> [(connection: ConnectionID, demand: Demand)] {
    acceptAgain(at: now)
    var demands: [(connection: ConnectionID, demand: Demand)] = []
    var bytes = 0
    while !queue.isEmpty, bytes < Self.mostBytesPerTurn {
      let connection = queue.removeFirst()
      guard
        let (id, outcome) = connection.takeLine({ line in
          bytes += line.count + 100
          return read(line, of: connection, running)
        })
      else { continue }
      switch outcome {
      case .success(.host(let host)):
        connection.state = .asked
        answer(connection.id, host.id, join(host, as: connection.id), at: now)
      case .success(.demand(let demand)):
        if case .request(let request) = demand {
          bytes += 4 * (request.tasks.count + request.among.count)
        }
        connection.state = .asked
        demands.append((connection.id, demand))
      case .failure(let refusal):
        connection.state = .asked
        answer(connection.id, id, .refused(detail: refusal.detail), at: now)
      }
    }
    return demands
  }

  private func read(
    _ line: UnsafeRawBufferPointer, of connection: ControlClient, _ running: (WorkerID) -> TaskID
  ) -> (RequestID?, Result<Line, RequestRefusal>) {
    if case .hello(let hello) = MessageCodec.report(line) {
      return (
        nil,
        Result { () throws(RequestRefusal) in
          _ = try requester("", connection, running)
          guard !hosts.contains(connection.id) else {
            throw RequestRefusal(detail: "use another connection for external tasks")
          }
          return .demand(.hello(hello))
        }
      )
    }
    do throws(UnreadableRequest) {
      let request = try RequestLines.request(line)
      return (
        request.id,
        Result { () throws(RequestRefusal) in
          switch request {
          case .request(let request):
            let (requester, _) = try requester(
              request.by, connection, running, answers: request.verb.row.isAnswer)
            return .demand(.request(try request.controlRequest(of: plan, from: requester)))
          case .add(let addition):
            let (requester, task) = try requester(addition.by, connection, running)
            try addition.expectFit(plan, from: task)
            return .demand(.addition(addition, requester))
          case .host(let host):
            _ = try requester("", connection, running)
            return .host(host)
          }
        }
      )
    } catch {
      return (error.id, .failure(RequestRefusal(detail: error.detail)))
    }
  }

  /// Also returns the requester's task, or `none`. `answers`: the request approves or rejects.
  private func requester(
    _ by: String, _ connection: ControlClient, _ running: (WorkerID) -> TaskID,
    answers: Bool = false
  ) throws(RequestRefusal) -> (Requester, TaskID) {
    var name = by.isEmpty ? "another process" : by
    var own = TaskID.none
    switch connection.origin {
    case .outside: break
    case .inside:
      throw RequestRefusal(
        detail: "a process that opflow started for the run, but not as a task, cannot control it")
    case .worker(let worker):
      let task = running(worker)
      if task.isNone {
        throw RequestRefusal(
          detail: "a process that an ended task left behind cannot control the run")
      }
      let taskName = plan.nameString(task)
      if answers {
        throw RequestRefusal(
          detail: "`\(taskName)` is a task of this run, and tasks cannot approve or reject in their"
            + " own run")
      }
      guard plan.flags(task).contains(.control) else {
        throw RequestRefusal(
          detail: "`\(taskName)` is a task of this run; to control the run, it needs"
            + " `control: true`")
      }
      name = "task \(taskName)"
      own = task
    }
    return (Requester(pid: connection.peer.pid, user: connection.peer.user, name: name), own)
  }

  // MARK: - Answers

  func answer(
    _ connection: ConnectionID, _ id: RequestID?, _ answer: RequestAnswer, at now: Instant
  ) {
    guard let connection = connections[connection.rawValue] else { return }
    do throws(Errno) {
      try self.answer(connection, id, answer, at: now)
    } catch {
      forget(connection)
    }
  }

  private func answer(
    _ connection: ControlClient, _ id: RequestID?, _ answer: RequestAnswer, at now: Instant
  ) throws(Errno) {
    if connection.state == .listening { try? watch.remove(connection.rawDescriptor) }
    connection.state = .answering
    if try connection.send(RequestLines.line(answer, to: id)) {
      try goOn(connection, at: now, isWatched: false)
    } else {
      try watch.add(
        connection.rawDescriptor, .control, UInt32(connection.id.rawValue), for: .writable)
    }
  }

  func goOn(_ connection: ControlClient, at now: Instant, isWatched: Bool = true) throws(Errno) {
    if isWatched { try watch.remove(connection.rawDescriptor) }
    connection.since = now
    connection.state = .queued
    if connection.isDismissed { return forget(connection) }
    if connection.hasLine {
      queue.append(connection)
    } else if connection.hasEnded {
      forget(connection)
    } else {
      try watch.add(connection.rawDescriptor, .control, UInt32(connection.id.rawValue))
      connection.state = .listening
    }
  }
}

/// The connected library clients, which use the run as their queue.
struct Clients {
  /// Each client occupies a descriptor without time limit.
  static let most = 64

  private var afterEach: [ConnectionID: AfterClient] = [:]
  private var wantsStop = false
  private var notBefore = Instant(nanoseconds: 0)
  private var patience: Int64 = 1
  var isLeaving = false

  var count: Int { afterEach.count }

  func contains(_ connection: ConnectionID) -> Bool { afterEach[connection] != nil }

  /// Returns false if there are too many clients.
  mutating func add(_ connection: ConnectionID, _ afterClient: AfterClient) -> Bool {
    if afterEach[connection] == nil, count >= Self.most { return false }
    afterEach[connection] = afterClient
    return true
  }

  mutating func remove(_ connection: ConnectionID) {
    guard afterEach.removeValue(forKey: connection) == .stop, afterEach.isEmpty else { return }
    wantsStop = true
    patience = 1
  }

  var stopDueAt: Instant? { wantsStop && afterEach.isEmpty ? notBefore : nil }

  /// Returns true once, if the run must stop now. After a coordinator died, its clients reconnect
  /// in their own time (`areOthersThere`).
  mutating func takeStop(at now: Instant, areOthersThere: () -> Bool) -> Bool {
    guard let due = stopDueAt else {
      wantsStop = false
      return false
    }
    if due > now { return false }
    if areOthersThere() {
      // An ending process may close its connection before its lock.
      patience = min(2 * patience, Self.longestPatience)
      notBefore = now.advanced(byMilliseconds: patience)
      return false
    }
    wantsStop = false
    return true
  }

  private static let longestPatience: Int64 = 1_000
}

enum PeerOrigin: Equatable {
  case outside
  case worker(WorkerID)
  case inside

  /// Follows the chain of parents, as a guard against accidents, not against the user: a process of
  /// a container or service manager, or an ended process, is outside.
  static func of(_ pid: Int32, workers: [Int32: WorkerID]) -> PeerOrigin {
    let own = ProcessID.own
    if pid <= 0 || pid == own { return .outside }
    // If a parent ends meanwhile, its children move to the worker; then the chain is read again.
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
