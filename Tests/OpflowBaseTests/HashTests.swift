import OpflowBase
import Testing

@Suite struct HashTests {
  @Test(arguments: [0, 1, 8, 240, 241, 1024, 100_000])
  func `bytes in pieces have the hash of all together`(_ count: Int) {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    for size in [1, 7, 64, 4096, 200_000] where count / size < 2000 {
      guard let hash = PieceHash() else {
        Issue.record("no memory for a hash")
        return
      }
      var rest = bytes[...]
      while !rest.isEmpty {
        Array(rest.prefix(size)).withUnsafeBytes { hash.add($0) }
        rest = rest.dropFirst(size)
      }
      #expect(hash.planKey == Hash.planKey(bytes), "in pieces of \(size)")
    }
  }
}
