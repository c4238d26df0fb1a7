/// The lines of places in one text that mostly come in their order: each part of it is looked at once.
struct LineCounter {
  /// Good as long as the file that it is of.
  private let text: Text
  private var offset = 0
  private var line: UInt32 = 1

  init(_ text: Text) { self.text = text }

  /// The line of the byte at `offset`, from 1.
  mutating func line(of offset: Int) -> UInt32 {
    if offset < self.offset { self = LineCounter(text) }
    let end = min(offset, text.count)
    var count: UInt32 = 0
    for byte in text[self.offset..<end] where byte == 10 { count &+= 1 }
    line &+= count
    self.offset = end
    return line
  }
}
