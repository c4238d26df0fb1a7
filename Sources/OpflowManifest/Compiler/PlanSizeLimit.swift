internal import OpflowPlan

/// Keeps a plan from growing with the square of the manifest, if many tasks repeat a long text.
struct PlanSizeLimit {
  /// Bytes per byte of the manifest, per task, and in addition.
  private static var most: (ofByte: Int, ofTask: Int, more: Int) { (64, 8 << 10, 32 << 20) }
  /// The plan refers to texts by 32 bits.
  private static var longest: Int { 3 << 30 }

  private let bytes: Int
  private var before = (bytes: 0, tasks: 0)

  /// - Parameters:
  ///   - byteCount: The size of all files.
  ///   - taken: The size of the run's plan.
  init(taskCount: Int, byteCount: Int, taken: Int) {
    let most = Self.most
    bytes = min(Self.longest - taken, most.more + most.ofTask * taskCount + most.ofByte * byteCount)
  }

  /// - Parameter instancesLeft: The tasks of the matrix still to come, probably of the same size.
  mutating func isExceeded(by bytes: Int, tasks: Int, instancesLeft: Int) -> Bool {
    if bytes > self.bytes { return true }
    let (ofMatrixGroup, instances) = (bytes - before.bytes, tasks - before.tasks)
    if instancesLeft == 0 { before = (bytes, tasks) }
    // Waits for a large part of the limit: the first tasks may be the largest.
    return ofMatrixGroup > self.bytes / 8
      && bytes + ofMatrixGroup / max(1, instances) * instancesLeft > self.bytes
  }

  var text: String {
    "its strings and lists can take \(bytes >> 20) MiB: 32 MiB, 8 KiB for each task and 64 times "
      + "the size of the manifest; move a long string to a file, or to the top-level `env`"
  }
}

extension TaskValues {
  /// An upper bound: the plan stores equal texts once.
  func mostPlanBytes(_ defaults: TaskDefaults) -> Int {
    var bytes = Self.bytesPerItem + name.count
    func add(_ text: ByteView) { bytes += Self.bytesPerItem + text.count }
    func add(_ texts: [Scalar]) { for text in texts { add(text.text) } }
    func add(_ path: DeclaredPath) {
      add(path.text)
      add(path.source)
    }
    if let script { add(script.text) }
    add(words)
    add(settings.directory.path)
    if own.contains(.shell) { add(settings.shell) }
    for text in TaskText.allCases { for value in texts[text] { add(value) } }
    if let lateCondition { add(lateCondition) }
    if let download {
      add(download.urls)
      for header in download.headers {
        add(header.name)
        add(header.value.text)
      }
      for text in [download.to?.text, download.sha256, download.sha512, download.lateSHA256] {
        if let text { add(text) }
      }
    }
    if let service {
      add(service.words + service.ports)
      if let text = service.text { add(text.text) }
    }
    for input in inputs {
      switch input {
      case .file(let path): add(path)
      case .variable(let name): add(name.text)
      case .command(let words): add(words)
      }
    }
    for file in written { add(file.path) }
    if own.contains(.environment) {
      let base = defaults.lists.environment.variables
      for (place, variable) in lists.environment.variables.enumerated() {
        let isBase = place < base.count && base[place].value.text.isSame(as: variable.value.text)
        if isBase, !variable.value.isLate { continue }
        add(variable.name)
        add(variable.value.text)
      }
    }
    // Values of other tasks are stored as text and as steps.
    return readsValues ? bytes * Self.stepsPerText : bytes
  }

  private static let bytesPerItem = 64
  /// A step has 24 bytes, and at least 6 in the text.
  private static let stepsPerText = 6
}
