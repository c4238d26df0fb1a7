/// GPUs of machines: who has which, and tasks that want more than any machine has.
extension Scheduler {
  /// Tells a worker which GPUs a task has that is about to start there. One that is handed ahead takes over those of the one
  /// before it.
  func tellDevices(of task: TaskID, to worker: WorkerID, into actions: inout StepQueue) {
    guard let devices = workforce.workers[worker.index].share?.devices, !devices.isEmpty else {
      return
    }
    actions.append(.order(worker, .devices(task, devices)))
  }

  /// Looks anew for what no machine of the drive has GPUs enough for, since machines are known, all are, or no further one comes.
  mutating func findBeyondDevices() {
    guard resources.haveDevices else { return }
    beyondDevices = resources.lanes(beyond: options.gpus, isLocal: true)
    if machines.areKnown || machines.noneComing != nil, let most = machines.mostDevices {
      beyondDevices += resources.lanes(beyond: most, isLocal: false)
    }
  }

  /// Fails ready tasks that want more GPUs than this machine has, or, once all are known, than any that they could run on
  /// ever had.
  ///
  /// - Returns: whether any failed; what became ready by that is to be dispatched.
  mutating func failBeyondDevices(into actions: inout StepQueue) -> Bool {
    if beyondDevices.isEmpty { return false }
    let lanes = Set(beyondDevices)
    let aside = machines.setAside.filter { lanes.contains(resources.lane(of: $0)) }
    for task in aside where mayStart(task) { machines.takeBack(task) }
    let queued = lanes.contains { ready.head($0) != nil }
    let ranks =
      queued ? ready.ranks.filter { lanes.contains(laneOf($0)) && mayStart(taskOf($0)) } : []
    ready.remove(Set(ranks), of: lanes)
    let tasks = ranks.map { taskOf($0) } + aside.filter { mayStart($0) }
    // One may be a service that stays, which the next one needs.
    for task in tasks.sorted(by: { $0.rawValue < $1.rawValue })
    where graph.state(task) == .ready {
      var transition = Transition(.failure, task, reason: .refused)
      let lane = resources.lane(of: task)
      transition.what =
        "it wants \(resources.gpus(of: lane)) of gpu, and "
        + (resources.isLocal(lane)
          ? "this machine has \(options.gpus)"
          : "no machine of the run has more than \(machines.mostDevices ?? 0)")
      graph.set(task, .waiting)
      settle(task, as: .failed, transition, into: &actions)
    }
    return !tasks.isEmpty
  }

  /// A ready task that wants more GPUs than any machine has that is left, where some are.
  var lackingDevices: TaskID? {
    guard resources.haveDevices else { return nil }
    let most = machines.inUse.compactMap { machines[$0].offer?.gpus }.max() ?? 0
    let lanes = Set(resources.lanes(beyond: most, isLocal: false))
    return ready.ranks.filter { lanes.contains(laneOf($0)) }.min().map { taskOf($0) }
  }

  private func taskOf(_ rank: Int32) -> TaskID { TaskID(ranking.task[Int(rank)]) }

  private func laneOf(_ rank: Int32) -> Int { resources.lane(of: taskOf(rank)) }
}
