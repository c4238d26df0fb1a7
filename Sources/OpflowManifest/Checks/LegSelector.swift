/// Selects matrix tasks in `needs`: `build[arch]` those with the dependent's own value of `arch`,
/// `build[arch=x86_64]` those with the given value.
struct LegSelector {
  struct Part {
    var axis: Text
    /// Nil for the dependent's own value.
    var value: Text?
  }

  let family: Text
  let parts: [Part]

  /// Whether the selection depends on the dependent's own values.
  var joins: Bool { parts.contains { $0.value == nil } }

  /// Returns nil for any other text.
  init?(_ text: Text) {
    guard text.last == UInt8(ascii: "]"), let open = text.firstIndex(of: UInt8(ascii: "[")),
      open > 0
    else { return nil }
    family = text.part(0..<open)
    var parts: [Part] = []
    var start = open + 1
    while true {
      let end =
        text[start..<(text.count - 1)].firstIndex(of: UInt8(ascii: ",")) ?? text.count - 1
      let part = text.part(start..<end).trimmed
      let equals = part.firstIndex(of: UInt8(ascii: "="))
      parts.append(
        Part(
          axis: part.part(0..<(equals ?? part.count)).trimmed,
          value: equals.map { part.part(($0 + 1)..<part.count) }))
      if end == text.count - 1 { break }
      start = end + 1
    }
    self.parts = parts
  }
}
