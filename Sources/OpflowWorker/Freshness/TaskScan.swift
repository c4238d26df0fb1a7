internal import OpflowBase
package import OpflowPlan
package import OpflowSystem

/// Checks in small steps whether a task is up to date.
package final class TaskScan {
  package enum Verdict {
    /// `refreshed` has newer stamps to write, which saves reading the files next time.
    case fresh(SuccessRecord, refreshed: SuccessRecord?)
    /// The record has the inputs as scanned before the start.
    case stale([Staleness], SuccessRecord)
  }

  private let declaring: DeclaringTask
  private let record: SuccessRecord?
  private let terms: SuccessRecord.Terms
  private let isAsked: Bool
  private let after: Int32
  private let keeps: UInt64?
  private let isRead: Bool
  private let masker: Masker?
  private let readings: TaskReadings
  private let hashes: FileMemory
  private let inputs: FileScan
  private var outputs: FileScan?
  private var needs = TaskReadings.NeedsScan()

  var unmatched: [String] { inputs.unmatched }
  var unentered: [(pattern: String, link: String, instead: String)] { inputs.unentered }
  private var now: SuccessRecord?

  init(
    _ declaring: DeclaringTask, _ check: TaskCheck, record: SuccessRecord?, readings: TaskReadings,
    hashes: FileMemory, _ masker: Masker?
  ) throws(ScanFault) {
    self.masker = masker
    self.declaring = declaring
    self.record = record
    self.readings = readings
    self.hashes = hashes
    isAsked = check.isAsked
    after = check.after
    keeps = check.keeps
    let plan = declaring.plan
    isRead = plan.flags(declaring.task).contains(.leavesValues)
    terms = SuccessRecord.Terms(
      fingerprint: plan.fingerprint(declaring.task).whole,
      declaration: plan.declarationDigest(declaring.task), with: check.with,
      needs: check.needs(in: plan, lastSuccess: readings.lastSuccess))
    inputs = try FileScan(
      declaring.inputs, in: declaring.folder,
      memory: record.map { $0.known(by: hashes.hash).inputs } ?? [],
      hashes: hashes, links: declaring.followedLinks)
    if let path = inputs.missing.first { throw ScanFault(missing: path, of: declaring) }
  }

  /// Empty if recorded values can be used.
  private func faults(of values: [SuccessRecord.Value]?) -> [Staleness] {
    guard let values else { return [.valuesUnknown] }
    let hasSecret = values.contains { value in
      value.bytes.withUnsafeBytes { masker?.finds($0) ?? false }
    }
    return hasSecret ? [.valueWithSecret] : []
  }

  /// nil if there is more to do.
  func goOn(until deadline: Int64) throws(ScanFault) -> Verdict? {
    guard let now else {
      guard try inputs.goOn(until: deadline) else { return nil }
      if let path = inputs.missing.first {
        throw ScanFault(missing: path, of: declaring)
      }
      guard try readings.goOn(&needs, of: declaring, after: after, until: deadline) else {
        return nil
      }
      var seen = SuccessRecord(
        terms: terms, inputs: inputs.files, links: inputs.links,
        readings: try readings.all(of: declaring, needs, after: after),
        origin: record?.origin ?? 0, hash: hashes.hash)
      seen.targets = record?.known(by: hashes.hash).targets ?? []
      var reasons =
        record.map { $0.differences(to: seen, linkText: inputs.text) } ?? [.unknown] + seen.failures
      if let record, record.isFailure {
        if reasons.isEmpty, keeps != record.origin { reasons = [.failedBefore] }
      } else if let record, isRead {
        reasons += faults(of: record.values)
      }
      if isAsked {
        reasons = [.asked]
        seen.isAsked = true
      }
      guard reasons.isEmpty, let record else {
        seen.links = inputs.stampedLinks
        return .stale(reasons, seen)
      }
      self.now = seen
      outputs = try FileScan(
        declaring.outputs, in: declaring.folder, memory: record.outputs, hashes: hashes,
        links: .themselves, written: .insteadOfNone)
      return nil
    }
    guard let record, let outputs, try outputs.goOn(until: deadline) else { return nil }
    let reasons = record.differences(ofOutputs: outputs.files)
    if !reasons.isEmpty {
      self.now?.links = inputs.stampedLinks
      return .stale(reasons, self.now ?? now)
    }
    guard inputs.hasRead || outputs.hasRead else {
      return .fresh(record, refreshed: nil)
    }
    var refreshed = now
    refreshed.outputs = outputs.files
    // Additional files are not the task's.
    if refreshed.outputs.count > record.outputs.count {
      let paths = Set(record.outputs.lazy.map(\.path))
      refreshed.outputs = SeenFiles(outputs.files.lazy.filter { paths.contains($0.path) })
    }
    refreshed.foundOutputs = record.foundOutputs
    refreshed.untouchedOutputs = record.untouchedOutputs
    refreshed.changedOutputs = record.changedOutputs
    refreshed.knowsFound = record.knowsFound
    refreshed.values = record.values
    refreshed.isFailure = record.isFailure
    refreshed.origin = record.origin
    return .fresh(record, refreshed: refreshed)
  }
}

/// Predicts from a plan's files what a session would do. Writes nothing, but runs the commands in
/// `inputs`.
package final class PlanScan {
  private let plan: Plan
  private let records: RecordPlace
  private let book: RecordBook?
  private let hashes: FileMemory
  private let readings: TaskReadings
  private let cache: ResultCache?
  /// Limits the search through indirect dependencies, so that the plan is printed soon.
  private var farLooksLeft = 100_000

  /// `state` may not exist. `cache` is nil to predict without a cache.
  package init(_ plan: Plan, state: String, cache: CacheSetting?) throws(Errno) {
    self.cache = plan.hasCaches ? cache.map { ResultCache($0, state: state) } : nil
    self.plan = plan
    records = RecordPlace(plan, state: state)
    book = try RecordBook(readingIn: state)
    try book?.follow()
    hashes = FileMemory(plan)
    // To end processes that input commands leave.
    try ProcessTree.becomeSubreaper()
    // The values of secrets are unknown here, and a session masks them.
    readings = TaskReadings(
      WorkerPlan(plan), records: records, book: book, hashes: hashes,
      showsPrinted: !plan.hasSecrets)
  }

  /// Existing outputs of tasks in `before`, which run first, mean nothing.
  package func foresee(_ check: TaskCheck, _ before: RunBefore) -> FileForecast {
    // Unknown until the generator has run.
    if before.needs.contains(where: plan.hasEmptyMatrix) { return .unsure }
    let declaring = declaring(check.task)
    var record: SuccessRecord?
    do throws(ScanFault) {
      record = try ScanFault.reading { () throws(Errno) in try book?.record(of: declaring.identity)
      }
      let look = try TaskScan(
        declaring, check, record: record, readings: readings, hashes: hashes, nil)
      while true {
        guard let verdict = try look.goOn(until: .max) else { continue }
        return forecast(verdict, of: declaring, before)
      }
    } catch {
      if let path = error.path, isLeft(Array(path.utf8), in: declaring, before) {
        return record == nil ? .stale(why: "", isCached: false) : .unsure
      }
      return .unfit(detail: error.detail)
    }
  }

  private func declaring(_ task: TaskID) -> DeclaringTask {
    DeclaringTask(plan: plan, task: task, records: records)
  }

  private func forecast(
    _ verdict: TaskScan.Verdict, of declaring: DeclaringTask, _ before: RunBefore
  ) -> FileForecast {
    switch verdict {
    case .fresh(let record, _):
      return before.needs.isEmpty
        ? .fresh(origin: record.origin, declaring.handedOn(record.values ?? [])) : .unsure
    case .stale(let reasons, let seen):
      let certain = reasons.filter { !isOpen($0, of: declaring, before) }
      if certain.isEmpty { return .unsure }
      return .stale(
        why: certain == [.asked] && plan.flags(declaring.task).contains(.control)
          ? TaskCheck.steering : Staleness.text(certain),
        isCached: before.needs.isEmpty && isCached(declaring, seen))
    }
  }

  private func isCached(_ declaring: DeclaringTask, _ seen: SuccessRecord) -> Bool {
    guard let cache, plan.isCached(declaring.task), !seen.isAsked,
      seen.failures.isEmpty
    else { return false }
    return ((try? cache.open(declaring.cacheKey(seen))) ?? nil) != nil
  }

  /// A difference may disappear when earlier tasks have run.
  private func isOpen(_ reason: Staleness, of declaring: DeclaringTask, _ before: RunBefore) -> Bool
  {
    let running = before.needs
    if running.isEmpty { return false }
    switch reason {
    case .values:
      return plan.valueSources(of: declaring.task).contains { running.contains($0) }
    case .reading(let reading):
      return reading.kind == .need
        && running.contains { plan.nameBytes($0).elementsEqual(reading.name) }
    case .changed(let path), .added(let path), .removed(let path), .relinked(let path, _):
      return isLeft(path, in: declaring, before)
    case .needs: return before.isUnsure
    case .unknown, .definition, .declaration, .outputGone, .outputChanged, .valuesUnknown,
      .valueWithSecret, .hash, .asked, .failedBefore:
      return false
    }
  }

  /// An earlier task writes the path: a direct or indirect dependency, nearest first.
  private func isLeft(_ path: [UInt8], in declaring: DeclaringTask, _ before: RunBefore) -> Bool {
    let whole = DeclaringTask.absolute(path, in: declaring.folder)
    var tasks = before.needs
    var seen = Set(tasks)
    var next = 0
    while next < tasks.count {
      let task = tasks[next]
      if next >= before.needs.count {
        if farLooksLeft == 0 { return false }
        farLooksLeft -= 1
      }
      next += 1
      if self.declaring(task).leaves(whole) { return true }
      for edge in plan.needs(task) {
        let need = TaskID(plan.needTargets[edge])
        if before.isStarted(need), seen.insert(need).inserted { tasks.append(need) }
      }
    }
    return false
  }
}
