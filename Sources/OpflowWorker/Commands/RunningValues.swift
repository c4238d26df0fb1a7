internal import OpflowCore
internal import OpflowSystem

/// The values of the task that a command worker runs: what it reads of others, and what it leaves.
///
/// A task that neither reads nor leaves any, in a run without secrets, costs no call here.
struct RunningValues {
  private let plans: WorkerPlan
  private var plan: Plan { plans.current }
  private let folders: LeftValues
  /// Where tasks leave values that nobody reads: apart from those of others.
  private let unread: String
  private var needed: NeededValues
  private var task: TaskID = .none
  private var attempt: Int32 = 0
  /// Where the task leaves values, if it has a folder of its own for them.
  private var own: String?
  /// Whether what it leaves there may be read.
  private var isRead = false
  /// Where it finds what its needs left, if it asks for that.
  private(set) var needsPath: String?
  /// How its own process ended, where it has a folder.
  private var status: ExitStatus?
  /// What it left, once its tree is gone.
  private(set) var collected: [TaskValue]?

  init(_ plans: WorkerPlan, runFolder: String) {
    self.plans = plans
    folders = LeftValues(folder: runFolder + "/" + ValueFolder.name)
    unread = runFolder + "/" + ValueFolder.unreadName
    needed = NeededValues(plans, runFolder: runFolder)
  }

  /// Where the task finds the folder for its values.
  var path: String { own ?? unread }

  /// Takes in what an order tells of values.
  mutating func note(_ order: WorkerOrder) { needed.note(order) }

  /// The paths of the files with values that a task reads.
  func files(readBy task: TaskID) -> [String] { needed.files(readBy: task) }

  // MARK: A try

  /// Makes ready what a try reads and leaves. Also where that fails, `end` is to follow.
  ///
  /// - Parameter mayHoldSecrets: what it leaves; then it has a folder of its own, which is removed.
  /// - Returns: what it reads, if it reads anything.
  mutating func begin(
    _ task: TaskID, _ attempt: Int32, mayHoldSecrets: Bool
  ) throws(WorkerRefusal) -> LateValues? {
    (self.task, self.attempt) = (task, attempt)
    (collected, status) = (nil, nil)
    isRead = plan.flags(task).contains(.leavesValues)
    let late = try read()
    guard isRead || mayHoldSecrets else { return late }
    do throws(Errno) {
      try folders.make(of: plan.nameBytes(task), attempt: attempt)
      own = folders.path(of: plan.nameBytes(task), attempt: attempt)
      return late
    } catch {
      throw WorkerRefusal(
        errorNumber: error.rawValue, what: "cannot make the folder for its values: \(error)")
    }
  }

  private mutating func read() throws(WorkerRefusal) -> LateValues? {
    do throws(ValueFault) {
      guard let late = try needed.late(of: task) else { return nil }
      if late.wantsFolder { needsPath = try needed.makeFolder(for: task, attempt: attempt) }
      return late
    } catch {
      throw WorkerRefusal(errorNumber: 0, what: error.what, isOfValues: true)
    }
  }

  /// Processes of the task were reaped: with the last of them what it left is taken in.
  mutating func reaped(
    status: ExitStatus?, isGone: Bool, _ masker: Masker?
  ) -> ValueFault? {
    guard own != nil else { return nil }
    if let status { self.status = status }
    return isGone && self.status == .success ? collect(masker) : nil
  }

  /// Takes in, once, what a task left that ended with success.
  mutating func collect(_ masker: Masker?) -> ValueFault? {
    guard let own, isRead, collected == nil else { return nil }
    let flags = plan.flags(task)
    do throws(ValueFault) {
      collected = try LeftValues.collect(
        own, keepsTexts: flags.contains(.decidesOthers),
        lasts: flags.contains(.failWhenInterrupted)
      ) { bytes in
        bytes.withUnsafeBytes { masker?.finds($0) ?? false }
      }
      return nil
    } catch {
      return error
    }
  }

  /// What a task left that succeeded; nil where nobody reads that.
  mutating func files(_ masker: Masker?) -> Result<[SuccessRecord.Value]?, ValueFault> {
    // What could not be ended may still write there.
    if let fault = collect(masker) { return .failure(fault) }
    guard let own, let collected else { return .success(nil) }
    return Result { () throws(ValueFault) in try LeftValues.files(of: collected, in: own) }
  }

  /// Puts values there that the task left another time, with the same inputs.
  func take(_ values: [(name: String, path: String)]) throws(WorkerRefusal) {
    guard isRead, let own else { return }
    for (name, path) in values {
      do throws(Errno) {
        let bytes = try File.openRegular(path, .readOnly).readAll(
          atMost: ValueRules.longestBytes + 2)
        let file = try File.open(
          "\(own)/\(name)", [.writeOnly, .create, .exclusive, .noFollow], mode: 0o600)
        try file.writeAll(bytes)
        try file.close()
      } catch {
        throw WorkerRefusal(
          errorNumber: error.rawValue, what: "cannot bring back \(name): \(error)")
      }
    }
  }

  /// The try has ended. Only a success leaves values.
  ///
  /// - Returns: why what it left is still there, where it is not to be.
  mutating func end(isSuccess: Bool) -> Errno? {
    if needsPath != nil {
      needsPath = nil
      // What stays are copies.
      try? needed.removeFolder(of: task, attempt: attempt)
    }
    guard own != nil else { return nil }
    own = nil
    if isSuccess, isRead { return nil }
    do throws(Errno) {
      try folders.remove(of: plan.nameBytes(task), attempt: attempt)
      return nil
    } catch {
      return error
    }
  }
}
