/// The live part of a view of progress: when a frame is due, and what is written then.
struct LiveView {
  static let frameMilliseconds: Int64 = 100

  private var screen: LiveScreen
  private let palette: Palette
  /// False while nothing may be drawn, since the terminal is another's.
  private var isVisible = true
  /// When the last frame was drawn, or the drive began: a run that is over at once shows none.
  private var lastMilliseconds: Int64 = 0
  private var nowMilliseconds: Int64 = 0
  private var isDrawn = false
  private var isDue = false

  init(size: TerminalSize, palette: Palette) {
    screen = LiveScreen(size: size)
    self.palette = palette
  }

  var size: TerminalSize {
    get { screen.size }
    set {
      screen.size = newValue
      isDue = isDrawn
    }
  }

  mutating func begin(atMilliseconds now: Int64) {
    lastMilliseconds = now
    nowMilliseconds = now
  }

  mutating func pass(toMilliseconds now: Int64) {
    nowMilliseconds = now
    // A clock that was set back must not stop the view.
    if now < lastMilliseconds || now - lastMilliseconds >= Self.frameMilliseconds { isDue = true }
  }

  /// Whether the terminal shows what this program writes there, and not a shell's prompt.
  mutating func setVisible(_ visible: Bool) {
    if visible != isVisible { isDue = true }
    isVisible = visible
  }

  mutating func forget() {
    screen.forget()
    isDue = isDrawn
  }

  /// A key was pressed, which is to be seen at once.
  mutating func hurry() { isDue = isVisible }

  /// Whether `take` draws although nothing new stays.
  var hasFrame: Bool { isDue }

  /// The bytes of one write: text that stays, and below it the frame where one is due.
  ///
  /// - Parameters:
  ///   - keys: nil while nobody has the keyboard.
  ///   - tails: the last that tasks printed, for those.
  mutating func take(
    lasting: [UInt8], _ model: DriveModel, keys: LiveKeys? = nil, tails: [TaskID: [UInt8]] = [:]
  ) -> [UInt8] {
    if lasting.isEmpty, !isDue { return [] }
    var frame: [StyledLine] = []
    if isVisible, isDue || isDrawn {
      let plain = LiveFrame(model: model, size: screen.size, nowMilliseconds: nowMilliseconds)
      frame = keys.map { LivePanel(keys: $0, frame: plain, tails: tails).lines } ?? plain.lines
      lastMilliseconds = nowMilliseconds
    }
    var text = TextBuffer()
    screen.write(lasting: lasting, frame: frame, palette: palette, into: &text)
    isDrawn = !frame.isEmpty
    isDue = false
    return text.take()
  }

  /// Takes the frame away; text that stays is all there is from here on, until the next frame.
  mutating func erase(lasting: [UInt8]) -> [UInt8] {
    var text = TextBuffer()
    screen.write(lasting: lasting, frame: [], palette: palette, into: &text)
    isDrawn = false
    isDue = false
    return text.take()
  }
}
