internal import OpflowJournal
internal import OpflowPlan
internal import OpflowWire

extension Scheduler {
  /// A prefetched task takes over the GPUs of the task before it.
  func tellDevices(of task: TaskID, to worker: WorkerID, into actions: inout StepQueue) {
    guard let devices = workforce.workers[worker.index].share?.devices, !devices.isEmpty else {
      return
    }
    actions.append(.order(worker, .devices(task, devices)))
  }

  mutating func findBeyondDevices() {
    guard resources.haveDevices else { return }
    beyondDevices = resources.lanes(beyond: options.gpus, isLocal: true)
    if machines.areKnown || machines.noneComing != nil, let most = machines.mostDevices {
      beyondDevices += resources.lanes(beyond: most, isLocal: false)
    }
  }

  /// Fails ready tasks that want more GPUs than the local node has or, once all nodes are known,
  /// than any remote one ever had.
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
    // An earlier failure may have ended a task that needs the same service.
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

  var lackingDevices: TaskID? {
    guard resources.haveDevices else { return nil }
    let most = machines.inUse.compactMap { machines[$0].offer?.gpus }.max() ?? 0
    let lanes = Set(resources.lanes(beyond: most, isLocal: false))
    return ready.ranks.filter { lanes.contains(laneOf($0)) }.min().map { taskOf($0) }
  }

  private func taskOf(_ rank: Int32) -> TaskID { TaskID(ranking.task[Int(rank)]) }

  private func laneOf(_ rank: Int32) -> Int { resources.lane(of: taskOf(rank)) }
}
