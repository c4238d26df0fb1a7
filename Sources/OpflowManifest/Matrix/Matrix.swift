/// A `matrix` before it is expanded.
struct Matrix {
  /// An axis or `rows`. Combinations are the product of all factors.
  struct Factor {
    var node: Node
    /// Indices into `Matrix.names`: one for an axis, the columns for `rows`.
    var names: Range<Int>
    /// The values row by row, as numbers of `MatrixTexts`. Empty for a range.
    var values: [Int32] = []
    /// Set for a range, whose values are made later.
    var range: ClosedRange<Int64>?

    var count: Int {
      if let range { return Int(range.upperBound - range.lowerBound) + 1 }
      return values.count / max(1, names.count)
    }
  }

  struct Values {
    var node: Node
    var items: [(name: Int, value: Int32)]
  }

  struct File {
    /// Indices into `Matrix.names`: the columns of a table, or the axis whose values are lines.
    var names: Range<Int>
    var file: SourceFile
    var isTable: Bool
  }

  /// The names that `matrix.NAME` may use, in order.
  var names = TextTable()
  /// Indices of names in IDs.
  var namingNames: [Int] = []
  var factors: [Factor] = []
  /// Items with values for some names.
  var excluded: [Values] = []
  /// Items with a value for each name, in order.
  var included: [Values] = []
  var files: [File] = []
  /// True if a file is invalid, which is reported once.
  var isWrong = false
  /// Files decide the number of matrix tasks.
  var isOfFiles = false
  var excludeNode: Node?
  /// The tasks in `after`, without duplicates.
  var after: [TaskWord] = []
  /// Reading must wait for the tasks in `after`.
  var isLater = false
  var laterSources: [ByteView] = []
  /// True if `names` is complete.
  var knowsNames = true

  struct TaskWord {
    var text: ByteView
    var node: Node
  }

  /// Nil on overflow, 0 without factors.
  var productCount: Int? {
    var product = factors.isEmpty ? 0 : 1
    for factor in factors {
      let (next, overflow) = product.multipliedReportingOverflow(by: factor.count)
      if overflow { return nil }
      product = next
    }
    return product
  }
}

struct MatrixGroup {
  /// The limit for a manifest.
  static let mostInstances = 1_000_000

  enum Emptiness {
    /// Files or patterns give no values, so the task is skipped.
    case empty
    /// The `matrix` has errors.
    case unknown
    /// Matrix tasks are made during the run.
    case later
  }

  var names = TextTable()
  var namingNames: [Int] = []
  var ids: [ByteView] = []
  /// A value per name and matrix task, as numbers of `MatrixTexts`.
  var values: [Int32] = []
  var files: [Matrix.File] = []
  /// Nil if there are matrix tasks.
  var emptiness: Emptiness?
  /// These must succeed before matrix tasks are made.
  var after: [Matrix.TaskWord] = []
  var laterSources: [ByteView] = []
  var knowsNames = true

  /// Counts an empty matrix as one task.
  var taskCount: Int { max(1, ids.count) }

  func values(of instance: Int) -> ArraySlice<Int32> {
    values[(instance * names.count)..<((instance + 1) * names.count)]
  }

  func value(_ name: Int, of instance: Int) -> Int32 { values[instance * names.count + name] }
}

/// Equal values have the same number.
final class MatrixTexts {
  private var table = TextTable()

  /// - Parameter text: Must live as long as this object.
  func number(of text: ByteView) -> Int32 {
    Int32(truncatingIfNeeded: table.insert(text).index)
  }

  func knownNumber(of text: ByteView) -> Int32? {
    table.index(of: text).map { Int32(truncatingIfNeeded: $0) }
  }

  subscript(number: Int32) -> ByteView { table.texts[Int(number)] }
}

/// Tuples have one length. Equal ones have the same number.
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
