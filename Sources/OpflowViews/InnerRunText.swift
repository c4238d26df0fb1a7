internal import OpflowCore

extension InnerRun {
  /// `[12/40] 1 failed, 3 running`
  var words: String {
    let parts = [(counts.failed, "failed"), (counts.begun, "running")].filter { $0.0 > 0 }
      .map { "\($0.0) \($0.1)" }
    let head = "[\(counts.ended + counts.cancelled)/\(counts.total)]"
    return parts.isEmpty ? head : "\(head) \(parts.joined(separator: ", "))"
  }

  func write(into json: inout JSONWriter) {
    json.beginObject()
    json.key("run")
    json.string(run.description)
    json.key("counts")
    StatusJSON.write(counts, into: &json)
    json.endObject()
  }
}
