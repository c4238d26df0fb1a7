/// Writes events of the Trace Event Format, times in microseconds.
struct TraceEvents {
  var json = JSONWriter()

  /// What a process or a thread is called.
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

  /// The place of a thread among those of its process.
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

  /// - Parameter value: a number as its text.
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

  /// One end of an arrow along the critical path.
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
    // It leads to what goes on then, not to what begins next.
    if phase == "f" {
      json.key("bp")
      json.string("e")
    }
    json.endObject()
  }

  /// Something that happened to the run as a whole.
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
