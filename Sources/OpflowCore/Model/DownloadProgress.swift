/// How far a running download is.
package struct DownloadProgress: Equatable, Sendable {
  package var doneBytes: Int64
  /// Nil where nobody knows.
  package var totalBytes: Int64?
  /// Over the last seconds before `toldMilliseconds`; see `bytesPerSecond(at:)`.
  package var bytesPerSecond: Int64
  /// Bytes that were there when the try began and are not fetched again.
  package var resumedBytes: Int64 = 0
  /// When its worker last had something to tell, since the epoch.
  package var toldMilliseconds: Int64

  /// Numbers that others give are cut to what calculations have room for.
  private static let limit: Int64 = 1 << 60
  /// A worker tells every tenth of a second that bytes came; a reader may be a second behind.
  private static let lateMilliseconds: Int64 = 1000
  /// From then on a download counts as stalled.
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

  /// Whole percents, 0 to 100; nil where the end is unknown.
  package var percent: Int? {
    fraction(of: 100)
  }

  /// How many of `steps` equal steps are done; nil where the end is unknown.
  func fraction(of steps: Int) -> Int? {
    guard let totalBytes, totalBytes > 0 else { return nil }
    return Int(min(1, Double(doneBytes) / Double(totalBytes)) * Double(steps))
  }

  /// All of it has come: it is verified, synced and put in place.
  private var isComplete: Bool { totalBytes.map { $0 > 0 && doneBytes >= $0 } ?? false }

  /// How long nothing has come, once a download has stalled.
  func stalledMilliseconds(at now: Int64) -> Int64? {
    let silence = silence(at: now)
    return silence >= Self.stalledMilliseconds && !isComplete ? silence : nil
  }

  private func silence(at now: Int64) -> Int64 {
    now.subtractingReportingOverflow(toldMilliseconds).partialValue
  }

  /// The speed, which fades while nothing is told: nothing is left of it when the download counts as
  /// stalled.
  package func bytesPerSecond(at now: Int64) -> Int64 {
    let silence = silence(at: now)
    if silence <= Self.lateMilliseconds { return bytesPerSecond }
    let left = max(0, Self.stalledMilliseconds - silence)
    return Int64(
      Double(bytesPerSecond) * Double(left)
        / Double(Self.stalledMilliseconds - Self.lateMilliseconds))
  }

  /// Rounded up; nil where the end or the speed is unknown.
  package func secondsLeft(at now: Int64) -> Int64? {
    let speed = bytesPerSecond(at: now)
    guard let totalBytes, totalBytes >= doneBytes, speed > 0 else { return nil }
    return totalBytes.minus(doneBytes).plus(speed - 1) / speed
  }
}
