internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

/// Checks whether tasks that declare files are up to date and records the tasks that run. Works in
/// small steps, so that the worker can answer heartbeats and commands in between.
final class DeclaredFiles {
  enum News {
    case said(WorkerReport)
    case recorded(RecordResult)
    /// The files of a cached result are restored; its values follow.
    case filesBroughtBack
    case broughtBack(RecordResult)
    /// The restore failed, or old outputs are removed: run the task.
    case notBroughtBack
    /// Old outputs cannot be removed, so the task must not run.
    case uncleaned(String)
    /// A problem that does not affect any task.
    case complained(String)
  }

  private enum Bringing { case files, values, record, cleaning }

  private let plans: WorkerPlan
  private var plan: Plan { plans.current }
  private let records: RecordPlace
  /// The folder for the scanned inputs of tasks until they start.
  private let seen: String
  private let book: RecordBook
  private let readings: TaskReadings
  private let hashes: FileMemory
  private let values: LeftValues
  private var masker: Masker?

  private var questions: [TaskCheck] = []
  /// No other run holds any task, and the records are current; valid for one step.
  private var isUpToNow = false
  /// Read the records while idle: for a large project this takes longer than the coordinator needs
  /// to write its own files, before which it does not ask.
  private var readsAhead: Bool
  private var look: (check: TaskCheck, look: TaskScan)?
  /// Checks that wait for another run's task or for the lock on the records.
  private var waiting: [TaskCheck] = []
  private var isHeldUp = false
  /// By check: until when a missing input on a network file system may appear.
  private var lateUntil: [Int32: Int64] = [:]
  /// Absolute input patterns that stayed unmatched after the wait, which is not repeated.
  private var unmatched: Set<String> = []
  private var askAgainAt: Int64 = 0

  private var running: RecordKeeping?
  private var isRecording = false
  private var bringing: Bringing?
  private var patterns: OutputPatterns?
  private let cache: ResultCache?
  private let stage: String
  private var isCacheFaultTold = false
  private var isRefreshFaultTold = false
  private var isHeldUpTold = false
  private var news: [News] = []

  private static let sliceNanoseconds: Int64 = 2_000_000
  private static let patience: Int64 = 100_000_000

  private init(
    _ plans: WorkerPlan, state: String, run: String, _ network: NetworkFiles
  ) throws(WorkerFailure) {
    let plan = plans.current
    self.plans = plans
    records = RecordPlace(plan, state: state)
    seen = CheckFolder.path(in: run)
    stage = "\(run)/\(CacheSetting.stageName)/\(ProcessID.own)"
    cache = plan.hasCaches ? Self.cache(state: state, run: run) : nil
    values = LeftValues(folder: run + "/" + ValueFolder.name)
    let book = try WorkerFailure.naming("cannot use \(RecordBook.badPath(in: state))") {
      () throws(Errno) in try RecordBook(state: state, sharesLocks: true)
    }
    self.book = book
    readsAhead = plan.hasChecks
    hashes = FileMemory(plan, network: network)
    readings = TaskReadings(plans, records: records, book: book, hashes: hashes)
  }

  /// nil without tasks that declare files.
  static func of(
    _ plans: WorkerPlan, runFolder: String, network: NetworkFiles = NetworkFiles()
  ) throws(WorkerFailure) -> DeclaredFiles? {
    guard plans.current.declaresFiles else { return nil }
    let state = Path.parent(of: Path.parent(of: runFolder))
    return try DeclaredFiles(plans, state: state, run: runFolder, network)
  }

  private static func cache(state: String, run: String) -> ResultCache? {
    guard
      let bytes = try? File.readRegular(
        run + "/" + CacheSetting.fileName, atMost: CacheSetting.longestBytes),
      let setting = CacheSetting(file: bytes)
    else { return nil }
    return ResultCache(setting, state: state)
  }

  private func declaring(_ task: TaskID) -> DeclaringTask {
    DeclaringTask(plan: plan, task: task, records: records)
  }

  func takeHasRunCommands() -> Bool { readings.takeHasRunCommands() }

  private func seenPath(_ task: TaskID) -> String { CheckFolder.file(of: task, in: seen) }

  // MARK: - The worker's turn

  /// Until the next step; nil if there is nothing to do.
  var patienceNanoseconds: Int64? {
    let isLooking = readsAhead || look != nil || !questions.isEmpty
    let pausedUntil = isRecording ? running?.lookAgainAt : nil
    if isLooking || isRecording && pausedUntil == nil || isBringing || !news.isEmpty { return 0 }
    let next = waiting.isEmpty ? pausedUntil : min(askAgainAt, pausedUntil ?? .max)
    return next.map { max(0, $0 - Clock.monotonicNanoseconds) }
  }

  func goOn() {
    let deadline = Clock.monotonicNanoseconds + Self.sliceNanoseconds
    hashes.holdFolders()
    defer { hashes.letFoldersGo() }
    isUpToNow = false
    if readsAhead, questions.isEmpty { readAhead() }
    if isRecording, let running, let result = running.goOn(until: deadline) {
      isRecording = false
      if let complaint = running.complaint { complain(complaint) }
      news.append(.recorded(result))
    }
    if isBringing { bringBack(until: deadline) }
    if running?.heldUp != nil { tellHeldUp() }
    while Clock.monotonicNanoseconds < deadline, lookOn(until: deadline) {}
    if look == nil, questions.isEmpty {
      refresh { () throws(Errno) in try book.writeRefreshed() }
    }
    if !waiting.isEmpty, look == nil, questions.isEmpty, Clock.monotonicNanoseconds >= askAgainAt {
      askAgain()
    }
  }

  private func readAhead() {
    // The next check reports an error.
    readsAhead = (try? !book.followALittle()) ?? false
  }

  private func askAgain() {
    if isHeldUp, !book.isFree(isPatient: false) {
      askAgainAt = Clock.monotonicNanoseconds + Self.patience
      return
    }
    isHeldUp = false
    readings.forget()
    questions = waiting
    waiting.removeAll()
  }

  func nextNews() -> News? { news.isEmpty ? nil : news.removeFirst() }

  func leave() {
    book.shortenIfWasteful()
    cache?.leave()
  }

  // MARK: - Looking

  /// The masker finds secrets, which must not be in values.
  func ask(_ check: TaskCheck, _ masker: Masker?) {
    self.masker = masker
    questions.append(check)
  }

  /// Returns true if there is more to do.
  private func lookOn(until deadline: Int64) -> Bool {
    if look == nil {
      guard !questions.isEmpty else { return false }
      begin(questions.removeFirst())
    }
    guard let (check, look) = look else { return true }
    do throws(ScanFault) {
      guard let verdict = try look.goOn(until: deadline) else { return true }
      self.look = nil
      if let pattern = look.unmatched.first {
        let whole = declaring(check.task).absolute(pattern)
        if !unmatched.contains(whole), mayBeLate(.glob(pattern), check) {
          postpone(check)
          return true
        }
        unmatched.insert(whole)
        let name = plan.nameString(check.task)
        news.append(.said(.warning("task \(name): no file matches its input `\(pattern)`")))
      }
      for (pattern, link, instead) in look.unentered {
        let name = plan.nameString(check.task)
        news.append(
          .said(
            .warning(
              "task \(name): `\(pattern)` does not follow the link `\(link)`; add `\(instead)`")))
      }
      answer(check, verdict)
    } catch {
      self.look = nil
      refuse(check, error)
    }
    return true
  }

  private func refuse(_ check: TaskCheck, _ fault: ScanFault) {
    if let path = fault.path, mayBeLate(.path(path), check) { return postpone(check) }
    say(check, .unfit(detail: fault.detail))
  }

  /// Another machine may have written the input, not visible here yet.
  private func mayBeLate(_ input: FileScan.Item, _ check: TaskCheck) -> Bool {
    if plan.needs(check.task).isEmpty { return false }
    let folder = declaring(check.task).absolute(input.surroundingFolder)
    guard hashes.network.have(folder: folder) else { return false }
    let now = Clock.monotonicNanoseconds
    let until = lateUntil[check.serial, default: now + LateFiles.lateness]
    if now >= until { return false }
    lateUntil[check.serial] = until
    NetworkFiles.refresh(folder: folder)
    return true
  }

  private func begin(_ check: TaskCheck) {
    let declaring = declaring(check.task)
    do throws(ScanFault) {
      guard try isFree(declaring) else { return wait(check) }
      let record = try ScanFault.reading { () throws(Errno) in
        try book.record(of: declaring.identity)
      }
      look = (
        check,
        try TaskScan(declaring, check, record: record, readings: readings, hashes: hashes, masker)
      )
    } catch {
      refuse(check, error)
    }
  }

  /// True if no other run holds the task; reads new records then. Usually no run holds any task,
  /// and one test for that per step saves three system calls per task.
  private func isFree(_ declaring: DeclaringTask) throws(ScanFault) -> Bool {
    if isUpToNow { return true }
    readsAhead = false
    return try ScanFault.reading { () throws(Errno) in
      let isNoneTaken = try !book.isAnyTaken()
      if !isNoneTaken, try book.isTaken(declaring.identity) { return false }
      try book.follow()
      isUpToNow = isNoneTaken
      return true
    }
  }

  private func wait(_ check: TaskCheck) {
    postpone(check)
    news.append(.said(.awaits(check.task, serial: check.serial)))
  }

  private func postpone(_ check: TaskCheck) {
    if waiting.isEmpty { askAgainAt = Clock.monotonicNanoseconds + Self.patience }
    waiting.append(check)
  }

  private func tellHeldUp() {
    if isHeldUpTold { return }
    isHeldUpTold = true
    news.append(
      .complained("another process holds the lock on \(book.path); tasks wait until it is free"))
  }

  private func answer(_ check: TaskCheck, _ verdict: TaskScan.Verdict) {
    let declaring = declaring(check.task)
    let name = plan.nameBytes(check.task)
    let now = Clock.wallMilliseconds
    switch verdict {
    case .fresh(let record, let refreshed):
      if let refreshed, !namesSecret(refreshed) {
        refresh { () throws(Errno) in
          try book.refresh(
            declaring.identity, with: refreshed, name: name,
            insteadOf: book.place(of: declaring.identity), atMilliseconds: now)
        }
      }
      do throws(ValueFault) {
        if !record.isFailure { try handOn(record.values ?? [], check) }
        say(check, .fresh(origin: record.origin))
      } catch {
        say(check, .unwritten(detail: error.detail))
      }
    case .stale(let reasons, let record):
      // The task could not start now.
      guard book.isFree(isPatient: true) else {
        isHeldUp = true
        tellHeldUp()
        return postpone(check)
      }
      if namesSecret(record) {
        try? Path.removeIfThere(seenPath(check.task))
        let name = plan.nameString(check.task)
        news.append(.said(.warning("task \(name): \(RecordKeeping.secretName)")))
        return say(check, .stale(why: Staleness.text(reasons)))
      }
      do throws(Errno) {
        try Path.makeDirectories(seen)
        let file = try File.openRegular(seenPath(check.task), [.writeOnly, .create, .truncate])
        try RecordLines.forEachPiece(
          record, of: declaring.identity, name: name, atMilliseconds: now
        ) { piece throws(Errno) in try file.writeAll(piece) }
        say(check, .stale(why: Staleness.text(reasons)))
      } catch {
        // Remove the partial file: the journal may need the space to record the error.
        try? Path.removeIfThere(seenPath(check.task))
        let fault = ScanFault(
          unwritten: seenPath(check.task), error, detail: "the state of its inputs")
        say(check, .unwritten(detail: fault.detail))
      }
    }
  }

  private func namesSecret(_ record: SuccessRecord) -> Bool {
    masker.map { record.namesSecret($0) } ?? false
  }

  /// `body` only saves time for later runs; reports its first failure.
  private func refresh(_ body: () throws(Errno) -> Void) {
    do throws(Errno) {
      try body()
    } catch {
      if isRefreshFaultTold { return }
      isRefreshFaultTold = true
      let fault = ScanFault(unwritten: book.path, error, detail: "the hashes of files")
      news.append(.complained("\(fault.detail); later runs read the files again"))
    }
  }

  /// Makes the values of an up-to-date task available in this run.
  private func handOn(_ left: [SuccessRecord.Value], _ check: TaskCheck) throws(ValueFault) {
    guard plan.flags(check.task).contains(.leavesValues) else { return }
    try values.put(left, of: plan.nameBytes(check.task))
    for value in declaring(check.task).handedOn(left) {
      news.append(.said(.kept(check.task, serial: check.serial, value)))
    }
  }

  private func say(_ check: TaskCheck, _ result: CheckResult) {
    lateUntil[check.serial] = nil
    news.append(.said(.checked(check.task, serial: check.serial, result)))
  }

  // MARK: - Running

  /// Returns false if another run holds the task.
  func begin(_ task: TaskID, _ masker: Masker?) throws(ScanFault) -> Bool {
    readsAhead = false
    guard plan.isChecked(task) || plan.declaresOutputs(task) else { return true }
    let keeping = RecordKeeping(
      declaring(task), book: plan.isChecked(task) ? book : nil, hashes: hashes,
      readings: readings, cache: plan.isCached(task) ? cache : nil, seen: seenPath(task), masker)
    running = keeping
    return try keeping.begin()
  }

  /// Starts to restore a cached result, or to remove old outputs. Returns false if there is
  /// neither, so that the task runs now.
  func beginBringingBack() -> Bool {
    do throws(CacheFault) {
      bringing = try running?.beginBringingBack(stage: stage) == true ? .files : nil
    } catch {
      complain(error)
    }
    if bringing == nil { beginCleaning() }
    return bringing != nil
  }

  private func beginCleaning() {
    guard let running, plan.cleans(running.task) else { return }
    if patterns?.taskCount != plan.taskCount { patterns = OutputPatterns(plan) }
    let (patterns, task) = (patterns, running.task)
    let folder = plan.string(plan.manifest.folder)
    let begins = running.beginCleaning { path in
      patterns?.isOfOther(than: task, DeclaringTask.names(path, in: folder)) ?? false
    }
    bringing = begins ? .cleaning : nil
  }

  private func clean(_ running: RecordKeeping, until deadline: Int64) {
    do throws(ScanFault) {
      guard try running.clean(until: deadline) else { return }
      if let detail = running.keptByClean {
        news.append(.complained("task \(running.name): \(detail)"))
      }
      bringing = nil
      news.append(.notBroughtBack)
    } catch {
      bringing = nil
      news.append(.uncleaned(error.detail))
    }
  }

  private var isBringing: Bool {
    bringing == .files || bringing == .record || bringing == .cleaning
  }

  private func bringBack(until deadline: Int64) {
    guard let running else { return }
    if bringing == .cleaning { return clean(running, until: deadline) }
    do throws(CacheFault) {
      if bringing == .files {
        guard try running.bringBack(until: deadline) else { return }
        bringing = .values
        news.append(.filesBroughtBack)
      } else if let result = try running.lookAtBroughtBack(until: deadline) {
        bringing = nil
        news.append(.broughtBack(result))
      }
    } catch {
      giveUpBringingBack(error)
    }
  }

  /// Continues after `filesBroughtBack`, once the values are restored too.
  func noteValuesBroughtBack(_ values: Result<[SuccessRecord.Value]?, ValueFault>) {
    running?.values = values
    bringing = .record
  }

  func giveUpBringingBack(_ fault: CacheFault) {
    bringing = nil
    running?.forgetBroughtBack()
    complain(fault)
    beginCleaning()
    if bringing == nil { news.append(.notBroughtBack) }
  }

  /// Names and files of restored values, valid until `end`.
  var broughtValues: [(name: String, path: String)] { running?.brought?.values ?? [] }

  /// Valid until `end`.
  var broughtOutput: String? { running?.brought?.output }

  /// Every task may meet a problem of the cache: reported once.
  private func complain(_ fault: CacheFault) {
    if !fault.isOfProject {
      if isCacheFaultTold { return }
      isCacheFaultTold = true
    }
    let task = fault.isOfProject ? running.map { "task \($0.name): " } ?? "" : ""
    news.append(.complained("cache: \(task)\(fault.detail)"))
  }

  /// Records a success or an allowed failure. `values` is nil if no task reads them. `output` is
  /// the log and the size of this attempt's part at its end; nil without output.
  func record(
    _ values: Result<[SuccessRecord.Value]?, ValueFault>, output: (path: String, bytes: Int64)?,
    isSuccess: Bool
  ) {
    running?.isFailure = !isSuccess
    running?.values = values
    running?.output = output
    isRecording = true
  }

  func stopRecording() {
    guard isRecording, let running else { return }
    isRecording = false
    news.append(.recorded(running.stop()))
  }

  func end() {
    isRecording = false
    bringing = nil
    running?.end()
    running = nil
  }
}
