internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

/// The values that the running task reads and leaves. Makes no system call without values and
/// secrets.
struct RunningValues {
  private let plans: WorkerPlan
  private var plan: Plan { plans.current }
  private let folders: LeftValues
  /// The folder for values that no task reads.
  private let unread: String
  private var needed: NeededValues
  private var task: TaskID = .none
  private var attempt: Int32 = 0
  /// The folder for the task's values, if it leaves any.
  private var own: String?
  private var isRead = false
  /// The folder with its dependencies' values, if the task wants them.
  private(set) var needsPath: String?
  private var status: ExitStatus?
  /// Set once all processes of the task are gone.
  private(set) var collected: [TaskValue]?

  init(_ plans: WorkerPlan, runFolder: String) {
    self.plans = plans
    folders = LeftValues(folder: runFolder + "/" + ValueFolder.name)
    unread = runFolder + "/" + ValueFolder.unreadName
    needed = NeededValues(plans, runFolder: runFolder)
  }

  var path: String { own ?? unread }

  mutating func note(_ message: WorkerMessage) { needed.note(message) }

  func files(readBy task: TaskID) -> [String] { needed.files(readBy: task) }

  // MARK: A try

  /// Call `end` afterwards, even after an error. Values that may hold secrets get their own folder,
  /// to be removed.
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
        errorNumber: error.rawValue, detail: "cannot create the folder for its values: \(error)")
    }
  }

  private mutating func read() throws(WorkerRefusal) -> LateValues? {
    do throws(ValueFault) {
      guard let late = try needed.late(of: task) else { return nil }
      if late.wantsFolder { needsPath = try needed.makeFolder(for: task, attempt: attempt) }
      return late
    } catch {
      throw WorkerRefusal(errorNumber: 0, detail: error.detail, isOfValues: true)
    }
  }

  /// Collects the values when the last process was reaped and the task succeeded.
  mutating func reaped(status: ExitStatus?, isGone: Bool, _ masker: Masker?) -> ValueFault? {
    guard own != nil else { return nil }
    if let status { self.status = status }
    return isGone && self.status == .success ? collect(masker) : nil
  }

  /// Collects the values once, for a successful task.
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

  /// nil if no task reads them.
  mutating func files(_ masker: Masker?) -> Result<[SuccessRecord.Value]?, ValueFault> {
    // Abandoned processes may have prevented it before.
    if let fault = collect(masker) { return .failure(fault) }
    guard let own, let collected else { return .success(nil) }
    return Result { () throws(ValueFault) in try LeftValues.files(of: collected, in: own) }
  }

  /// Copies restored values to the task's folder.
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
          errorNumber: error.rawValue, detail: "cannot restore its value \(name): \(error)")
      }
    }
  }

  /// Removes the values unless the attempt succeeded.
  mutating func end(isSuccess: Bool) -> Errno? {
    if needsPath != nil {
      needsPath = nil
      // Leftovers are only copies.
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
