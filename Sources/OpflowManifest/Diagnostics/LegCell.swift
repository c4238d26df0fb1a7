/// A value of a leg that stands in a file of its own, such as a cell of a sheet.
struct LegCell {
  /// Of the `matrix`.
  var name: Text
  var value: Text
  var place: Place
}
