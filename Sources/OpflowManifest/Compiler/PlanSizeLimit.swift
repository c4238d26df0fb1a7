/// What the texts and lists of a plan may take. Tasks that all repeat a long text would else make a plan that grows with
/// the square of its manifest.
struct PlanSizeLimit {
  /// For each byte of the manifest, for each task, and beyond these.
  private static var most: (ofByte: Int, ofTask: Int, more: Int) { (64, 8 << 10, 32 << 20) }
  /// The plan's format refers to texts by 32 bits.
  private static var longest: Int { 3 << 30 }

  private let bytes: Int
  /// What the plan had before the family whose legs are added now.
  private var before = (bytes: 0, tasks: 0)

  /// - Parameters:
  ///   - byteCount: of the manifest, with all of its files.
  ///   - taken: what the run has already that it is added to.
  init(taskCount: Int, byteCount: Int, taken: Int) {
    let most = Self.most
    bytes = min(
      Self.longest - taken, most.more + most.ofTask * taskCount + most.ofByte * byteCount)
  }

  /// - Parameters:
  ///   - bytes: those so far.
  ///   - tasks: those so far.
  ///   - legsLeft: those of the family that are still to be added, likely as long as those before them.
  mutating func isExceeded(by bytes: Int, tasks: Int, legsLeft: Int) -> Bool {
    if bytes > self.bytes { return true }
    let (ofFamily, legs) = (bytes - before.bytes, tasks - before.tasks)
    if legsLeft == 0 { before = (bytes, tasks) }
    // The first ones may be longer than the others.
    return ofFamily > self.bytes / 8 && bytes + ofFamily / max(1, legs) * legsLeft > self.bytes
  }

  /// As the help of an error.
  var text: String {
    "its texts and lists may take \(bytes >> 20) MiB: 32 MiB, 8 KiB for each task and 64 times the size"
      + " of the manifest; put a long text into a file, or into the top-level `env`"
  }
}
