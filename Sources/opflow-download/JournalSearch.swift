internal import OpflowDownload
internal import OpflowJournal
internal import OpflowSystem
internal import OpflowWire

/// The last success of downloads in the neighbouring runs, read on first use.
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
      guard let journal = try? MappedFile("\(runs)/\(run)/journal.log") else { continue }
      downloads.read(journal.bytes)
      MappedFile.unmap(journal.bytes)
    }
    return downloads
  }
}
