internal import OpflowBase
package import OpflowPlan

// Progress of running downloads, for other processes (`progress` in a run's folder)
// =================================================================================
//
// A line `progress<TAB>1` with the format's version, and one for each download that has reported,
// escaped as in the journal:
//
//   ATTEMPT<TAB>TIME<TAB>DONE<TAB>TOTAL<TAB>SPEED<TAB>RESUMED<TAB>TASK<LF>
//
// Times are milliseconds since the epoch; an unknown TOTAL is -1. The coordinator replaces the file
// by a rename at most once a second and removes it at the end. The attempt reveals a file that a
// killed coordinator left. No decision depends on it.

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
