import Testing

@testable import OpflowBase

@Suite("The keys of lines")
struct KeyTests {
  @Test func `every key is written in one way, and that way is of no other key`() {
    let names = Key.allCases.map { $0.name.description }
    #expect(Set(names).count == names.count)
    for (key, name) in zip(Key.allCases, names) {
      #expect(Array(name.utf8).withUnsafeBytes { Key(name: $0) } == key)
    }
  }

  @Test func `no key needs an escape or holds an equals sign`() {
    for key in Key.allCases {
      #expect(
        key.name.description.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) })
    }
  }

  @Test func `a field of every key is found where it stands, and is of no other one`() throws {
    for key in Key.allCases {
      let field = Array("\(key.name)=v\t".utf8)
      try field.withUnsafeBytes { bytes in
        let window = try #require(ByteWindow(bytes))
        var cursor = FieldCursor(window, from: 0, to: bytes.count - 1)
        #expect(Key.allCases.filter { cursor.stands(at: $0) } == [key])
        #expect(cursor.text(key).elementsEqual("v".utf8))
        #expect(!cursor.stands(at: key))
      }
    }
  }

  @Test(arguments: ["", "wal", "walls", "Wall", "n=", "unknown"])
  func `another text is no key`(_ name: String) {
    #expect(Array(name.utf8).withUnsafeBytes { Key(name: $0) } == nil)
  }

  @Test func `every byte survives its escape, and no escaped byte ends a field`() throws {
    for byte in UInt8.min...UInt8.max {
      var writer = FieldWriter()
      writer.escaped([120, byte, 120])
      #expect(Field.unescaped(writer.bytes) == [120, byte, 120])
      #expect(writer.bytes.allSatisfy { ![0, 9, 10, 13].contains($0) })
      #expect(Field.escapeLetter(byte) == nil || writer.bytes.count == 4)
    }
    for letter in UInt8.min...UInt8.max where !"0tnr\\".utf8.contains(letter) {
      #expect(Field.unescaped([Field.backslash, letter]) == nil)
    }
  }
}
