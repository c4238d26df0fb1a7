/// What somebody asks of a run that goes on (control.md, "Orders"): from another terminal, from one of
/// its own tasks, or from a program.
///
/// It is journaled before it takes effect, and answered after. Which tasks it is about the asker has
/// found by the run's plan; what it does to each is the engine's to say.
package struct Order: Equatable, Sendable {
  /// Of the asker's choice. Sent again with the same one it is answered again and done once.
  package var id: OrderID
  package var asker: OrderAsker
  package let verb: OrderVerb
  package let value: OrderValue
  /// It must apply to each of these, or it is refused.
  package var tasks: [TaskID] = []
  /// What a pattern, a family or a tag stands for: those to which it does not apply are passed over, but
  /// with `tasks` it must apply to one at least.
  package var among: [TaskID] = []
  /// The number of the try that the asker saw: where a task has another by now, the order is refused.
  /// 0 for none.
  package var expects: Int32 = 0

  package init(id: OrderID, asker: OrderAsker, verb: OrderVerb, value: OrderValue = .nothing) {
    precondition(value.isOf(verb.row.carries), "`\(verb)` was given another value than it has")
    self.id = id
    self.asker = asker
    self.verb = verb
    self.value = value
  }

  /// Whether it is about the whole run.
  package var isOfRun: Bool { tasks.isEmpty && among.isEmpty }
}

/// What tells two orders apart: 1 to 64 of `A-Z a-z 0-9 . _ -`.
package struct OrderID: Hashable, Sendable {
  package let text: String

  package init?(_ text: String) {
    guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy(Self.mayContain) else {
      return nil
    }
    self.text = text
  }

  /// Names of runs that stay open have the same bytes (`RunName`).
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

/// Who asks.
package struct OrderAsker: Equatable, Sendable {
  package var pid: Int32
  /// The number of the user.
  package var user: UInt32
  /// What people know it by: the command, as `opflow cancel`, or `task NAME`.
  package var name: String

  package init(pid: Int32, user: UInt32, name: String) {
    self.pid = pid
    self.user = user
    self.name = name
  }

  /// `opflow cancel (pid 123)`
  var text: String { "\(name) (pid \(pid))" }
}
