internal import OpflowCore

enum DownloadText {
  /// `54.0MiB of 200.0MiB (27%), 11.2MiB/s, 13s left`
  static func running(
    _ progress: DownloadProgress, atMilliseconds now: Int64, tellsResume: Bool
  ) -> String {
    var text = done(progress)
    if tellsResume, progress.resumedBytes > 0 {
      text += ", resumed at \(size(progress.resumedBytes))"
    }
    let pace = pace(progress, atMilliseconds: now).filter { !$0.isEmpty }
    return ([text] + pace).joined(separator: ", ")
  }

  /// `54.0MiB of 200.0MiB (27%)`
  static func done(_ progress: DownloadProgress) -> String {
    let done = size(progress.doneBytes)
    guard let total = progress.totalBytes, let percent = progress.percent else { return done }
    return "\(done) of \(size(total)) (\(percent)%)"
  }

  /// Returns speed and time left, or how long a download has stalled; either may be empty.
  static func pace(_ progress: DownloadProgress, atMilliseconds now: Int64) -> [String] {
    if let silence = progress.stalledMilliseconds(at: now) {
      return ["stalled for \(DurationText.text(wholeSeconds: silence / 1000))", ""]
    }
    let bytesPerSecond = progress.bytesPerSecond(at: now)
    if bytesPerSecond == 0 { return ["", ""] }
    let left = progress.secondsLeft(at: now).map {
      "\(DurationText.text(wholeSeconds: $0)) left"
    }
    return [speed(bytesPerSecond), left ?? ""]
  }

  /// `200.0MiB at 10.0MiB/s, resumed at 50.0MiB`
  static func finished(_ report: FetchReport, wallMicroseconds: Int64) -> String {
    var text = size(report.sizeBytes)
    if report.isKept { return text + ", was there already" }
    if let speed = averageSpeed(report, wallMicroseconds: wallMicroseconds) {
      text += " at \(self.speed(speed))"
    }
    if report.resumedBytes > 0 { text += ", resumed at \(size(report.resumedBytes))" }
    return text
  }

  /// Returns the file's URL if it is not the first one of the manifest.
  static func otherURL(_ report: FetchReport, firstSource: String) -> String? {
    if report.url.isEmpty { return nil }
    // The report's URL is normalized, and cut if long.
    let first = Credentials.hidden(inAddress: firstSource)
    return first.hasPrefix(report.url) ? nil : CleanText.string(report.url)
  }

  /// Returns the average speed in bytes per second; nil if too little was fetched to tell.
  static func averageSpeed(_ report: FetchReport, wallMicroseconds: Int64) -> Int64? {
    let fetched = report.fetchedBytes
    guard wallMicroseconds > 0, fetched >= 1 << 20 || wallMicroseconds >= 1_000_000, fetched > 0
    else { return nil }
    return Int64(min(Double(fetched) * 1e6 / Double(wallMicroseconds), 1e18))
  }

  static func size(_ bytes: Int64) -> String { SizeText.steady(bytes: UInt64(max(0, bytes))) }
  static func speed(_ bytesPerSecond: Int64) -> String { size(bytesPerSecond) + "/s" }
}
