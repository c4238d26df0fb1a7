package import OpflowPlan
internal import OpflowSystem

extension StateFolder {
  /// The verified plan of an earlier run of the manifest. Skips runs that are unreadable, have
  /// added tasks, or are not among the newest few.
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
  /// `shared` is mapped from the other run. A hard link, since the file is never written, or else a
  /// copy.
  package func share(_ shared: Plan, of other: RunFolder) throws(RunFolderError) {
    do throws(Errno) {
      try Path.link(other.plan, to: plan)
      // A resume may just have replaced the other run's plan, or tasks were added to it.
      if let linked = try? mapPlan(), linked.key == shared.key, !linked.hasRoom { return }
      try Path.remove(plan)
    } catch {
      // Too many links, another mount, or a folder that was just removed.
    }
    try write(plan: shared.copyOfBytes)
  }

  func shareKeptFiles(of other: RunFolder) throws(RunFolderError) {
    if (try? Path.link(other.keptFiles, to: keptFiles)) != nil { return }
    try write(other.readKeptFiles())
  }
}
