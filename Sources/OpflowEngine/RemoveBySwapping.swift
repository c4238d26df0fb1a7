extension Array {
  /// Puts the last element in the place of another one; returns it, or nil if it was the last one.
  mutating func removeBySwapping(at place: Int) -> Element? {
    guard let last = popLast(), place < count else { return nil }
    self[place] = last
    return last
  }
}
