internal import OpflowBase

package struct TextBuffer {
  package private(set) var bytes: [UInt8] = []
  private(set) var output: Range<Int>?
  var log: LogRange?
  private(set) var logPlace: Int?

  /// Breaks up foreign text that a CI server would interpret as a command.
  let breaksCommands: Bool
  let palette: Palette

  init(color: Bool = false, breaksCommands: Bool = false) {
    palette = Palette(isOn: color)
    self.breaksCommands = breaksCommands
  }

  var emptied: TextBuffer {
    TextBuffer(color: palette.isOn, breaksCommands: breaksCommands)
  }

  package var isEmpty: Bool { bytes.isEmpty }

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

  /// Appends clean text that may contain foreign text.
  mutating func addSentence(_ text: String) {
    let start = bytes.count
    add(text)
    if breaksCommands { WorkflowCommand.breakUp(&bytes, from: start) }
  }

  mutating func addLine(_ sentence: String) {
    addSentence(sentence)
    endLine()
  }

  mutating func addCleaned(_ text: String) {
    var text = text
    let start = bytes.count
    text.withUTF8 { CleanText.append(UnsafeRawBufferPointer($0), to: &bytes) }
    if breaksCommands { WorkflowCommand.breakUp(&bytes, from: start) }
  }

  /// Appends a line of a task's output; its colors are kept if opflow's are on.
  mutating func addOutput(_ line: UnsafeRawBufferPointer) {
    let start = bytes.count
    CleanText.append(line, keepsColors: palette.isOn, to: &bytes)
    if breaksCommands { WorkflowCommand.breakUp(&bytes, from: start) }
  }

  mutating func addOutput(lines: [UInt8], after start: String = "") {
    for line in LineSlices(lines) {
      addSentence(start)
      line.withUnsafeBytes { addOutput($0) }
      endLine()
    }
  }

  mutating func addBlanks(_ count: Int) {
    bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: count))
  }

  mutating func markOutput(from start: Int) { output = start..<bytes.count }

  mutating func placeLog() { logPlace = bytes.count }

  mutating func endLine() { bytes.append(Field.lineFeed) }
}

/// The colors of a terminal (ECMA-48, SGR), or none.
struct Palette {
  let isOn: Bool

  enum Style: String {
    case plain
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
    case cyan = "36"
  }

  func red(_ text: String) -> String { paint(text, .red) }
  func green(_ text: String) -> String { paint(text, .green) }
  func yellow(_ text: String) -> String { paint(text, .yellow) }
  func cyan(_ text: String) -> String { paint(text, .cyan) }
  func dim(_ text: String) -> String { paint(text, .dim) }
  func bold(_ text: String) -> String { paint(text, .bold) }

  func paint(_ text: String, _ style: Style) -> String {
    isOn && style != .plain ? "\u{1b}[\(style.rawValue)m\(text)\u{1b}[0m" : text
  }
}
