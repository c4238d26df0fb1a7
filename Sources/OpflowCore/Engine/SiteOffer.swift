/// What a machine has for tasks.
package struct SiteOffer: Equatable, Sendable {
  /// Capacity of `cpu`.
  package var cpu: UInt64
  package var memoryBytes: UInt64
  package var gpus: UInt64
  /// When its time is over, where that is limited: a task that takes longer does not start there.
  package var endsAt: Instant?

  package init(cpu: UInt64, memoryBytes: UInt64, gpus: UInt64 = 0, endsAt: Instant? = nil) {
    self.cpu = cpu
    self.memoryBytes = memoryBytes
    self.gpus = gpus
    self.endsAt = endsAt
  }
}

/// Which machine a site is.
package struct SiteIdentity: Equatable, Sendable {
  /// The same for all sites of a drive that are one machine, and not 0, which is the coordinator's.
  package var machine: Int32
  package var host: String
  /// What tells this life of the machine's job from an earlier one; empty where nothing does.
  package var incarnation: String
  /// Of its agent; 0 where it has none.
  package var leaseMilliseconds: Int64
  /// Of each of its GPUs, which of the coordinator's machine that is; empty where it has none of those.
  package var devicesHere: [Int?] = []

  package init(
    machine: Int32, host: String, incarnation: String = "", leaseMilliseconds: Int64 = 0
  ) {
    self.machine = machine
    self.host = host
    self.incarnation = incarnation
    self.leaseMilliseconds = leaseMilliseconds
  }
}
