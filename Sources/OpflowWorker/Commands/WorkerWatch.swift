internal import OpflowBase
internal import OpflowPlan
internal import OpflowWire

/// The last output line of a watched task, reported at most ten times a second.
struct WorkerWatch {
  static let intervalMilliseconds: Int64 = 100
  static let longestLineBytes = 400

  private var watched: TaskID?
  private var line: [UInt8] = []
  private var isNew = false
  private var nextTime = Instant(nanoseconds: 0)

  mutating func set(_ task: TaskID, on: Bool) {
    if on {
      watched = task
    } else if watched == task {
      watched = nil
    }
    line.removeAll()
    isNew = false
  }

  func isWatched(_ task: TaskID) -> Bool { watched == task }

  mutating func note(_ chunk: UnsafeRawBufferPointer) {
    let isBreak = { (byte: UInt8) in byte == Field.lineFeed || byte == Field.carriageReturn }
    guard let last = chunk.lastIndex(where: { !isBreak($0) }) else { return }
    let start = chunk[..<last].lastIndex(where: isBreak).map { $0 + 1 } ?? 0
    line.removeAll(keepingCapacity: true)
    line.append(contentsOf: chunk[start...last].suffix(Self.longestLineBytes))
    isNew = true
  }

  var deadline: Instant? { isNew ? nextTime : nil }

  mutating func takeReport(at now: Instant) -> WorkerReport? {
    guard isNew, let watched, nextTime <= now else { return nil }
    isNew = false
    nextTime = now.advanced(byMilliseconds: Self.intervalMilliseconds)
    return .progress(
      WorkerProgress(
        task: watched, doneBytes: 0, totalBytes: -1, bytesPerSecond: 0,
        text: String(decoding: line, as: UTF8.self)))
  }
}
