internal import OpflowBase

protocol HeapElement {
  /// Ties come out in any order.
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

  /// Returns the place of `element`.
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

/// A binary heap of numbers whose keys may change.
package struct IndexedHeap<Key: Comparable> {
  private struct Entry {
    var key: Key
    var number: Int32
  }

  private var entries = Table<Entry>()
  /// Places in `entries`, by number; -1 if absent.
  private var places: Table<Int32>

  init(count: Int = 0) { places = Table(repeating: -1, count: count) }

  var isEmpty: Bool { entries.isEmpty }

  @inline(__always)
  var first: (number: Int, key: Key)? {
    entries.isEmpty ? nil : (Int(entries[0].number), entries[0].key)
  }

  var numbers: [Int] { entries.all.map { Int($0.number) } }

  func contains(_ number: Int) -> Bool { number < places.count && places[number] >= 0 }

  mutating func set(_ number: Int, to key: Key) {
    while places.count <= number { places.append(-1) }
    let place = Int(places[number])
    if place < 0 {
      places[number] = Int32(truncatingIfNeeded: entries.count)
      entries.append(Entry(key: key, number: Int32(truncatingIfNeeded: number)))
      if entries.count > 1 { rise(from: entries.count - 1) }
      return
    }
    let old = entries[place].key
    entries[place].key = key
    if key < old { rise(from: place) } else { fall(from: place) }
  }

  mutating func remove(_ number: Int) {
    guard number < places.count, places[number] >= 0 else { return }
    let place = Int(places[number])
    places[number] = -1
    let old = entries[place].key
    guard let moved = entries.removeBySwapping(at: place) else { return }
    if moved.key < old { rise(from: place) } else { fall(from: place) }
  }

  mutating func removeAll() {
    for entry in entries.all { places[Int(entry.number)] = -1 }
    entries.removeAll()
  }

  private mutating func rise(from start: Int) {
    let entry = entries[start]
    var child = start
    while child > 0 {
      let parent = (child - 1) / 2
      if entries[parent].key <= entry.key { break }
      put(entries[parent], at: child)
      child = parent
    }
    put(entry, at: child)
  }

  private mutating func fall(from start: Int) {
    let entry = entries[start]
    var parent = start
    while true {
      var child = parent * 2 + 1
      if child >= entries.count { break }
      if child + 1 < entries.count, entries[child + 1].key < entries[child].key { child += 1 }
      if entry.key <= entries[child].key { break }
      put(entries[child], at: parent)
      parent = child
    }
    put(entry, at: parent)
  }

  private mutating func put(_ entry: Entry, at place: Int) {
    entries[place] = entry
    places[Int(entry.number)] = Int32(truncatingIfNeeded: place)
  }

  func checkInvariants() -> String? {
    for (place, entry) in entries.all.enumerated() {
      if places[Int(entry.number)] != place { return "number \(entry.number) is misplaced" }
      if place > 0, entry.key < entries[(place - 1) / 2].key { return "a heap is out of order" }
    }
    return places.all.count { $0 >= 0 } == entries.count ? nil : "a heap has lost a number"
  }
}
