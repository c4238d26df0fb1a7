extension Array {
  /// Takes out what stands at a place, and puts the last element there.
  ///
  /// - Returns: what stands there now; nil where it was the last that was taken out.
  mutating func removeBySwapping(at place: Int) -> Element? {
    guard let last = popLast(), place < count else { return nil }
    self[place] = last
    return last
  }
}
