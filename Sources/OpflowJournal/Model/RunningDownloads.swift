package import OpflowPlan
package import OpflowWire

/// The reported progress of running downloads.
package struct RunningDownloads: Sendable {
  package struct Entry: Equatable, Sendable {
    package var attempt: Int32
    package var progress: DownloadProgress

    package init(attempt: Int32, progress: DownloadProgress) {
      self.attempt = attempt
      self.progress = progress
    }
  }

  /// With or without a report.
  private var attempts: [TaskID: Int32] = [:]
  package private(set) var entries: [TaskID: Entry] = [:]

  package init() {}

  package mutating func apply(_ transition: Transition, plan: Plan) {
    let task = transition.task
    guard !task.isNone, plan.kind(task) == .download else { return }
    if transition.event == .start {
      attempts[task] = transition.attempt
      entries[task] = nil
    } else if transition.endsTry {
      attempts[task] = nil
      entries[task] = nil
    }
  }

  package mutating func take(
    _ report: WorkerProgress, atMilliseconds now: Int64
  ) -> DownloadProgress? {
    guard let attempt = attempts[report.task] else { return nil }
    let progress = DownloadProgress(
      doneBytes: report.doneBytes, totalBytes: report.totalBytes,
      bytesPerSecond: report.bytesPerSecond, resumedBytes: report.resumedBytes,
      toldMilliseconds: now)
    entries[report.task] = Entry(attempt: attempt, progress: progress)
    return progress
  }
}
