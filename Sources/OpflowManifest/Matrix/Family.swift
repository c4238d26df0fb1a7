/// A task with a `matrix`: a name for all its legs.
struct Family {
  /// Most legs that the families of a manifest have together.
  static let mostLegs = 1_000_000

  enum Emptiness {
    /// A file or a pattern gives it no leg: it is a task that is skipped.
    case empty
    /// Its `matrix` is wrong, and reported.
    case unknown
    /// A task makes its legs while the run goes on.
    case later
  }

  /// The names that `matrix.NAME` may speak of.
  var names = TextTable()
  /// Those of them that are in a leg's id, in their order.
  var namingNames: [Int] = []
  /// Of the legs, in their order; empty where there are none.
  var ids: [Text] = []
  /// Leg by leg, a value for each name, by `MatrixTexts`.
  var values: [Int32] = []
  /// What values stand in.
  var files: [Matrix.File] = []
  /// Why there is no leg; nil where there are any.
  var emptiness: Emptiness?
  /// Tasks that are to have succeeded before its legs are made.
  var after: [Matrix.TaskWord] = []
  /// What is read then: patterns, and names of files.
  var laterSources: [Text] = []
  /// Whether all that `matrix.NAME` may be is known.
  var knowsNames = true

  /// How many tasks it is: a family without legs is one.
  var taskCount: Int { max(1, ids.count) }

  func values(of leg: Int) -> ArraySlice<Int32> {
    values[(leg * names.count)..<((leg + 1) * names.count)]
  }

  func value(_ name: Int, of leg: Int) -> Int32 { values[leg * names.count + name] }
}
