internal import OpflowCore
internal import OpflowSystem

/// Machines that Slurm lends: an allocation is asked for, or this process runs in one.
extension Coordinator {
  /// Begins to talk with Slurm about each allocation that is wanted.
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
        // Slurm tells no reason before it has looked at it: it may be there at once.
        progress.wait(index, for: what, isNews: reason != nil, atMilliseconds: wall)
        noteAwaited(what, of: index, sites)
      case .granted(let job, let left): begin(job, left, index, sites)
      case .left(let seconds):
        if sites.allocations[index].setTimeLeft(seconds, at: Self.now) { tellEnd(of: index, sites) }
      case .over(let complaint): end(index, sites, complaint)
      }
    }
  }

  /// It is there: each of its nodes is one more place for an agent.
  private func begin(_ job: SlurmJob, _ left: Int64?, _ index: Int, _ sites: Sites) {
    sites.allocations[index].setTimeLeft(left, at: Self.now)
    sites.allocations[index].isGranted = true
    tellEnd(of: index, sites)
    if sites.allocations[index].awaited != nil {
      let nodes = job.nodes.map(\.name).joined(separator: ", ")
      progress.endWait(index, "job \(job.id) of Slurm runs on \(nodes)", atMilliseconds: wall)
      noteAwaited(nil, of: index, sites)
    }
    let plans =
      sites.allocations[index].allocation?
      .transports(job, program: sites.settings.program) ?? []
    for plan in plans { sites.add(plan, of: index, at: Self.now) }
  }

  /// When the time of its machines is over, for those that joined, and for this one where it is one of them.
  private func tellEnd(of index: Int, _ sites: Sites) {
    let end = sites.allocations[index].leavesAt
    for place in sites.places where place.allocation == index {
      if case .joined(_, let site) = place.state { tell(.siteEnds(site, end)) }
    }
    let isHere = sites.settings.allocations[index] == .inside && SlurmAllocation.isOnItsNode
    if isHere { tell(.siteEnds(.local, end)) }
  }

  /// There is none, or none any more.
  private func end(_ index: Int, _ sites: Sites, _ complaint: String) {
    progress.wait(index, for: nil, isNews: false, atMilliseconds: wall)
    noteAwaited(nil, of: index, sites)
    for (_, site) in sites.close(index, complaint: complaint) {
      tell(.siteLeaving(site, complaint: complaint))
    }
    // Where nothing else is left, the run says so as it stops.
    if closing == nil, !sites.areExhausted { progress.warning(complaint) }
  }

  /// For views of other processes.
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

  /// Ends what runs on machines whose time is nearly over, so that it ends by its own rules and is
  /// written down before Slurm ends all that it finds.
  func leaveEndingAllocations(_ sites: Sites, _ now: Instant) {
    for index in sites.allocations.indices where sites.allocations[index].isNearEnd(at: now) {
      for (launcher, site) in sites.close(index, complaint: Sites.overText) {
        tell(.siteLeaving(site, complaint: Sites.overText))
        launcher.dismiss()
      }
    }
  }
}
