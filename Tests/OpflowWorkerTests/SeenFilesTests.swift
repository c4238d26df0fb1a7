import OpflowBase
import OpflowWorker
import Testing

@Suite("Lists of files as they were seen")
struct SeenFilesTests {
  private static func names(_ names: [String]) -> ByteStrings {
    var strings = ByteStrings()
    for name in names { strings.append(name) }
    return strings
  }

  private static func texts(_ strings: ByteStrings) -> [String] {
    (0..<strings.count).map { strings.text($0) }
  }

  @Test(arguments: [
    [], ["a"], ["a", "b", "c"], ["b", "a"], ["a", "a"], ["b", "", "b", "ab", "a", ""],
    ["e\u{301}", "\u{E9}", "e\u{301}", "z"],
  ])
  func `byte strings are sorted by their bytes, each once`(names: [String]) {
    var strings = Self.names(names)
    strings.sort()
    let wanted = Set(names.map { Array($0.utf8) }).sorted { $0.lexicographicallyPrecedes($1) }
    #expect((0..<strings.count).map { strings[$0] } == wanted)
    #expect(strings.byteCount == wanted.reduce(0) { $0 + $1.count })
  }

  @Test func `the first of others are taken with their bytes`() {
    var strings = Self.names(["x"])
    strings.append(2, of: Self.names(["ab", "", "c"]))
    strings.append(0, of: Self.names(["d"]))
    #expect(Self.texts(strings) == ["x", "ab", ""])
  }

  @Test func `what was seen is as it was put in`() {
    let stamp = FileStamp(device: 1, inode: 2, sizeBytes: 3, modified: 4, changed: 5)
    let files = [
      SeenFile(path: [0xFF], kind: .link, content: PlanKey(high: 1, low: 2), stamp: nil),
      SeenFile(path: [], kind: .file, content: PlanKey(high: 3, low: 4), stamp: stamp),
      SeenFile(path: [65, 66], kind: .executable, content: PlanKey(high: 5, low: 6), stamp: stamp),
    ]
    let seen = SeenFiles(files)
    #expect(Array(seen) == files)
    #expect(Array(SeenFiles(2, of: seen)) == Array(files.prefix(2)))
    #expect(seen.isReplaced(1, by: stamp) == false)
    #expect(seen.isReplaced(0, by: stamp) == false)
    var later = stamp
    later.changed += 1
    #expect(!seen.isReplaced(1, by: later))
    later.modified += 1
    #expect(seen.isReplaced(1, by: later))
  }
}
