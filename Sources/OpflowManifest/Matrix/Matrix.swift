/// A `matrix` as it is read: what its legs are made of, none of them made.
struct Matrix {
  /// What goes through its values while the others stand still.
  struct Factor {
    /// Where it stands.
    var node: Node
    /// Of `Matrix.names`: one for an axis, the columns for `rows`.
    var names: Range<Int>
    /// Row by row, by `MatrixTexts`. Not of a range, whose values are made with the legs.
    var values: [Int32] = []
    /// Of a range.
    var range: ClosedRange<Int64>?

    var count: Int {
      if let range { return Int(range.upperBound - range.lowerBound) + 1 }
      return values.count / max(1, names.count)
    }
  }

  /// A list of values for names, as `exclude` and `include` have them.
  struct Values {
    var node: Node
    var items: [(name: Int, value: Int32)]
  }

  /// A file that has values of legs.
  struct File {
    /// Of `Matrix.names`: the columns of a sheet, or what has a value in each line.
    var names: Range<Int>
    var file: SourceFile
    var isSheet: Bool
  }

  /// What `matrix.NAME` may be, in the order in which it stands.
  var names = TextTable()
  /// Those of them that are in a leg's id, in their order.
  var namingNames: [Int] = []
  var factors: [Factor] = []
  /// Partial.
  var excluded: [Values] = []
  /// Whole, with a value for each name in the order of the names.
  var included: [Values] = []
  var files: [File] = []
  /// Whether a file that it reads is wrong, which is told once also where several read it.
  var isWrong = false
  /// Whether files decide how many legs there are.
  var isOfFiles = false
  /// Where `exclude` stands.
  var excludeNode: Node?
  /// Tasks that write what it reads, each once.
  var after: [TaskWord] = []
  /// Whether all that it reads is read when these have succeeded.
  var isLater = false
  /// What is to be read then: patterns, and names of files.
  var laterSources: [Text] = []
  /// Whether all that `matrix.NAME` may be is known.
  var knowsNames = true

  /// The id of a task, as it is written.
  struct TaskWord {
    var text: Text
    var node: Node
  }

  /// Nil where there are more than any number counts; 0 where nothing is multiplied.
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
