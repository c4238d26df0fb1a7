/// Translates indexes of a segment into those of the plan that it is added to.
struct SegmentNumbers {
  let base: Plan

  func task(_ number: Int32) -> Int32 { number + Int32(truncatingIfNeeded: base.taskCount) }

  func text(_ ref: TextRef) -> TextRef {
    if ref.length == 0 { return .empty }
    return TextRef(
      offset: ref.offset + UInt32(truncatingIfNeeded: base.arena.count), length: ref.length)
  }

  private func list(_ number: UInt32, behind offsets: Column<UInt32>) -> UInt32 {
    number == 0 ? 0 : number + UInt32(truncatingIfNeeded: offsets.count - 2)
  }

  func list(_ number: ListIndex) -> ListIndex { list(number, behind: base.listOffsets) }
  func variables(_ number: UInt32) -> UInt32 { list(number, behind: base.environmentOffsets) }
  /// List 0 and environment 0 are empty and already in the plan.
  func environment(_ number: UInt32) -> UInt32 {
    number == 0 ? 0 : number + UInt32(truncatingIfNeeded: base.environments.count - 1)
  }
  func codes(_ number: UInt32) -> UInt32 { list(number, behind: base.codeOffsets) }
  func late(_ number: UInt32) -> UInt32 { list(number, behind: base.lateOffsets) }
  func steps(_ number: ListIndex) -> ListIndex { list(number, behind: base.stepOffsets) }
  func declared(_ number: UInt32) -> UInt32 { list(number, behind: base.declaredOffsets) }

  func record(_ record: PlanRecord, of kind: ActionKind, isService: Bool) -> PlanRecord {
    var record = record
    record.script = text(record.script)
    record.directory = text(record.directory)
    record.words = list(record.words)
    record.shell = list(record.shell)
    record.environment = environment(record.environment)
    record.allowedCodes = codes(record.allowedCodes)
    for text in TaskText.allCases { record.texts[text] = list(record.texts[text]) }
    record.late = late(record.late)
    record.file = list(record.file)
    if kind == .download {
      record.download += UInt32(truncatingIfNeeded: base.downloads.count)
    } else if isService {
      record.service += UInt32(truncatingIfNeeded: base.services.count)
    }
    return record
  }

  func policy(_ policy: TaskPolicy) -> TaskPolicy {
    var policy = policy
    policy.retryCodes = codes(policy.retryCodes)
    return policy
  }

  func environment(_ entry: EnvironmentEntry) -> EnvironmentEntry {
    EnvironmentEntry(base: variables(entry.base), own: variables(entry.own))
  }

  func variable(_ item: EnvironmentItem) -> EnvironmentItem {
    EnvironmentItem(name: text(item.name), value: text(item.value))
  }

  func download(_ entry: DownloadEntry) -> DownloadEntry {
    var entry = entry
    entry.target = text(entry.target)
    entry.sha256 = text(entry.sha256)
    entry.sha512 = text(entry.sha512)
    entry.sources = list(entry.sources)
    entry.headers = variables(entry.headers)
    return entry
  }

  func service(_ entry: ServiceEntry) -> ServiceEntry {
    var entry = entry
    entry.text = text(entry.text)
    entry.words = list(entry.words)
    entry.ports = list(entry.ports)
    return entry
  }

  func glob(_ entry: GlobEntry) -> GlobEntry {
    GlobEntry(pattern: text(entry.pattern), folder: text(entry.folder))
  }

  func family(_ entry: FamilyEntry) -> FamilyEntry {
    FamilyEntry(
      name: text(entry.name), firstTask: task(entry.firstTask), legCount: entry.legCount,
      axes: list(entry.axes),
      firstValue: entry.firstValue + UInt32(truncatingIfNeeded: base.familyValues.count))
  }

  func late(_ item: LateItem) -> LateItem {
    var item = item
    item.program = steps(item.program)
    return item
  }

  func step(_ step: LateStep) -> LateStep {
    var step = step
    step.text = text(step.text)
    return step
  }

  func declaration(_ entry: DeclarationEntry) -> DeclarationEntry {
    DeclarationEntry(
      task: task(entry.task), inputs: declared(entry.inputs), outputs: declared(entry.outputs))
  }

  func declared(_ item: DeclaredItem) -> DeclaredItem {
    var item = item
    item.text = text(item.text)
    item.words = list(item.words)
    return item
  }
}
