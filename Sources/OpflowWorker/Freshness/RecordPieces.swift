internal import OpflowBase
internal import OpflowSystem

/// In pieces, since a block may list millions of files.
enum RecordPieces {
  /// No line is longer.
  static let chunkBytes = 1 << 20

  /// At most so many pieces behind the indexed part; returns whether that was all.
  @discardableResult
  static func follow(
    _ file: borrowing Descriptor, _ index: inout RecordIndex, pieces: Int = .max
  ) throws(Errno) -> Bool {
    var left = pieces
    var size = try file.status().sizeBytes
    if size < Int64(index.byteCount) { index = RecordIndex() }
    var room: [UInt8] = []
    while Int64(index.byteCount) < size {
      if left == 0 { return false }
      left -= 1
      let before = index.byteCount
      let wanted = min(Int(size) - before, chunkBytes)
      if room.count < wanted { room = [UInt8](repeating: 0, count: wanted) }
      let count = try read(file, from: before, into: &room)
      room.withUnsafeBytes { index.read(growing: $0.part(0, count)) }
      if index.byteCount == before {
        // An incomplete line, or one longer than any valid line.
        if count < chunkBytes { return true }
        index.skipDamage(count)
      }
      size = try file.status().sizeBytes
    }
    return true
  }

  static func record(
    in file: borrowing Descriptor, at place: RecordIndex.Place
  ) throws(Errno) -> SuccessRecord? {
    var reader = RecordReader(byteCount: place.end - place.start)
    var room = [UInt8](repeating: 0, count: min(place.end - place.start, chunkBytes))
    var start = place.start
    while start < place.end {
      let count = min(try read(file, from: start, into: &room), place.end - start)
      let taken = room.withUnsafeBytes { take($0.part(0, count), &reader) }
      guard let taken, taken > 0 else { return nil }
      start += taken
    }
    return reader.whole
  }

  /// The size of the complete lines; nil if one is invalid.
  private static func take(_ bytes: UnsafeRawBufferPointer, _ reader: inout RecordReader) -> Int? {
    var position = 0
    while true {
      let end = bytes.position(of: Field.lineFeed, from: position)
      if end == bytes.count { return position }
      guard reader.take(bytes.part(position, end)) else { return nil }
      position = end + 1
    }
  }

  /// Fills `bytes` up to the end of the file.
  static func read(
    _ file: borrowing Descriptor, from start: Int, into bytes: inout [UInt8]
  ) throws(Errno) -> Int {
    var filled = 0
    while filled < bytes.count {
      let from = filled
      let got = try bytes.withUnsafeMutableBufferPointer { room throws(Errno) in
        try file.read(
          into: UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: room[from...])),
          at: Int64(start + from))
      }
      if got == 0 { break }
      filled += got
    }
    return filled
  }
}
