internal import OpflowBase
internal import OpflowManifest

/// Tasks as a manifest, for `opflow add` and for resumes. All texts are double-quoted with YAML 1.2
/// escapes. `${{` becomes `$${{`, which the manifest reads as a literal.
struct ManifestText {
  private(set) var bytes: [UInt8] = Array("tasks:\n".utf8)

  init(_ tasks: [NewTask]) {
    for task in tasks { add(task) }
  }

  private mutating func add(_ task: NewTask) {
    raw("  ")
    quoted(task.id)
    raw(":\n")
    add(task.action)
    if !task.needs.isEmpty { needs(task.needs) }
    if task.priority != .normal { key("priority", "\(task.priority.rawValue)") }
    if let retry = task.retry { key("retry", Self.text(retry)) }
    if let timeout = task.timeout { key("timeout", Self.duration(timeout)) }
    if let cwd = task.cwd { key("dir", text: cwd) }
    if !task.env.isEmpty { key("env", task.env) }
    if let shell = task.shell { key("shell", words: shell) }
    if let stop = task.stop {
      key("stop", "{ signal: \"\(Self.word(stop.signal))\", grace: \(Self.duration(stop.grace)) }")
    }
    if task.allowFailure { key("allow_failure", "true") }
    if let resources = task.resources {
      begin("resources")
      map(resources.sorted { $0.key < $1.key }) { $0.raw("\($1)") }
    }
    if task.failsWhenInterrupted { key("on_interrupted", "fail") }
    if !task.tags.isEmpty { key("tags", words: task.tags) }
    if let description = task.description { key("desc", text: description) }
  }

  private mutating func add(_ action: TaskAction) {
    switch action.kind {
    case .shell(let script): key("run", text: script)
    case .command(let words): key("run", words: words)
    case .block: key("block", "true")
    case .download(let download):
      begin("download")
      raw("\n")
      inner("url", text: download.url)
      inner("to", text: download.to)
      if let hash = download.sha256 { inner("sha256", text: hash) }
      if let hash = download.sha512 { inner("sha512", text: hash) }
      if let speed = download.maxSpeed { raw("      max_speed: \(speed)\n") }
      if !download.mirrors.isEmpty {
        raw("      mirrors: ")
        list(download.mirrors)
      }
      if !download.headers.isEmpty {
        raw("      headers: ")
        map(download.headers.sorted { $0.key < $1.key }) { $0.text($1) }
      }
    }
  }

  private mutating func needs(_ needs: [TaskNeed]) {
    begin("needs")
    raw("[")
    for (place, need) in needs.enumerated() {
      if place > 0 { raw(", ") }
      if need.condition == .success {
        quoted(need.id)
      } else {
        raw("{ task: ")
        quoted(need.id)
        raw(", on: \(need.condition.rawValue) }")
      }
    }
    raw("]\n")
  }

  private static func text(_ retry: RetryPolicy) -> String {
    var text = "{ max: \(retry.max), delay: \(duration(retry.delay)), backoff: \(retry.backoff)"
    if let most = retry.maxDelay { text += ", max_delay: \(duration(most))" }
    if !retry.exitCodes.isEmpty {
      text += ", exit_codes: [\(retry.exitCodes.map { "\($0)" }.joined(separator: ", "))]"
    }
    return text + " }"
  }

  /// Rounds up. Clamps values that the manifest rejects anyway.
  private static func duration(_ duration: Duration) -> String {
    let (seconds, attoseconds) = min(max(duration, .zero - longest), longest).components
    return "\(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)ms"
  }

  private static let longest = Duration.seconds(Int64.max / 1001)

  /// Keeps characters that cannot end a quoted string.
  private static func word(_ text: String) -> String {
    String(text.filter { $0.isLetter || $0.isNumber })
  }

  // MARK: - YAML

  private mutating func begin(_ name: StaticString) { raw("    \(name): ") }

  private mutating func key(_ name: StaticString, _ value: String) {
    begin(name)
    raw(value)
    raw("\n")
  }

  private mutating func key(_ name: StaticString, text value: String) {
    begin(name)
    text(value)
    raw("\n")
  }

  private mutating func key(_ name: StaticString, words: [String]) {
    begin(name)
    list(words)
  }

  private mutating func key(_ name: StaticString, _ values: [String: String]) {
    begin(name)
    map(values.sorted { $0.key < $1.key }) { $0.text($1) }
  }

  private mutating func inner(_ name: StaticString, text value: String) {
    raw("      \(name): ")
    text(value)
    raw("\n")
  }

  private mutating func list(_ words: [String]) {
    raw("[")
    for (place, word) in words.enumerated() {
      if place > 0 { raw(", ") }
      text(word)
    }
    raw("]\n")
  }

  private mutating func map<Value>(
    _ pairs: [(key: String, value: Value)], _ write: (inout Self, Value) -> Void
  ) {
    raw("{")
    for (place, pair) in pairs.enumerated() {
      if place > 0 { raw(", ") }
      quoted(pair.key)
      raw(": ")
      write(&self, pair.value)
    }
    raw("}\n")
  }

  private mutating func raw(_ text: String) { bytes.append(contentsOf: text.utf8) }

  /// For text in which the manifest interprets expressions.
  private mutating func text(_ value: String) { write(value, hidesExpressions: true) }

  private mutating func quoted(_ value: String) { write(value, hidesExpressions: false) }

  private mutating func write(_ value: String, hidesExpressions: Bool) {
    bytes.append(UInt8(ascii: "\""))
    var value = value
    value.withUTF8 { all in
      var next = 0
      for (place, byte) in all.enumerated() where place >= next {
        switch byte {
        case 0x80...: next = place + appendScalar(all[place...])
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
          bytes.append(UInt8(ascii: "\\"))
          bytes.append(byte)
        case UInt8(ascii: "\n"): bytes.append(contentsOf: "\\n".utf8)
        case UInt8(ascii: "\t"): bytes.append(contentsOf: "\\t".utf8)
        case UInt8(ascii: "\r"): bytes.append(contentsOf: "\\r".utf8)
        case 0..<0x20, 0x7f:
          bytes.append(contentsOf: "\\x".utf8)
          bytes.append(Self.digit(byte >> 4))
          bytes.append(Self.digit(byte & 15))
        case UInt8(ascii: "$")
        where hidesExpressions && place + 2 < all.count && all[place + 1] == UInt8(ascii: "{")
          && all[place + 2] == UInt8(ascii: "{"):
          bytes.append(contentsOf: "$$".utf8)
        default: bytes.append(byte)
        }
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// YAML ignores some characters or reads them as a line break. Returns the length in bytes.
  private mutating func appendScalar(_ rest: Slice<UnsafeBufferPointer<UInt8>>) -> Int {
    let count = rest.first.map { $0 >= 0xf0 ? 4 : $0 >= 0xe0 ? 3 : 2 } ?? 1
    let scalar = String(decoding: rest.prefix(count), as: UTF8.self).unicodeScalars.first
    switch scalar?.value {
    case let value? where value < 0xa0 || [0x2028, 0x2029, 0xfeff, 0xfffe, 0xffff].contains(value):
      bytes.append(contentsOf: "\\u".utf8)
      for shift: UInt32 in [12, 8, 4, 0] {
        bytes.append(Self.digit(UInt8(truncatingIfNeeded: value >> shift) & 15))
      }
    default: bytes.append(contentsOf: rest.prefix(count))
    }
    return count
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }
}

/// Manifest errors in the library's terms: task and property.
extension ManifestText {
  func text(_ diagnostics: ManifestError) -> String {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    return diagnostics.diagnostics.filter { $0.severity == .error }
      .map { diagnostic in
        let message = [diagnostic.message, diagnostic.help].compactMap(\.self)
          .map { CleanText.string(Self.translated($0)) }.joined(separator: "; ")
        return Self.place(diagnostic.line, lines) + message
      }.joined(separator: "\n")
  }

  private static func place(_ line: Int, _ lines: [ArraySlice<UInt8>]) -> String {
    guard lines.indices.contains(line - 1) else { return "" }
    // Columns: two for a task's name, four for its properties, six for their parts.
    var names: [String] = []
    var column = Int.max
    for line in lines[..<line].reversed() where column > 2 {
      let indent = line.prefix { $0 == UInt8(ascii: " ") }.count
      if indent < 2 { return "" }
      if indent >= column { continue }
      column = indent
      names.append(name(line.dropFirst(indent)))
    }
    guard let task = names.popLast() else { return "" }
    let path = names.reversed().map { Self.properties[$0] ?? $0 }.joined(separator: ".")
    return "task \(CleanText.string(task))" + (path.isEmpty ? ": " : ", \(path): ")
  }

  private static func name(_ line: ArraySlice<UInt8>) -> String {
    guard line.first == UInt8(ascii: "\"") else {
      return String(decoding: line.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
    }
    var name: [UInt8] = []
    var isEscaped = false
    for byte in line.dropFirst() {
      if !isEscaped, byte == UInt8(ascii: "\"") { break }
      isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
      if !isEscaped { name.append(byte) }
    }
    return String(decoding: name, as: UTF8.self)
  }

  /// Keys with another name in the library.
  private static let properties = [
    "dir": "cwd", "run": "action", "desc": "description", "allow_failure": "allowFailure",
    "on_interrupted": "failsWhenInterrupted", "max_speed": "maxSpeed", "max_delay": "maxDelay",
    "exit_codes": "exitCodes",
  ]

  private static func translated(_ message: String) -> String {
    var pieces = message.split(separator: "`", omittingEmptySubsequences: false).map(String.init)
    for place in pieces.indices where place % 2 == 1 {
      let key = pieces[place].prefix { $0 != ":" }
      guard let property = properties[String(key)] else { continue }
      pieces[place].replaceSubrange(key.startIndex..<key.endIndex, with: property)
    }
    return pieces.joined(separator: "`")
  }
}
