package import OpflowBase
package import OpflowPlan
package import OpflowSystem
package import OpflowWire

/// The common part of worker processes: the plan, the connection to the coordinator, and the loop
/// that reads commands, passes them to the role and writes its reports. Reports that do not fit
/// into the pipe are buffered; while many are, no commands are read, since each produces reports.
package final class WorkerFrame {
  private enum Slot {
    static let messages = 0, requests = 1, reports = 2
    static let count = 3
  }

  /// Above this, commands wait.
  private static let mostUnsentBytes = 65_536

  package let plans: WorkerPlan
  package var plan: Plan { plans.current }
  package let run: String
  package let runFolder: String
  /// Extra arguments for the command of one task.
  package internal(set) var taskArguments: TaskArguments?
  /// A role's own slots start at `firstSlot`.
  package var poll: PollSet
  package static let firstSlot = Slot.count

  private let trade: WorkerTrade
  private let messages: Descriptor
  private let reports: Descriptor
  /// TERM, INT and, unless ignored, HUP: requests to end this worker.
  private let requests: SignalDescriptor
  private let lock: FileLock

  private var input = LineBuffer()
  private var output = FieldWriter()
  private var sentBytes = 0
  /// The deadline for the first buffered report.
  private var sendBy: Instant?
  private var isBlocked = false
  private var isListening = true
  /// Commands are not read while many reports are unsent.
  private var isPaused = false
  private var isDone = false
  /// The coordinator has closed the pipe.
  private var isUnheard = false

  private var collector = SecretCollector()
  /// Made on first use.
  private var knownMasker: Masker?

  init(
    _ trade: WorkerTrade, plans: WorkerPlan, run: String, runFolder: String,
    messages: consuming Descriptor, reports: consuming Descriptor, lock: consuming FileLock
  ) throws(WorkerFailure) {
    self.trade = trade
    self.plans = plans
    self.run = run
    self.runFolder = runFolder
    self.messages = messages
    self.reports = reports
    self.lock = lock
    var signals: SignalSet = [.terminate, .interrupt]
    if !Dispositions.isIgnored(.hangup) { signals.insert(.hangup) }
    requests = try WorkerFailure.naming("cannot watch signals") { () throws(Errno) in
      try SignalDescriptor(signals)
    }
    poll = PollSet(slots: Slot.count + trade.slots)
    poll.set(Slot.messages, self.messages.rawValue)
    // In a process group of others, signals may be meant for them: keys, or `kill 0` in a script.
    if ProcessGroup.own == ProcessID.own { poll.set(Slot.requests, requests.rawValue) }
    do throws(Errno) {
      try self.reports.setNonblocking(true)
    } catch {
      throw WorkerFailure(detail: "cannot use standard output: \(error)")
    }
  }

  func work<Role: WorkerRole>(_ role: Role) throws(Errno) {
    let memory = Int64(clamping: Machine.memoryBytes)
    let offer = WorkerOffer(
      cores: Machine.cores, memoryBytes: memory > 0 ? memory : nil, actions: trade.actions)
    var hello = WorkerHello(
      planKey: plan.key.description, pid: ProcessID.own, offer: offer, host: Machine.hostName)
    hello.startTime = ProcessStatus.read(hello.pid)?.startTime ?? 0
    hello.autogroup = ProcessStatus.autogroup(of: hello.pid) ?? 0
    say(.hello(hello))
    send()
    role.prepare()
    while !isDone {
      try role.wait(nanoseconds: timeout(role.deadline))
      let now = self.now
      if poll.isReady(Slot.requests) {
        while let (_, sender) = try requests.next() {
          if !isOfTask(sender) { role.endOfMessages(at: now) }
        }
      }
      try role.takeEvents(at: now)
      if poll.isReady(Slot.messages) { try readMessages(role, now) }
      role.passTime(at: now)
      passTime(now)
      if isUnheard, isListening { endMessages(role, now) }
    }
    try sendRest()
  }

  /// True if a task sent the signal, for example with `kill $PPID`, which must not end the worker:
  /// it may have other tasks now. Tasks are in its session; a sender that is gone may have been
  /// one.
  private func isOfTask(_ sender: Int32) -> Bool {
    if sender <= 0 { return false }
    guard let status = ProcessStatus.read(sender) else { return true }
    return status.session == ProcessID.own
  }

  // MARK: For roles

  package var now: Instant { Instant(nanoseconds: Clock.monotonicNanoseconds) }

  /// Sends a report at the end of this turn, or by `time`.
  package func say(_ report: WorkerReport, by time: Instant = Instant(nanoseconds: 0)) {
    if let masker {
      MessageCodec.encode(report.masked(by: masker), into: &output)
    } else {
      MessageCodec.encode(report, into: &output)
    }
    if let sendBy, sendBy <= time { return }
    sendBy = time
  }

  package func send() {
    sendBy = nil
    if isBlocked { return }
    sendWhatGoes()
  }

  /// The pipe is full; roles then omit optional reports.
  package var isBehind: Bool { isBlocked }

  package func leave() { isDone = true }

  /// Standard error goes to the run's log.
  package func complain(_ text: String) { trade.complain(masker?.masked(text) ?? text) }

  // MARK: Secrets

  /// The secrets of all tasks of the run.
  package var secrets: [SecretValue] { collector.secrets }

  /// nil without secrets.
  package var masker: Masker? {
    if collector.isEmpty { return nil }
    if knownMasker == nil { knownMasker = Masker(collector.secrets) }
    return knownMasker
  }

  /// False for a part that does not follow the parts before it.
  private func take(_ part: SecretPart) -> Bool {
    knownMasker = nil
    return collector.take(part)
  }

  // MARK: Waiting

  private func timeout(_ deadline: Instant?) -> Int64 {
    var next = isBlocked ? nil : sendBy
    if let deadline { next = min(next ?? deadline, deadline) }
    guard let next else { return -1 }
    return max(0, next.nanoseconds - now.nanoseconds)
  }

  private func passTime(_ now: Instant) {
    if isBlocked, poll.isReady(Slot.reports) {
      isBlocked = false
      poll.clear(Slot.reports)
      sendWhatGoes()
    } else if let sendBy, sendBy <= now {
      send()
    }
  }

  // MARK: Messages

  private func readMessages<Role: WorkerRole>(_ role: Role, _ now: Instant) throws(Errno) {
    let count = try input.fill { room throws(Errno) in try messages.read(into: room) }
    if count == 0 {
      endMessages(role, now)
      return
    }
    while true {
      switch input.nextInput() {
      case .message(.message(.pulse(let number))): say(.pulse(number))
      case .message(.secret(let part)):
        if !take(part) {
          refuseMessages("a secret is incomplete", role, now)
          return
        }
      case .message(.message(let message)):
        if let fault = fault(in: message) {
          refuseMessages(fault, role, now)
          return
        }
        role.apply(message, at: now)
      case .needsMore: return
      case .malformed:
        refuseMessages("a line is not a message", role, now)
        return
      }
    }
  }

  private func fault(in message: WorkerMessage) -> String? {
    plans.extend(to: message.lastTask)
    if let fault = message.fault(in: plan) { return fault }
    guard let (task, _) = message.start, !trade.takes(plan.kind(task)) else { return nil }
    return "a message names a task that this kind of worker cannot run"
  }

  /// The sender is not a coordinator of this version: stop as if it had exited.
  private func refuseMessages<Role: WorkerRole>(_ detail: String, _ role: Role, _ now: Instant) {
    complain("standard input: \(detail)")
    endMessages(role, now)
  }

  private func endMessages<Role: WorkerRole>(_ role: Role, _ now: Instant) {
    isListening = false
    poll.clear(Slot.messages)
    role.endOfMessages(at: now)
  }

  // MARK: Reports

  private func sendWhatGoes() {
    if output.isEmpty { return }
    do throws(Errno) {
      if !isUnheard { try reports.write(output.bytes, behind: &sentBytes) }
    } catch .wouldBlock {
      waitForReader()
      return
    } catch {
      isUnheard = true
    }
    output.removeAll()
    sentBytes = 0
    if isPaused, isListening { poll.set(Slot.messages, messages.rawValue) }
    isPaused = false
  }

  private func waitForReader() {
    isBlocked = true
    poll.set(Slot.reports, reports.rawValue, for: .writable)
    if output.bytes.count - sentBytes > Self.mostUnsentBytes {
      isPaused = true
      poll.clear(Slot.messages)
    }
  }

  /// Waits for the reader.
  private func sendRest() throws(Errno) {
    send()
    var reader = PollSet(slots: 1)
    reader.set(0, reports.rawValue, for: .writable)
    while isBlocked {
      _ = try reader.wait(nanoseconds: -1)
      isBlocked = false
      sendWhatGoes()
    }
  }
}

/// The static properties of a kind of worker.
package struct WorkerTrade: Sendable {
  /// The prefix of error messages.
  let program: String
  package let usage: String
  let actions: WorkerActions
  let takes: @Sendable (ActionKind) -> Bool
  /// The command line may have arguments for a task.
  var takesArguments = false
  let slots: Int

  package init(
    program: String, usage: String, actions: WorkerActions, slots: Int,
    takes: @escaping @Sendable (ActionKind) -> Bool
  ) {
    self.program = program
    self.usage = usage
    self.actions = actions
    self.takes = takes
    self.slots = slots
  }

  package func complain(_ text: String) {
    // A failure cannot be reported.
    try? StandardStream.error.writeAll(Array("\(program): \(text)\n".utf8))
  }
}

/// The behavior of a worker process: takes commands, sends reports through its frame and waits for
/// descriptors of its own. The frame makes one call at a time.
package protocol WorkerRole: AnyObject {
  var frame: WorkerFrame { get }

  /// When `passTime` must be called; nil for never.
  var deadline: Instant? { get }

  /// Prepares for the first command while the coordinator handles the hello.
  func prepare()

  /// Waits for a descriptor of the frame's set, at most that long (negative: forever). A role with
  /// background work does a small part of it here.
  func wait(nanoseconds: Int64) throws(Errno)

  /// Called before the commands of the same turn.
  func takeEvents(at now: Instant) throws(Errno)

  /// The command was checked against the plan.
  func apply(_ message: WorkerMessage, at now: Instant)

  /// Ends the work, then leaves: the coordinator is gone or this worker is asked to end. May be
  /// called more than once.
  func endOfMessages(at now: Instant)

  func passTime(at now: Instant)
}

extension WorkerRole {
  package func prepare() {}

  package func wait(nanoseconds: Int64) throws(Errno) {
    _ = try frame.poll.wait(nanoseconds: nanoseconds)
  }
}

package struct WorkerFailure: Error {
  package let detail: String
  package init(detail: String) { self.detail = detail }

  /// Throws a failure that names the operation.
  package static func naming<Result: ~Copyable>(
    _ detail: @autoclosure () -> String, _ body: () throws(Errno) -> Result
  ) throws(WorkerFailure) -> Result {
    do throws(Errno) {
      return try body()
    } catch {
      throw WorkerFailure(detail: "\(detail()): \(error)")
    }
  }
}
