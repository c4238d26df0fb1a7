/// A pattern for task IDs: `*` matches any bytes, including `/`, and `?` one character.
package struct Glob {
  private let pattern: [UInt8]

  package init(_ pattern: String) { self.pattern = Array(pattern.utf8) }

  package static func isPattern(_ text: String) -> Bool {
    text.utf8.contains { $0 == star || $0 == question }
  }

  private static let star = UInt8(ascii: "*")
  private static let question = UInt8(ascii: "?")

  /// Takes at most the product of both lengths in steps.
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
        // The last `*` takes one more byte.
        retry = (last.place, last.position + 1)
        place = last.place
        position = last.position + 1
      } else {
        return false
      }
    }
    return pattern[place...].allSatisfy { $0 == Self.star }
  }

  private static func endOfCharacter(_ text: UnsafeRawBufferPointer, from position: Int) -> Int {
    var end = position + 1
    while end < text.count, text[end] & 0xC0 == 0x80 { end += 1 }
    return end
  }
}
