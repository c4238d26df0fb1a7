/// Limits the texts and lists of a plan. Otherwise many tasks that repeat a long text would make it
/// grow with the square of the manifest.
struct PlanSizeLimit {
  /// Bytes per byte of the manifest, per task, and in addition.
  private static var most: (ofByte: Int, ofTask: Int, more: Int) { (64, 8 << 10, 32 << 20) }
  /// The plan refers to texts by 32 bits.
  private static var longest: Int { 3 << 30 }

  private let bytes: Int
  /// The sizes before the current matrix.
  private var before = (bytes: 0, tasks: 0)

  /// - Parameters:
  ///   - byteCount: The size of all files.
  ///   - taken: The size of the run's plan.
  init(taskCount: Int, byteCount: Int, taken: Int) {
    let most = Self.most
    bytes = min(
      Self.longest - taken, most.more + most.ofTask * taskCount + most.ofByte * byteCount)
  }

  /// - Parameters:
  ///   - bytes: The size so far.
  ///   - tasks: The tasks so far.
  ///   - legsLeft: The tasks of the matrix still to come, which are probably as large.
  mutating func isExceeded(by bytes: Int, tasks: Int, legsLeft: Int) -> Bool {
    if bytes > self.bytes { return true }
    let (ofFamily, legs) = (bytes - before.bytes, tasks - before.tasks)
    if legsLeft == 0 { before = (bytes, tasks) }
    // Wait for a large part of the limit: the first tasks may be the largest.
    return ofFamily > self.bytes / 8 && bytes + ofFamily / max(1, legs) * legsLeft > self.bytes
  }

  /// The help of the error.
  var text: String {
    "its texts and lists may take \(bytes >> 20) MiB: 32 MiB, 8 KiB for each task and 64 times the "
      + "size of the manifest; put a long text into a file, or into the top-level `env`"
  }
}
