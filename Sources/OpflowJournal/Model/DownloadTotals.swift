internal import OpflowWire

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
