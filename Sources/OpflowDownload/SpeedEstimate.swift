/// The speed of a transfer over its last seconds, and the time that is left at that speed.
package struct SpeedEstimate: Sendable {
  /// How far back it looks.
  private static let windowMilliseconds: Int64 = 5000
  private static let slotMilliseconds: Int64 = 250

  private struct Sample {
    var milliseconds: Int64
    var bytes: Int64
  }
  /// Oldest first; how many bytes there were in all at that time.
  private var samples: [Sample] = []

  package init() {}

  /// Notes that `bytes` are there at a time that never goes back. Fewer than before begin anew.
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

  /// A pause: what was before it says nothing about what comes.
  package mutating func reset() { samples.removeAll(keepingCapacity: true) }

  /// 0 while there is nothing to tell it from.
  package func bytesPerSecond(atMilliseconds now: Int64) -> Int64 {
    guard let first = samples.first, let last = samples.last, now > first.milliseconds else {
      return 0
    }
    return max(0, (last.bytes - first.bytes) * 1000 / (now - first.milliseconds))
  }
}
