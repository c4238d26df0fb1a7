package import OpflowWire

/// The last success of each download in journals.
package struct LastDownloads: Sendable {
  private var bySource: [UInt64: (milliseconds: Int64, record: FetchRecord)] = [:]

  package init() {}

  /// In a damaged journal only intact lines count.
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
