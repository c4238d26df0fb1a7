package import OpflowCore

/// Describes approvals: the question, how to answer it, and who answered.
enum GateText {
  /// Returns the first line, cut to 200 characters.
  static func question(_ task: TaskID, plan: Plan) -> String { ActionText.text(task, plan: plan) }

  /// Joins the lines by spaces.
  static func wholeQuestion(_ task: TaskID, plan: Plan) -> String {
    String(decoding: plan.question(task), as: UTF8.self).split(separator: "\n")
      .map { CleanText.string(String($0)) }.joined(separator: " ")
  }

  static func asks(_ task: TaskID, plan: Plan) -> String { "asks: \(question(task, plan: plan))" }

  static func howToAnswer(_ task: TaskID, plan: Plan, _ command: OrderLineText) -> String {
    let names = [plan.nameString(task)]
    return "\(command(.approve, names)), or \(command(.reject, names))"
  }

  /// "`opflow approve ID` or `opflow reject ID` answers it"
  static func whatAnswers(_ task: TaskID, plan: Plan, _ command: OrderLineText) -> String {
    let names = [plan.nameString(task)]
    return "`\(command(.approve, names))` or `\(command(.reject, names))` answers it"
  }

  static func answered(_ answer: OrderRecords.Record) -> String {
    "\(answer.verb == .approve ? "approved" : "rejected") by \(CleanText.string(answer.asker.text))"
  }
}

extension OrderVerb {
  /// Returns the command line without options that name the run.
  @Sendable
  package static func plainCommand(_ verb: OrderVerb, _ tasks: [String]) -> String {
    (["opflow", verb.rawValue] + tasks.map(QuotedWords.quoted)).joined(separator: " ")
  }
}
