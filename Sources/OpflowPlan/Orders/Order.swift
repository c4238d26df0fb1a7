/// A control request to a live run (control.md). It is journaled before it takes effect and
/// answered after. Its tasks are resolved in the run's plan; the engine decides the effect on each.
package struct Order: Equatable, Sendable {
  /// Chosen by the requester; a repeated one is applied once.
  package var id: OrderID
  package var asker: OrderAsker
  package let verb: OrderVerb
  package let value: OrderValue
  /// If it does not apply to one of these, it is refused.
  package var tasks: [TaskID] = []
  /// From patterns, matrices and tags: tasks to which it does not apply are passed over, but
  /// together with `tasks` one must remain.
  package var among: [TaskID] = []
  /// The attempt that the requester saw; refused if there is a newer one. 0: any.
  package var expects: Int32 = 0

  package init(id: OrderID, asker: OrderAsker, verb: OrderVerb, value: OrderValue = .nothing) {
    precondition(value.isOf(verb.row.carries), "`\(verb)` was given another value than it has")
    self.id = id
    self.asker = asker
    self.verb = verb
    self.value = value
  }

  package var isOfRun: Bool { tasks.isEmpty && among.isEmpty }
}

/// 1 to 64 of `A-Z a-z 0-9 . _ -`.
package struct OrderID: Hashable, Sendable {
  package let text: String

  package init?(_ text: String) {
    guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy(Self.mayContain) else {
      return nil
    }
    self.text = text
  }

  /// Shared with `RunName`.
  static func mayContain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "-"):
      true
    default: false
    }
  }
}

package struct OrderAsker: Equatable, Sendable {
  package var pid: Int32
  package var user: UInt32
  /// The command, such as `opflow cancel`, or `task NAME`.
  package var name: String

  package init(pid: Int32, user: UInt32, name: String) {
    self.pid = pid
    self.user = user
    self.name = name
  }

  /// `opflow cancel (pid 123)`.
  package var text: String { "\(name) (pid \(pid))" }
}
