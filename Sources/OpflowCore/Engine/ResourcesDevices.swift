/// GPUs that tasks have for themselves, where machines have them.
extension Resources {
  /// Whether tasks want GPUs of machines.
  @inline(__always)
  var haveDevices: Bool { gpu >= 0 }

  /// Lanes of this machine's tasks, or of others', that want more GPUs than that.
  func lanes(beyond gpus: UInt64, isLocal: Bool) -> [Int] {
    isUsed.indices.filter {
      isUsed[$0] && self.isLocal($0) == isLocal && self.gpus(of: $0) > gpus
    }
  }

  /// How many GPUs a task of a lane wants, those of the services that it needs included.
  func gpus(of lane: Int) -> UInt64 {
    let lanes = serviceLanes.contains(lane) ? serviceLanes.lanesTogether(lane) : [lane]
    return lanes.reduce(0) { $0 &+ grants.amount(of: gpu, in: grants.current($1)) } / 1000
  }
}
