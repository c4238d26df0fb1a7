/// What GitHub's runner takes for a command of a line, by the rules of its parser (actions/runner,
/// ActionCommand.cs): `::NAME a=b,c=d::DATA` behind white space, or `##[NAME a=b;c=d]DATA`
/// anywhere.
struct RunnerCommand: Equatable {
  var name: String
  var properties: [String: String] = [:]
  var data: String

  static let registered: Set<String> = [
    "add-mask", "add-matcher", "debug", "echo", "endgroup", "error", "group", "notice",
    "save-state",
    "set-env", "set-output", "stop-commands", "warning",
  ]

  static func parse(_ line: some StringProtocol) -> RunnerCommand? {
    parseSecond(String(line)) ?? parseFirst(String(line))
  }

  static func all(in text: String) -> [RunnerCommand] {
    text.split(separator: "\n").compactMap { parse($0) }
  }

  private static func parseSecond(_ line: String) -> RunnerCommand? {
    let scalars = Array(line.unicodeScalars)
    let start = scalars.firstIndex { !$0.properties.isWhitespace } ?? scalars.count
    guard scalars[start...].starts(with: "::".unicodeScalars) else { return nil }
    guard let end = place(of: "::", in: scalars, from: start + 2) else { return nil }
    return command(
      scalars[(start + 2)..<end], between: ",", data: scalars[(end + 2)...],
      escapes: ["%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ","])
  }

  private static func parseFirst(_ line: String) -> RunnerCommand? {
    let scalars = Array(line.unicodeScalars)
    guard let start = place(of: "##[", in: scalars, from: 0),
      let end = place(of: "]", in: scalars, from: start)
    else { return nil }
    return command(
      scalars[(start + 3)..<end], between: ";", data: scalars[(end + 1)...],
      escapes: ["%3B": ";", "%0D": "\r", "%0A": "\n", "%5D": "]"])
  }

  private static func place(
    of text: String, in scalars: [Unicode.Scalar], from start: Int
  ) -> Int? {
    let wanted = Array(text.unicodeScalars)
    return (start..<max(start, scalars.count)).first { scalars[$0...].starts(with: wanted) }
  }

  private static func command(
    _ head: ArraySlice<Unicode.Scalar>, between: Unicode.Scalar, data: ArraySlice<Unicode.Scalar>,
    escapes: [String: String]
  ) -> RunnerCommand? {
    func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
      String(String.UnicodeScalarView(scalars))
    }
    func plain(_ text: String, _ names: [String]) -> String {
      var text = text
      for name in names { text = text.replacing(name, with: escapes[name] ?? "") }
      return text.replacing("%25", with: "%")
    }
    let name = text(head.prefix { $0 != " " })
    guard registered.contains(name.lowercased()) else { return nil }
    var command = RunnerCommand(name: name, data: plain(text(data), ["%0D", "%0A"]))
    for property in head.dropFirst(name.unicodeScalars.count + 1).split(separator: between) {
      let parts = property.split(separator: "=", maxSplits: 1)
      if parts.count == 2 {
        command.properties[text(parts[0])] = plain(text(parts[1]), Array(escapes.keys))
      }
    }
    return command
  }
}
