package import OpflowCore
internal import OpflowSystem

/// The plan of a run, as it is read by whoever does not drive it.
///
/// One to which tasks were added is written before the line of the journal by which they count (`ExtendEntry`).
/// So it may have more of them than the run has: it is opened with as many as the journal tells of. One that a resume
/// made anew is written before that drive's first line as well: the journal tells nothing of the numbers in it.
extension RunFolder {
  /// Maps the plan. Every reference in it is checked; the checksum too where asked.
  package func openPlan(verifyingChecksum: Bool = true) throws(RunFolderError) -> Plan {
    let mapped = try mapPlan(verifyingChecksum: verifyingChecksum)
    do throws(PlanError) {
      try mapped.validate()
      return mapped
    } catch {
      throw .plan(path: plan, error)
    }
  }

  /// The plan with nothing but its header and section table checked, and the checksum where asked.
  func mapPlan(verifyingChecksum: Bool = false) throws(RunFolderError) -> Plan {
    var file = try openPlanFile()
    var found = try map(file, verifyingChecksum: verifyingChecksum)
    guard found.hasRoom else { return found }
    let told = told { JournalReader.taskCount(atEndOf: $0) } ?? found.firstTaskCount
    if found.taskCount < told {
      // It grew into a new file between the two looks.
      file = try openPlanFile()
      found = try map(file, verifyingChecksum: verifyingChecksum)
    }
    if found.taskCount <= told { return found }
    if !isTold(found) {
      // Or it was made anew between the two looks.
      file = try openPlanFile()
      found = try map(file, verifyingChecksum: verifyingChecksum)
      if found.taskCount <= told || !isTold(found) { return found }
    }
    return try map(file, taskCount: told, verifyingChecksum: verifyingChecksum)
  }

  private func openPlanFile() throws(RunFolderError) -> Descriptor {
    try doing("open", plan) { () throws(Errno) in try File.openRegular(plan, .readOnly) }
  }

  /// - Parameter taskCount: how many tasks count, of those that are there; nil for all.
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

  /// Whether a plan is that of the newest drive that the journal tells of, grown or not.
  private func isTold(_ plan: Plan) -> Bool {
    told { JournalReader.planKey(atEndOf: $0) } == plan.key.description
  }

  /// What the journal tells; nil where it does not, or cannot be read.
  private func told<Told>(_ tell: (UnsafeRawBufferPointer) -> Told?) -> Told? {
    guard let file = try? MappedFile(journal) else { return nil }
    defer { MappedFile.unmap(file.bytes) }
    return tell(file.bytes)
  }
}
