/// GPUs that tasks have for themselves, where machines have them.
extension Resources {
  /// Whether tasks want GPUs of machines.
  @inline(__always)
  var haveDevices: Bool { gpu >= 0 }

  /// Lanes of this machine's tasks, or of others', that want more GPUs than that.
  func lanes(beyond gpus: UInt64, isLocal: Bool) -> [Int] {
    lanes.all.indices.filter {
      lanes[$0].isUsed && self.isLocal($0) == isLocal && self.gpus(of: $0) > gpus
    }
  }

  /// How many GPUs a task of a lane wants, those of the services that it needs included.
  func gpus(of lane: Int) -> UInt64 {
    serviceLanes.lanesTogether(lane).reduce(0) {
      $0 &+ grants.amount(of: gpu, in: grants.current($1))
    } / 1000
  }
}
