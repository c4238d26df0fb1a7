import OpflowBase

/// Checks the masker: lines up to an empty one are secrets, the rest is the stream.
enum FuzzMask {
  static func check(_ bytes: UnsafeRawBufferPointer) throws(FuzzFinding) {
    let bytes = Array(bytes)
    var secrets: [SecretValue] = []
    var place = 0
    while place < bytes.count, secrets.count < 8 {
      let end = bytes[place...].firstIndex(of: 10) ?? bytes.count
      let line = Array(bytes[place..<end])
      place = min(end + 1, bytes.count)
      if line.isEmpty { break }
      if line.count >= SecretValue.shortestBytes {
        secrets.append(SecretValue(name: "S", bytes: line))
      }
    }
    guard var masker = Masker(secrets) else { return }
    let stream = Array(bytes[place...])
    let whole = run(&masker, stream, step: stream.count)
    for step in [1, 2, 7, 100] {
      try expect(run(&masker, stream, step: step) == whole, "what is masked depends on the cuts")
    }
    for secret in secrets where !secret.bytes.contains(42) {
      try expect(!contains(whole, secret.bytes), "a secret stands in what is left")
    }
    // Without marks, the masker must not change the stream.
    if !secrets.contains(where: { $0.bytes.contains(42) }), !whole.contains(42) {
      try expect(whole == stream, "without a mark the stream is another")
    }
  }

  private static func run(_ masker: inout Masker, _ stream: [UInt8], step: Int) -> [UInt8] {
    var output: [UInt8] = []
    for start in stride(from: 0, to: stream.count, by: max(1, step)) {
      stream.withUnsafeBytes { all in
        let piece = all[start..<min(start + max(1, step), all.count)]
        masker.mask(UnsafeRawBufferPointer(rebasing: piece)) { output.append(contentsOf: $0) }
      }
    }
    masker.finish { output.append(contentsOf: $0) }
    return output
  }

  private static func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
    guard part.count <= bytes.count else { return false }
    return (0...bytes.count - part.count).contains { bytes[$0...].starts(with: part) }
  }
}
