extension Array {
  /// Empties it and keeps its memory, as `removeAll(keepingCapacity:)` does, which takes several times as long for
  /// the few elements that a list of one task mostly has.
  @inline(__always)
  mutating func removeEach() {
    while popLast() != nil {}
  }
}
