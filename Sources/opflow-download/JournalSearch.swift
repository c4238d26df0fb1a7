internal import OpflowCore
internal import OpflowDownload
internal import OpflowSystem

/// Finds the last success of downloads in the journals of the runs beside this one. They are read
/// once, when the first download asks.
final class JournalSearch {
  private let runs: String
  private var found: LastDownloads?

  init(runFolder: String) { runs = Path.parent(of: runFolder) }

  func lastSuccess(from url: String) -> FetchReport? {
    if found == nil { found = read() }
    return found?.report(from: url)
  }

  private func read() -> LastDownloads {
    var downloads = LastDownloads()
    for run in (try? Path.names(in: runs)) ?? [] {
      // A journal that cannot be read tells nothing.
      guard let journal = try? MappedFile("\(runs)/\(run)/journal.log") else { continue }
      downloads.read(journal.bytes)
      MappedFile.unmap(journal.bytes)
    }
    return downloads
  }
}
