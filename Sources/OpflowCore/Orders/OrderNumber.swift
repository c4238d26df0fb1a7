/// A number that an order carries, as people know it: which there may be, and what stands for some of them.
package struct OrderNumber: Sendable {
  /// With its article.
  let what: String
  package let range: ClosedRange<Int64>
  /// From the lowest on.
  package let words: [(word: StaticString, value: Int16)]
  /// One of them, as it may be typed.
  package let example: String

  /// What starts first, among what waits.
  package static let priority = OrderNumber(
    what: "a priority", range: -1000...1000, words: PriorityLevels.all, example: "high")

  /// All that may be typed for it: `low, high or a number from -5 to 5`
  package var known: String {
    let numbers = "a number from \(range.lowerBound) to \(range.upperBound)"
    if words.isEmpty { return numbers }
    return words.map(\.word.description).joined(separator: ", ") + " or \(numbers)"
  }

  /// What is wrong with one that somebody asks for; nil where nothing is.
  func fault(_ number: Int64) -> String? {
    if range.contains(number) { return nil }
    return "\(what) is a number from \(range.lowerBound) to \(range.upperBound), not \(number)"
  }
}
