package import OpflowPlan
package import OpflowSystem

/// Checks the files of a plan's tasks to predict what a session would do. Writes nothing, but runs
/// the commands in `inputs`.
package final class PlanLook {
  private let plan: Plan
  private let records: RecordPlace
  private let book: RecordBook?
  private let hashes: FileMemory
  private let readings: TaskReadings
  private let cache: ResultCache?
  /// Of indirect dependencies: limited, so that the plan is printed soon.
  private var farLooksLeft = 100_000

  /// `state` may not exist. `cache` is nil to predict without a cache.
  package init(_ plan: Plan, state: String, cache: CacheSetting?) throws(Errno) {
    self.cache = plan.hasCaches ? cache.map { ResultCache($0, state: state) } : nil
    self.plan = plan
    records = RecordPlace(plan, state: state)
    book = try RecordBook(readingIn: state)
    try book?.follow()
    hashes = FileMemory(plan)
    // Secrets' values are unknown here, and a session masks them.
    readings = TaskReadings(
      WorkerPlan(plan), records: records, book: book, hashes: hashes,
      showsPrinted: !plan.hasSecrets)
  }

  /// Present outputs of tasks in `before`, which would run first, mean nothing.
  package func foresee(_ check: TaskCheck, _ before: RunBefore) -> FileForecast {
    // Unknown until the generator has run.
    if before.needs.contains(where: plan.hasEmptyMatrix) { return .unsure }
    let declaring = declaring(check.task)
    var record: SuccessRecord?
    do throws(LookFault) {
      record = try LookFault.reading { () throws(Errno) in
        try book?.record(of: declaring.identity)
      }
      let look = try TaskLook(
        declaring, check, record: record, readings: readings, hashes: hashes, nil)
      while true {
        guard let verdict = try look.goOn(until: .max) else { continue }
        return forecast(verdict, of: declaring, before)
      }
    } catch {
      if let path = error.path, isLeft(Array(path.utf8), in: declaring, before) {
        return record == nil ? .stale(why: "", isCached: false) : .unsure
      }
      return .unfit(what: error.what)
    }
  }

  private func declaring(_ task: TaskID) -> DeclaringTask {
    DeclaringTask(plan: plan, task: task, records: records)
  }

  private func forecast(
    _ verdict: TaskLook.Verdict, of declaring: DeclaringTask, _ before: RunBefore
  ) -> FileForecast {
    switch verdict {
    case .fresh(let record, _):
      return before.needs.isEmpty
        ? .fresh(origin: record.origin, declaring.handedOn(record.values ?? []))
        : .unsure
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
  private func isOpen(
    _ reason: Staleness, of declaring: DeclaringTask, _ before: RunBefore
  ) -> Bool {
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
