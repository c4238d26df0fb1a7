/// Makes text of unknown origin safe to show: bytes that are no UTF-8 become U+FFFD, control
/// characters but TAB go, and with them whole escape sequences, so that a task's output cannot move the
/// cursor. Colours stay where they are wanted, and end with the line.
///
/// What a masker looks for it looks for in what stays (`HiddenText`): a change here is one there.
package enum CleanText {
  /// So many characters in a row that go leave an ellipsis.
  private static let mostHidden = 1000

  /// Appends one line, given without its line feed. Of a line that was overwritten through a
  /// carriage return (a progress bar) the last state stays.
  ///
  /// - Parameter keepsColors: the reader is a terminal, or something that shows colours as one does.
  package static func append(
    _ line: UnsafeRawBufferPointer, keepsColors: Bool = false, to bytes: inout [UInt8]
  ) {
    if isPlain(line) {
      bytes.append(contentsOf: line)
      return
    }
    let start = bytes.count
    let scalars = Array(String(decoding: line, as: UTF8.self).unicodeScalars)
    var index = 0
    var wasReturned = false
    var hiddenCount = 0
    // Colours that were set since the carriage return: they are the new state's.
    var held: [UInt8] = []
    var isColored = false
    while index < scalars.count {
      let scalar = scalars[index]
      index += 1
      switch scalar.value {
      case 13: wasReturned = true
      case 27:
        let start = index
        index = endOfEscape(scalars, after: start)
        hiddenCount += index - start + 1
        guard keepsColors, let color = color(scalars[start..<index]) else { continue }
        if wasReturned { held += color } else { bytes += color }
        isColored = !isReset(color)
      case 9, 32...126, 0xA0...:
        if isInvisible(scalar) {
          hiddenCount += 1
          continue
        }
        if wasReturned {
          bytes.removeSubrange(start...)
          bytes += held
          held = []
        } else if hiddenCount > mostHidden {
          bytes.append(contentsOf: "…".utf8)
        }
        hiddenCount = 0
        wasReturned = false
        bytes.append(contentsOf: UTF8.encode(scalar)?.lazy.map { $0 } ?? [])
      default: hiddenCount += 1
      }
    }
    bytes += held
    if isColored { bytes.append(contentsOf: "\u{1b}[0m".utf8) }
  }

  /// A sequence of this length says more than any colour does.
  private static let maxColorLength = 64

  /// Select Graphic Rendition (ECMA-48, 8.3.117), its parts divided by semicolons or colons; nil for
  /// any other sequence, those of the same final byte that terminals take for private ones included.
  private static func color(_ sequence: ArraySlice<Unicode.Scalar>) -> [UInt8]? {
    guard sequence.first == "[", sequence.last == "m", sequence.count > 1,
      sequence.count <= maxColorLength
    else { return nil }
    let parts = sequence.dropFirst().dropLast()
    guard parts.allSatisfy({ ("0"..."9").contains($0) || $0 == ";" || $0 == ":" }) else {
      return nil
    }
    return [27] + sequence.map { UInt8(truncatingIfNeeded: $0.value) }
  }

  /// Whether nothing is left of a colour behind it: `ESC [ m`, `ESC [ 0 m`.
  private static func isReset(_ color: [UInt8]) -> Bool {
    color.dropFirst(2).dropLast().allSatisfy { $0 == 48 }
  }

  /// A text as a person is to see it.
  package static func string(_ text: String) -> String {
    var bytes: [UInt8] = []
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0), to: &bytes) }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func isPlain(_ line: UnsafeRawBufferPointer) -> Bool {
    line.allSatisfy { ($0 >= 32 && $0 < 127) || $0 == 9 }
  }

  /// Characters without a width that make a text look like another, or hide one in it: the zero-width space, line
  /// and paragraph separators, overrides and isolates of the writing direction, invisible operators, the byte
  /// order mark, tags. Joiners stay: words of many languages need them.
  package static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x200B, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF, 0xE0000...0xE007F: true
    default: false
    }
  }

  /// Where an escape sequence ends whose ESC stands just before `start` (ECMA-48, 5.4 and 5.6). A
  /// string that is never ended loses its introducer only, so that nothing can hide the rest.
  private static func endOfEscape(_ scalars: [Unicode.Scalar], after start: Int) -> Int {
    guard start < scalars.count else { return start }
    switch scalars[start] {
    case "[":
      var index = start + 1
      while index < scalars.count, (0x20...0x3F).contains(scalars[index].value) { index += 1 }
      let hasFinal = index < scalars.count && (0x40...0x7E).contains(scalars[index].value)
      return hasFinal ? index + 1 : index
    case "]", "P", "X", "^", "_":
      var index = start + 1
      while index < scalars.count {
        if scalars[index].value == 7 { return index + 1 }
        if scalars[index].value == 27, index + 1 < scalars.count, scalars[index + 1] == "\\" {
          return index + 2
        }
        index += 1
      }
      return start + 1
    default:
      var index = start
      while index < scalars.count, (0x20...0x2F).contains(scalars[index].value) { index += 1 }
      let hasFinal = index < scalars.count && (0x30...0x7E).contains(scalars[index].value)
      return hasFinal ? index + 1 : index
    }
  }
}
