package import OpflowCore
internal import OpflowSystem

extension StateFolder {
  /// The plan of an earlier run of the manifest that `isWanted`, verified, and that run. Runs that
  /// cannot be read are passed over, and those to which tasks were added, and only the newest few are looked at.
  package func plan(
    ofManifest path: String, where isWanted: (Plan) -> Bool
  ) -> (plan: Plan, run: RunFolder)? {
    guard let runs = try? runs(ofManifest: path, amongNewest: Self.maxPlansLookedAt) else {
      return nil
    }
    for run in runs {
      guard let candidate = try? run.mapPlan(), !candidate.hasRoom, isWanted(candidate),
        let plan = try? run.openPlan(), plan.key == candidate.key, !plan.hasRoom
      else { continue }
      return (plan, run)
    }
    return nil
  }

  private static let maxPlansLookedAt = 16
}

extension RunFolder {
  /// Makes the plan of another run, which is mapped as `shared`, that of this new one as well: the same
  /// file, since nobody ever writes to it, or a copy where it cannot have one more name.
  package func share(_ shared: Plan, of other: RunFolder) throws(RunFolderError) {
    do throws(Errno) {
      try Path.link(other.plan, to: plan)
      // A resume of the other run may just have put a new plan in the place of the one that is mapped, or tasks may
      // have been added to it.
      if let linked = try? mapPlan(), linked.key == shared.key, !linked.hasRoom { return }
      try Path.remove(plan)
    } catch {
      // Too many links, another file system below a mount, a folder that was just removed.
    }
    try write(plan: shared.copyOfBytes)
  }

  /// Makes the copies of the files that another run's manifest names those of this new one as well.
  func shareKeptFiles(of other: RunFolder) throws(RunFolderError) {
    if (try? Path.link(other.keptFiles, to: keptFiles)) != nil { return }
    try write(other.readKeptFiles())
  }
}
