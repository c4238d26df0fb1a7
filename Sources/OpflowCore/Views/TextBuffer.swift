/// The bytes of a view while they are put together.
package struct TextBuffer {
  package private(set) var bytes: [UInt8] = []
  /// Where in it stands what a task printed.
  private(set) var output: Range<Int>?
  /// What the try printed of which is told now, where all of it is to be shown.
  var log: LogRange?
  /// Where in the bytes that stands.
  private(set) var logPlace: Int?

  /// What a CI server would take for a command in text from elsewhere is made harmless.
  var breaksCommands = false

  package init() {}

  package var isEmpty: Bool { bytes.isEmpty }

  /// The bytes so far, which are then no longer in it.
  package mutating func take() -> [UInt8] {
    defer {
      bytes.removeAll(keepingCapacity: true)
      output = nil
      log = nil
      logPlace = nil
    }
    return bytes
  }

  mutating func add(_ text: String) { bytes.append(contentsOf: text.utf8) }
  mutating func add(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

  /// Text that is clean, and may hold some from elsewhere.
  mutating func addSentence(_ text: String) {
    let start = bytes.count
    add(text)
    if breaksCommands { WorkflowCommand.breakUp(&bytes, from: start) }
  }

  /// Text that may come from anywhere, as `CleanText` shows it.
  mutating func addCleaned(_ text: String) {
    var text = text
    let start = bytes.count
    text.withUTF8 { CleanText.append(UnsafeRawBufferPointer($0), to: &bytes) }
    if breaksCommands { WorkflowCommand.breakUp(&bytes, from: start) }
  }

  /// A line that a task printed. Its colours are kept where those of this program are shown.
  mutating func addOutput(_ line: UnsafeRawBufferPointer, _ palette: Palette) {
    let start = bytes.count
    CleanText.append(line, keepsColors: palette.isOn, to: &bytes)
    if breaksCommands { WorkflowCommand.breakUp(&bytes, from: start) }
  }

  mutating func addBlanks(_ count: Int) {
    bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: count))
  }

  mutating func addOutput(_ line: ArraySlice<UInt8>, _ palette: Palette) {
    line.withUnsafeBytes { addOutput($0, palette) }
  }

  /// Marks what was added since it had so many bytes as printed by a task.
  mutating func markOutput(from start: Int) { output = start..<bytes.count }

  /// Puts the log here.
  mutating func placeLog() { logPlace = bytes.count }

  mutating func endLine() { bytes.append(Field.lineFeed) }
}

/// Colours of a terminal (ECMA-48, SGR), or none.
struct Palette {
  let isOn: Bool

  func red(_ text: String) -> String { wrap(text, "31") }
  func green(_ text: String) -> String { wrap(text, "32") }
  func yellow(_ text: String) -> String { wrap(text, "33") }
  func cyan(_ text: String) -> String { wrap(text, "36") }
  func dim(_ text: String) -> String { wrap(text, "2") }
  func bold(_ text: String) -> String { wrap(text, "1") }

  private func wrap(_ text: String, _ code: String) -> String {
    isOn ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text
  }
}
