internal import OpflowBase
internal import OpflowManifest

/// Manifest errors in the library's terms: task and property.
extension ManifestText {
  func text(_ mistakes: ManifestError) -> String {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    return mistakes.diagnostics.filter { $0.severity == .error }
      .map { diagnostic in
        let message = [diagnostic.message, diagnostic.help].compactMap(\.self)
          .map { CleanText.string(Self.translated($0)) }.joined(separator: "; ")
        return Self.place(diagnostic.line, lines) + message
      }.joined(separator: "\n")
  }

  /// Such as `task build, timeout: `.
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
