package import OpflowBase

/// A control request to a live run. It is journaled before it takes effect and answered after. Its
/// tasks are resolved in the run's plan; the engine decides the effect on each.
package struct ControlRequest: Equatable, Sendable {
  /// Chosen by the requester; a repeated request is applied once.
  package var id: RequestID
  package var requester: Requester
  package let verb: ControlAction
  package let value: RequestValue
  /// The request is refused if it does not apply to all of these tasks.
  package var tasks: [TaskID] = []
  /// Tasks from patterns, matrices and tags. Those to which the request does not apply are ignored,
  /// but one of `tasks` and `among` must remain.
  package var among: [TaskID] = []
  /// The attempt that the requester saw; refused if there is a newer one. 0: any.
  package var expects: Int32 = 0

  package init(
    id: RequestID, requester: Requester, verb: ControlAction, value: RequestValue = .nothing
  ) {
    precondition(value.isOf(verb.row.carries), "the value does not fit `\(verb)`")
    self.id = id
    self.requester = requester
    self.verb = verb
    self.value = value
  }

  package var isOfRun: Bool { tasks.isEmpty && among.isEmpty }
}

/// 1 to 64 of `A-Z a-z 0-9 . _ -`.
package struct RequestID: Hashable, Sendable {
  package let text: String

  package init?(_ text: String) {
    guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy(Self.mayContain) else {
      return nil
    }
    self.text = text
  }

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

package struct Requester: Equatable, Sendable {
  package var pid: Int32
  package var user: UInt32
  /// The command, such as `opflow cancel`, or `task NAME`.
  package var name: String

  package init(pid: Int32, user: UInt32, name: String) {
    self.pid = pid
    self.user = user
    self.name = name
  }

  package var text: String { "\(name) (pid \(pid))" }
}

package enum RequestAnswer: Equatable, Sendable {
  /// 0 for the run.
  case done(count: Int)
  /// `detail` is a sentence without capital and period.
  case refused(detail: String)
}

package struct RequestRefusal: Error, Equatable, Sendable {
  package var detail: String
  package init(detail: String) { self.detail = detail }
}

package enum RequestValue: Equatable, Sendable {
  case nothing
  /// Its meaning depends on the verb (`RequestNumber`).
  case number(Int64)
  case capacity(resource: Int, UInt64)

  package enum Kind: Sendable {
    case nothing
    case number(RequestNumber)
    case capacity
  }

  func isOf(_ kind: Kind) -> Bool {
    switch (self, kind) {
    case (.nothing, .nothing), (.number, .number), (.capacity, .capacity): true
    case (.nothing, _), (.number, _), (.capacity, _): false
    }
  }
}

/// The value as written.
package struct CarriedValue: Equatable, Sendable {
  package var resource = ""
  package var number: Int64?

  package init(resource: String = "", number: Int64? = nil) {
    self.resource = resource
    self.number = number
  }

  package init(_ value: RequestValue, of plan: Plan) {
    switch value {
    case .nothing: break
    case .number(let number): self.number = number
    case .capacity(let index, let amount):
      resource = plan.string(plan.resources[index].name)
      number = Int64(clamping: amount)
    }
  }

  /// Clamped: a journal may contain any number.
  package var priority: Int16 { Int16(clamping: number ?? 0) }

  // MARK: - Lines

  package mutating func list(_ pass: inout FieldPass) {
    pass.text(.resource, &resource)
    pass.number(.value, &number)
  }

  // MARK: - Requests

  package func fault(of verb: ControlAction) -> String? {
    let word = verb.rawValue
    switch verb.row.carries {
    case .nothing, .number:
      if !resource.isEmpty { return "`\(word)` takes no resource" }
    case .capacity:
      if resource.isEmpty { return "`\(word)` needs a resource" }
    }
    switch (verb.row.carries, number) {
    case (.nothing, nil): return nil
    case (.nothing, .some): return "`\(word)` takes no `value`"
    case (.number, nil), (.capacity, nil): return "`\(word)` needs a `value`"
    case (.number(let kind), let number?): return kind.fault(number)
    case (.capacity, let number?):
      return number >= 0 ? nil : "`value` must not be negative, but is \(number)"
    }
  }

  package func value(_ kind: RequestValue.Kind, of plan: Plan) throws(RequestRefusal)
    -> RequestValue
  {
    switch kind {
    case .nothing: return .nothing
    case .number: return .number(number ?? 0)
    case .capacity:
      guard let index = resourceIndex(in: plan) else {
        throw RequestRefusal(detail: "the run has no resource `\(resource)`")
      }
      return .capacity(resource: index, UInt64(clamping: number ?? 0))
    }
  }

  private func resourceIndex(in plan: Plan) -> Int? {
    plan.resources.indices.first { plan.text(plan.resources[$0].name).elementsEqual(resource.utf8) }
  }

  // MARK: - Text

  /// `5` or `net=3`.
  package func text(_ kind: RequestValue.Kind, plan: Plan) -> String {
    switch kind {
    case .nothing: return ""
    case .number: return "\(number ?? 0)"
    case .capacity:
      let amount = UInt64(clamping: number ?? 0)
      let index = resourceIndex(in: plan).map { UInt32(truncatingIfNeeded: $0) }
      return "\(resource)=\(index.map { ResourceEntry.text(amount, of: $0) } ?? "\(amount)")"
    }
  }
}

package struct RequestNumber: Sendable {
  let detail: String
  package let range: ClosedRange<Int64>
  package let words: [(word: StaticString, value: Int16)]
  package let example: String

  package static let priority = RequestNumber(
    detail: "a priority", range: -1000...1000, words: PriorityLevels.all, example: "high")

  /// `low, high or a number from -5 to 5`.
  package var known: String {
    let numbers = "a number from \(range.lowerBound) to \(range.upperBound)"
    if words.isEmpty { return numbers }
    return words.map(\.word.description).joined(separator: ", ") + " or \(numbers)"
  }

  func fault(_ number: Int64) -> String? {
    if range.contains(number) { return nil }
    return "\(detail) must be from \(range.lowerBound) to \(range.upperBound), not \(number)"
  }
}

/// Numbers in between are valid too.
package enum PriorityLevels {
  package static let all: [(word: StaticString, value: Int16)] = [
    ("very_low", -8), ("low", -4), ("normal", 0), ("high", 4), ("very_high", 8),
  ]

  package static var words: [String] { all.map { $0.word.description } }

  /// The word for a number, if it has one.
  static func text(_ number: Int64) -> String {
    all.first { Int64($0.value) == number }?.word.description ?? "\(number)"
  }
}

/// A new verb needs a case and a row here, its effect on the run (`ControlAction.effect`), and the
/// help of its command (`CommandRow.request`).
package enum ControlAction: String, CaseIterable, Sendable {
  case cancel, pause
  case proceed = "continue"
  case suspend, priority, parallel, retry, skip, approve, reject, close

  package var row: ActionRow {
    switch self {
    case .cancel:
      ActionRow(
        about: .either, effect: .cancels, standing: .session, undoes: [.suspend], stopsRun: true,
        ofRun: "cancel the run"
      ) { request in
        request.isOfRun
          ? "cancelled the run; opflow ends its running tasks; to continue: "
            + request.resumeCommand()
          : "cancelled \(request.tasks)"
      }
    case .pause:
      ActionRow(about: .run, standing: .session, holdsBack: true) {
        "paused the run; to continue: \($0.controlCommand(.proceed, []))"
      }
    case .proceed:
      ActionRow(about: .either, effect: .proceeds, undoes: [.pause, .suspend]) {
        $0.isOfRun ? "continued the run" : "continued \($0.tasks)"
      }
    case .suspend:
      ActionRow(
        about: .tasks, effect: .suspends, standing: .session, holdsBack: true,
        phrase: ActionRow.Phrase(short: { _ in "held" }, sentence: { _ in "it is held" })
      ) { request in
        "suspended \(request.tasks); to continue: "
          + request.controlCommand(.proceed, request.words)
      }
    case .priority:
      ActionRow(
        about: .tasks, carries: .number(.priority), standing: .run,
        phrase: ActionRow.Phrase(
          short: { "priority \($0.priority)" }, sentence: { "its priority is \($0.priority)" })
      ) { "priority of \($0.tasks) is now \(PriorityLevels.text($0.carried.number ?? 0))" }
    case .parallel:
      ActionRow(about: .run, carries: .capacity, standing: .session) {
        "limit of \(CleanText.string($0.carried.resource)) is now \($0.amount)"
      }
    case .retry:
      ActionRow(about: .tasks, effect: .retries, undoes: [.suspend, .cancel]) {
        "\($0.tasks) will run again"
      }
    case .skip:
      ActionRow(about: .tasks, effect: .skips, standing: .run, undoes: [.suspend, .cancel]) {
        "skipped \($0.tasks)"
      }
    case .approve:
      ActionRow(about: .tasks, isAnswer: true, standing: .run, undoes: [.reject]) {
        "approved \($0.tasks)"
      }
    case .reject:
      ActionRow(about: .tasks, isAnswer: true, standing: .run, undoes: [.approve]) {
        "rejected \($0.tasks)"
      }
    case .close:
      ActionRow(about: .run, standing: .run) { _ in
        "closed the queue; the run ends when all its tasks have ended"
      }
    }
  }
}

/// The properties of a verb, for lines, commands, the run model and views. `ControlAction.effect`
/// is its effect on a live run.
package struct ActionRow: Sendable {
  package enum Scope: Sendable {
    case run, tasks
    case either
  }

  /// The effect on named tasks that do not run, according to the journal.
  package enum Effect: Sendable { case none, cancels, skips, suspends, proceeds, retries }

  /// How long the request holds and is shown.
  package enum Standing: Sendable { case none, session, run }

  package struct Phrase: Sendable {
    /// Precedes the requester: `held by opflow suspend (pid 12)`.
    package let short: @Sendable (CarriedValue) -> String
    package let sentence: @Sendable (CarriedValue) -> String
  }

  package let about: Scope
  package var carries = RequestValue.Kind.nothing
  /// Answers approvals; the run's own tasks may not give it.
  package var isAnswer = false
  package var effect = Effect.none
  package var standing = Standing.none
  /// Earlier requests about the same tasks or run that the verb ends.
  package var undoes: [ControlAction] = []
  /// Prevents starts or suspends tasks, until `continue`.
  package var holdsBack = false
  /// Stops even a paused run, if the request does not name tasks.
  package var stopsRun = false
  package var ofRun: String?
  package var phrase: Phrase?
  package let done: @Sendable (AppliedRequest) -> String
}

package struct AppliedRequest {
  let isOfRun: Bool
  let count: Int
  let words: [String]
  let carried: CarriedValue
  let amount: String
  let resumeCommand: () -> String
  let controlCommand: RequestLineText

  package init(
    isOfRun: Bool, count: Int, words: [String], carried: CarriedValue, amount: String,
    resumeCommand: @escaping () -> String, controlCommand: @escaping RequestLineText
  ) {
    self.isOfRun = isOfRun
    self.count = count
    self.words = words
    self.carried = carried
    self.amount = amount
    self.resumeCommand = resumeCommand
    self.controlCommand = controlCommand
  }

  var tasks: String { "\(count) task\(count == 1 ? "" : "s")" }
}

/// As the user can type it.
package typealias RequestLineText = @Sendable (ControlAction, [String]) -> String
