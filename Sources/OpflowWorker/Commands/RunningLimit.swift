internal import OpflowCore
internal import OpflowSystem

/// The limit of memory of the task that runs: a control group beside that of this worker, where its coordinator
/// found that such groups can be (it says so where not).
struct RunningLimit: ~Copyable {
  private let run: String
  private var group: MemoryGroup?
  private var folder: Descriptor?
  private var limitBytes: UInt64 = 0
  /// A name is not used again: a group may be there for a moment after the last of its processes.
  private var count = 0

  init(run: String) { self.run = run }

  /// Makes the group of a task that is about to start.
  ///
  /// - Returns: its folder, for `ProgramStart.group`; nil where the task has no limit, or it cannot be kept.
  mutating func begin(limitBytes: UInt64) -> Int32? {
    end()
    guard limitBytes > 0, let own = KillGroup.home, own.contains("/opflow-\(run)-") else {
      return nil
    }
    count += 1
    self.limitBytes = limitBytes
    group = MemoryGroup("\(own).\(count)", limitBytes: limitBytes)
    folder = group?.open()
    return folder?.rawValue
  }

  /// What is to be told of a task that was ended because it used more; nil where it was not.
  mutating func overrun() -> String? {
    guard let hasOverrun = group?.hasOverrun, hasOverrun else { return nil }
    let what = "it used more memory than its limit of \(SizeText.text(bytes: limitBytes))"
    guard let peak = group?.peakBytes else { return what }
    return "\(what) (\(SizeText.text(bytes: peak)) at its peak)"
  }

  /// The task and all that it started are gone.
  mutating func end() {
    folder = nil
    group = nil
  }
}
