extension Array {
  /// Removes the element at a place and moves the last one there.
  ///
  /// - Returns: the element now at that place; nil if the last one was removed.
  mutating func removeBySwapping(at place: Int) -> Element? {
    guard let last = popLast(), place < count else { return nil }
    self[place] = last
    return last
  }
}
