internal import OpflowCore
internal import OpflowViews

/// Actions and descriptions of tasks in a page's data.
struct PageTexts {
  private let plan: Plan
  /// The remaining bytes; the last tasks get no texts.
  private var room = 800_000
  private var (lastAction, lastDescription): ([UInt8], [UInt8]) = ([], [])

  private static let longestDescription = 200

  init(_ plan: Plan) { self.plan = plan }

  mutating func write(_ tasks: ArraySlice<TaskID>, into json: inout JSONWriter) {
    var actions = PageLines(after: lastAction)
    var descriptions = PageLines(after: lastDescription)
    for task in tasks {
      let hasRoom = actions.byteCount + descriptions.byteCount < room
      actions.add(hasRoom ? Array(ActionText.text(task, plan: plan).utf8) : [])
      descriptions.add(hasRoom ? description(of: task) : [])
    }
    // The script has no texts of this block, and starts with an empty one.
    lastAction = actions.hasText ? actions.last : []
    lastDescription = descriptions.hasText ? descriptions.last : []
    if actions.hasText {
      actions.write("actions", heads: "actionHeads", tails: "actionTails", &json)
      room -= actions.byteCount
    }
    if descriptions.hasText {
      descriptions.write("words", heads: "wordHeads", tails: "wordTails", &json)
      room -= descriptions.byteCount
    }
  }

  private func description(of task: TaskID) -> [UInt8] {
    let text = CleanText.string(plan.description(of: task))
    let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
    let cut = line.prefix(Self.longestDescription)
    return Array((cut.count < line.count ? cut + "…" : cut).utf8)
  }
}
