/// What was added to a run while it went on, as JSON: the keys within an object.
enum ExtendJSON {
  static func write(_ entry: ExtendEntry, plan: Plan, into json: inout JSONWriter) {
    json.fields(of: entry.asker)
    if !entry.adder.isNone {
      json.key("task")
      json.string(plan.nameBytes(entry.adder))
      json.key("attempt")
      json.number(entry.attempt)
    }
    json.key("file")
    json.string(entry.manifestPath)
    json.key("added")
    json.number(entry.added)
  }
}
