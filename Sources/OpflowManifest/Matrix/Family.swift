/// A matrix with its matrix tasks.
struct Family {
  /// The limit on matrix tasks of a manifest.
  static let mostLegs = 1_000_000

  enum Emptiness {
    /// Files or patterns give no values, so the task is skipped.
    case empty
    /// The `matrix` has errors.
    case unknown
    /// Matrix tasks are made during the run.
    case later
  }

  /// The names that `matrix.NAME` may use.
  var names = TextTable()
  /// Indices of the names that are part of IDs.
  var namingNames: [Int] = []
  var ids: [Text] = []
  /// For each matrix task, a value per name, as numbers of `MatrixTexts`.
  var values: [Int32] = []
  /// The files that contain values.
  var files: [Matrix.File] = []
  /// Why there are no matrix tasks; nil if there are any.
  var emptiness: Emptiness?
  /// The tasks that must succeed before matrix tasks are made.
  var after: [Matrix.TaskWord] = []
  /// The patterns and file names to read then.
  var laterSources: [Text] = []
  /// Whether `names` is complete.
  var knowsNames = true

  /// The number of tasks; an empty matrix counts as one.
  var taskCount: Int { max(1, ids.count) }

  func values(of leg: Int) -> ArraySlice<Int32> {
    values[(leg * names.count)..<((leg + 1) * names.count)]
  }

  func value(_ name: Int, of leg: Int) -> Int32 { values[leg * names.count + name] }
}
