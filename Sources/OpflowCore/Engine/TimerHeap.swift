/// Tasks that wait for a moment, the earliest first.
struct TimerHeap {
  struct Entry: HeapElement {
    var at: Instant
    var task: TaskID

    func isBefore(_ other: Entry) -> Bool { at < other.at }
  }
  private var heap = BinaryHeap<Entry>()

  var entries: [Entry] { heap.elements }
  var first: Entry? { heap.first }

  mutating func push(_ entry: Entry) { heap.push(entry) }

  /// Takes out the first entry if its moment has come.
  mutating func popDue(at now: Instant) -> TaskID? {
    guard let first = heap.first, first.at <= now else { return nil }
    return heap.pop()?.task
  }

  mutating func removeAll() { heap.removeAll() }
}
