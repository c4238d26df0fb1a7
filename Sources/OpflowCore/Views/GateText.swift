/// Gates in words for people: what they ask, how that is answered, and who did.
enum GateText {
  /// The question, its first line only and at most 200 characters of it.
  static func question(_ task: TaskID, plan: Plan) -> String { ActionText.text(task, plan: plan) }

  /// All of it, its lines one behind the other.
  static func wholeQuestion(_ task: TaskID, plan: Plan) -> String {
    String(decoding: plan.question(task), as: UTF8.self).split(separator: "\n")
      .map { CleanText.string(String($0)) }.joined(separator: " ")
  }

  /// `asks: QUESTION`
  static func asks(_ task: TaskID, plan: Plan) -> String { "asks: \(question(task, plan: plan))" }

  /// `opflow approve ID, or opflow reject ID`
  static func howToAnswer(_ task: TaskID, plan: Plan, _ command: OrderLineText) -> String {
    let names = [plan.nameString(task)]
    return "\(command(.approve, names)), or \(command(.reject, names))"
  }

  /// The same in a sentence: "`opflow approve ID` or `opflow reject ID` answers it".
  static func whatAnswers(_ task: TaskID, plan: Plan, _ command: OrderLineText) -> String {
    let names = [plan.nameString(task)]
    return "`\(command(.approve, names))` or `\(command(.reject, names))` answers it"
  }

  /// `approved by opflow approve (pid 12)`
  static func answered(_ answer: OrderRecords.Record) -> String {
    "\(answer.verb == .approve ? "approved" : "rejected") by \(CleanText.string(answer.asker.text))"
  }
}

extension OrderVerb {
  /// The command line where the run is found without being told where it is.
  @Sendable
  package static func plainCommand(_ verb: OrderVerb, _ tasks: [String]) -> String {
    (["opflow", verb.rawValue] + tasks.map(ActionText.quoted)).joined(separator: " ")
  }
}
