package import OpflowPlan

package struct SiteOffer: Equatable, Sendable {
  package var cpu: UInt64
  package var memoryBytes: UInt64
  package var gpus: UInt64
  /// Of the node's time; nil if not limited. Longer tasks do not start there.
  package var endsAt: Instant?

  package init(cpu: UInt64, memoryBytes: UInt64, gpus: UInt64 = 0, endsAt: Instant? = nil) {
    self.cpu = cpu
    self.memoryBytes = memoryBytes
    self.gpus = gpus
    self.endsAt = endsAt
  }
}

package struct SiteIdentity: Equatable, Sendable {
  /// Equal for all nodes of the host; 0 is the local host.
  package var machine: Int32
  package var host: String
  /// The life of the job on the host; empty if unknown.
  package var incarnation: String
  /// The heartbeat timeout of its agent; 0 without one.
  package var leaseMilliseconds: Int64
  /// The local number of each of its GPUs; empty if it shares none.
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
