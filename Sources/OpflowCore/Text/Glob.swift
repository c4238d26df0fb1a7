/// A pattern on task ids: `*` is any run of bytes, `/` included, `?` any one character.
package struct Glob {
  private let pattern: [UInt8]

  package init(_ pattern: String) { self.pattern = Array(pattern.utf8) }

  /// Whether a text is a pattern rather than a name.
  package static func isPattern(_ text: String) -> Bool {
    text.utf8.contains { $0 == star || $0 == question }
  }

  private static let star = UInt8(ascii: "*")
  private static let question = UInt8(ascii: "?")

  /// Whether all of `text` fits. At most as many steps as pattern and text have bytes, multiplied.
  package func matches(_ text: UnsafeRawBufferPointer) -> Bool {
    var place = 0
    var position = 0
    var retry: (place: Int, position: Int)?
    while position < text.count {
      if place < pattern.count, pattern[place] == Self.star {
        retry = (place + 1, position)
        place += 1
      } else if place < pattern.count, pattern[place] == Self.question {
        place += 1
        position = Self.endOfCharacter(text, from: position)
      } else if place < pattern.count, pattern[place] == text[position] {
        place += 1
        position += 1
      } else if let last = retry {
        // The last star takes one byte more.
        retry = (last.place, last.position + 1)
        place = last.place
        position = last.position + 1
      } else {
        return false
      }
    }
    return pattern[place...].allSatisfy { $0 == Self.star }
  }

  /// Where the UTF-8 character ends that starts at `position`.
  private static func endOfCharacter(_ text: UnsafeRawBufferPointer, from position: Int) -> Int {
    var end = position + 1
    while end < text.count, text[end] & 0xC0 == 0x80 { end += 1 }
    return end
  }
}
