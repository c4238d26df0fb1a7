internal import OpflowBase
internal import OpflowJournal
package import OpflowPlan
internal import OpflowSystem

/// Opening the plan of a run that another process drives.
///
/// Tasks are added to the file before the journal line that makes them count (`ExtendEntry`), so it
/// is opened with as many as the journal names. A resume also writes its plan before its first
/// line; then the journal says nothing of its numbers.
extension RunFolder {
  /// Maps the plan and checks every reference in it.
  package func openPlan(verifyingChecksum: Bool = true) throws(RunFolderError) -> Plan {
    let mapped = try mapPlan(verifyingChecksum: verifyingChecksum)
    do throws(PlanError) {
      try mapped.validate()
      return mapped
    } catch {
      throw .plan(path: plan, error)
    }
  }

  /// Checks only the header and section table, optionally the checksum.
  func mapPlan(verifyingChecksum: Bool = false) throws(RunFolderError) -> Plan {
    var file = try openPlanFile()
    var found = try map(file, verifyingChecksum: verifyingChecksum)
    guard found.hasRoom else { return found }
    let told = told { JournalReader.taskCount(atEndOf: $0) } ?? found.firstTaskCount
    if found.taskCount < told {
      // It grew into a new file after the first read.
      file = try openPlanFile()
      found = try map(file, verifyingChecksum: verifyingChecksum)
    }
    if found.taskCount <= told { return found }
    if !isTold(found) {
      // A resume may have replaced it after the first read.
      file = try openPlanFile()
      found = try map(file, verifyingChecksum: verifyingChecksum)
      if found.taskCount <= told || !isTold(found) { return found }
    }
    return try map(file, taskCount: told, verifyingChecksum: verifyingChecksum)
  }

  private func openPlanFile() throws(RunFolderError) -> Descriptor {
    try doing("open", plan) { () throws(Errno) in try File.openRegular(plan, .readOnly) }
  }

  private func map(
    _ file: borrowing Descriptor, taskCount: Int? = nil, verifyingChecksum: Bool
  ) throws(RunFolderError) -> Plan {
    let mapped: MappedFile
    do throws(Errno) {
      mapped = try MappedFile(file)
    } catch {
      throw .file(doing: "open", path: plan, error)
    }
    do throws(PlanError) {
      return try Plan(
        bytes: mapped.bytes, checksum: verifyingChecksum, limit: taskCount,
        release: MappedFile.unmap)
    } catch {
      throw .plan(path: plan, error)
    }
  }

  /// The plan is that of the newest session.
  private func isTold(_ plan: Plan) -> Bool {
    told { JournalReader.planKey(atEndOf: $0) } == plan.key.description
  }

  private func told<Told>(_ tell: (UnsafeRawBufferPointer) -> Told?) -> Told? {
    guard let file = try? MappedFile(journal) else { return nil }
    defer { MappedFile.unmap(file.bytes) }
    return tell(file.bytes)
  }
}
