package import OpflowPlan

extension Resources {
  @inline(__always)
  var haveDevices: Bool { gpu >= 0 }

  /// True if use at a node may also be use in that pool.
  @inline(__always)
  func isHeld(_ resource: Int, at node: NodeID, in pool: Int) -> Bool {
    let own = poolIndex(of: resource, at: node)
    if own == pool { return true }
    if commonDevices.isEmpty || resource != gpu { return false }
    return commonDevices.areOf(node, NodeID(Int32(truncatingIfNeeded: pool)))
  }

  mutating func takeDevices(_ amount: UInt64, at node: NodeID) -> DeviceSet {
    let devices = devicesTaken[node.index].takeFirstMissing(Int(clamping: amount / 1000))
    if !commonDevices.isEmpty { takeElsewhere(devices, of: node) }
    return devices
  }

  mutating func giveDevices(_ devices: DeviceSet, at node: NodeID) {
    devicesTaken[node.index].subtract(devices)
    for (other, same) in commonDevices.elsewhere(devices, of: node) {
      devicesTaken[other.index].subtract(same)
      pools[other.index].give(UInt64(same.count) * 1000, of: gpu)
      look(at: other)
    }
  }

  private mutating func takeElsewhere(_ devices: DeviceSet, of node: NodeID) {
    for (other, same) in commonDevices.elsewhere(devices, of: node) {
      take(same, at: other)
      look(at: other)
    }
  }

  private mutating func take(_ devices: DeviceSet, at node: NodeID) {
    devicesTaken[node.index].formUnion(devices)
    pools[node.index].take(UInt64(devices.count) * 1000, of: gpu)
  }

  /// Some common GPUs may be in use.
  mutating func noteCommon(_ devicesHere: [Int?], of node: NodeID) {
    commonDevices.join(devicesHere)
    let taken = commonDevices.elsewhere(devicesTaken[NodeID.local.index], of: .local)
    guard let same = taken.first(where: { $0.node == node })?.devices else { return }
    take(same, at: node)
    // The new node's GPU capacity may be 0.
    hasShrunk = true
  }

  func demandClasses(beyond gpus: UInt64, isLocal: Bool) -> [Int] {
    demandClasses.all.indices.filter {
      demandClasses[$0].isUsed && self.isLocal($0) == isLocal && self.gpus(of: $0) > gpus
    }
  }

  func gpus(of demandClass: Int) -> UInt64 {
    serviceClasses.classesTogether(demandClass).reduce(0) {
      $0 &+ grants.amount(of: gpu, in: grants.current($1))
    } / 1000
  }
}

/// GPUs that a remote node shares with the local one, as on the first node of a batch job. A GPU in
/// use on one is in use on both.
struct CommonDevices {
  /// By node: the local number of each GPU, or empty.
  private var here: [[Int?]] = [[]]
  private var nodes: [NodeID] = []

  var isEmpty: Bool { nodes.isEmpty }

  mutating func join(_ devicesHere: [Int?]) {
    let node = NodeID(Int32(truncatingIfNeeded: here.count))
    let hasAny = devicesHere.contains { $0 != nil }
    here.append(hasAny ? devicesHere : [])
    if hasAny { nodes.append(node) }
  }

  func areOf(_ first: NodeID, _ second: NodeID) -> Bool {
    if first == second { return true }
    return (first == .local || nodes.contains(first))
      && (second == .local || nodes.contains(second))
  }

  /// With the numbers of the GPUs there.
  func elsewhere(_ devices: DeviceSet, of node: NodeID) -> [(node: NodeID, devices: DeviceSet)] {
    let local =
      node == .local ? devices : DeviceSet(devices.numbers.compactMap { number(of: $0, at: node) })
    if local.isEmpty { return [] }
    var found: [(node: NodeID, devices: DeviceSet)] = node == .local ? [] : [(.local, local)]
    for other in nodes where other != node {
      let numbers = here[other.index].indices.filter { place in
        number(of: place, at: other).map { !local.isDisjoint(with: DeviceSet([$0])) } ?? false
      }
      if !numbers.isEmpty { found.append((other, DeviceSet(numbers))) }
    }
    return found
  }

  private func number(of device: Int, at node: NodeID) -> Int? {
    device < here[node.index].count ? here[node.index][device] : nil
  }
}

package struct NodeOffer: Equatable, Sendable {
  package var cpu: UInt64
  package var memoryBytes: UInt64
  package var gpus: UInt64
  /// Nil if not limited. Longer tasks do not start on the node.
  package var endsAt: Instant?

  package init(cpu: UInt64, memoryBytes: UInt64, gpus: UInt64 = 0, endsAt: Instant? = nil) {
    self.cpu = cpu
    self.memoryBytes = memoryBytes
    self.gpus = gpus
    self.endsAt = endsAt
  }
}

package struct NodeIdentity: Equatable, Sendable {
  /// Equal for all nodes of the host; 0 is the local host.
  package var machine: Int32
  package var host: String
  /// The life of the job on the host; empty if unknown.
  package var incarnation: String
  /// The heartbeat timeout of its agent; 0 without one.
  package var leaseMilliseconds: Int64
  /// The local number of each of its GPUs; empty if it shares none.
  package var devicesHere: [Int?] = []

  package init(machine: Int32, host: String, incarnation: String = "", leaseMilliseconds: Int64 = 0)
  {
    self.machine = machine
    self.host = host
    self.incarnation = incarnation
    self.leaseMilliseconds = leaseMilliseconds
  }
}
