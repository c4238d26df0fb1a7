/// Formats the time left, as a range: `3 to 5 min left`.
enum TimeLeft {
  /// Chooses the unit by the upper bound, and rounds outwards.
  static func text(milliseconds range: ClosedRange<Int64>) -> String {
    let unit = units.last { $0.from <= range.upperBound } ?? units[0]
    let low = range.lowerBound / unit.step
    let high = max(1, (range.upperBound + unit.step - 1) / unit.step)
    let end = "\(unit.text(high)) \(unit.name) left"
    if low == 0 { return "under \(end)" }
    return low == high ? "about \(end)" : "\(unit.text(low)) to \(end)"
  }

  /// All times are in milliseconds.
  private struct Unit {
    let name: String
    let length: Int64
    /// The step to which times are rounded: the length, a part or a multiple of it.
    let step: Int64
    /// The least upper bound of ranges in this unit.
    let from: Int64

    /// Formats a number of steps: `40`, `1.5`.
    func text(_ steps: Int64) -> String {
      let time = steps * step
      return "\(time / length)" + (time % length == 0 ? "" : ".5")
    }
  }

  private static let second: Int64 = 1000
  private static let minute = 60 * second
  private static let hour = 60 * minute
  private static let day = 24 * hour

  private static let units = [
    Unit(name: "s", length: second, step: second, from: 0),
    Unit(name: "s", length: second, step: 5 * second, from: 20 * second),
    Unit(name: "min", length: minute, step: minute, from: 90 * second),
    Unit(name: "h", length: hour, step: hour / 2, from: 90 * minute),
    Unit(name: "h", length: hour, step: hour, from: 10 * hour),
    Unit(name: "days", length: day, step: day / 2, from: 2 * day),
  ]
}
