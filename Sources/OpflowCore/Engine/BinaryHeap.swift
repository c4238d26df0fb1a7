/// What has an order in a `BinaryHeap`.
protocol HeapElement {
  /// Whether it comes out before the other; of two of which neither does, either may.
  func isBefore(_ other: Self) -> Bool
}

/// A binary heap in a table: the element that comes before all others is there at once.
struct BinaryHeap<Element: HeapElement> {
  private var table = Table<Element>()

  /// In no order but the heap's.
  var elements: [Element] { table.all }

  var count: Int { table.count }

  @inline(__always)
  var first: Element? { table.isEmpty ? nil : table[0] }

  mutating func push(_ element: Element) {
    var child = table.count
    table.append(element)
    while child > 0 {
      let parent = (child - 1) / 2
      if !element.isBefore(table[parent]) { break }
      table[child] = table[parent]
      child = parent
    }
    table[child] = element
  }

  mutating func pop() -> Element? {
    if table.isEmpty { return nil }
    let last = table.removeLast()
    if table.isEmpty { return last }
    let first = table[0]
    table[sink(last)] = last
    return first
  }

  /// Moves what comes before an element up, from the top on.
  ///
  /// - Returns: where the element belongs.
  private mutating func sink(_ element: Element) -> Int {
    var parent = 0
    var child = 1
    while child < table.count {
      if child + 1 < table.count, table[child + 1].isBefore(table[child]) { child += 1 }
      if !table[child].isBefore(element) { break }
      table[parent] = table[child]
      parent = child
      child = parent * 2 + 1
    }
    return parent
  }

  /// Takes out all for which that holds.
  ///
  /// - Returns: how many.
  @discardableResult
  mutating func remove(where isOut: (Element) -> Bool) -> Int {
    let kept = elements.filter { !isOut($0) }
    let removed = count - kept.count
    if removed == 0 { return 0 }
    table.removeAll()
    for element in kept { push(element) }
    return removed
  }

  mutating func removeAll() { table.removeAll() }
}
