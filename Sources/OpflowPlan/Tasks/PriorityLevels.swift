/// Numbers in between are valid too.
package enum PriorityLevels {
  package static let all: [(word: StaticString, value: Int16)] = [
    ("very_low", -8), ("low", -4), ("normal", 0), ("high", 4), ("very_high", 8),
  ]

  package static var words: [String] { all.map { $0.word.description } }
}
