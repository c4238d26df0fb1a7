internal import OpflowBase
internal import OpflowEngine
internal import OpflowJournal
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire
internal import OpflowWorker

/// Starts workers on this machine: this program again, with its own session and two pipes.
final class LocalLauncher: Launcher {
  private let node: Int
  private var watch: EventLoop
  private let folder: RunFolder
  private let runID: String
  private var arguments: TaskArguments?
  /// Trace variables, `NAME=VALUE`.
  private var variables: [String]
  /// Read while the first worker starts.
  private lazy var bootID = Machine.bootID
  private lazy var host = Machine.hostName
  private let complaints: ComplaintFile
  private let groups: WorkerCgroups
  /// Counts workers of all sessions, to number the control groups.
  private var startedCount: Int32 = 0
  /// A command worker that was started before it was requested.
  private var ahead: WorkerChild?
  /// Indexed by worker number; nil once reaped.
  private var workers: [LocalWorker?] = []
  /// Returns children of this process that are not workers, such as transports.
  var startedChildren: () -> [Int32] = { [] }
  private var unkillable: Set<Int32> = []

  /// The time from SIGKILL until a worker is unkillable.
  private static let killPatienceMilliseconds: Int64 = 10_000

  init(
    node: Int, watch: EventLoop, folder: RunFolder, runID: String, complaints path: String,
    variables: [String],
    arguments: TaskArguments? = nil, delegation: consuming MemoryDelegation? = nil
  ) throws(Errno) {
    self.node = node
    self.watch = watch
    self.folder = folder
    self.runID = runID
    self.arguments = arguments
    self.variables = variables
    groups = WorkerCgroups(run: runID, delegation: delegation)
    complaints = try ComplaintFile(path)
  }

  private enum Place: UInt32 {
    case reports, messages, process
    static let count: UInt32 = 3
    func of(_ worker: WorkerID) -> UInt32 { UInt32(worker.index) * Self.count + rawValue }
  }

  // MARK: - Starting

  /// Starts the first command worker before it is requested; `launch` reports an error.
  ///
  /// The journal does not name the worker yet, as for a moment after every launch. If this process
  /// dies, the worker sees end-of-file and leaves, and the next session waits for its lock.
  func startEarly() { ahead = try? start(.command) }

  func launch(_ worker: WorkerID, _ kind: WorkerKind) throws(LaunchFailure) -> WorkerLink {
    let started = LocalWorker(
      try child(kind),
      link: WorkerLink(id: worker, kind: kind, node: node, entry: nil, inbox: Inbox()))
    started.link.entry = entry(for: started.pid, kind)
    do throws(Errno) {
      do throws(Errno) {
        try listen(to: started)
      } catch {
        try started.child.endAtOnce()
        throw error
      }
    } catch {
      throw LaunchFailure(
        detail: "cannot watch a worker: \(error)", isShortage: error.isShortage)
    }
    // The first worker needs time to start, so this costs nothing.
    if workers.isEmpty { groups.removeAbandoned() }
    while workers.count <= worker.index { workers.append(nil) }
    workers[worker.index] = started
    return started.link
  }

  private func listen(to worker: LocalWorker) throws(Errno) {
    let id = worker.link.id
    try watch.add(worker.child.reports.rawValue, .node(node), Place.reports.of(id))
    // Watched from the start: the end must be seen even if the event loop is full later.
    try watch.add(worker.child.process.descriptor.rawValue, .node(node), Place.process.of(id))
  }

  private static let unstartable = "cannot start a worker"

  private func child(_ kind: WorkerKind) throws(LaunchFailure) -> WorkerChild {
    if kind == .command, let waiting = ahead.take() { return waiting }
    return try start(kind)
  }

  private func start(_ kind: WorkerKind) throws(LaunchFailure) -> WorkerChild {
    let messages = try LaunchFailure.naming(Self.unstartable, Pipe())
    let reports = try LaunchFailure.naming(Self.unstartable, Pipe())
    try LaunchFailure.naming(Self.unstartable, messages.write.setNonblocking(true))
    try LaunchFailure.naming(Self.unstartable, reports.read.setNonblocking(true))
    let complaintStart = try LaunchFailure.naming(Self.unstartable, complaints.end())
    var recordLocks = recordLocks(for: kind)
    let process: SpawnedProcess
    let group = groups.make(startedCount)
    startedCount &+= 1
    do throws(ProgramError) {
      process = try spawn(
        kind, input: messages.read.rawValue, output: reports.write.rawValue, group: group,
        recordLocks: recordLocks?.rawValue)
    } catch {
      group?.remove()
      throw LaunchFailure(
        detail: WorkerProgram.complaint(error, of: kind), isShortage: error.errno.isShortage)
    }
    return WorkerChild(
      process: process, messages: messages.takeWrite(), reports: reports.takeRead(), group: group,
      complaintStart: complaintStart, recordLocks: recordLocks.take())
  }

  /// If descriptors are short, the worker opens its own lock.
  private func recordLocks(for kind: WorkerKind) -> Descriptor? {
    guard kind.row.action == .run else { return nil }
    let state = StateFolder(holding: folder).path
    return try? File.openRegular(RecordBook.lockPath(in: state), .readWrite)
  }

  private func spawn(
    _ kind: WorkerKind, input: Int32, output: Int32, group: KillGroup?, recordLocks: Int32?
  ) throws(ProgramError) -> SpawnedProcess {
    let arguments = WorkerProcess.arguments(
      runFolder: folder.path, run: runID, task: kind == .download ? nil : arguments)
    // The worker for interactive tasks stays in the terminal's session. Keys are not meant for
    // workers.
    let options: Program.Options = [kind == .terminal ? .newGroup : .newSession, .wakesWithParent]
    let additions = WorkerProgram.additions(for: kind, variables)
    if let group, let groupFolder = group.open() {
      return try Program.spawn(
        WorkerProgram.path(for: kind), arguments: arguments, additions: additions, input: input,
        output: output, error: complaints.rawDescriptor, options: options,
        group: groupFolder.rawValue, shared: recordLocks)
    }
    return try Program.spawn(
      WorkerProgram.path(for: kind), arguments: arguments, additions: additions, input: input,
      output: output, error: complaints.rawDescriptor, options: options, shared: recordLocks)
  }

  /// A worker without its own session gets no start time, so that a search by session skips it.
  private func entry(for pid: Int32, _ kind: WorkerKind) -> WorkerEntry {
    let startTime = kind == .terminal ? 0 : ProcessStatus.read(pid)?.startTime ?? 0
    return WorkerEntry(
      pid: pid, startTime: startTime, bootID: bootID,
      autogroup: ProcessStatus.autogroup(of: pid) ?? 0, host: host)
  }

  // MARK: - Messages

  func next(at place: UInt32) -> LinkNews? {
    let index = Int(place / Place.count)
    guard workers.indices.contains(index), let worker = workers[index] else { return nil }
    switch Place(rawValue: place % Place.count) {
    case .reports: return nextReports(of: worker)
    case .messages:
      do throws(Errno) {
        try send(worker)
        return nil
      } catch {
        return .silent(worker.link, complaint: WorkerLink.unsendable(error))
      }
    case .process: return nextOfEnd(of: worker)
    case nil: return nil
    }
  }

  private func nextReports(of worker: LocalWorker) -> LinkNews? {
    guard worker.isTalking, !worker.wasRead else {
      worker.wasRead = false
      return nil
    }
    do throws(Errno) {
      guard try worker.read() > 0 else {
        // A worker that left has also ended.
        return takeEnd(of: worker) ?? .silent(worker.link, complaint: complaint(worker))
      }
      worker.wasRead = true
      return .spoke(worker.link)
    } catch .wouldBlock {
      return nil
    } catch {
      return .silent(worker.link, complaint: "cannot read from it: \(error)")
    }
  }

  /// Reads the last reports of an ended process, then reports its end.
  private func nextOfEnd(of worker: LocalWorker) -> LinkNews? {
    if worker.isTalking, let count = try? worker.read(), count > 0 { return .spoke(worker.link) }
    return takeEnd(of: worker)
  }

  /// Reaps a worker without further reports and ends its orphans; nil if it has not ended.
  private func takeEnd(of worker: LocalWorker) -> LinkNews? {
    var complaint = complaint(worker)
    var warnings: [String] = []
    var hasLeft = false
    do throws(Errno) {
      guard let end = try worker.child.process.reap() else { return nil }
      hasLeft = end.status == .exit(0)
      // Names the signal if nothing was written: a crash, or a lack of memory, prints nothing.
      if complaint == nil, case .signal(let number) = end.status {
        complaint =
          worker.isUnheard && number == Signal.kill.rawValue
          ? WorkerLink.unsendable(.brokenPipe)
          : "it was killed by \(SignalName.spelled(number))"
      }
    } catch {
      warnings.append("cannot reap worker \(worker.pid): \(error)")
    }
    return .gone(
      worker.link, complaint: complaint, warnings: warnings,
      survivors: forget(worker, hasLeft: hasLeft))
  }

  func send(to link: WorkerLink) throws(Errno) {
    guard let worker = workers[link.id.index] else { return }
    try send(worker)
  }

  private func send(_ worker: LocalWorker) throws(Errno) {
    let awaitedRoom = worker.awaitsRoom
    try worker.send()
    guard worker.awaitsRoom != awaitedRoom else { return }
    let messages = worker.messagesRawDescriptor
    if worker.awaitsRoom {
      try watch.add(messages, .node(node), Place.messages.of(worker.link.id), for: .writable)
    } else {
      try watch.remove(messages)
    }
  }

  /// Returns the workers' standard error since this worker started.
  private func complaint(_ worker: LocalWorker) -> String? {
    let text = complaints.text(from: worker.child.complaintStart)
    return text.isEmpty ? nil : text
  }

  // MARK: - Ending

  func end(_ link: WorkerLink, at now: Instant) -> Instant {
    guard let worker = workers[link.id.index] else { return now }
    // A descriptor that cannot be removed now leaves the event loop on close.
    try? watch.remove(worker.child.reports.rawValue)
    if worker.awaitsRoom { try? watch.remove(worker.messagesRawDescriptor) }
    worker.child.kill()
    return now.advanced(byMilliseconds: Self.killPatienceMilliseconds)
  }

  /// Handles a worker that survives SIGKILL, for example in uninterruptible sleep.
  func giveUp(_ link: WorkerLink) -> [String] {
    guard let worker = workers[link.id.index] else { return [] }
    unkillable.insert(worker.pid)
    let survivors = forget(worker).map { "cannot end process \($0.names), which it left behind" }
    return ["cannot end worker \(worker.pid)"] + [survivors].compactMap { $0 }
  }

  /// The children of this process except orphans of a worker that just ended.
  var children: Set<Int32> {
    var children = Set(workers.compactMap { $0?.pid }).union(unkillable)
    if let pid = ahead?.process.pid { children.insert(pid) }
    return children.union(startedChildren())
  }

  /// Notes unkillable orphans, so that they are not another worker's orphans.
  func spare(_ orphans: [Int32]) { unkillable.formUnion(orphans) }

  /// Ends a worker's orphans. Returns new survivors; a worker that left by itself has reported
  /// them.
  private func forget(_ worker: LocalWorker, hasLeft: Bool = false) -> LeftBehind? {
    workers[worker.link.id.index] = nil
    let others = children
    worker.child.endRest()
    defer {
      worker.child.removeGroup()
      if !hasLeft { removeFolder(of: worker.pid, worker.link.kind) }
    }
    let survivors = Orphans.endAdopted(sparing: others)
    worker.releaseRecordLocks()
    unkillable.formUnion(survivors.map(\.mark.pid))
    return hasLeft ? nil : LeftBehind(alive: survivors.map { ($0.title, $0.mark) })
  }

  /// Removes the folder for temporary files of the worker's tasks, which only a regular exit
  /// removes.
  private func removeFolder(of pid: Int32, _ kind: WorkerKind) {
    if kind.row.action == .run { TaskFolder.removeLeft(run: runID, worker: pid) }
  }

  func release(_ link: WorkerLink) {
    guard let worker = workers[link.id.index] else { return }
    try? watch.remove(worker.child.reports.rawValue)
    try? watch.remove(worker.child.process.descriptor.rawValue)
    if worker.awaitsRoom { try? watch.remove(worker.messagesRawDescriptor) }
  }

  func regain(_ link: WorkerLink) {
    // On failure the end is missed, and the worker is given up later.
    if let worker = workers[link.id.index] { try? listen(to: worker) }
  }

  // MARK: - Between sessions

  func goOn(
    _ watch: EventLoop, variables: [String], arguments: TaskArguments?,
    with kept: [(WorkerLink, WorkerID)]
  ) throws(Errno) {
    self.watch = watch
    self.variables = variables
    self.arguments = arguments
    let before = workers
    workers = []
    for (link, number) in kept {
      guard let worker = before[number.index] else { continue }
      worker.link = link
      while workers.count <= link.id.index { workers.append(nil) }
      workers[link.id.index] = worker
      try listen(to: worker)
    }
  }

  /// Ends a service by its stop rule, and its worker, while no session is active.
  func endBetweenSessions(
    _ link: WorkerLink, _ held: HeldService, _ policy: TaskPolicy, _ ends: inout EndsBetweenSessions
  ) {
    guard let worker = workers[link.id.index] else { return }
    link.enqueue(.stop(held.service, attempt: held.attempt, reason: .unneeded))
    link.enqueue(.bye)
    let patience = Int64(policy.stopGraceMilliseconds) + SchedulerOptions.stopSlackMilliseconds
    var hasLeft = false
    do throws(Errno) {
      try worker.send()
      hasLeft = try ends.wait(
        for: worker.child.process.descriptor.rawValue, atMostMilliseconds: patience)
    } catch {
    }
    try? worker.child.endAtOnce()
    _ = forget(worker, hasLeft: hasLeft)
  }

  /// Closes the worker's input, so that it ends its tasks.
  func hangUp(_ link: WorkerLink) {
    guard let worker = workers[link.id.index] else { return }
    if worker.awaitsRoom { try? watch.remove(worker.messagesRawDescriptor) }
    worker.hangUp()
  }

  func endAll() {
    // A worker that cannot be awaited ends with this process.
    for worker in workers.compactMap({ $0 }) {
      try? worker.child.endAtOnce()
      removeFolder(of: worker.pid, worker.link.kind)
    }
    endPrefetched()
  }

  /// The session never began.
  deinit { if ahead != nil { cleanUp() } }

  /// The worker sees end-of-file and leaves.
  private func endPrefetched() {
    guard var waiting = ahead.take() else { return }
    waiting.messages = nil
    let hasLeft =
      (try? waiting.process.waitForEnd(nanoseconds: Self.leavePatienceNanoseconds)) ?? false
    let pid = waiting.process.pid
    try? waiting.endAtOnce()
    if !hasLeft { removeFolder(of: pid, .command) }
  }

  private static let leavePatienceNanoseconds: Int64 = 1_000_000_000

  func cleanUp() {
    endPrefetched()
    groups.remove()
    complaints.cleanUp()
  }
}

final class LocalWorker {
  var link: WorkerLink
  private(set) var child: WorkerChild

  var wasRead = false
  private var sent = 0
  private(set) var awaitsRoom = false
  /// The worker has closed its end of the input pipe.
  private(set) var isUnheard = false

  init(_ child: consuming WorkerChild, link: WorkerLink) {
    self.child = child
    self.link = link
  }

  var pid: Int32 { child.process.pid }

  var messagesRawDescriptor: Int32 { child.messages?.rawValue ?? -1 }

  func releaseRecordLocks() { child.recordLocks = nil }

  func hangUp() { child.messages = nil }

  var isTalking: Bool {
    if case .talking = link.state { true } else { false }
  }

  func read() throws(Errno) -> Int {
    try link.inbox.lines.fill { room throws(Errno) in try child.reports.read(into: room) }
  }

  /// A worker that has closed its end is dead or useless and is killed; its last reports and its
  /// end arrive over the other pipe.
  func send() throws(Errno) {
    do throws(Errno) {
      try child.messages?.write(link.outbox.bytes, behind: &sent)
    } catch .wouldBlock {
      awaitsRoom = true
      return
    } catch .brokenPipe {
      isUnheard = true
      child.kill()
    }
    awaitsRoom = false
    sent = 0
    link.outbox.removeAll()
  }
}

struct WorkerChild: ~Copyable {
  let process: SpawnedProcess
  /// nil once closed, which ends the worker.
  var messages: Descriptor?
  let reports: Descriptor
  let group: KillGroup?
  let complaintStart: Int64
  /// The worker locks its tasks in the records through this file; nil without records. It is open
  /// until the worker's processes are gone: no other run may start a task beside them.
  var recordLocks: Descriptor?

  /// Kills all processes at once if there is a cgroup.
  func kill() {
    group?.kill()
    process.kill()
  }

  func endAtOnce() throws(Errno) {
    kill()
    defer { removeGroup() }
    _ = try process.wait()
  }

  /// Called after the worker has ended or was given up.
  func endRest() { group?.end() }

  func removeGroup() { group?.remove() }
}

enum WorkerProgram {
  static func path(for kind: WorkerKind) -> String {
    switch kind {
    case .command, .terminal, .check, .service: return "/proc/self/exe"
    case .download: return downloader(of: (try? Path.real("/proc/self/exe")) ?? "/proc/self/exe")
    case .block: preconditionFailure("clients with external tasks start by themselves")
    }
  }

  /// Returns the path beside `program`, or in `libexec` of its prefix if only that exists.
  static func downloader(of program: String) -> String {
    let folder = Path.parent(of: program)
    let beside = folder + "/opflow-download"
    let installed = Path.parent(of: folder) + "/libexec/opflow/opflow-download"
    return Path.isMissing(beside) && Path.exists(installed) ? installed : beside
  }

  static func additions(for kind: WorkerKind, _ variables: [String]) -> [String] {
    switch kind {
    case .command, .terminal, .service: variables
    case .check, .block: []
    // GnuTLS comes with libcurl for protocols that downloads never use, and would run its
    // self-tests at each start.
    case .download: ["GNUTLS_NO_IMPLICIT_INIT=1"]
    }
  }

  static func complaint(_ error: ProgramError, of kind: WorkerKind) -> String {
    guard error.step == .execute else { return "cannot start a worker: \(error.errno)" }
    let hint =
      switch kind {
      case .command, .terminal, .check, .service, .block: ""
      case .download: "; install it beside opflow, or in ../libexec/opflow from there"
      }
    return "cannot execute \(path(for: kind)): \(error.errno)\(hint)"
  }
}

/// The cgroups of a session, if the machine has them: one for the session, so that a session has
/// one share of a processor, and in it one per worker with its processes. For a task with
/// `memory_limit` the worker makes another group beside its own (`MemoryGroup`). Names contain the
/// run's ID, so that a resume finds even processes that shed the run's mark and the worker's
/// session.
struct WorkerCgroups: ~Copyable {
  private let home: String?
  private let folder: String?
  private let own: KillGroup?
  private let delegation: MemoryDelegation?

  /// `delegation` passes the memory controller on to the session's groups.
  init(run: String, delegation: consuming MemoryDelegation? = nil) {
    home = MemoryDelegation.home
    folder = home.map { "\($0)/\(Self.prefix(run))\(ProcessID.own)" }
    if let folder { own = KillGroup.make(folder) } else { own = nil }
    if delegation != nil, let folder { _ = MemoryDelegation.enable(folder) }
    self.delegation = delegation
  }

  func make(_ number: Int32) -> KillGroup? {
    guard own != nil, let folder else { return nil }
    return KillGroup.make("\(folder)/\(number)", hasOthersBeside: delegation != nil)
  }

  func remove() {
    if let folder { Self.remove(folder) }
  }

  func removeAbandoned() {
    if let home { Self.removeAbandoned(in: home) }
  }

  private static func removeAbandoned(in home: String) {
    for name in (try? Path.names(in: home)) ?? [] where name.hasPrefix(groupPrefix) {
      let owner = name.utf8.lastIndex(of: UInt8(ascii: "-")).map { name[$0...].dropFirst() }
      guard let owner, let pid = Int32(owner), ProcessStatus.read(pid) == nil else { continue }
      remove("\(home)/\(name)")
    }
  }

  private static let groupPrefix = "opflow-"

  private static func prefix(_ run: String) -> String { "\(groupPrefix)\(run)-" }

  static func left(by run: String) -> [String] {
    guard let home = MemoryDelegation.home, let names = try? Path.names(in: home) else { return [] }
    return names.filter { $0.hasPrefix(prefix(run)) }.map { "\(home)/\($0)" }
  }

  static func remove(_ folder: String) {
    if KillGroup.remove(folder) { return }
    for name in (try? Path.names(in: folder)) ?? [] where name.first?.isNumber == true {
      if KillGroup.remove("\(folder)/\(name)") { continue }
      // The worker's group may contain groups of a dead session that its task ran.
      removeAbandoned(in: "\(folder)/\(name)")
      KillGroup.remove("\(folder)/\(name)")
    }
    KillGroup.remove(folder)
  }
}

struct SessionTrace {
  private let context: TraceParent
  private let hasParent: Bool

  static var parent: TraceParent? {
    Environment.value(TraceParent.variable).flatMap { TraceParent($0) }
  }

  /// `milliseconds` is the time of the journal's first line.
  init(_ open: OpenEntry, openedMilliseconds milliseconds: Int64, parent: TraceParent?) {
    context = RunTrace(open, openedMilliseconds: milliseconds).context(ofSession: parent)
    hasParent = parent != nil
  }

  /// Clears the trace state if there is no parent.
  var variables: [String] {
    let parent = "\(TraceParent.variable)=\(context.text)"
    return hasParent ? [parent] : [parent, "\(TraceParent.stateVariable)="]
  }
}
