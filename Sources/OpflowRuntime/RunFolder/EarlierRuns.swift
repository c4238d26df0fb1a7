package import OpflowJournal
package import OpflowPlan
internal import OpflowSystem

extension StateFolder {
  /// How long tasks took in earlier runs of a manifest except `own`. A hint only: unreadable runs
  /// are skipped, and of the newest few journals only the last bytes are read, as many as
  /// `EarlierDurations` allows.
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

  /// Journals whose first line is read to find the manifest's runs.
  private static let maxRunsLookedAt = 32
  private static let maxJournalsRead = 4

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
