import OpflowPlan
import Testing

@testable import OpflowBase
@testable import OpflowWorker

/// Cache entries, valid and invalid.
@Suite struct CacheEntryTests {
  private static let key = SHA256.digest(of: "key".utf8)
  private static let empty = SHA256.digest(of: [])

  private func item(
    _ kind: CacheEntry.Item.Kind, _ name: String, size: Int64 = 0
  ) -> CacheEntry.Item {
    CacheEntry.Item(
      kind: kind, mode: 0o644, sizeBytes: size, digest: Self.empty, name: Array(name.utf8))
  }

  private func read(
    _ bytes: [UInt8], contentBytes: Int64, key: SHA256.Digest = key
  ) -> CacheEntry? {
    guard bytes.count >= CacheEntry.footBytes,
      let foot = CacheEntry.Foot(Array(bytes.suffix(CacheEntry.footBytes)), key: key),
      foot.listBytes == bytes.count - CacheEntry.footBytes
    else { return nil }
    return CacheEntry(
      list: Array(bytes.prefix(foot.listBytes)), foot: foot, contentBytes: contentBytes)
  }

  @Test func `what is written is read`() {
    let entry = CacheEntry(items: [
      item(.folder, "out"), item(.file, "out/a\tb\nc\\", size: 5),
      item(.executable, "out/x", size: 1),
      item(.link, "out/l", size: 1), item(.target, "out/l"), item(.value, "out", size: 2),
      item(.output, "", size: 9),
    ])
    let bytes = entry.end(key: Self.key)
    #expect(read(bytes, contentBytes: 18) == entry)
    #expect(read(bytes, contentBytes: 17) == nil)
    #expect(read(bytes, contentBytes: 18, key: SHA256.digest(of: "other".utf8)) == nil)
    #expect(read(CacheEntry(items: []).end(key: Self.key), contentBytes: 0)?.items == [])
  }

  @Test func `one byte more, less or other is none`() {
    let bytes = CacheEntry(items: [item(.file, "a", size: 3)]).end(key: Self.key)
    for place in bytes.indices {
      var other = bytes
      other[place] ^= 1
      #expect(read(other, contentBytes: 3) == nil, "\(place)")
      other.remove(at: place)
      #expect(read(other, contentBytes: 3) == nil, "\(place)")
    }
  }

  @Test(arguments: [
    "", "/etc/x", "a/../b", "..", "./a", "a//b", "a/", "a\0b",
  ])
  func `no path leads elsewhere`(path: String) {
    let bytes = CacheEntry(items: [item(.file, path)]).end(key: Self.key)
    #expect(read(bytes, contentBytes: 0) == nil)
  }

  @Test func `nothing is there twice, and no value has a path`() {
    for items in [
      [item(.file, "a"), item(.link, "a")], [item(.output, ""), item(.output, "")],
      [item(.value, "../a")], [item(.output, "a")], [item(.folder, "a", size: 1)],
      [item(.target, "a"), item(.target, "a")], [item(.target, "a", size: 1)],
    ] {
      let size = items.reduce(0) { $0 + $1.sizeBytes }
      #expect(read(CacheEntry(items: items).end(key: Self.key), contentBytes: size) == nil)
    }
  }

  @Test func `a key changes with all that a result may depend on, and with nothing else`() {
    let file = SeenFile(
      path: Array("a".utf8), kind: .file, content: PlanKey(high: 1, low: 2),
      stamp: FileStamp(device: 1, inode: 2, sizeBytes: 3, modified: 4, changed: 5))
    let reading = SuccessRecord.Reading(
      kind: .variable, name: Array("CC".utf8), content: PlanKey(high: 3, low: 4))
    let base = SuccessRecord(
      terms: SuccessRecord.Terms(fingerprint: 1, declaration: 2, with: nil, needs: 4),
      inputs: [file], readings: [reading], hash: .strong)
    func key(
      _ change: (inout SuccessRecord) -> Void, name: String = "t", keepsValues: Bool = false,
      on: String = "x"
    ) -> String {
      var record = base
      change(&record)
      return Array(name.utf8).withUnsafeBytes {
        CacheKey.of(record, name: $0, keepsValues: keepsValues, architecture: on).description
      }
    }
    func key(ofFile change: (inout SeenFile) -> Void) -> String {
      var other = file
      change(&other)
      return key({ $0.inputs = [other] })
    }
    let keys = [
      key({ _ in }), key({ $0.terms.fingerprint = 9 }), key({ $0.terms.declaration = 9 }),
      key({ $0.terms.with = 0 }), key({ $0.terms.needs = 9 }),
      key(ofFile: { $0.path = Array("b".utf8) }), key(ofFile: { $0.kind = .executable }),
      key(ofFile: { $0.content.low = 9 }), key({ $0.inputs = [] }),
      key({ $0.readings[0].content.low = 9 }), key({ $0.readings[0].kind = .command }),
      key({ $0.readings = [] }), key({ _ in }, name: "u"), key({ _ in }, on: "y"),
      key({ _ in }, keepsValues: true),
    ]
    #expect(Set(keys).count == keys.count)
    #expect(key(ofFile: { $0.stamp = nil }) == keys[0])
    #expect(key({ $0.origin = 9 }) == keys[0])
  }

  @Test func `a setting is told to workers as it was`() {
    for setting in [
      CacheSetting.own(limitBytes: 5), .shared(path: "/a\tb\n", mayWrite: true, limitBytes: 0),
      .shared(path: "/x", mayWrite: false, limitBytes: 1 << 40),
    ] {
      #expect(CacheSetting(file: setting.file) == setting)
    }
    for text in ["", "own", "own\t-1\n", "other\t5\n", "read\t5"] {
      #expect(CacheSetting(file: Array(text.utf8)) == nil)
    }
  }
}
