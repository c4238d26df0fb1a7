package import OpflowBase

/// The runs that enclose a process: IDs separated by spaces, outermost first. Runs nest when a task
/// runs `opflow run`.
package struct RunsAround: Equatable, Sendable {
  package static let variable = "OPFLOW_RUNS"
  package static let ownVariable = "OPFLOW_RUN"
  /// Absolute.
  package static let folderVariable = "OPFLOW_RUN_DIR"

  private let words: [String]
  /// Bounds the environment of a run that starts itself.
  private static let most = 64

  /// `text` is `OPFLOW_RUNS`, `own` is `OPFLOW_RUN`.
  package init(_ text: String?, own: String?) {
    guard let text = text ?? own, !text.isEmpty else {
      words = []
      return
    }
    let found = text.split(separator: " ").map { String($0) }
    words = found.filter { RunID($0) != nil }.suffix(Self.most)
  }

  package var isEmpty: Bool { words.isEmpty }

  package func contains(_ run: RunID) -> Bool { words.contains(run.description) }

  package func text(with run: String) -> String {
    var text = ""
    for word in words.filter({ $0 != run }).suffix(Self.most - 1) { text += word + " " }
    return text + run
  }

  /// The variables identify processes of workers of a run started here; empty without an enclosing
  /// run.
  package func variables(with run: String) -> [String] {
    isEmpty ? [] : ["\(Self.ownVariable)=\(run)", "\(Self.variable)=\(text(with: run))"]
  }

  /// Includes nested runs. `environment` is /proc/PID/environ.
  package static func isOf(_ run: String, _ environment: [UInt8]) -> Bool {
    environment.split(separator: 0).contains { entry in
      entry.elementsEqual("\(ownVariable)=\(run)".utf8) || names(run, entry)
    }
  }

  /// A nested run ends its processes itself.
  package static func isWithin(_ run: String, _ environment: [UInt8]) -> Bool {
    var isNamed = false
    var isOfAnother = false
    for entry in environment.split(separator: 0) {
      if names(run, entry) { isNamed = true }
      if entry.starts(with: "\(ownVariable)=".utf8) {
        isOfAnother = !entry.dropFirst(ownVariable.utf8.count + 1).elementsEqual(run.utf8)
      }
    }
    return isNamed && isOfAnother
  }

  private static func names(_ run: String, _ entry: ArraySlice<UInt8>) -> Bool {
    let start = "\(variable)=".utf8
    guard entry.starts(with: start) else { return false }
    return entry.dropFirst(start.count).split(separator: UInt8(ascii: " ")).contains {
      $0.elementsEqual(run.utf8)
    }
  }
}

/// Named in the environment of its processes.
package struct AttemptAround: Equatable, Sendable {
  private let entries: [[UInt8]]

  package init(run: String, task: String, attempt: Int32) {
    entries = [
      "\(RunsAround.ownVariable)=\(run)", "\(TaskAround.variable)=\(task)",
      "\(Self.variable)=\(attempt)",
    ].map { Array($0.utf8) }
  }

  package static let variable = "OPFLOW_ATTEMPT"

  package func isNamed(in environment: [UInt8]) -> Bool {
    let named = environment.split(separator: 0)
    return entries.allSatisfy { entry in named.contains { $0.elementsEqual(entry) } }
  }
}

/// Prevents a task from running itself recursively.
package struct TasksAround: Equatable, Sendable {
  package static let variable = "OPFLOW_TASKS"
  /// Absolute.
  package static let manifestVariable = "OPFLOW_MANIFEST"

  /// Hashes, outermost first.
  private var words: [String]
  private static let most = 32
  /// The path of a manifest from standard input, which is identified by its plan's key.
  private static let unnamed = "-"

  package init(_ text: String?, manifest: String?, task: String?) {
    words = (text ?? "").split(separator: " ").map { String($0) }
    let key = words.last?.hasPrefix(Self.unnamed) == true ? words.removeLast() : nil
    if let manifest = key ?? manifest, let task, !task.isEmpty {
      words.append(Self.word(manifest, task))
    }
    words = words.suffix(Self.most)
  }

  package var isEmpty: Bool { words.isEmpty }

  package func contains(_ task: String, of manifest: String, _ key: PlanKey) -> Bool {
    words.contains(Self.word(manifest == Self.unnamed ? "-\(key)" : manifest, task))
  }

  package func variables(of manifest: String, _ key: PlanKey) -> [String] {
    let words = words + (manifest == Self.unnamed ? ["-\(key)"] : [])
    let own = "\(Self.manifestVariable)=\(manifest)"
    return words.isEmpty ? [own] : [own, "\(Self.variable)=\(words.joined(separator: " "))"]
  }

  private static func word(_ manifest: String, _ task: String) -> String {
    Hexadecimal.text(Hash.xxh3(Array("\(manifest)\0\(task)".utf8)))
  }
}

/// A command that opflow runs outside of tasks to print an input or a secret. A word of
/// `OPFLOW_TASKS` marks its processes, so that opflow does not run the command within itself.
package struct CommandAround: Equatable, Sendable {
  private let word: String

  package init(_ words: [String], in folder: String) {
    word = Hexadecimal.text(Hash.xxh3(Array(([folder] + words).joined(separator: "\0").utf8)))
  }

  package func isNamed(in text: String?) -> Bool {
    (text ?? "").split(separator: " ").contains { $0 == word }
  }

  package func isNamed(inEnvironment environment: [UInt8]) -> Bool {
    let start = Array("\(TasksAround.variable)=".utf8)
    return environment.split(separator: 0).contains { entry in
      entry.starts(with: start)
        && isNamed(in: String(decoding: entry.dropFirst(start.count), as: UTF8.self))
    }
  }

  /// The environment of the command. The mark comes first: the last word may represent a manifest.
  package func marking(_ environment: [[UInt8]]) -> [[UInt8]] {
    let start = Array("\(TasksAround.variable)=".utf8)
    let text = environment.first { $0.starts(with: start) }?.dropFirst(start.count) ?? []
    return environment.filter { !$0.starts(with: start) }
      + [start + Array(word.utf8) + (text.isEmpty ? [] : [UInt8(ascii: " ")]) + text]
  }
}

package struct TaskAround: Hashable, Sendable {
  package let run: RunID
  package let task: String

  package init(run: RunID, task: String) {
    self.run = run
    self.task = task
  }

  /// Parses the journal's form: run, space, task.
  package init?(_ text: String) {
    guard let end = text.firstIndex(of: " "), let run = RunID(String(text[..<end])) else {
      return nil
    }
    self.init(run: run, task: String(text[text.index(after: end)...]))
  }

  /// Reads /proc/PID/environ; nil if the process does not belong to a task.
  package init?(environment: [UInt8]) {
    var (run, task): (RunID?, String) = (nil, "")
    for entry in environment.split(separator: 0) {
      let text = String(decoding: entry, as: UTF8.self)
      let own = "\(RunsAround.ownVariable)="
      if text.hasPrefix(own) { run = RunID(String(text.dropFirst(own.count))) }
      if text.hasPrefix("\(Self.variable)=") {
        task = String(text.dropFirst(Self.variable.count + 1))
      }
    }
    guard let run, !task.isEmpty else { return nil }
    self.init(run: run, task: task)
  }

  package static let variable = "OPFLOW_TASK"

  package var text: String { "\(run) \(task)" }
}

/// A W3C Trace Context (level 2): a trace and the enclosing span.
package struct TraceParent: Hashable, Sendable {
  package let trace: TraceID
  package let span: SpanID
  /// `sampled` and `random` only.
  package let flags: UInt8

  package static let sampled: UInt8 = 1
  private static let known: UInt8 = 3
  private static let byteCount = 55
  package static let spanStart = 36

  package static let variable = "TRACEPARENT"
  /// Vendor data, passed on unchanged.
  package static let stateVariable = "TRACESTATE"

  package init(trace: TraceID, span: SpanID, flags: UInt8) {
    self.trace = trace
    self.span = span
    self.flags = flags & Self.known
  }

  /// nil for an invalid string: a new trace begins. Reads the fields of version 00 from later
  /// versions too.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    let dash = UInt8(ascii: "-")
    guard bytes.count >= Self.byteCount, bytes[2] == dash, bytes[35] == dash, bytes[52] == dash,
      let version = Hexadecimal.value(bytes[..<2]), version != 0xFF,
      let high = Hexadecimal.value(bytes[3..<19]), let low = Hexadecimal.value(bytes[19..<35]),
      let span = Hexadecimal.value(bytes[36..<52]), let flags = Hexadecimal.value(bytes[53..<55]),
      high | low != 0, span != 0
    else { return nil }
    if bytes.count > Self.byteCount, version == 0 || bytes[Self.byteCount] != dash { return nil }
    self.init(trace: TraceID(high: high, low: low), span: SpanID(span), flags: UInt8(flags))
  }

  /// As in `TRACEPARENT` and in the journal.
  package var text: String {
    let flags = String(decoding: Hexadecimal.digits[Int(flags)...Int(flags)], as: UTF8.self)
    return "00-\(trace.text)-\(span.text)-0\(flags)"
  }
}

/// Never 0.
package struct TraceID: Hashable, Sendable {
  package let high: UInt64
  package let low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = high | low == 0 ? 1 : low
  }

  package var text: String { Hexadecimal.text(high) + Hexadecimal.text(low) }
}

/// Never 0.
package struct SpanID: Hashable, Sendable {
  package let value: UInt64

  package init(_ value: UInt64) { self.value = value == 0 ? 1 : value }

  package var text: String { Hexadecimal.text(value) }
}

extension SpanID {
  package func attempt(_ number: Int32, ofTask name: UnsafeRawBufferPointer) -> SpanID {
    let task = Hash.combine(value, Hash.xxh3(name))
    return SpanID(Hash.combine(task, UInt64(UInt32(bitPattern: number))))
  }

  package func session(_ number: Int) -> SpanID {
    SpanID(Hash.combine(value, UInt64(truncatingIfNeeded: number)))
  }

  /// The ID of a span that a damaged journal contains twice.
  package func repeated(_ number: Int) -> SpanID { SpanID(Hash.combine(~value, UInt64(number))) }
}
