/// A value of a matrix task from another file, such as a cell of a table.
struct LegCell {
  /// The name in `matrix`.
  var name: Text
  var value: Text
  var place: Place
}
