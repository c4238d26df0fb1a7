internal import OpflowJournal
package import OpflowPlan

extension Scheduler {
  // MARK: - Taking over

  mutating func takeOver(_ held: [HeldService]) {
    for entry in held {
      let lane = resources.lane(of: entry.service)
      let share = resources.take(resources.wantedOfFree(lane), of: lane, at: .local)
      let worker = workforce.takeOver(
        entry.service, lane: lane, share, at: Instant(nanoseconds: 0))
      precondition(worker == entry.worker, "workers that were taken over come first")
      services.keepOver(entry.service, entry.ports)
      services.use.noteWorker(worker, of: entry.service)
      noteHeld(entry.service)
    }
  }

  mutating func tellKept(at now: Instant, into actions: inout StepQueue) {
    guard !services.keptOver.isEmpty else { return }
    if options.watchesWorkers { workforce.watch.listenAnew(at: now) }
    for service in services.all where services.keptOver.contains(service) {
      var transition = Transition(.ready, service, attempt: attempt[service.index])
      transition.what =
        ServicePorts(plan.portNames(of: service), services.up[service] ?? []).text
      actions.append(.tell(.transition(transition)))
    }
  }

  /// Confirms services with unchanged dependencies; ends the others.
  mutating func attendKept(at now: Instant, into actions: inout StepQueue) {
    var outdated: [TaskID] = []
    for service in services.all where services.keptOver.contains(service) {
      let needs = graph.needsOfKept(service) { need in
        services.stayed.contains(need)
          ? .met
          : services.keptOver.contains(need) && !outdated.contains(need) ? .open : .changed(need)
      }
      switch needs {
      case .open: break
      case .met:
        services.confirm(service)
        graph.meetAll(of: service)
        spread(from: service, into: &actions)
      case .changed(let need):
        services.noteOutdated(service, by: need)
        outdated.append(service)
      }
    }
    if outdated.isEmpty { return }
    // A service still used by another one is stopped after it.
    for service in outdated where services.use.users(of: service) == 0 {
      end(service, at: now, into: &actions)
    }
  }

  /// Whether a service of the previous session uses the task's output and must stop first.
  @inline(__always)
  func awaitsEndOfKept(_ task: TaskID) -> Bool {
    !services.keptOver.isEmpty && !graph.has(.mayKeep, task)
      && plan.dependents(task).contains {
        services.keptOver.contains(plan.dependent($0))
      }
  }

  /// Releases the dependencies of an ended service that was taken over; returns the changed one.
  mutating func leaveKeptOver(_ service: TaskID) -> TaskID? {
    let (wasKept, need) = services.leaveKeptOver(service)
    guard wasKept else { return nil }
    for edge in plan.needs(service) { letGo(TaskID(plan.needTargets[edge])) }
    return need
  }

  // MARK: - Passing on

  /// Local and up, in topological order.
  var heldServices: [HeldService] {
    services.all.compactMap { service in
      guard let ports = services.up[service], graph.state(service) == .running,
        let worker = services.use.workers[service]
      else { return nil }
      let record = workforce.workers[worker.index]
      if record.isStopping || record.isDiscarded || record.site != .local { return nil }
      return HeldService(
        service: service, worker: worker, attempt: attempt[service.index], ports: ports)
    }
  }

  mutating func passOn(_ kept: Set<TaskID>, into actions: inout StepQueue) {
    let held = Set(heldServices.map(\.service))
    services.passOn(
      kept.filter { held.contains($0) && servicesWanted(by: $0).allSatisfy(kept.contains) })
    leaveService(into: &actions)
  }

  /// Keeps a suspended service and its users from being passed on.
  mutating func keepBack(_ service: TaskID) {
    guard services.passedOn.contains(service) else { return }
    services.passOn(
      services.passedOn.filter { $0 != service && !servicesWanted(by: $0).contains(service) })
  }

  /// Nil if the session ends normally.
  var leavesServices: [HeldService]? {
    if services.passedOn.isEmpty || phase.stopCause != nil { return nil }
    let held = heldServices.filter { services.passedOn.contains($0.service) }
    return held.isEmpty ? nil : held
  }

  mutating func endPassingOn() -> [HeldService]? {
    guard !services.passedOn.isEmpty, phase.step == .main, mayEnd, let held = leavesServices else {
      return nil
    }
    phase.advance(to: .done)
    return held
  }
}

/// A service that passes to the next session.
package struct HeldService: Equatable, Sendable {
  package var service: TaskID
  /// Numbered by the session that has it now.
  package var worker: WorkerID
  package var attempt: Int32
  package var ports: [UInt16]

  package init(service: TaskID, worker: WorkerID, attempt: Int32, ports: [UInt16]) {
    self.service = service
    self.worker = worker
    self.attempt = attempt
    self.ports = ports
  }
}
