package import OpflowCore
internal import OpflowSystem

/// Services that go on when a drive has ended, until the one that follows it in this process takes them over: the
/// workers that have them, and the right to drive the run, so that nobody comes between.
package final class PassedServices {
  package let held: HeldServices
  let launcher: LocalLauncher
  private var links: [TaskID: WorkerLink]
  private var lock: RunFolderLock?

  /// - Parameter links: of the workers, which nobody listens to any more.
  init(
    _ held: HeldServices, _ links: [TaskID: WorkerLink], _ launcher: LocalLauncher,
    lock: consuming RunFolderLock
  ) {
    self.held = held
    self.links = links
    self.launcher = launcher
    self.lock = consume lock
  }

  /// Whether none is left.
  var isEmpty: Bool { links.isEmpty }

  /// The right to drive the run. There is none for whom it was taken before.
  package func takeLock() -> RunFolderLock? { lock.take() }

  /// Whether each of the workers knows these, so that nothing that it writes shows one.
  func know(_ secrets: [SecretValue]) -> Bool {
    links.values.allSatisfy { link in secrets.allSatisfy(link.secrets.contains) }
  }

  /// Ends those that no drive takes over, by their stop rules.
  ///
  /// - Parameter kept: as the plan of their drive has them.
  package func end(but kept: Set<TaskID>) {
    let ended = held.services.filter { !kept.contains($0.service) }
    var ends = EndsBetweenDrives()
    // What needs others goes before these.
    for service in ended.reversed() {
      guard let link = links.removeValue(forKey: service.service) else { continue }
      launcher.endBetweenDrives(link, service, held.plan.policy(service.service), &ends)
    }
    ends.leave()
    if links.isEmpty { launcher.cleanUp() }
  }

  /// The links of those that are taken over, by their numbers in the plan of the drive that does.
  ///
  /// - Parameter own: these numbers, by those of the plan before; the workers are numbered in this order.
  func takeOver(_ own: [(service: TaskID, held: HeldService)]) -> [WorkerLink] {
    own.enumerated().compactMap { number, entry in
      links.removeValue(forKey: entry.held.service)?.handedOn(
        to: WorkerID(Int32(truncatingIfNeeded: number)), as: entry.service, from: entry.held.service
      )
    }
  }
}
