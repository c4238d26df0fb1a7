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

  /// nil if it was taken before.
  package func takeLock() -> RunFolderLock? { lock.take() }

  /// All workers mask these secrets.
  func know(_ secrets: [SecretValue]) -> Bool {
    links.values.allSatisfy { link in secrets.allSatisfy(link.secrets.contains) }
  }

  /// Ends the others by their stop rules. `kept` has task numbers of their session's plan.
  package func end(but kept: Set<TaskID>) {
    let ended = held.services.filter { !kept.contains($0.service) }
    var ends = EndsBetweenDrives()
    // Dependents end first.
    for service in ended.reversed() {
      guard let link = links.removeValue(forKey: service.service) else { continue }
      launcher.endBetweenDrives(link, service, held.plan.policy(service.service), &ends)
    }
    ends.leave()
    if links.isEmpty { launcher.cleanUp() }
  }

  /// Takes the links of services that the next session continues, with its task numbers; the
  /// workers are numbered in this order.
  func takeOver(_ own: [(service: TaskID, held: HeldService)]) -> [WorkerLink] {
    own.enumerated().compactMap { number, entry in
      links.removeValue(forKey: entry.held.service)?.handedOn(
        to: WorkerID(Int32(truncatingIfNeeded: number)), as: entry.service, from: entry.held.service
      )
    }
  }
}
