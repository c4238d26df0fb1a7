/// Tasks of a plan that are withdrawn, with the names that they have from then on, so that others may come by those that
/// they had.
///
/// They keep their numbers and what they need. What they declare goes: nobody else is to be held against it. No manifest
/// can declare a task by such a name, since `~` stands in no id.
struct WithdrawnNames {
  /// By number.
  private(set) var names: [Int32: [UInt8]] = [:]
  /// Sections of the plan as they are with that.
  private(set) var sections: [PlanSection: [UInt8]] = [:]
  /// What stands behind the texts of the plan.
  private var text: [UInt8] = []

  /// - Parameters:
  ///   - tasks: each family of theirs is among them with all its legs.
  ///   - attempt: the number of the try that added them.
  init(of plan: Plan, _ tasks: some Sequence<Int>, attempt: Int32) throws(SegmentError) {
    var refs = Array(plan.name)
    var flags = Array(plan.flagBits)
    var families = Array(plan.families)
    let withdrawn = Set(tasks.map { Int32(truncatingIfNeeded: $0) })
    var taken: Set<[UInt8]> = []
    for task in withdrawn.sorted() {
      let name = Self.freeName(plan.nameBytes(TaskID(task)), attempt) { name in
        taken.contains(name) || name.withUnsafeBytes { plan.task(named: $0) != nil }
      }
      taken.insert(name)
      names[task] = name
      refs[Int(task)] = add(name, behind: plan)
      flags[Int(task)] &= ~Self.declared.rawValue
    }
    var familyNames = Set(families.map { Array(plan.text($0.name)) })
    for index in families.indices where withdrawn.contains(families[index].firstTask) {
      let name = Self.freeName(plan.text(families[index].name), attempt, familyNames.contains)
      familyNames.insert(name)
      families[index].name = add(name, behind: plan)
    }
    guard plan.arena.count + text.count < Int(UInt32.max) else { throw .tooLarge }
    sections[.arena] = Array(plan.arena) + text
    sections[.taskName] = Self.bytes(refs)
    sections[.taskFlags] = Self.bytes(flags)
    sections[.families] = Self.bytes(families)
    sections[.declarations] = Self.bytes(plan.declarations.filter { !withdrawn.contains($0.task) })
  }

  private static let declared = TaskFlags.declares.union(.cached)

  private static func bytes(_ records: [some BitwiseCopyable]) -> [UInt8] {
    records.withUnsafeBytes { Array($0) }
  }

  private mutating func add(_ name: [UInt8], behind plan: Plan) -> TextRef {
    let offset = UInt32(truncatingIfNeeded: plan.arena.count + text.count)
    text += name
    return TextRef(offset: offset, length: UInt32(truncatingIfNeeded: name.count))
  }

  /// Another one of the same name may have been withdrawn before.
  private static func freeName(
    _ name: UnsafeRawBufferPointer, _ attempt: Int32, _ isTaken: ([UInt8]) -> Bool
  ) -> [UInt8] {
    var number = Int(attempt)
    while true {
      let free = Array(name) + Array("~\(number)".utf8)
      if !isTaken(free) { return free }
      number += 1
    }
  }
}
