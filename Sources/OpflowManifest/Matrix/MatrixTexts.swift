/// The values of all matrices. Equal values have the same number.
final class MatrixTexts {
  private var table = TextTable()

  /// - Parameter text: Must live as long as this object.
  func number(of text: Text) -> Int32 {
    Int32(truncatingIfNeeded: table.insert(text).index)
  }

  /// Returns nil for a text that no matrix uses.
  func knownNumber(of text: Text) -> Int32? {
    table.index(of: text).map { Int32(truncatingIfNeeded: $0) }
  }

  subscript(number: Int32) -> Text { table.texts[Int(number)] }
}

/// A set of tuples of one length. Equal tuples have the same number.
struct TupleTable {
  /// A trie: maps a prefix's number and the next item to the number of the longer prefix.
  private var longer: [UInt64: Int32] = [:]
  private var next: Int32 = 1

  mutating func insert(_ items: some Sequence<Int32>) -> (number: Int32, isNew: Bool) {
    var number: Int32 = 0
    var isNew = false
    for item in items {
      let key = Self.key(number, item)
      if let known = longer[key] {
        number = known
        isNew = false
      } else {
        longer[key] = next
        number = next
        next += 1
        isNew = true
      }
    }
    return (number, isNew)
  }

  func find(_ items: some Sequence<Int32>) -> Int32? {
    var number: Int32 = 0
    for item in items {
      guard let known = longer[Self.key(number, item)] else { return nil }
      number = known
    }
    return number
  }

  private static func key(_ number: Int32, _ item: Int32) -> UInt64 {
    UInt64(UInt32(bitPattern: number)) << 32 | UInt64(UInt32(bitPattern: item))
  }
}
