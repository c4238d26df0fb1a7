internal import OpflowBase

package struct DownloadProgress: Equatable, Sendable {
  package var doneBytes: Int64
  package var totalBytes: Int64?
  /// Over the last seconds before `toldMilliseconds`.
  package var bytesPerSecond: Int64
  /// In the part file when the attempt began.
  package var resumedBytes: Int64 = 0
  /// The worker's last report, since the epoch.
  package var toldMilliseconds: Int64

  /// Bounds values from outside against overflow.
  private static let limit: Int64 = 1 << 60
  /// Workers report every 0.1 s; a reader may lag by a second.
  private static let lateMilliseconds: Int64 = 1000
  private static let stalledMilliseconds: Int64 = 3000

  package init(
    doneBytes: Int64, totalBytes: Int64?, bytesPerSecond: Int64, resumedBytes: Int64 = 0,
    toldMilliseconds: Int64
  ) {
    self.doneBytes = min(max(0, doneBytes), Self.limit)
    self.totalBytes = totalBytes.flatMap { $0 < 0 ? nil : min($0, Self.limit) }
    self.bytesPerSecond = min(max(0, bytesPerSecond), Self.limit)
    self.resumedBytes = min(max(0, resumedBytes), Self.limit)
    self.toldMilliseconds = toldMilliseconds
  }

  /// 0 to 100; nil if the size is unknown.
  package var percent: Int? {
    fraction(of: 100)
  }

  package func fraction(of steps: Int) -> Int? {
    guard let totalBytes, totalBytes > 0 else { return nil }
    return Int(min(1, Double(doneBytes) / Double(totalBytes)) * Double(steps))
  }

  private var isComplete: Bool { totalBytes.map { $0 > 0 && doneBytes >= $0 } ?? false }

  package func stalledMilliseconds(at now: Int64) -> Int64? {
    let silence = silence(at: now)
    return silence >= Self.stalledMilliseconds && !isComplete ? silence : nil
  }

  private func silence(at now: Int64) -> Int64 {
    now.subtractingReportingOverflow(toldMilliseconds).partialValue
  }

  /// Fades without reports, to 0 when the download counts as stalled.
  package func bytesPerSecond(at now: Int64) -> Int64 {
    let silence = silence(at: now)
    if silence <= Self.lateMilliseconds { return bytesPerSecond }
    let left = max(0, Self.stalledMilliseconds - silence)
    return Int64(
      Double(bytesPerSecond) * Double(left)
        / Double(Self.stalledMilliseconds - Self.lateMilliseconds))
  }

  /// Rounded up; nil if size or speed is unknown.
  package func secondsLeft(at now: Int64) -> Int64? {
    let speed = bytesPerSecond(at: now)
    guard let totalBytes, totalBytes >= doneBytes, speed > 0 else { return nil }
    return totalBytes.minus(doneBytes).plus(speed - 1) / speed
  }
}
