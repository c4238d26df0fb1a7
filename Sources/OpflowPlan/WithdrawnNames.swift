/// Renames retracted tasks, so that new tasks can have their names and declare their files. They
/// keep indexes and dependencies. The new names contain `~`, which IDs cannot.
struct WithdrawnNames {
  private(set) var names: [Int32: [UInt8]] = [:]
  private(set) var sections: [PlanSection: [UInt8]] = [:]
  private var text: [UInt8] = []

  /// - Parameter attempt: the one that added the tasks.
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
