/// A scalar with its expressions evaluated.
struct Scalar {
  var node: Node
  var text: Text
  /// The text with a constant for `run.id`, for fingerprints. Mostly the same bytes as `text`.
  var stable: Text
  /// Whether the text decides the type: plain scalars, and those with expressions.
  var isTyped: Bool

  var type: CoreSchema.ScalarType { isTyped ? CoreSchema.type(of: text) : .string }
}
