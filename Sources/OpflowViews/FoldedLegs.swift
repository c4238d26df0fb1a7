internal import OpflowCore

/// Matrix tasks that share a row in a plan's view.
struct FoldedLegs {
  /// The index of the first one among the starts.
  var first: Int
  /// In start order.
  var tasks: [TaskID]

  /// Returns the matrices that have several of the tasks.
  static func of(_ starts: [TaskID], _ plan: Plan) -> [FamilyID: FoldedLegs] {
    if plan.families.isEmpty { return [:] }
    var folds: [FamilyID: FoldedLegs] = [:]
    for (index, task) in starts.enumerated() {
      guard let family = plan.family(of: task) else { continue }
      folds[family, default: FoldedLegs(first: index, tasks: [])].tasks.append(task)
    }
    return folds.filter { $0.value.tasks.count > 1 }
  }

  private static let mostLooks = 1000

  /// Returns the cells of the row; a cell that differs between tasks is empty. Column `why` shows
  /// the most common reason and counts the others.
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

  /// `changed: in/1; 2 others differ`, without the number if `reasons` does not cover all tasks.
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

  /// Returns the name of the only task, or `build (3 of 12 legs)`.
  func name(_ plan: Plan) -> String {
    guard tasks.count > 1, let family = plan.family(of: tasks[0]) else {
      return plan.nameString(tasks[0])
    }
    let count = plan.legs(family).count
    let legs = tasks.count == count ? "\(count)" : "\(tasks.count) of \(count)"
    return "\(plan.familyName(family)) (\(legs) legs)"
  }
}
