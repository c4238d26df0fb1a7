internal import OpflowCore

/// Writes the JSON keys that describe an addition of tasks to a live run.
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
