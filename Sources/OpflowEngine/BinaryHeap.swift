protocol HeapElement {
  /// Whether it comes out first; ties come out in any order.
  func isBefore(_ other: Self) -> Bool
}

/// The lowest rank comes out first.
struct Ranked<Rank: Comparable, Value>: HeapElement {
  let rank: Rank
  let value: Value

  @inline(__always)
  func isBefore(_ other: Self) -> Bool { rank < other.rank }
}

struct BinaryHeap<Element: HeapElement> {
  private var table = Table<Element>()

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

  /// Makes room for `element` from the root down; returns its place.
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
