internal import OpflowCore

/// A value of another task in an expression: `needs.ID.NAME`, where NAME is what follows the last dot.
enum ValueReference {
  private static let prefix: StaticString = "needs."

  static func hasPrefix(_ name: Text) -> Bool { name.hasPrefix(prefix) }

  /// How far a name goes that begins with the prefix: an id may hold more than other names, and of a leg
  /// anything in brackets.
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

  /// The task and the name; nil where there is no dot between them.
  static func parts(_ reference: Text) -> (id: Text, name: Text)? {
    let rest = reference.part(prefix.utf8CodeUnitCount..<reference.count)
    guard let dot = rest.lastIndex(of: UInt8(ascii: ".")), dot > 0 else { return nil }
    return (rest.part(0..<dot), rest.part((dot + 1)..<rest.count))
  }
}

/// A value that a task reads, and where it says so.
struct ValueReading {
  /// The whole name.
  let reference: Text
  let node: Node
  /// In the node's text.
  let offset: Int
}

/// Where an expression may read values of other tasks, of the place that is being read.
enum ValuePlace {
  /// In no value of the manifest but those that follow.
  case none
  /// `env`, `if`, an item of a list `run`, `download.url` and `sha256`, of a task.
  case late
  /// A string `run`.
  case script
}
