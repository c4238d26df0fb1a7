/// Legs of a family that share a row of a plan's view.
struct FoldedLegs {
  /// Which of the starts the first one is.
  var first: Int
  /// In the order of their starts.
  var tasks: [TaskID]

  /// The families that have several legs among some tasks.
  static func of(_ starts: [TaskID], _ plan: Plan) -> [FamilyID: FoldedLegs] {
    if plan.families.isEmpty { return [:] }
    var folds: [FamilyID: FoldedLegs] = [:]
    for (index, task) in starts.enumerated() {
      guard let family = plan.family(of: task) else { continue }
      folds[family, default: FoldedLegs(first: index, tasks: [])].tasks.append(task)
    }
    return folds.filter { $0.value.tasks.count > 1 }
  }

  /// Legs that are looked at for what they have in common.
  private static let mostLooks = 1000

  /// The cells of the row: what all legs have in common, a blank for what they have not.
  ///
  /// - Parameter why: the column of reasons, of which the commonest stands there with how many others there are.
  func cells(_ plan: Plan, why: Int, _ cells: (TaskID) -> [String]) -> [String] {
    var common = cells(tasks[0])
    guard tasks.count > 1 else { return common }
    var reasons = [common[why]]
    for task in tasks.dropFirst().prefix(Self.mostLooks) {
      let own = cells(task)
      reasons.append(own[why])
      for (column, cell) in own.enumerated() where cell != common[column] {
        common[column] = ""
      }
    }
    common[0] = name(plan)
    common[why] = Self.commonest(reasons, areAll: reasons.count == tasks.count)
    return common
  }

  /// `changed: in/1; 2 others differ`
  ///
  /// - Parameter areAll: false where there are more than those.
  private static func commonest(_ reasons: [String], areAll: Bool) -> String {
    var counts: [String: Int] = [:]
    for reason in reasons where !reason.isEmpty { counts[reason, default: 0] += 1 }
    guard let most = counts.values.max(), let first = reasons.first(where: { counts[$0] == most })
    else { return "" }
    let others = reasons.count - most
    if others == 0 { return first }
    let number = areAll ? "\(others) " : ""
    return "\(first); \(number)\(others == 1 && areAll ? "other differs" : "others differ")"
  }

  /// Of the one task, or `build (3 of 12 legs)`.
  func name(_ plan: Plan) -> String {
    guard tasks.count > 1, let family = plan.family(of: tasks[0]) else {
      return plan.nameString(tasks[0])
    }
    let count = plan.legs(family).count
    let legs = tasks.count == count ? "\(count)" : "\(tasks.count) of \(count)"
    return "\(plan.familyName(family)) (\(legs) legs)"
  }
}
