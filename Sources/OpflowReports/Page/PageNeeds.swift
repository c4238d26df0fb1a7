internal import OpflowCore

/// The dependencies of tasks in a page's data.
///
/// Per task: the number of ranges of consecutive numbers. Per range: its distance from the task, or
/// from the range before, with the lowest bit set if it has more than one number; then how many
/// more. So a whole matrix takes a few bytes.
enum PageNeeds {
  /// - Parameter rows: task numbers of the page.
  static func digits(_ rows: Range<Int>, _ status: RunStatus, _ numbers: PageNumbers) -> PageDigits
  {
    let plan = status.plan
    var digits = PageDigits()
    for row in rows {
      let needs = plan.needs(numbers.tasks[row])
        .compactMap { numbers[TaskID(plan.needTargets[$0])] }.sorted()
      let runs = runs(of: needs)
      digits.add(runs.count)
      for (place, run) in runs.enumerated() {
        let gap =
          place == 0
          ? PageDigits.signed(row - run.lowerBound)
          : UInt64(run.lowerBound - runs[place - 1].upperBound)
        digits.add(gap << 1 | (run.count > 1 ? 1 : 0))
        if run.count > 1 { digits.add(run.count - 1) }
      }
    }
    return digits
  }

  /// - Parameter numbers: sorted; may contain duplicates.
  private static func runs(of numbers: [Int]) -> [ClosedRange<Int>] {
    var runs: [ClosedRange<Int>] = []
    for number in numbers {
      if let last = runs.last, last.upperBound + 1 >= number {
        runs[runs.count - 1] = last.lowerBound...number
      } else {
        runs.append(number...number)
      }
    }
    return runs
  }
}
