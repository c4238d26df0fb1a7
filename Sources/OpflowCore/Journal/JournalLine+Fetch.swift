extension JournalLine {
  /// What a try of a download did, as the line's fields tell; nil when they tell of none.
  package var fetch: FetchRecord? {
    var report = FetchReport()
    for field in fields {
      // Keys of other things are passed over, as everywhere in a journal.
      if let key = field.key { _ = report.take(key, field.value) }
    }
    report.what = ""
    return report.source == 0 ? nil : FetchRecord(report)
  }
}
