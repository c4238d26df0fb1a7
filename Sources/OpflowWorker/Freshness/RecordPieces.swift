internal import OpflowCore
internal import OpflowSystem

/// Reads files of records in pieces, since a block may be of millions of files.
enum RecordPieces {
  /// Read at once at most; no line is longer.
  static let chunkBytes = 1 << 20

  /// Takes in what stands behind what the index has read.
  ///
  /// - Parameter pieces: that are read at most.
  /// - Returns: whether that was all.
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
        // A line that is not whole yet, or longer than any that is written here.
        if count < chunkBytes { return true }
        index.skipDamage(count)
      }
      size = try file.status().sizeBytes
    }
    return true
  }

  /// The record of a block that the index found.
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

  /// - Returns: how many bytes whole lines had; nil where one is none of a block.
  private static func take(_ bytes: UnsafeRawBufferPointer, _ reader: inout RecordReader) -> Int? {
    var position = 0
    while true {
      let end = bytes.position(of: Field.lineFeed, from: position)
      if end == bytes.count { return position }
      guard reader.take(bytes.part(position, end)) else { return nil }
      position = end + 1
    }
  }

  /// Fills it, but for what stands behind the end of the file.
  ///
  /// - Returns: how many bytes there were.
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
