/// Tasks that wait for a moment, the earliest first.
struct TimerHeap {
  struct Entry: Equatable {
    var at: Instant
    var task: TaskID
  }
  private(set) var entries: [Entry] = []

  var first: Entry? { entries.first }

  mutating func push(_ entry: Entry) {
    var child = entries.count
    entries.append(entry)
    while child > 0 {
      let parent = (child - 1) / 2
      if entries[parent].at <= entry.at { break }
      entries.swapAt(parent, child)
      child = parent
    }
  }

  /// Takes out the first entry if its moment has come.
  mutating func popDue(at now: Instant) -> TaskID? {
    guard let first = entries.first, first.at <= now, let last = entries.popLast() else {
      return nil
    }
    if entries.isEmpty { return first.task }
    entries[0] = last
    var parent = 0
    while true {
      var child = parent * 2 + 1
      if child >= entries.count { break }
      if child + 1 < entries.count, entries[child + 1].at < entries[child].at { child += 1 }
      if entries[child].at >= entries[parent].at { break }
      entries.swapAt(parent, child)
      parent = child
    }
    return first.task
  }

  mutating func removeAll() { entries.removeAll() }
}
