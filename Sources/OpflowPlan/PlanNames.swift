enum PlanNames {
  static func tableSize(taskCount: Int) -> Int {
    var size = 2
    while size < taskCount * 2 { size *= 2 }
    return size
  }
}
