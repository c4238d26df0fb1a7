/// A number with its range and words for some values.
package struct OrderNumber: Sendable {
  let what: String
  package let range: ClosedRange<Int64>
  package let words: [(word: StaticString, value: Int16)]
  package let example: String

  /// Of ready tasks, those with a higher one start first.
  package static let priority = OrderNumber(
    what: "a priority", range: -1000...1000, words: PriorityLevels.all, example: "high")

  /// `low, high or a number from -5 to 5`.
  package var known: String {
    let numbers = "a number from \(range.lowerBound) to \(range.upperBound)"
    if words.isEmpty { return numbers }
    return words.map(\.word.description).joined(separator: ", ") + " or \(numbers)"
  }

  func fault(_ number: Int64) -> String? {
    if range.contains(number) { return nil }
    return "\(what) is a number from \(range.lowerBound) to \(range.upperBound), not \(number)"
  }
}
