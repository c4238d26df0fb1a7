package import OpflowCore
package import OpflowSystem

/// Looks at the files of a plan's tasks as they are now, for who tells what a drive would do. It writes
/// nothing, and it runs what `inputs` name as commands.
package final class PlanLook {
  private let plan: Plan
  private let records: RecordPlace
  private let book: RecordBook?
  private let hashes: FileMemory
  private let readings: TaskReadings
  private let cache: ResultCache?

  /// - Parameters:
  ///   - state: the folder of the records, whether or not it is there.
  ///   - cache: where results would come back from; nil for nowhere.
  package init(_ plan: Plan, state: String, cache: CacheSetting?) throws(Errno) {
    self.cache = plan.hasCaches ? cache.map { ResultCache($0, state: state) } : nil
    self.plan = plan
    records = RecordPlace(plan, state: state)
    book = try RecordBook(readingIn: state)
    try book?.follow()
    hashes = FileMemory(plan)
    readings = TaskReadings(plan: plan, records: records, book: book, hashes: hashes)
  }

  /// - Parameter running: what the task needs and would run before it: what it finds of theirs tells nothing.
  package func foresee(_ check: TaskCheck, after running: [TaskID]) -> FileForecast {
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
        return forecast(verdict, of: declaring, after: running)
      }
    } catch {
      if let path = error.path, isLeft(path, in: declaring, by: running) {
        return record == nil ? .stale(why: "", isCached: false) : .unsure
      }
      return .unfit(what: error.what)
    }
  }

  private func declaring(_ task: TaskID) -> DeclaringTask {
    DeclaringTask(plan: plan, task: task, records: records)
  }

  private func forecast(
    _ verdict: TaskLook.Verdict, of declaring: DeclaringTask, after running: [TaskID]
  ) -> FileForecast {
    switch verdict {
    case .fresh(let record, _):
      return running.isEmpty
        ? .fresh(origin: record.origin, declaring.handedOn(record.values ?? []))
        : .unsure
    case .stale(let reasons, let seen):
      let certain = reasons.filter { !isOpen($0, of: declaring, after: running) }
      if certain.isEmpty { return .unsure }
      return .stale(
        why: Staleness.text(certain), isCached: running.isEmpty && isCached(declaring, seen))
    }
  }

  private func isCached(_ declaring: DeclaringTask, _ seen: SuccessRecord) -> Bool {
    guard let cache, plan.isCached(declaring.task), !seen.isAsked else { return false }
    return ((try? cache.open(declaring.cacheKey(seen))) ?? nil) != nil
  }

  /// Whether a difference may be gone when what runs before the task has run.
  private func isOpen(
    _ reason: Staleness, of declaring: DeclaringTask, after running: [TaskID]
  ) -> Bool {
    if running.isEmpty { return false }
    switch reason {
    case .values:
      return plan.valueSources(of: declaring.task).contains { running.contains($0) }
    case .reading(let reading):
      return reading.kind == .need
        && running.contains { plan.nameBytes($0).elementsEqual(reading.name) }
    case .changed(let path), .added(let path), .removed(let path):
      return isLeft(String(decoding: path, as: UTF8.self), in: declaring, by: running)
    case .unknown, .definition, .declaration, .needs, .outputGone, .outputChanged, .valuesUnknown,
      .valueWithSecret, .hash, .asked:
      return false
    }
  }

  private func isLeft(_ path: String, in declaring: DeclaringTask, by running: [TaskID]) -> Bool {
    let whole = path.hasPrefix("/") ? path : declaring.folder + "/" + path
    return running.contains { self.declaring($0).leaves(whole) }
  }
}
