internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

/// Keeps a Slurm allocation for a coordinator, in its own process, since waiting for Slurm must not
/// block the coordinator:
///
///     PROGRAM allocation inside
///     PROGRAM allocation ask QUEUE-MILLISECONDS [OPTION...]
///
/// *inside* uses the allocation that it runs in, which outlives it. *ask* requests an allocation,
/// which ends with it, and waits at most QUEUE-MILLISECONDS (0: no limit); OPTIONS are salloc's.
/// Standard input and output carry `AllocationLines`.
///
/// The end of a requested allocation
/// ---------------------------------
///
///     died                 then
///     coordinator          this process reads end-of-file, ends salloc, and cancels the job
///     this process         the kernel signals salloc, whose command reads end-of-file
///     salloc               this process notices and cancels the job; Slurm ends a pending
///                          job when its turn comes
///     salloc's command     salloc returns the allocation
///     all of them at once  the agents cancel the job after the heartbeat timeout
package final class AllocationKeeper {
  package static let command = "allocation"

  private var reports = FieldWriter()
  private let signals: SignalDescriptor
  /// nil inside an allocation.
  private let salloc: SallocProcess?
  private var job: Int64?
  private var facts: (nodes: String, cpus: String)?
  /// nil for no limit.
  private let queue: (milliseconds: Int64, deadline: Instant)?

  private var isAnnounced = false
  private var reason: String?
  private var question: SlurmProgram?
  private var nextQuestionAt: Instant
  private var questionsWhilePending: Int64 = 0
  private var isDone = false

  private static let mostPendingMilliseconds: Int64 = 15_000
  /// Limits can change while a job runs.
  private static let mostRunningMilliseconds: Int64 = 60_000
  private static let leastRunningMilliseconds: Int64 = 5_000

  private enum Slot {
    static let input = 0, signals = 1, question = 2
    static let salloc = 3
  }

  /// Returns 0, 2 for a usage error, 74 for a system error.
  package static func run(arguments: [String]) -> Int32 {
    guard let want = SlurmAllocation.Want(words: arguments) else { return 2 }
    do throws(Errno) {
      let keeper: AllocationKeeper
      do throws(LaunchFailure) {
        keeper = try AllocationKeeper(want)
      } catch {
        var reports = FieldWriter()
        AllocationLines.over(error.detail, into: &reports)
        try StandardStream.output.writeAll(reports.bytes)
        return 0
      }
      try keeper.work()
      return 0
    } catch {
      return 74
    }
  }

  private init(_ want: SlurmAllocation.Want) throws(LaunchFailure) {
    let now: Instant
    switch want {
    case .inside:
      salloc = nil
      now = Self.now
      queue = nil
    case .asked(let options, let milliseconds):
      salloc = try SallocProcess(options: options)
      now = Self.now
      queue = milliseconds.map { ($0, now.advanced(byMilliseconds: $0)) }
    }
    nextQuestionAt = now
    signals = try rethrowing(SignalDescriptor([.terminate, .interrupt, .hangup])) {
      LaunchFailure(detail: "cannot receive signals: \($0)")
    }
    guard salloc == nil else { return }
    guard let job = Environment.value("SLURM_JOB_ID").flatMap({ Int64($0) }),
      let nodes = Environment.value("SLURM_JOB_NODELIST"),
      let cpus = Environment.value("SLURM_JOB_CPUS_PER_NODE")
    else {
      throw LaunchFailure(
        detail: "not in a Slurm allocation: SLURM_JOB_ID, SLURM_JOB_NODELIST or"
          + " SLURM_JOB_CPUS_PER_NODE is not set")
    }
    self.job = job
    facts = (nodes, cpus)
  }

  private static var now: Instant { Instant(nanoseconds: Clock.monotonicNanoseconds) }

  private func work() throws(Errno) {
    var wait = PollSet(slots: Slot.salloc + 3)
    wait.set(Slot.input, 0)
    wait.set(Slot.signals, signals.rawValue)
    for (index, descriptor) in (salloc?.rawDescriptors ?? []).enumerated() {
      wait.set(Slot.salloc + index, descriptor)
    }
    defer { release() }
    while !isDone {
      ask()
      wait.set(Slot.question, question?.rawDescriptor ?? -1)
      _ = try wait.wait(
        nanoseconds: nextWake.map { max(0, $0.nanoseconds - Self.now.nanoseconds) } ?? -1)
      // The coordinator sends nothing: readable input means its end.
      if wait.isReady(Slot.signals) || wait.isReady(Slot.input) { return }
      if let salloc { take(salloc, &wait) }
      if !isDone { takeAnswers() }
      try flush()
    }
  }

  private var nextWake: Instant? {
    [
      question?.deadline ?? (job == nil ? nil : nextQuestionAt),
      isAnnounced || facts != nil ? nil : queue?.deadline,
    ].compactMap { $0 }.min()
  }

  private func flush() throws(Errno) {
    if reports.isEmpty { return }
    do throws(Errno) {
      try StandardStream.output.writeAll(reports.bytes)
    } catch .brokenPipe {
      isDone = true
    }
    reports.removeAll()
  }

  // MARK: - Slurm's answers

  private func ask() {
    guard let job else { return }
    guard question == nil, Self.now >= nextQuestionAt else { return }
    do throws(LaunchFailure) {
      question = try SlurmProgram(SlurmQuery.words(job: job))
    } catch {
      // salloc reports the rest.
      take(nil)
    }
  }

  private func takeAnswers() {
    let now = Self.now
    if let answer = question?.next(at: now) {
      question = nil
      take(answer.hasSucceeded ? answer.lines.lazy.compactMap(SlurmQuery.answer).first : nil)
    }
    if facts == nil, let queue, now >= queue.deadline {
      let why = reason.map { " (\($0))" } ?? ""
      end("Slurm granted no allocation within \(queue.milliseconds / 1000) s\(why)")
    }
  }

  private func take(_ answer: SlurmQuery.Answer?) {
    let now = Self.now
    guard let facts, let job else {
      questionsWhilePending += 1
      nextQuestionAt = now.advanced(
        byMilliseconds: min(questionsWhilePending * 1000, Self.mostPendingMilliseconds))
      if let job, let answer, answer.state == .pending, answer.reason != reason {
        reason = answer.reason
        AllocationLines.pending(job, reason, into: &reports)
      }
      return
    }
    let left = answer?.state == .running ? answer?.secondsLeft : nil
    // Near the end, a changed limit matters more.
    let patience = left.map { max(Self.leastRunningMilliseconds, min($0, 3_600) * 1_000 / 4) }
    nextQuestionAt = now.advanced(
      byMilliseconds: min(patience ?? .max, Self.mostRunningMilliseconds))
    if !isAnnounced {
      isAnnounced = true
      AllocationLines.granted(
        job, secondsLeft: left, nodes: facts.nodes, cpus: facts.cpus, into: &reports)
    } else if answer?.state == .running {
      AllocationLines.left(seconds: left, into: &reports)
    }
  }

  // MARK: - The requested allocation

  private func take(_ salloc: SallocProcess, _ wait: inout PollSet) {
    let isPending = job == nil
    let ended = salloc.read()
    job = salloc.job
    if isPending, let job {
      AllocationLines.pending(job, nil, into: &reports)
      nextQuestionAt = Self.now
    }
    if facts == nil, let new = salloc.facts {
      facts = new
      // A pending answer may be older than the grant.
      question?.giveUp()
      question = nil
      nextQuestionAt = Self.now
    }
    if ended.output { wait.clear(Slot.salloc) }
    if ended.error { wait.clear(Slot.salloc + 1) }
    guard wait.isReady(Slot.salloc + 2) else { return }
    salloc.takeEnd()
    let why = salloc.complaint ?? "`salloc` ended without an error message"
    end(facts == nil ? "Slurm granted no allocation: \(why)" : "the allocation has ended: \(why)")
  }

  private func end(_ complaint: String) {
    AllocationLines.over(complaint, into: &reports)
    isDone = true
  }

  private func release() {
    question?.giveUp()
    question = nil
    guard let salloc else { return }
    salloc.release()
    // A killed salloc has not cancelled the job.
    if let job = salloc.job { _ = SlurmProgram.cancel(job) }
  }
}
