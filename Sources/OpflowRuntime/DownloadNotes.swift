internal import OpflowJournal
internal import OpflowPlan
internal import OpflowSystem

/// Maintains the file `progress`, from which other processes show downloads. Errors are ignored,
/// and nothing is synced.
struct DownloadNotes {
  var running = RunningDownloads()

  private let path: String
  var plan: Plan
  private var nextWrite = Instant(nanoseconds: 0)
  private var written: [UInt8] = []
  private var isBroken = false

  private static let pauseMilliseconds: Int64 = 1000

  init(folder: RunFolder, plan: Plan) {
    path = folder.progress
    self.plan = plan
  }

  mutating func write(at now: Instant) {
    guard !isBroken, !running.entries.isEmpty, now >= nextWrite else { return }
    nextWrite = now.advanced(byMilliseconds: Self.pauseMilliseconds)
    let notes = ProgressNotes.encoded(running, plan: plan)
    guard notes != written else { return }
    written = notes
    do throws(Errno) {
      try File.put(notes, at: path)
    } catch {
      isBroken = true
    }
  }

  func remove() {
    if !written.isEmpty { try? Path.remove(path) }
  }
}
