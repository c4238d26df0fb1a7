internal import OpflowBase
package import OpflowPlan
package import OpflowWire

package struct DownloadProgress: Equatable, Sendable {
  package var doneBytes: Int64
  package var totalBytes: Int64?
  /// The mean of the seconds before `toldMilliseconds`.
  package var bytesPerSecond: Int64
  /// The size of the part file when the attempt began.
  package var resumedBytes: Int64 = 0
  /// The worker's last report.
  package var toldMilliseconds: Int64

  /// Bounds untrusted values, so that sums do not overflow.
  private static let limit: Int64 = 1 << 60
  /// Workers report every 0.1 s; a reader may lag by a second.
  private static let lateMilliseconds: Int64 = 1000
  private static let stalledMilliseconds: Int64 = 3000

  package init(
    doneBytes: Int64, totalBytes: Int64?, bytesPerSecond: Int64, resumedBytes: Int64 = 0,
    toldMilliseconds: Int64
  ) {
    self.doneBytes = min(max(0, doneBytes), Self.limit)
    self.totalBytes = totalBytes.flatMap { $0 < 0 ? nil : min($0, Self.limit) }
    self.bytesPerSecond = min(max(0, bytesPerSecond), Self.limit)
    self.resumedBytes = min(max(0, resumedBytes), Self.limit)
    self.toldMilliseconds = toldMilliseconds
  }

  /// nil if the size is unknown.
  package var percent: Int? { fraction(of: 100) }

  package func fraction(of steps: Int) -> Int? {
    guard let totalBytes, totalBytes > 0 else { return nil }
    return Int(min(1, Double(doneBytes) / Double(totalBytes)) * Double(steps))
  }

  private var isComplete: Bool { totalBytes.map { $0 > 0 && doneBytes >= $0 } ?? false }

  package func stalledMilliseconds(at now: Int64) -> Int64? {
    let silence = silence(at: now)
    return silence >= Self.stalledMilliseconds && !isComplete ? silence : nil
  }

  private func silence(at now: Int64) -> Int64 {
    now.subtractingReportingOverflow(toldMilliseconds).partialValue
  }

  /// Decreases without reports, to 0 when the download is stalled.
  package func bytesPerSecond(at now: Int64) -> Int64 {
    let silence = silence(at: now)
    if silence <= Self.lateMilliseconds { return bytesPerSecond }
    let left = max(0, Self.stalledMilliseconds - silence)
    return Int64(
      Double(bytesPerSecond) * Double(left)
        / Double(Self.stalledMilliseconds - Self.lateMilliseconds))
  }

  /// Rounded up; nil if size or speed is unknown.
  package func secondsLeft(at now: Int64) -> Int64? {
    let speed = bytesPerSecond(at: now)
    guard let totalBytes, totalBytes >= doneBytes, speed > 0 else { return nil }
    return totalBytes.minus(doneBytes).plus(speed - 1) / speed
  }
}

package struct DownloadTotals {
  package private(set) var files = 0
  package private(set) var kept = 0
  package private(set) var fetchedBytes: Int64 = 0
  package private(set) var resumedBytes: Int64 = 0

  mutating func add(_ report: FetchReport) {
    files += 1
    if report.isKept { kept += 1 }
    fetchedBytes = Self.sum(fetchedBytes, report.fetchedBytes)
    resumedBytes = Self.sum(resumedBytes, report.resumedBytes)
  }

  private static func sum(_ one: Int64, _ other: Int64) -> Int64 {
    let (sum, overflow) = one.addingReportingOverflow(max(0, other))
    return overflow ? .max : sum
  }
}

package struct RunningDownloads: Sendable {
  package struct Entry: Equatable, Sendable {
    package var attempt: Int32
    package var progress: DownloadProgress

    package init(attempt: Int32, progress: DownloadProgress) {
      self.attempt = attempt
      self.progress = progress
    }
  }

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

// Progress of running downloads, for other processes (`progress` in a run's folder)
// =================================================================================
//
// A line `progress<TAB>1` with the format's version, then a line for each download that has
// reported, escaped as in the journal:
//
//   ATTEMPT<TAB>TIME<TAB>DONE<TAB>TOTAL<TAB>SPEED<TAB>RESUMED<TAB>TASK<LF>
//
// Times are milliseconds since the epoch; an unknown TOTAL is -1. The coordinator replaces the file
// by a rename at most once a second and removes it at the end. The attempt reveals a file that a
// killed coordinator left. Decisions do not depend on the file.

package enum ProgressNotes {
  private static let version = 1

  package static func encoded(_ running: RunningDownloads, plan: Plan) -> [UInt8] {
    var writer = FieldWriter()
    writer.raw("progress\t")
    writer.number(version)
    writer.endLine()
    for (task, entry) in running.entries.sorted(by: { $0.key.index < $1.key.index }) {
      let progress = entry.progress
      for value in [
        Int64(entry.attempt), progress.toldMilliseconds, progress.doneBytes,
        progress.totalBytes ?? -1, progress.bytesPerSecond, progress.resumedBytes,
      ] {
        writer.number(value)
        writer.tab()
      }
      writer.escaped(plan.nameBytes(task))
      writer.endLine()
    }
    return writer.bytes
  }

  /// Empty for another version. Ignores invalid lines.
  package static func read(_ notes: [UInt8], plan: Plan) -> [TaskID: RunningDownloads.Entry] {
    var entries: [TaskID: RunningDownloads.Entry] = [:]
    var lines = LineSlices(notes)
    guard let first = lines.next(), first.elementsEqual("progress\t\(version)".utf8) else {
      return [:]
    }
    for line in lines {
      let fields = line.split(separator: Field.tab, omittingEmptySubsequences: false)
      guard fields.count == 7, let name = Field.text(fields[6]), let task = plan.task(named: name),
        let attempt: Int32 = Field.number(fields[0]), let told: Int64 = Field.number(fields[1]),
        told >= 0, let done: Int64 = Field.number(fields[2]),
        let total: Int64 = Field.number(fields[3]), let speed: Int64 = Field.number(fields[4]),
        let resumed: Int64 = Field.number(fields[5])
      else { continue }
      entries[task] = RunningDownloads.Entry(
        attempt: attempt,
        progress: DownloadProgress(
          doneBytes: done, totalBytes: total, bytesPerSecond: speed, resumedBytes: resumed,
          toldMilliseconds: told))
    }
    return entries
  }
}

package struct LastDownloads: Sendable {
  private var bySource: [UInt64: (milliseconds: Int64, record: FetchRecord)] = [:]

  package init() {}

  package mutating func read(_ journal: UnsafeRawBufferPointer) {
    guard var reader = try? JournalReader(journal) else { return }
    while let line = reader.next() {
      guard line.event == .transition(.success), let record = line.fetch,
        record.report.sizeBytes > 0 || !record.report.sha256.isEmpty
      else { continue }
      let known = bySource[record.report.source]
      if let known, known.milliseconds > line.milliseconds { continue }
      bySource[record.report.source] = (line.milliseconds, record)
    }
  }

  package func report(from url: String) -> FetchReport? {
    bySource[FetchReport.sourceHash(url)]?.record.report
  }
}
