/// Some legs of a family, as a need writes them: `build[arch]` those that have my value of an axis,
/// `build[arch=x86_64]` those that have that value, and both together.
struct LegSelector {
  struct Part {
    var axis: Text
    /// As it is written; nil for my own.
    var value: Text?
  }

  let family: Text
  let parts: [Part]

  /// Whether it depends on the leg that has the need.
  var joins: Bool { parts.contains { $0.value == nil } }

  /// Nil for a text that is no such selector.
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
