internal import OpflowPlan

/// Received in pieces.
struct AgentArguments {
  private var task: TaskID?
  private var words: [[UInt8]] = []
  private var byteCount = 0

  /// The kernel's (execve(2), "Limits on size of arguments").
  private static let mostBytes = 6 << 20

  var whole: TaskArguments? {
    task.map {
      TaskArguments(task: $0, words: words.map { String(decoding: $0, as: UTF8.self) })
    }
  }

  mutating func begin(_ task: TaskID, count: Int) -> Bool {
    guard self.task == nil, count <= Self.mostBytes else { return false }
    self.task = task
    words = Array(repeating: [], count: count)
    return true
  }

  mutating func add(_ bytes: [UInt8], to number: Int) -> Bool {
    guard words.indices.contains(number), byteCount + bytes.count <= Self.mostBytes else {
      return false
    }
    byteCount += bytes.count
    words[number] += bytes
    return true
  }
}
