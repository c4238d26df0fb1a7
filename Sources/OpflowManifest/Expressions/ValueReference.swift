internal import OpflowCore

/// A value of another task, `needs.ID.NAME`; NAME follows the last dot.
enum ValueReference {
  private static let prefix: StaticString = "needs."

  static func hasPrefix(_ name: Text) -> Bool { name.hasPrefix(prefix) }

  /// Returns the length of a reference. An ID may contain more characters than other names, and any
  /// text in brackets.
  static func length(in text: Text) -> Int {
    var end = 0
    while end < text.count {
      if text[end] == UInt8(ascii: "[") {
        guard let close = text.part(end..<text.count).firstIndex(of: UInt8(ascii: "]")) else {
          break
        }
        end += close + 1
      } else if ASCII.continuesName(text[end]) || ".+@:/".utf8.contains(text[end]) {
        end += 1
      } else {
        break
      }
    }
    return end
  }

  /// Returns nil if there is no dot.
  static func parts(_ reference: Text) -> (id: Text, name: Text)? {
    let rest = reference.part(prefix.utf8CodeUnitCount..<reference.count)
    guard let dot = rest.lastIndex(of: UInt8(ascii: ".")), dot > 0 else { return nil }
    return (rest.part(0..<dot), rest.part((dot + 1)..<rest.count))
  }
}

/// A reference to a value of another task.
struct ValueReading {
  /// The whole name.
  let reference: Text
  let node: Node
  /// The offset in the node's text.
  let offset: Int
}

/// Which values of other tasks an expression may read.
enum ValuePlace {
  /// No values are allowed.
  case none
  /// In `env`, `if`, items of a list `run`, `download.url` and `download.sha256`.
  case late
  /// In a string `run`, where values are an error.
  case script
}
