/// A scalar with its expressions evaluated. It has four words to be passed in registers; passing it
/// through memory took longer than reading one.
struct Scalar {
  let node: Node
  /// Whether the text decides the type, as for plain scalars and those with expressions.
  let isTyped: Bool
  /// Whether expressions are left for the start of the task (`LateText`).
  let isLate: Bool
  // 32 bits are enough: all texts are below 1 GiB.
  private let textCount: UInt32
  private let stableCount: UInt32
  private let textStart: UnsafeRawPointer?
  private let stableStart: UnsafeRawPointer?

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
