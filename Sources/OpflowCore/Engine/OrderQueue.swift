/// What was asked for, one order after the other: none overtakes another.
///
/// An order about tasks is decided when none of them is on its way: until then they are *fenced*, so
/// that they do not start, and those that a worker was handed ahead are asked back. What is decided
/// then holds: nobody else has the tasks.
struct OrderQueue {
  struct Entry {
    var order: Order
    var client: ClientID
    /// What is fenced for it; nil until it is its turn.
    var fenced: [TaskID]?
    /// Of those, what was on its way when they were last looked at.
    var onTheirWay: [TaskID] = []
  }

  private var entries: [Entry] = []
  /// Those that were obeyed, with how many tasks each held for.
  private var known: [OrderID: Int]
  /// The last ones that were refused in this drive, with why: who asks again is told the same.
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

  /// Fences tasks for the first order, beside those that are.
  mutating func fence(_ tasks: [TaskID]) {
    entries[0].fenced = (entries[0].fenced ?? []) + tasks
    entries[0].onTheirWay = tasks
  }

  /// Looks whether tasks of the first order are still on their way.
  mutating func awaits(_ isOnItsWay: (TaskID) -> Bool) -> Bool {
    while let task = entries[0].onTheirWay.last {
      if isOnItsWay(task) { return true }
      entries[0].onTheirWay.removeLast()
    }
    return false
  }

  /// The first one is decided.
  mutating func removeFirst() -> Entry { entries.removeFirst() }

  /// Of an order that was obeyed: of how many tasks.
  func count(of id: OrderID) -> Int? { known[id] }

  /// Of an order that was refused.
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
