internal import OpflowBase

/// Resolves IDs, matrices, matrix tasks by value, patterns for IDs, and `tag:NAME`.
package enum Selector {
  /// The tasks that match any selector. Throws if one matches none.
  package static func tasks(
    _ selectors: [String], of plan: Plan
  ) throws(UnfitSelector) -> TaskSet {
    var set = TaskSet(taskCount: plan.taskCount)
    for selector in selectors {
      if let tag = tagName(selector) {
        try insertTagged(tag, selector, plan, into: &set)
      } else if let legs = plan.legs(namedBy: selector) {
        for task in legs { set.insert(task) }
        // The generator of a matrix belongs to it.
        if let maker = plan.task(named: selector) { set.insert(maker) }
      } else if Glob.isPattern(selector) {
        try insertMatching(selector, plan, into: &set)
      } else if let task = plan.task(named: selector) {
        set.insert(task)
      } else {
        throw UnfitSelector(
          selector: selector, nearest: nearest(to: selector, plan),
          laterMatrix: laterMatrix(of: selector, plan))
      }
    }
    return set
  }

  /// `work` for `work[part=a]`, if a generator has yet to add its tasks.
  private static func laterMatrix(of selector: String, _ plan: Plan) -> String? {
    guard selector.utf8.last == UInt8(ascii: "]"), let open = selector.firstIndex(of: "[") else {
      return nil
    }
    let name = String(selector[..<open])
    guard let maker = plan.task(named: name), plan.makesLegs(maker) else { return nil }
    return name
  }

  /// For a hint in a plan of a million tasks.
  private static let maxCandidates = 10_000

  private static func nearest(to selector: String, _ plan: Plan) -> String? {
    let families = plan.families.indices.lazy.map { plan.familyName(FamilyID($0)) }
    let names = plan.tasks.lazy.prefix(maxCandidates).map { plan.nameString(TaskID($0)) }
    return NearestName.of(selector, among: Array(families.prefix(maxCandidates)) + names)
  }

  package static func tags(of plan: Plan) -> [String] {
    var tags: Set<String> = []
    for index in plan.tasks where tags.count < 1000 {
      for ref in plan.texts(.tags, of: TaskID(index)) { tags.insert(plan.string(ref)) }
    }
    return tags.sorted().map { "tag:\($0)" }
  }

  private static func tagName(_ selector: String) -> String? {
    selector.hasPrefix("tag:") ? String(selector.dropFirst(4)) : nil
  }

  private static func insertTagged(
    _ tag: String, _ selector: String, _ plan: Plan, into set: inout TaskSet
  ) throws(UnfitSelector) {
    var found = false
    var others: Set<String> = []
    for index in plan.tasks {
      for ref in plan.texts(.tags, of: TaskID(index)) {
        if plan.text(ref).elementsEqual(tag.utf8) {
          set.insert(TaskID(index))
          found = true
        } else if !found, others.count < 1000 {
          others.insert(plan.string(ref))
        }
      }
    }
    if found { return }
    let nearest = NearestName.of(tag, among: others.sorted()).map { "tag:\($0)" }
    throw UnfitSelector(selector: selector, nearest: nearest)
  }

  private static func insertMatching(
    _ selector: String, _ plan: Plan, into set: inout TaskSet
  ) throws(UnfitSelector) {
    let glob = Glob(selector)
    var found = false
    for index in plan.tasks where glob.matches(plan.nameBytes(TaskID(index))) {
      set.insert(TaskID(index))
      found = true
    }
    if !found { throw UnfitSelector(selector: selector) }
  }
}
