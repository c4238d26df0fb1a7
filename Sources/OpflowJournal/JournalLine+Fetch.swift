internal import OpflowBase
package import OpflowWire

extension JournalLine {
  package var fetch: FetchRecord? {
    var report = FetchReport()
    for field in fields {
      if let key = field.key { _ = report.take(key, field.value) }
    }
    report.what = ""
    return report.source == 0 ? nil : FetchRecord(report)
  }
}
