internal import OpflowBase
internal import OpflowEngine
package import OpflowPlan
internal import OpflowSystem

/// Services that stay up between two sessions of this process: their workers, and the run's lock,
/// so that no other process can intervene.
package final class PassedServices {
  package let held: HeldServices
  let launcher: LocalLauncher
  private var links: [TaskID: WorkerLink]
  private var lock: RunFolderLock?

  /// Takes released links.
  init(
    _ held: HeldServices, _ links: [TaskID: WorkerLink], _ launcher: LocalLauncher,
    lock: consuming RunFolderLock
  ) {
    self.held = held
    self.links = links
    self.launcher = launcher
    self.lock = consume lock
  }

  var isEmpty: Bool { links.isEmpty }

  /// nil after the first call.
  package func takeLock() -> RunFolderLock? { lock.take() }

  func know(_ secrets: [SecretValue]) -> Bool {
    links.values.allSatisfy { link in secrets.allSatisfy(link.secrets.contains) }
  }

  /// Ends other services by their stop rules. `kept` has task numbers of their session's plan.
  package func end(but kept: Set<TaskID>) {
    let ended = held.services.filter { !kept.contains($0.service) }
    var ends = EndsBetweenSessions()
    // Dependents end first.
    for service in ended.reversed() {
      guard let link = links.removeValue(forKey: service.service) else { continue }
      launcher.endBetweenSessions(link, service, held.plan.policy(service.service), &ends)
    }
    ends.leave()
    if links.isEmpty { launcher.cleanUp() }
  }

  /// Returns the links of services that the next session continues, with its task numbers. Workers
  /// are numbered in this order.
  func takeOver(_ own: [(service: TaskID, held: HeldService)]) -> [WorkerLink] {
    own.enumerated().compactMap { number, entry in
      links.removeValue(forKey: entry.held.service)?.handedOn(
        to: WorkerID(Int32(truncatingIfNeeded: number)), as: entry.service, from: entry.held.service
      )
    }
  }
}

/// Services that are up, numbered as in the plan of their session.
package struct HeldServices: Sendable {
  let plan: Plan
  let services: [HeldService]

  /// Returns the services that `other` defines unchanged, by their numbers there.
  func unchanged(in other: Plan) -> [TaskID: HeldService] {
    guard plan.string(plan.manifest.folder) == other.string(other.manifest.folder),
      plan.concurrency == other.concurrency, plan.hasMemoryLimits || !other.hasMemoryLimits
    else { return [:] }
    var found: [TaskID: HeldService] = [:]
    for held in services {
      guard let task = other.task(named: plan.nameString(held.service)),
        isSame(held.service, task, in: other)
      else { continue }
      found[task] = held
    }
    return found
  }

  private func isSame(_ service: TaskID, _ task: TaskID, in other: Plan) -> Bool {
    other.isService(task) && plan.fingerprint(service) == other.fingerprint(task)
      && plan.policy(service) == other.policy(task)
      && plan.readiness(of: service) == other.readiness(of: task)
      && plan.restarts(of: service) == other.restarts(of: task)
      && plan.portNames(of: service) == other.portNames(of: task)
      && plan.secretNames(service) == other.secretNames(task)
      && plan.record(service).processes.isSameOfPrograms(as: other.record(task).processes)
      // Values that the service read may have changed.
      && !plan.flags(service).contains(.readsValues) && !other.flags(task).contains(.readsValues)
  }
}

/// Waits for services that end between two sessions. The first stop signal is kept for the next
/// session; the second ends all waiting.
struct EndsBetweenSessions: ~Copyable {
  private var signals: SignalDescriptor?
  private var first: Signal?
  private var isUrgent = false

  init() {
    var asking: SignalSet = [.terminate]
    asking.insert(unlessIgnored: .hangup, .interrupt)
    signals = try? SignalDescriptor(asking)
  }

  /// `process` is readable once it has ended. Returns true if it has.
  mutating func wait(for process: Int32, atMostMilliseconds most: Int64) throws(Errno) -> Bool {
    let deadline = Clock.monotonicNanoseconds + most * 1_000_000
    var poll = PollSet(slots: 2)
    poll.set(0, process)
    poll.set(1, signals?.rawValue ?? -1)
    while !isUrgent {
      let left = max(0, deadline - Clock.monotonicNanoseconds)
      guard try poll.wait(nanoseconds: left) else { return false }
      if poll.isReady(0) { return true }
      while let (signal, _) = try signals?.next() {
        isUrgent = first != nil
        first = first ?? signal
      }
    }
    return false
  }

  consuming func leave() {
    if let first { try? ProcessID.sendSelf(first) }
  }
}
