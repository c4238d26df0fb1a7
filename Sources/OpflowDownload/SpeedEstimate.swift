/// The speed over the last seconds.
package struct SpeedEstimate: Sendable {
  private static let windowMilliseconds: Int64 = 5000
  private static let slotMilliseconds: Int64 = 250

  private struct Sample {
    var milliseconds: Int64
    var bytes: Int64
  }
  /// Totals, oldest first.
  private var samples: [Sample] = []

  package init() {}

  /// Times must not decrease. Fewer bytes than before start over.
  package mutating func note(bytes: Int64, atMilliseconds now: Int64) {
    if let last = samples.last, bytes < last.bytes { reset() }
    if let last = samples.last, samples.count > 1, now - last.milliseconds < Self.slotMilliseconds {
      samples[samples.count - 1].bytes = bytes
      return
    }
    samples.append(Sample(milliseconds: now, bytes: bytes))
    while samples.count > 2, now - samples[1].milliseconds >= Self.windowMilliseconds {
      samples.removeFirst()
    }
  }

  /// After a pause.
  package mutating func reset() { samples.removeAll(keepingCapacity: true) }

  /// 0 while unknown.
  package func bytesPerSecond(atMilliseconds now: Int64) -> Int64 {
    guard let first = samples.first, let last = samples.last, now > first.milliseconds else {
      return 0
    }
    return max(0, (last.bytes - first.bytes) * 1000 / (now - first.milliseconds))
  }
}
