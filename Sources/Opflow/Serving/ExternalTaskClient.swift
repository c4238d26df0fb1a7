internal import OpflowBase
internal import OpflowPlan
internal import OpflowRuntime
internal import OpflowSystem
internal import OpflowWire
internal import Synchronization

/// Runs the client's closures as external tasks: a worker (`ExternalTaskLines`) on its own
/// connection. A closure is offered while it does not run. When the coordinator is gone, running
/// closures are cancelled and offered again only after they ended, so no closure runs twice at
/// once.
final class ExternalTaskClient {
  private let inbox: QueueInbox
  /// Nil without closures or without a coordinator.
  private(set) var link: ClientLink?
  private var generation = 0
  private var closures: [Int32: TaskAction.Block] = [:]
  private var running: [Int32: Running] = [:]
  /// Not offered on this connection.
  private var unoffered: Set<Int32> = []

  private struct Running {
    let task: TaskID
    let attempt: Int32
    let generation: Int
    let body: Task<Void, Never>
  }

  init(_ inbox: QueueInbox) { self.inbox = inbox }

  var isEmpty: Bool { closures.isEmpty }

  // MARK: - The connection

  func join(_ link: ClientLink, planKey: String) {
    self.link = link
    generation += 1
    unoffered = Set(closures.keys)
    var writer = FieldWriter()
    MessageCodec.encode(
      .hello(
        WorkerHello(
          planKey: planKey, pid: ProcessID.own,
          offer: WorkerOffer(cores: Machine.cores, actions: .block), host: "")), into: &writer)
    link.send(writer.bytes)
  }

  func leave() {
    link = nil
    for running in running.values { running.body.cancel() }
  }

  // MARK: - Offers

  func keep(_ body: @escaping TaskAction.Block, at place: Int32) {
    if closures.updateValue(body, forKey: place) == nil { unoffered.insert(place) }
  }

  func forget(_ place: Int32) {
    if closures.isEmpty || running[place] != nil { return }
    closures[place] = nil
    unoffered.remove(place)
  }

  /// - Parameter number: Returns the number of the task at a place.
  func offer(_ number: (Int32) -> TaskID?) {
    guard link != nil else { return }
    for place in unoffered.sorted() where running[place] == nil {
      guard let task = number(place) else { continue }
      unoffered.remove(place)
      say(.offers(task))
    }
  }

  private func say(_ fact: ExternalTaskFact) {
    var writer = FieldWriter()
    ExternalTaskLines.encode(fact, into: &writer)
    link?.send(writer.bytes)
  }

  // MARK: - Commands

  /// Returns false if the coordinator is gone. `place` is the reverse of `number`.
  func hear(_ place: (TaskID) -> Int32?) -> Bool {
    guard let link else { return false }
    if link.wantsToWrite { link.flush() }
    var messages: [WorkerMessage] = []
    link.receive { line in
      if let message = MessageCodec.message(line) { messages.append(message) }
    }
    for message in messages {
      switch message {
      case .run(let task, let attempt):
        if let place = place(task), let body = closures[place], running[place] == nil {
          run(body, at: place, task, attempt)
        } else {
          say(.gaveBack(task, attempt: attempt))
        }
      case .stop(let task, let attempt, _):
        for running in running.values
        where running.task == task && running.attempt == attempt && running.generation == generation
        {
          running.body.cancel()
        }
      case .follow, .revoke, .suspend, .proceed, .watch, .setRunState, .check, .pulse, .values,
        .value,
        .ports, .tokens, .jobs, .devices, .bye:
        break
      }
    }
    return !link.hasEnded
  }

  private func run(
    _ body: @escaping TaskAction.Block, at place: Int32, _ task: TaskID, _ attempt: Int32
  ) {
    let (inbox, generation) = (inbox, generation)
    let began = ContinuousClock.now
    let swiftTask = Task.detached {
      var complaint: String?
      do {
        try await body()
        // A cancelled closure may have returned early.
        if Task.isCancelled { complaint = "it was cancelled" }
      } catch {
        complaint = "\(error)"
      }
      inbox.put(
        .externalTaskEnded(
          ExternalTaskEnd(
            place: place, attempt: attempt, generation: generation, error: complaint,
            took: .now - began)))
    }
    running[place] = Running(task: task, attempt: attempt, generation: generation, body: swiftTask)
  }

  /// Returns true if the closure must be offered to another coordinator.
  func take(_ end: ExternalTaskEnd) -> Bool {
    guard let ended = running.removeValue(forKey: end.place) else { return false }
    guard end.generation == generation, link != nil else { return true }
    var outcome = Outcome(status: .exit(end.error == nil ? 0 : 1))
    outcome.usage.wallMicroseconds = end.took.wholeNanoseconds / 1000
    say(.ended(ended.task, attempt: end.attempt, outcome, detail: end.error ?? ""))
    return false
  }
}

extension QueueReader {
  func keepExternalTasks(of tasks: [NewTask]) {
    var isAny = false
    board.table.withLock { table in
      for task in tasks {
        guard case .block(let body) = task.action.kind, let place = table.place(of: task.id),
          !table[place].state.isSuccess
        else { continue }
        blocks.keep(body, at: place)
        isAny = true
      }
    }
    if isAny { offerExternalTasks() }
  }

  func offerExternalTasks() {
    guard !blocks.isEmpty, link != nil, let run else { return }
    // If this fails, the main connection is about to end too.
    if blocks.link == nil, let made = try? ServerStart.link(to: run.folder) {
      blocks.join(made, planKey: run.plan.key.description)
    }
    let plan = run.plan
    blocks.offer { place in plan.task(named: board.table.withLock { $0[place].id }) }
  }

  func hearOfExternalTasks() {
    let places = places
    let isThere = blocks.hear { $0.index < places.count ? places[$0.index] : nil }
    if !isThere { blocks.leave() }
  }
}

/// The client's connection to the coordinator, for the reader's thread, which blocks SIGPIPE.
final class ClientLink {
  private let descriptor: Descriptor
  /// A forked child must not hold the connection open.
  private let fork: ForkGuard
  private var outbox: [UInt8] = []
  private var sent = 0
  /// Longer than any answer or command.
  private var lines = LineBuffer(longestLineBytes: 1 << 14, bytes: 1 << 16)
  private(set) var hasEnded = false

  init(_ end: consuming Descriptor) throws(Errno) {
    let descriptor = try end.aboveStandard()
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
      // The next read shows the end.
      outbox.removeAll()
      sent = 0
    }
  }

  func receive(_ body: (UnsafeRawBufferPointer) -> Void) {
    while !hasEnded {
      do throws(Errno) {
        let count = try lines.fill { room throws(Errno) in try descriptor.read(into: room) }
        if count == 0 { hasEnded = true }
      } catch .wouldBlock {
        return
      } catch {
        hasEnded = true
      }
      var step = lines.nextLine(body)
      while case .message = step { step = lines.nextLine(body) }
      if case .malformed = step { hasEnded = true }
    }
  }
}
