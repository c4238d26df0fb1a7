internal import OpflowViews

/// The Trace Event Format, with times in microseconds.
struct TraceEvents {
  var json = JSONWriter()

  /// Of a process or thread.
  mutating func name(_ kind: String, process: Int, thread: Int, _ name: String) {
    json.beginObject()
    start("M", kind, process: process, thread: thread)
    json.key("args")
    json.beginObject()
    json.key("name")
    json.string(name)
    json.endObject()
    json.endObject()
  }

  mutating func order(process: Int, thread: Int, _ place: Int) {
    json.beginObject()
    start("M", "thread_sort_index", process: process, thread: thread)
    json.key("args")
    json.beginObject()
    json.key("sort_index")
    json.number(place)
    json.endObject()
    json.endObject()
  }

  /// - Parameter value: a decimal number.
  mutating func counter(_ name: String, _ time: Int64, _ series: StaticString, _ value: String) {
    json.beginObject()
    json.key("ph")
    json.string("C")
    json.key("name")
    json.string(name)
    json.key("ts")
    json.number(time)
    json.key("pid")
    json.number(1)
    json.key("args")
    json.beginObject()
    json.key(series)
    json.decimal(value)
    json.endObject()
    json.endObject()
  }

  /// An end of an arrow along the critical path.
  mutating func flow(
    _ phase: String, _ number: Int, at time: Int64, process: Int, _ thread: Int
  ) {
    json.beginObject()
    start(phase, "critical path", process: process, thread: thread)
    json.key("cat")
    json.string("critical path")
    json.key("id")
    json.number(number)
    json.key("ts")
    json.number(time)
    // Binds to the enclosing slice, not to the next one.
    if phase == "f" {
      json.key("bp")
      json.string("e")
    }
    json.endObject()
  }

  /// An event of the whole run.
  mutating func instant(_ name: String, _ time: Int64) {
    json.beginObject()
    start("i", name, process: 1, thread: 0)
    json.key("ts")
    json.number(time)
    json.key("s")
    json.string("g")
    json.endObject()
  }

  private mutating func start(_ phase: String, _ name: String, process: Int, thread: Int) {
    json.key("ph")
    json.string(phase)
    json.key("name")
    json.string(name)
    json.key("pid")
    json.number(process)
    json.key("tid")
    json.number(thread)
  }
}
