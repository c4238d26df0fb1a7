/// Lines without their line feeds; the last one need not end with one.
package struct LineSlices: Sequence, IteratorProtocol {
  private var rest: ArraySlice<UInt8>

  package init(_ bytes: [UInt8]) { rest = bytes[...] }

  package mutating func next() -> ArraySlice<UInt8>? {
    if rest.isEmpty { return nil }
    guard let end = rest.firstIndex(of: Field.lineFeed) else {
      defer { rest = [] }
      return rest
    }
    defer { rest = rest[(end + 1)...] }
    return rest[..<end]
  }
}
