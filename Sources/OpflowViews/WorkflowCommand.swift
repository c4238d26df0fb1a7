internal import OpflowCore

/// Lines that GitHub's runner acts on, `::NAME PROPERTIES::DATA` and `##[NAME PROPERTIES]DATA`
/// (actions/runner, ActionCommand.cs).
///
/// The first form counts at the start of a line, after white space; the second anywhere in a line.
enum WorkflowCommand {
  /// Appends the data after `::`.
  static func append(data: some Sequence<UInt8>, to text: inout TextBuffer) {
    for byte in data {
      switch byte {
      case UInt8(ascii: "%"): text.add("%25")
      case 13: text.add("%0D")
      case 10: text.add("%0A")
      default: text.add(CollectionOfOne(byte))
      }
    }
  }

  /// Appends the value of a property: a name, without control characters.
  static func append(property value: String, to text: inout TextBuffer) {
    for byte in CleanText.string(value).utf8 {
      switch byte {
      case UInt8(ascii: ":"): text.add("%3A")
      case UInt8(ascii: ","): text.add("%2C")
      default: append(data: CollectionOfOne(byte), to: &text)
      }
    }
  }

  /// Inserts a space so that text from `start` on is not a command: `: :error::`, `# #[error]`.
  /// That includes commands of other servers that look like the second form (`##vso[`,
  /// `##teamcity[`).
  ///
  /// A zero-width character would not do: the runner's culture-sensitive comparison ignores those.
  /// `stop-commands` with a token would apply to the rest of the job if opflow dies.
  static func breakUp(_ bytes: inout [UInt8], from start: Int) {
    let colon = UInt8(ascii: ":")
    let first = firstVisible(bytes, from: start)
    if first + 1 < bytes.count, bytes[first] == colon, bytes[first + 1] == colon {
      bytes.insert(UInt8(ascii: " "), at: first + 1)
    }
    let hash = UInt8(ascii: "#")
    var index = start
    while index + 2 < bytes.count {
      defer { index += 1 }
      guard bytes[index] == hash, bytes[index + 1] == hash else { continue }
      let name = bytes[(index + 2)...].prefix { 0x61...0x7A ~= $0 | 0x20 }
      guard name.endIndex < bytes.count, bytes[name.endIndex] == UInt8(ascii: "[") else { continue }
      bytes.insert(UInt8(ascii: " "), at: index + 1)
    }
  }

  /// Skips spaces, colors and non-ASCII characters, some of which are white space for the runner.
  private static func firstVisible(_ bytes: [UInt8], from start: Int) -> Int {
    var index = start
    while index < bytes.count {
      switch bytes[index] {
      case 27:
        while index < bytes.count, bytes[index] != UInt8(ascii: "m") { index += 1 }
        index += 1
      case 33...126: return index
      default: index += 1
      }
    }
    return index
  }
}
