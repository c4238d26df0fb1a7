/// What a person, or a program, is told of tasks that were to join a run.
package enum AddView {
  /// As many as are named in a line.
  private static let mostNames = 5

  /// One line without its line feed.
  ///
  /// - Parameters:
  ///   - count: of tasks; a family has one for each leg.
  ///   - added: their ids, as they are declared, as `unchanged` are.
  package static func text(
    run: String, count: Int, _ added: [String], unchanged: [String]
  ) -> String {
    let there = unchanged.isEmpty ? "" : names(unchanged)
    if count == 0 {
      return there.isEmpty
        ? "nothing to add to run \(run)"
        : "nothing to add: run \(run) has \(there) already"
    }
    let tasks = "\(count) task\(count == 1 ? "" : "s")"
    return "added \(tasks) to run \(run): \(names(added))"
      + (there.isEmpty ? "" : "; it has \(there) already")
  }

  private static func names(_ ids: [String]) -> String {
    let first = ids.prefix(mostNames).map { CleanText.string($0) }.joined(separator: ", ")
    return ids.count > mostNames ? "\(first) and \(ids.count - mostNames) more" : first
  }

  /// The same as one JSON object on a line.
  ///
  /// - Parameters:
  ///   - id: of the order; nil where there was nothing to add.
  ///   - added: the ids of all tasks, also of those of a matrix.
  package static func json(
    run: String, _ id: OrderID?, count: Int, _ added: [String], unchanged: [String]
  ) -> [UInt8] {
    OrderView.json(verb, run: run, id, isDone: true) { json in
      json.key("tasks")
      json.number(count)
      json.key("ids")
      json.strings(added)
      json.key("unchanged")
      json.strings(unchanged)
    }
  }

  /// Of what was not added.
  package static func json(refused what: String) -> [UInt8] { OrderView.json(verb, refused: what) }

  private static let verb = "add"
}

extension JSONWriter {
  fileprivate mutating func strings(_ texts: [String]) {
    beginArray()
    for text in texts { string(text) }
    endArray()
  }
}
