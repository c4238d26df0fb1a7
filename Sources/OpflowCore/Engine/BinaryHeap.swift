/// What has an order in a `BinaryHeap`.
protocol HeapElement {
  /// Whether it comes out before the other; of two of which neither does, either may.
  func isBefore(_ other: Self) -> Bool
}

/// A binary heap in an array: the element that comes before all others is there at once.
struct BinaryHeap<Element: HeapElement> {
  /// In no order but the heap's.
  private(set) var elements: [Element] = []

  var first: Element? { elements.first }

  mutating func push(_ element: Element) {
    var child = elements.count
    elements.append(element)
    while child > 0 {
      let parent = (child - 1) / 2
      if !element.isBefore(elements[parent]) { break }
      elements[child] = elements[parent]
      child = parent
    }
    elements[child] = element
  }

  mutating func pop() -> Element? {
    guard let last = elements.popLast() else { return nil }
    guard let first = elements.first else { return last }
    var parent = 0
    while true {
      var child = parent * 2 + 1
      if child >= elements.count { break }
      if child + 1 < elements.count, elements[child + 1].isBefore(elements[child]) { child += 1 }
      if !elements[child].isBefore(last) { break }
      elements[parent] = elements[child]
      parent = child
    }
    elements[parent] = last
    return first
  }

  /// Takes out all for which that holds.
  ///
  /// - Returns: how many.
  @discardableResult
  mutating func remove(where isOut: (Element) -> Bool) -> Int {
    let kept = elements.filter { !isOut($0) }
    let count = elements.count - kept.count
    if count == 0 { return 0 }
    elements.removeAll(keepingCapacity: true)
    for element in kept { push(element) }
    return count
  }

  mutating func removeAll() { elements.removeAll() }
}
