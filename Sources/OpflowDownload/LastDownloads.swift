package import OpflowCore

/// The last success of each download that journals tell of.
package struct LastDownloads: Sendable {
  private var bySource: [UInt64: (milliseconds: Int64, record: FetchRecord)] = [:]

  package init() {}

  /// Takes in a journal, whole or damaged: only intact lines count.
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

  /// What the last success of a download from `url` found; nil when there was none.
  package func report(from url: String) -> FetchReport? {
    bySource[FetchReport.sourceHash(url)]?.record.report
  }
}

extension FetchReport {
  /// By which a download is known in journals: hash of its URL as the manifest has it.
  package static func sourceHash(_ url: String) -> UInt64 { Hash.xxh3(Array(url.utf8)) }
}
