package import OpflowCore

/// The intact lines of a journal as JSON, one object per line, for `opflow journal export`.
///
/// Every object has `seq`, `time_ms` and `event`, and `task` if it is about one. The other keys are
/// those of the journal (JournalFormat.swift); a key that may repeat becomes a list.
package struct JournalExport {
  private var json = JSONWriter()

  package init() {}

  /// Returns what was added since the last call.
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
    var lists: [(key: Key, values: [String])] = []
    for field in line.fields {
      let key = field.key
      switch key?.shape {
      case .texts:
        guard let key else { continue }
        if let place = lists.firstIndex(where: { $0.key == key }) {
          lists[place].values.append(field.text)
        } else {
          lists.append((key, [field.text]))
        }
      case .number:
        json.key(field.name)
        if let number: Int64 = Field.number(field.value) {
          json.number(number)
        } else {
          json.string(field.text)
        }
      // Unknown keys are from a newer opflow.
      case .text, nil:
        json.key(field.name)
        json.string(field.text)
      }
    }
    for list in lists {
      json.key(list.key.name)
      json.beginArray()
      for value in list.values { json.string(value) }
      json.endArray()
    }
    json.endObject()
    json.endLine()
  }
}

extension JournalEvent {
  var word: String {
    switch self {
    case .open: "open"
    case .resume: "resume"
    case .close: "close"
    case .worker: "worker"
    case .order: "order"
    case .stop: "stop"
    case .site: "site"
    case .extend: "extend"
    case .withdraw: "withdraw"
    case .transition(let kind): kind.word.description
    case .unknown: "unknown"
    }
  }
}
