import OpflowDownload

/// Checks the record of a download's part file.
enum FuzzPart {
  static func check(_ bytes: UnsafeRawBufferPointer) throws(FuzzFinding) {
    _ = PartRecord(bytes)
    let sealed = Seal.lines(bytes)
    guard let record = sealed.withUnsafeBytes({ PartRecord($0) }) else { return }
    try expect(record.totalBytes ?? 0 >= 0, "a length below zero was taken")
    // The record keeps its meaning when it is encoded and decoded.
    let written = record.encoded()
    try expect(
      written.withUnsafeBytes { PartRecord($0) } == record
        || written.count > PartRecord.longestBytes,
      "the record changes when it is written: \(record)")
    // A record that is cut or has a flipped bit is invalid.
    for end in [written.count - 1, written.count / 2] {
      try expect(
        written[..<end].withUnsafeBytes { PartRecord($0) } == nil, "half a record was taken")
    }
    var spoiled = written
    spoiled[spoiled.count / 2] ^= 1
    try expect(
      spoiled.withUnsafeBytes { PartRecord($0) } == nil, "a record with a flipped bit was taken")
  }
}
