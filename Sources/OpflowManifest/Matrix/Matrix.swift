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

  /// An item of `exclude` or `include`.
  struct Values {
    var node: Node
    var items: [(name: Int, value: Int32)]
  }

  /// A file that contains values.
  struct File {
    /// Indices into `Matrix.names`: the columns of a table, or the axis whose values are lines.
    var names: Range<Int>
    var file: SourceFile
    var isSheet: Bool
  }

  /// The names that `matrix.NAME` may use, in order.
  var names = TextTable()
  /// Indices of the names that are part of IDs.
  var namingNames: [Int] = []
  var factors: [Factor] = []
  /// Items with values for some names.
  var excluded: [Values] = []
  /// Items with a value for each name, in order.
  var included: [Values] = []
  var files: [File] = []
  /// Whether a file is invalid, which is reported once.
  var isWrong = false
  /// Whether files decide the number of matrix tasks.
  var isOfFiles = false
  var excludeNode: Node?
  /// The tasks in `after`, without duplicates.
  var after: [TaskWord] = []
  /// Whether reading must wait for the tasks in `after`.
  var isLater = false
  /// The patterns and file names to read then.
  var laterSources: [Text] = []
  /// Whether `names` is complete.
  var knowsNames = true

  /// A task's ID as written.
  struct TaskWord {
    var text: Text
    var node: Node
  }

  /// The number of combinations; nil on overflow, 0 without factors.
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
