internal import OpflowBase
internal import OpflowSystem

/// The memory limit of the running task: a cgroup next to the worker's own, if the coordinator
/// could delegate one (it warns otherwise).
struct RunningLimit: ~Copyable {
  private let run: String
  private var group: MemoryGroup?
  private var folder: Descriptor?
  private var limitBytes: UInt64 = 0
  /// A group may outlive its last process for a moment, so names are not reused.
  private var count = 0

  init(run: String) { self.run = run }

  /// For `ProgramStart.group`; nil without a limit or on failure.
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

  /// nil unless the task was killed for exceeding its limit.
  mutating func overrun() -> String? {
    guard let hasOverrun = group?.hasOverrun, hasOverrun else { return nil }
    let what = "it used more memory than its limit of \(SizeText.text(bytes: limitBytes))"
    guard let peak = group?.peakBytes else { return what }
    return "\(what) (\(SizeText.text(bytes: peak)) at its peak)"
  }

  mutating func end() {
    folder = nil
    group = nil
  }
}
