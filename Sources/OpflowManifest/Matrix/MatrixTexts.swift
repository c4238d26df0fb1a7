/// The values of all matrices: equal texts have one number, by which they are compared.
final class MatrixTexts {
  private var table = TextTable()

  /// - Parameter text: lives as long as this.
  func number(of text: Text) -> Int32 {
    Int32(truncatingIfNeeded: table.insert(text).index)
  }

  /// Nil for a text that no matrix has.
  func knownNumber(of text: Text) -> Int32? {
    table.index(of: text).map { Int32(truncatingIfNeeded: $0) }
  }

  subscript(number: Int32) -> Text { table.texts[Int(number)] }
}

/// Lists of numbers, found whole: equal lists of one length have one number.
struct TupleTable {
  /// From the number of a list without its last item, and that item, to the number of the list.
  private var longer: [UInt64: Int32] = [:]
  private var next: Int32 = 1

  /// The number of a list, and whether it is a new one.
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
