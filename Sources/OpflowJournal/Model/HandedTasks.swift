internal import OpflowPlan

/// The prefetched tasks of each worker, in starting order. A damaged journal may name a task twice.
package struct HandedTasks: Sendable {
  private struct Link {
    var task: TaskID
    var next: Int32
  }

  /// `last` is valid only with a `first`.
  private struct Queue {
    var first: Int32 = none
    var last: Int32 = none
  }

  private static let none: Int32 = -1

  /// Shared by all workers, to reuse links.
  private var links: [Link] = []
  private var free = Self.none
  private var queues: [Queue] = []
  private var count = 0

  var isEmpty: Bool { count == 0 }

  mutating func append(_ task: TaskID, to worker: WorkerID) {
    guard worker != .none else { return }
    while queues.count <= worker.index { queues.append(Queue()) }
    let place = takePlace(Link(task: task, next: Self.none))
    let queue = queues[worker.index]
    if queue.first == Self.none {
      queues[worker.index] = Queue(first: place, last: place)
    } else {
      links[Int(queue.last)].next = place
      queues[worker.index].last = place
    }
    count += 1
  }

  @inline(__always)
  mutating func popFirst(of worker: WorkerID) -> TaskID? {
    guard queues.indices.contains(worker.index) else { return nil }
    let place = queues[worker.index].first
    if place == Self.none { return nil }
    let link = links[Int(place)]
    queues[worker.index].first = link.next
    giveBack(place)
    return link.task
  }

  mutating func remove(_ task: TaskID, of worker: WorkerID) {
    guard queues.indices.contains(worker.index) else { return }
    var before = Self.none
    var place = queues[worker.index].first
    while place != Self.none, links[Int(place)].task != task {
      (before, place) = (place, links[Int(place)].next)
    }
    if place == Self.none { return }
    let next = links[Int(place)].next
    if before == Self.none {
      queues[worker.index].first = next
    } else {
      links[Int(before)].next = next
    }
    if next == Self.none { queues[worker.index].last = before }
    giveBack(place)
  }

  mutating func removeAll() { self = HandedTasks() }

  @inline(__always)
  private mutating func takePlace(_ link: Link) -> Int32 {
    let place = free
    if place == Self.none {
      links.append(link)
      return Int32(truncatingIfNeeded: links.count - 1)
    }
    free = links[Int(place)].next
    links[Int(place)] = link
    return place
  }

  @inline(__always)
  private mutating func giveBack(_ place: Int32) {
    links[Int(place)].next = free
    free = place
    count -= 1
  }
}
