import Testing

@testable import OpflowBase

/// Against the examples of the standard, and at the lengths where a block is full.
@Suite struct SHA256Tests {
  private func text(_ message: some Collection<UInt8>) -> String {
    SHA256.digest(of: message).description
  }

  @Test func `pieces make the same as the whole, and what is told goes on`() {
    let hash = SHA256()
    for piece in ["a", "", "bc"] {
      #expect(hash.digest == hash.digest)
      Array(piece.utf8).withUnsafeBytes { hash.add($0) }
    }
    #expect(hash.digest == SHA256.digest(of: "abc".utf8))
    #expect(
      Array(hash.digest.description.utf8).withUnsafeBytes { SHA256.Digest($0) } == hash.digest)
    #expect(Array("0123".utf8).withUnsafeBytes { SHA256.Digest($0) } == nil)
    #expect(hash.digest.bytes.prefix(4) == [0xba, 0x78, 0x16, 0xbf])
  }

  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
  ])
  func `the examples of the standard come out`(message: String, digest: String) {
    #expect(text(message.utf8) == digest)
  }

  @Test(arguments: [
    (55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
    (56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"),
    (64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
  ])
  func `a block that is just full has its padding`(count: Int, digest: String) {
    #expect(text([UInt8](repeating: UInt8(ascii: "a"), count: count)) == digest)
  }
}
