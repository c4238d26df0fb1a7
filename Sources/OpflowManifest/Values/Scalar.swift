/// A scalar with its expressions evaluated.
///
/// Four words, so that it is handed on in registers: through memory it took longer than to read one.
struct Scalar {
  let node: Node
  /// Whether the text decides the type: plain scalars, and those with expressions.
  let isTyped: Bool
  /// Whether the text is what is left of expressions that are evaluated when the task starts
  /// (`LateText`).
  let isLate: Bool
  // Texts are below 1 GiB: those of the manifest by its bound, evaluated ones by theirs.
  private let textCount: UInt32
  private let stableCount: UInt32
  private let textStart: UnsafeRawPointer?
  private let stableStart: UnsafeRawPointer?

  /// - Parameter stable: the text with a constant for `run.id`, for fingerprints.
  @inline(__always)
  init(node: Node, text: Text, stable: Text, isTyped: Bool, isLate: Bool = false) {
    self.node = node
    self.isTyped = isTyped
    self.isLate = isLate
    textStart = text.baseAddress
    textCount = UInt32(truncatingIfNeeded: text.count)
    stableStart = stable.baseAddress
    stableCount = UInt32(truncatingIfNeeded: stable.count)
  }

  @inline(__always)
  var text: Text { Text(start: textStart, count: Int(textCount)) }
  /// The text with a constant for `run.id`, for fingerprints. Mostly the same bytes as `text`.
  @inline(__always)
  var stable: Text { Text(start: stableStart, count: Int(stableCount)) }

  var type: CoreSchema.ScalarType { isTyped ? CoreSchema.type(of: text) : .string }
  @inline(__always)
  var isNull: Bool { isTyped && CoreSchema.isNull(text) }
}
