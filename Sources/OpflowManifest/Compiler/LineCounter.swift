/// Maps offsets to lines; fast for ascending offsets.
struct LineCounter {
  /// Valid as long as its file.
  private let text: Text
  private var offset = 0
  private var line: UInt32 = 1

  init(_ text: Text) { self.text = text }

  /// Returns the line of a byte, from 1.
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
