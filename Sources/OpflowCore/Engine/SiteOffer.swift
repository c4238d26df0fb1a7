/// The resources of a node.
package struct SiteOffer: Equatable, Sendable {
  /// The capacity of `cpu`.
  package var cpu: UInt64
  package var memoryBytes: UInt64
  package var gpus: UInt64
  /// The end of the node's time; nil if not limited. Longer tasks do not start there.
  package var endsAt: Instant?

  package init(cpu: UInt64, memoryBytes: UInt64, gpus: UInt64 = 0, endsAt: Instant? = nil) {
    self.cpu = cpu
    self.memoryBytes = memoryBytes
    self.gpus = gpus
    self.endsAt = endsAt
  }
}

/// The host behind a node.
package struct SiteIdentity: Equatable, Sendable {
  /// The number of the host, equal for all its nodes; 0 is the local host.
  package var machine: Int32
  package var host: String
  /// The life of the job on the host; empty if unknown.
  package var incarnation: String
  /// The heartbeat timeout of its agent; 0 without one.
  package var leaseMilliseconds: Int64
  /// The local number of each of its GPUs; empty if it shares none with the local node.
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
