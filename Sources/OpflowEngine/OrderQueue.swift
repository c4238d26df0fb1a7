internal import OpflowPlan

/// Control requests in order of arrival. One about tasks is decided when none of them is
/// prefetched: until then they are *fenced* (do not start), and prefetched ones are recalled.
struct OrderQueue {
  struct Entry {
    var order: Order
    var client: ClientID
    /// Nil before its turn.
    var fenced: [TaskID]?
    /// Fenced tasks that were prefetched at the last check.
    var onTheirWay: [TaskID] = []
  }

  private var entries: [Entry] = []
  /// Applied requests, with their numbers of tasks.
  private var known: [OrderID: Int]
  /// The latest refusals: a repeated request gets the same answer.
  private var refusals: [OrderID: String] = [:]
  private var refused: [OrderID] = []
  private var nextRefused = 0

  private static let mostRefusals = 1024

  init(known: [OrderID: Int]) { self.known = known }

  var isEmpty: Bool { entries.isEmpty }
  var first: Entry? { entries.first }

  mutating func append(_ order: Order, from client: ClientID) {
    entries.append(Entry(order: order, client: client))
  }

  mutating func fence(_ tasks: [TaskID]) {
    entries[0].fenced = (entries[0].fenced ?? []) + tasks
    entries[0].onTheirWay = tasks
  }

  mutating func awaits(_ isOnItsWay: (TaskID) -> Bool) -> Bool {
    while let task = entries[0].onTheirWay.last {
      if isOnItsWay(task) { return true }
      entries[0].onTheirWay.removeLast()
    }
    return false
  }

  mutating func removeFirst() -> Entry { entries.removeFirst() }

  func count(of id: OrderID) -> Int? { known[id] }

  func refusal(of id: OrderID) -> String? { refusals.isEmpty ? nil : refusals[id] }

  mutating func note(refusal what: String, of id: OrderID) {
    guard refusals.updateValue(what, forKey: id) == nil else { return }
    if refused.count < Self.mostRefusals { return refused.append(id) }
    refusals[refused[nextRefused]] = nil
    refused[nextRefused] = id
    nextRefused = (nextRefused + 1) % Self.mostRefusals
  }

  mutating func note(_ id: OrderID, count: Int) { known[id] = count }
}
