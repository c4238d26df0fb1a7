package import OpflowCore

/// The answers of `opflow add`.
package enum AddView {
  private static let mostNames = 5

  /// Returns one line without a newline.
  ///
  /// - Parameters:
  ///   - count: of tasks; each matrix task counts.
  ///   - added: the IDs as declared: a matrix has one, also in `unchanged`.
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

  /// Returns one line of JSON.
  ///
  /// - Parameters:
  ///   - id: of the request; nil if there was nothing to add.
  ///   - added: the IDs of all tasks, including matrix tasks.
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

  /// Returns the JSON of a refused request.
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
