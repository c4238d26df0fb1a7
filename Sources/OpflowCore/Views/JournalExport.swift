/// A journal's intact lines as JSON, one object a line, for `opflow journal export`.
///
/// Every line has `seq`, `time_ms` and `event`, one of a task has `task`; the other keys are those of
/// the journal (JournalFormat.swift). A key that may stand more than once becomes a list.
package struct JournalExport {
  private var json = JSONWriter()

  package init() {}

  /// What was added since the last time.
  package mutating func take() -> [UInt8] {
    defer { json = JSONWriter() }
    return json.bytes
  }

  package var byteCount: Int { json.bytes.count }

  package mutating func add(_ line: JournalLine) {
    json.beginObject()
    json.key("seq")
    json.number(line.sequence)
    json.key("time_ms")
    json.number(line.milliseconds)
    json.key("event")
    json.string(line.event.word)
    if !line.task.isEmpty {
      json.key("task")
      json.string(Field.text(line.task) ?? "")
    }
    var lists: [(key: UnsafeRawBufferPointer, values: [String])] = []
    for field in line.fields {
      if Self.mayRepeat(field) {
        if let place = lists.firstIndex(where: { $0.key.elementsEqual(field.key) }) {
          lists[place].values.append(field.text)
        } else {
          lists.append((field.key, [field.text]))
        }
      } else {
        json.key(field.key)
        add(field)
      }
    }
    for list in lists {
      json.key(list.key)
      json.beginArray()
      for value in list.values { json.string(value) }
      json.endArray()
    }
    json.endObject()
    json.endLine()
  }

  private mutating func add(_ field: JournalField) {
    if Self.isNumber(field), let number = Field.number(field.value, as: Int64.self) {
      json.number(number)
    } else {
      json.string(field.text)
    }
  }

  private static func mayRepeat(_ field: JournalField) -> Bool {
    let keys: [StaticString] = ["set", "only", "skip", "env", "removed"]
    return keys.contains { field.key.equals($0) }
  }

  private static func isNumber(_ field: JournalField) -> Bool {
    let keys: [StaticString] = [
      "format", "d", "n", "w", "ahead", "exit", "signal", "errno", "wall", "user", "sys", "rss",
      "out", "delay",
      "allowed", "reused", "withdrawn", "code", "pid", "start", "from", "size", "gained", "after",
    ]
    return keys.contains { field.key.equals($0) }
  }
}

extension JournalEvent {
  var word: String {
    switch self {
    case .open: "open"
    case .resume: "resume"
    case .close: "close"
    case .worker: "worker"
    case .transition(let kind): kind.word.description
    case .unknown: "unknown"
    }
  }
}
