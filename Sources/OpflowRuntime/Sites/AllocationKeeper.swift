internal import OpflowCore
internal import OpflowSystem

/// Keeps an allocation of Slurm for a coordinator, as a process of its own, since it waits for Slurm, and
/// the coordinator waits for nothing:
///
///     PROGRAM allocation inside
///     PROGRAM allocation ask QUEUE-MILLISECONDS [OPTION...]
///
/// *inside*: the allocation that it runs in, which stays when it leaves. *ask*: one that it asks for, which
/// ends with it. QUEUE-MILLISECONDS are how long to wait for that, 0 for ever; OPTIONS are salloc's.
/// Standard input and output carry `AllocationLines`.
///
/// Who ends an allocation that was asked for
/// -----------------------------------------
///
///     died                 then
///     coordinator          this process reads the end of its orders, ends salloc, and cancels the job
///     this process         salloc is told to end by the kernel, and what it runs reads the end of its input
///     salloc               this process sees that and cancels the job; one that was pending is ended by
///                          Slurm when its turn comes
///     what salloc runs     salloc gives the job back
///     all of them at once  the agents cancel the job when their lease has run out
package final class AllocationKeeper {
  /// The word on the command line.
  package static let command = "allocation"

  private var reports = FieldWriter()
  private let signals: SignalDescriptor
  /// nil inside of an allocation.
  private let salloc: SallocProcess?
  private var job: Int64?
  private var facts: (nodes: String, cpus: String)?
  /// How long it is waited for; nil for ever.
  private let queue: (milliseconds: Int64, deadline: Instant)?

  private var isAnnounced = false
  private var reason: String?
  private var question: SlurmProgram?
  private var nextQuestionAt: Instant
  private var questionsWhilePending: Int64 = 0
  /// There is none, or none any more, or nobody wants to know.
  private var isDone = false

  private static let mostPendingMilliseconds: Int64 = 15_000
  /// Limits can be changed while a job runs.
  private static let mostRunningMilliseconds: Int64 = 60_000
  private static let leastRunningMilliseconds: Int64 = 5_000

  private enum Slot {
    static let orders = 0, signals = 1, question = 2
    /// And the two behind it.
    static let salloc = 3
  }

  /// Returns the exit code: 0, 2 for wrong arguments, 74 when it cannot begin.
  package static func run(arguments: [String]) -> Int32 {
    guard let want = SlurmAllocation.Want(words: arguments) else { return 2 }
    do throws(Errno) {
      let keeper: AllocationKeeper
      do throws(LaunchFailure) {
        keeper = try AllocationKeeper(want)
      } catch {
        var reports = FieldWriter()
        AllocationLines.over(error.what, into: &reports)
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
    do throws(Errno) {
      signals = try SignalDescriptor([.terminate, .interrupt, .hangup])
    } catch {
      throw LaunchFailure(what: "signals cannot be heard: \(error)")
    }
    guard salloc == nil else { return }
    guard let job = Environment.value("SLURM_JOB_ID").flatMap({ Int64($0) }),
      let nodes = Environment.value("SLURM_JOB_NODELIST"),
      let cpus = Environment.value("SLURM_JOB_CPUS_PER_NODE")
    else {
      throw LaunchFailure(what: "this is no allocation: SLURM_JOB_ID and the like are not set")
    }
    self.job = job
    facts = (nodes, cpus)
  }

  private static var now: Instant { Instant(nanoseconds: Clock.monotonicNanoseconds) }

  private func work() throws(Errno) {
    var wait = PollSet(slots: Slot.salloc + 3)
    wait.set(Slot.orders, 0)
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
      // Nobody says anything to it: what there is to read is the end.
      if wait.isReady(Slot.signals) || wait.isReady(Slot.orders) { return }
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

  /// Asks what is to be asked now, one question at a time.
  private func ask() {
    guard let job else { return }
    guard question == nil, Self.now >= nextQuestionAt else { return }
    do throws(LaunchFailure) {
      question = try SlurmProgram(SlurmQuery.words(job: job))
    } catch {
      // What is told by others is told without.
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
      end("no allocation came within \(queue.milliseconds / 1000) s\(why)")
    }
  }

  /// What squeue says of the job; nil where it says nothing.
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
    // Near the end it matters more that it may be another one by now.
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

  // MARK: - The allocation that was asked for

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
      // An answer that is on its way may be of the time before.
      question?.giveUp()
      question = nil
      nextQuestionAt = Self.now
    }
    if ended.output { wait.clear(Slot.salloc) }
    if ended.error { wait.clear(Slot.salloc + 1) }
    guard wait.isReady(Slot.salloc + 2) else { return }
    salloc.takeEnd()
    let why = salloc.complaint ?? "salloc ended without a word"
    end(facts == nil ? "Slurm gives no allocation: \(why)" : "the allocation has ended: \(why)")
  }

  /// There is none, or none any more.
  private func end(_ complaint: String) {
    AllocationLines.over(complaint, into: &reports)
    isDone = true
  }

  /// Leaves nothing of it in Slurm's queue. An allocation that it runs in is not its own.
  private func release() {
    question?.giveUp()
    question = nil
    guard let salloc else { return }
    salloc.release()
    // Where salloc was killed, nobody else does it.
    if let job = salloc.job { _ = SlurmProgram.cancel(job) }
  }
}
