/// Makes untrusted text safe to show: replaces invalid UTF-8 by U+FFFD and removes control
/// characters except TAB, and escape sequences. Colors may be kept and end with the line.
/// `HiddenText` recognizes the same sequences: keep both in sync.
package enum CleanText {
  /// More removed characters in a row become an ellipsis.
  private static let mostHidden = 1000

  package static func list(
    _ texts: [String], _ show: (String) -> String = { string($0) }
  ) -> String {
    let shown = texts.prefix(5).map(show).joined(separator: ", ")
    return texts.count > 5 ? "\(shown), … and \(texts.count - 5) more" : shown
  }

  /// Appends a line without its line feed; after carriage returns (a progress bar), its last state
  /// only.
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
    // Colors after the carriage return belong to the new state.
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

  private static let maxColorLength = 64

  /// A Select Graphic Rendition sequence (ECMA-48, 8.3.117), but not private ones with the same
  /// final byte.
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

  private static func isReset(_ color: [UInt8]) -> Bool {
    color.dropFirst(2).dropLast().allSatisfy { $0 == 48 }
  }

  package static func string(_ text: String) -> String {
    var bytes: [UInt8] = []
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0), to: &bytes) }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func isPlain(_ line: UnsafeRawBufferPointer) -> Bool {
    line.allSatisfy { ($0 >= 32 && $0 < 127) || $0 == 9 }
  }

  /// A character without width can disguise or hide text. Excludes joiners, which many languages
  /// need.
  package static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x200B, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF, 0xE0000...0xE007F: true
    default: false
    }
  }

  /// ECMA-48, 5.4 and 5.6. For an unterminated string, only the introducer is removed, so that it
  /// cannot hide the rest.
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

/// Splits words like a shell (POSIX.1-2017, XCU 2.2), without expansion of `$`, `*` and `~`.
package enum QuotedWords {
  package struct Failure: Error, Equatable {
    package let detail: String
  }

  package static func split(_ text: String) throws(Failure) -> [String] {
    var words: [String] = []
    /// nil between words.
    var word: [UInt8]?
    var quote: UInt8?
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      switch (byte, quote) {
      case (UInt8(ascii: "\\"), nil):
        guard let next = rest.popFirst() else {
          throw Failure(detail: "the last backslash escapes nothing")
        }
        if next != 0x0A { word = (word ?? []) + [next] }
      case (UInt8(ascii: "\\"), UInt8(ascii: "\"")):
        switch rest.first {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "$"), UInt8(ascii: "`"):
          word?.append(rest.removeFirst())
        case 0x0A: rest.removeFirst()
        default: word?.append(byte)
        }
      case (_, byte): quote = nil
      case (UInt8(ascii: "'"), nil), (UInt8(ascii: "\""), nil):
        quote = byte
        word = word ?? []
      case (0x20, nil), (0x09, nil), (0x0A, nil):
        if let word { words.append(String(decoding: word, as: UTF8.self)) }
        word = nil
      default: word = (word ?? []) + [byte]
      }
    }
    if quote != nil { throw Failure(detail: "a quote is not closed") }
    if let word { words.append(String(decoding: word, as: UTF8.self)) }
    return words
  }

  /// C0 except tab and newline, DEL and C1 could move the cursor.
  private static func hasControls(_ word: String) -> Bool {
    word.unicodeScalars.contains {
      $0.value < 32 && $0 != "\t" && $0 != "\n" || (127...159).contains($0.value)
    }
  }

  /// Octal escapes within `$'…'` (POSIX.1-2024, 2.2.4).
  private static func escaped(_ word: String) -> String {
    var text = "$'"
    for scalar in word.unicodeScalars {
      switch scalar {
      case "'", "\\": text += "\\\(scalar)"
      case _ where hasControls(String(scalar)):
        for byte in String(scalar).utf8 {
          text += "\\\(byte >> 6)\(byte >> 3 & 7)\(byte & 7)"
        }
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "'"
  }

  /// A shell reads the word back unchanged.
  package static func quoted(_ word: String) -> String {
    let isPlain =
      !word.isEmpty
      && word.utf8.allSatisfy { byte in
        switch byte {
        case 48...57, 65...90, 97...122: true
        case 37, 43, 44, 45, 46, 47, 58, 61, 64, 95: true
        default: false
        }
      }
    if isPlain { return word }
    if hasControls(word) { return escaped(word) }
    let parts = word.split(separator: "'", omittingEmptySubsequences: false)
    return "'" + parts.joined(separator: "'\\''") + "'"
  }
}

package enum OutputMode: String, Sendable, CaseIterable {
  /// Running tasks, redrawn at the bottom of a terminal.
  case live
  /// A line per start and end, and output at once.
  case line
  /// A task's output in one block when the task ends.
  case group
  /// Like `group`, folded for GitHub's log, with annotations for failures.
  case gitHub = "github"
  /// Like `group`, in sections of GitLab's log.
  case gitLab = "gitlab"
  case quiet
}
