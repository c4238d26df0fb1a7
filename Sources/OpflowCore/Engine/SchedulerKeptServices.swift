/// Services that go on from one drive to the next (`Services`).
extension Scheduler {
  // MARK: - Taking over

  /// Takes over what an earlier drive left up.
  mutating func takeOver(_ held: [HeldService]) {
    for entry in held {
      let lane = resources.lane(of: entry.service)
      let share = resources.take(resources.wantedOfFree(lane), of: lane, at: .local)
      let worker = workforce.takeOver(
        entry.service, lane: lane, share, at: Instant(nanoseconds: 0))
      precondition(worker == entry.worker, "workers that were taken over come first")
      services.keepOver(entry.service, entry.ports)
    }
  }

  /// Tells that they are there.
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

  /// Sees whether what they need is as it was: then they are there for what needs them, else they end.
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
    // One that another one has still ends behind that.
    let active = activeServices
    for service in outdated where !active.contains(service) {
      end(service, at: now, into: &actions)
    }
  }

  /// Whether a service is to end before the task starts, which it needs: it runs what that makes.
  @inline(__always)
  func awaitsEndOfKept(_ task: TaskID) -> Bool {
    !services.keptOver.isEmpty && !graph.has(.mayKeep, task)
      && plan.dependents(task).contains {
        services.keptOver.contains(plan.dependent($0))
      }
  }

  /// A try of a service has ended, which an earlier drive may have left up: what it needs may run now.
  ///
  /// - Returns: what it was ended for; nil where that is nothing of what it needs.
  mutating func leaveKeptOver(_ service: TaskID) -> TaskID? {
    let (wasKept, need) = services.leaveKeptOver(service)
    guard wasKept else { return nil }
    for edge in plan.needs(service) { letGo(TaskID(plan.needTargets[edge])) }
    return need
  }

  // MARK: - Passing on

  /// Those of this machine that are up and go on, behind those that they need.
  var heldServices: [HeldService] {
    let workers = workforce.living.filter {
      let record = workforce.workers[$0.index]
      return record.phase == .busy && !record.isStopping && !record.isDiscarded
        && record.site == .local
    }
    return services.all.compactMap { service in
      guard let ports = services.up[service], graph.state(service) == .running,
        let worker = workers.first(where: { workforce.workers[$0.index].current == service })
      else { return nil }
      return HeldService(
        service: service, worker: worker, attempt: attempt[service.index], ports: ports)
    }
  }

  /// Ends all but those of a run that only serves, and then the drive.
  mutating func passOn(_ kept: Set<TaskID>, into actions: inout StepQueue) {
    let held = Set(heldServices.map(\.service))
    services.passOn(
      kept.filter { held.contains($0) && servicesWanted(by: $0).allSatisfy(kept.contains) })
    leaveService(into: &actions)
  }

  /// A service stands still by an order, which is of this drive alone: it does not go on behind it, nor what needs it.
  mutating func keepBack(_ service: TaskID) {
    guard services.passedOn.contains(service) else { return }
    services.passOn(
      services.passedOn.filter { $0 != service && !servicesWanted(by: $0).contains(service) })
  }

  /// What goes on when nothing else is left; nil where the drive ends as any other.
  var leavesServices: [HeldService]? {
    if services.passedOn.isEmpty || phase.stopCause != nil { return nil }
    let held = heldServices.filter { services.passedOn.contains($0.service) }
    return held.isEmpty ? nil : held
  }

  /// Ends the drive where nothing is left but what goes on.
  mutating func endPassingOn() -> [HeldService]? {
    guard !services.passedOn.isEmpty, phase.step == .main, mayEnd, let held = leavesServices else {
      return nil
    }
    phase.advance(to: .done)
    return held
  }
}

/// A service that goes on from one drive to the next.
package struct HeldService: Equatable, Sendable {
  package var service: TaskID
  /// Who has it: by the number in the drive that it is told to, or by.
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
