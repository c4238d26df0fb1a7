internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem

/// One check whether a task is up to date, in small steps.
package final class TaskLook {
  package enum Verdict {
    /// Up to date by that success; `refreshed` has newer stamps to write, which saves reading the
    /// files next time.
    case fresh(SuccessRecord, refreshed: SuccessRecord?)
    /// The inputs were scanned before the start.
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
  private let inputs: FileLook
  private var outputs: FileLook?
  private var needs = TaskReadings.NeedsLook()

  var unmatched: [String] { inputs.unmatched }
  var unentered: [(pattern: String, link: String, instead: String)] { inputs.unentered }
  private var now: SuccessRecord?

  init(
    _ declaring: DeclaringTask, _ check: TaskCheck, record: SuccessRecord?, readings: TaskReadings,
    hashes: FileMemory, _ masker: Masker?
  ) throws(LookFault) {
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
    inputs = try FileLook(
      declaring.inputs, in: declaring.folder,
      memory: record.map { $0.known(by: hashes.hash).inputs } ?? [],
      hashes: hashes, links: declaring.followedLinks)
    if let path = inputs.missing.first { throw LookFault(missing: path, of: declaring) }
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
  func goOn(until deadline: Int64) throws(LookFault) -> Verdict? {
    guard let now else {
      guard try inputs.goOn(until: deadline) else { return nil }
      if let path = inputs.missing.first {
        throw LookFault(missing: path, of: declaring)
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
      outputs = try FileLook(
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
    // Additional files at its outputs are not its own.
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
