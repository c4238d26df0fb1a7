package import OpflowCore

/// The object of `opflow tasks --json`.
package enum TasksJSON {
  /// - Parameters:
  ///   - manifest: its path.
  ///   - only: the tasks to list; nil for all.
  package static func text(_ plan: Plan, manifest: String, only: TaskSet? = nil) -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    json.key("manifest")
    json.string(manifest)
    json.key("tasks")
    json.beginArray()
    for index in plan.tasks where only?.contains(TaskID(index)) ?? true {
      write(TaskID(index), plan, into: &json)
    }
    json.endArray()
    json.endObject()
    json.endLine()
    return json.bytes
  }

  private static func write(_ task: TaskID, _ plan: Plan, into json: inout JSONWriter) {
    json.beginObject()
    json.key("id")
    json.string(plan.nameBytes(task))
    json.key("family")
    json.optional(plan.family(of: task).map { plan.familyName($0) })
    json.key("desc")
    json.string(plan.description(of: task))
    json.key("tags")
    json.beginArray()
    for tag in plan.texts(.tags, of: task) { json.string(plan.string(tag)) }
    json.endArray()
    json.key("manual")
    json.bool(plan.flags(task).contains(.manual))
    json.key("finally")
    json.bool(plan.flags(task).contains(.finally))
    json.key("service")
    json.bool(plan.isService(task))
    json.key("needs")
    json.beginArray()
    for need in plan.needs(task) { json.string(plan.nameBytes(TaskID(plan.needTargets[need]))) }
    json.endArray()
    let place = plan.place(of: task)
    json.key("file")
    json.optional(place?.path)
    json.key("line")
    json.optional(place.map { Int64($0.line) })
    json.endObject()
  }
}
