internal import OpflowEngine
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowViews
internal import OpflowWire

/// Slurm allocations: requested by opflow, or around it.
extension Coordinator {
  func beginAllocations() {
    guard let sites else { return }
    for (index, want) in sites.settings.allocations.enumerated() {
      do throws(LaunchFailure) {
        let allocation = try SlurmAllocation(
          want, watch: watch, owner: .coordinator,
          place: Place.allocations + UInt32(truncatingIfNeeded: index),
          error: sites.complaints.rawDescriptor)
        sites.allocations.append(SiteAllocation(allocation))
      } catch {
        sites.allocations.append(SiteAllocation(nil))
        end(index, sites, error.what)
      }
    }
  }

  func hearAllocation(_ index: Int) {
    guard let sites, sites.allocations.indices.contains(index) else { return }
    while let news = sites.allocations[index].allocation?.next() {
      switch news {
      case .pending(let job, let reason):
        let what = reason.map { "job \(job) of Slurm waits: \($0)" } ?? "job \(job) of Slurm waits"
        // Slurm gives no reason before it has scheduled the job, which may start at once.
        show(.wait(index, for: what, isNews: reason != nil))
        noteAwaited(what, of: index, sites)
      case .granted(let job, let left): begin(job, left, index, sites)
      case .left(let seconds):
        if sites.allocations[index].setTimeLeft(seconds, at: Self.now) { tellEnd(of: index, sites) }
      case .over(let complaint): end(index, sites, complaint)
      }
    }
  }

  /// Adds a place for an agent on each node.
  private func begin(_ job: SlurmJob, _ left: Int64?, _ index: Int, _ sites: Sites) {
    sites.allocations[index].setTimeLeft(left, at: Self.now)
    sites.allocations[index].isGranted = true
    tellEnd(of: index, sites)
    if sites.allocations[index].awaited != nil {
      let nodes = job.nodes.map(\.name).joined(separator: ", ")
      show(.waitEnded(index, "job \(job.id) of Slurm runs on \(nodes)"))
      noteAwaited(nil, of: index, sites)
    }
    let plans =
      sites.allocations[index].allocation?
      .transports(job, program: sites.settings.program) ?? []
    for plan in plans { sites.add(plan, of: index, at: Self.now) }
  }

  /// When the allocation's nodes, perhaps this machine too, run out of time.
  private func tellEnd(of index: Int, _ sites: Sites) {
    let end = sites.allocations[index].leavesAt
    for place in sites.places where place.allocation == index {
      if case .joined(_, let site) = place.state { tell(.siteEnds(site, end)) }
    }
    let isHere = sites.settings.allocations[index] == .inside && SlurmAllocation.isOnItsNode
    if isHere { tell(.siteEnds(.local, end)) }
  }

  private func end(_ index: Int, _ sites: Sites, _ complaint: String) {
    show(.wait(index, for: nil, isNews: false))
    noteAwaited(nil, of: index, sites)
    for (_, site) in sites.close(index, complaint: complaint) {
      tell(.siteLeaving(site, complaint: complaint))
    }
    // If no other node is left, the run reports this when it stops.
    if closing == nil, !sites.areExhausted { progress.warning(complaint) }
  }

  /// For views in other processes.
  private func noteAwaited(_ what: String?, of index: Int, _ sites: Sites) {
    sites.allocations[index].awaited = what
    writeAwaited(sites)
  }

  func writeAwaited(_ sites: Sites) {
    let all = sites.allocations.compactMap(\.awaited) + sites.places.compactMap(\.awaited)
    if all.isEmpty {
      request.folder.removeAwaited()
    } else {
      request.folder.writeAwaited(all.joined(separator: "; "))
    }
  }

  /// Stops tasks by their own stop rules before Slurm kills them.
  func leaveEndingAllocations(_ sites: Sites, _ now: Instant) {
    for index in sites.allocations.indices where sites.allocations[index].isNearEnd(at: now) {
      for (launcher, site) in sites.close(index, complaint: Sites.overText) {
        tell(.siteLeaving(site, complaint: Sites.overText))
        launcher.dismiss()
      }
    }
  }
}
