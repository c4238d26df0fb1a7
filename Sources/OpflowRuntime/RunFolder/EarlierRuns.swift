package import OpflowCore
internal import OpflowSystem

extension StateFolder {
  /// How long the tasks of `plan` took in earlier runs of a manifest that are kept here.
  ///
  /// A hint, which a drive does as well without: runs that cannot be read are passed over. The newest
  /// few runs are looked at, and of their journals no more than `EarlierDurations` allows for a plan of
  /// this size, from the end.
  ///
  /// - Parameter own: a run that is new, and has nothing to tell yet; nil for none.
  package func durations(
    ofManifest path: String, plan: Plan, but own: RunID? = nil
  ) -> TaskDurations {
    var earlier = EarlierDurations(plan: plan)
    var remaining = EarlierDurations.byteLimit(taskCount: plan.taskCount)
    var journals = 0
    guard let runs = try? runs(ofManifest: path, but: own, amongNewest: Self.maxRunsLookedAt)
    else { return .unknown }
    for run in runs {
      if earlier.isComplete || remaining <= 0 || journals == Self.maxJournalsRead { break }
      let count = read(run, atMost: remaining, into: &earlier)
      if count > 0 { journals += 1 }
      remaining -= count
    }
    return earlier.durations()
  }

  /// Journals whose first line is read, to see whose they are.
  private static let maxRunsLookedAt = 32
  private static let maxJournalsRead = 4

  /// Returns how many bytes were looked at.
  private func read(
    _ run: RunFolder, atMost limit: Int, into earlier: inout EarlierDurations
  ) -> Int {
    let count = try? run.withJournal { bytes throws(JournalError) -> Int in
      let end = bytes.suffix(limit)
      earlier.read(UnsafeRawBufferPointer(rebasing: end))
      return end.count
    }
    return count ?? 0
  }
}
