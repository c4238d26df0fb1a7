internal import OpflowBase
package import OpflowPlan

/// Matrices whose tasks have new IDs because the axes changed, for one warning instead of many
/// removed and new tasks.
package struct RenamedFamilies {
  package struct Family: Equatable, Sendable {
    package var name: String
    package var old: [String]
    package var new: [String]
  }

  package let families: [Family]
  private let names: Set<String>

  /// - Parameter last: the run's previous plan.
  package init(from last: Plan, to plan: Plan) {
    var families: [Family] = []
    var known: [String: FamilyID] = [:]
    for index in last.families.indices {
      known[last.familyName(FamilyID(index))] = FamilyID(index)
    }
    for index in plan.families.indices {
      let family = FamilyID(index)
      let name = plan.familyName(family)
      guard let before = known[name] else { continue }
      let old = last.axes(before).map { last.string($0) }
      let new = plan.axes(family).map { plan.string($0) }
      let isRenamed =
        old != new
        && !last.legs(before).contains { plan.task(named: last.nameBytes(TaskID($0))) != nil }
      if isRenamed { families.append(Family(name: name, old: old, new: new)) }
    }
    self.families = families
    names = Set(families.map(\.name))
  }

  /// The ID belongs to a task of such a matrix.
  package func contains(_ id: String) -> Bool {
    guard let open = id.utf8.firstIndex(of: UInt8(ascii: "[")) else { return false }
    return names.contains(String(id[..<open]))
  }

  package var warnings: [String] {
    families.map { family in
      "the legs of `\(CleanText.string(family.name))` are called by"
        + " \(CleanText.string(family.new.joined(separator: ", "))) now, and were by"
        + " \(CleanText.string(family.old.joined(separator: ", "))): all of them run"
    }
  }
}
