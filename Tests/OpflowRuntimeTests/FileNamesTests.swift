import Foundation
import OpflowBase
import OpflowPlan
import OpflowSystem
import Testing

@testable import OpflowWorker

@Suite("Names that a pattern fits in folders")
struct FileNamesTests {
  private let root = FileManager.default.temporaryDirectory
    .appendingPathComponent("opflow-names-\(UUID().uuidString)")

  private func names(_ pattern: String, _ folders: FolderMemory) throws -> [String] {
    let names = try FileNames.fitting(pattern, in: root.path, folders: folders).get()
    return (0..<names.count).map { names.text($0) }
  }

  @Test func `a pattern with a beginning finds what one without it finds`() throws {
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: root) }
    let all = ["a", "ab", "a.b", "ab.c", "ac", "b", "ä.c", "äb.c", ".a", "A", "zz", "a\u{10FFFF}"]
    for name in all {
      try Data().write(to: root.appendingPathComponent(name))
    }
    let folders = FolderMemory()
    for pattern in [
      "a*", "ab*", "?", "a?", "ä*", "ä?.c", "z*", "zz*", "[ab]*", "x*", ".?", "A?", "*",
    ] {
      let whole = try #require(PathPattern(pattern))
      let expected = all.filter { whole.matches([Array($0.utf8)]) }
        .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      #expect(try names(pattern, folders) == expected, "\(pattern)")
    }
  }

  @Test func `a name that is not UTF-8 is found and read like any other, but is not text`() throws {
    let bytes: [UInt8] = Array(root.path.utf8) + Array("/caf".utf8) + [0xE9]
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: root) }
    _ = try File.open(ofBytes: bytes + [0], from: File.workingFolder, [.writeOnly, .create])
    #expect(try FileNames.fitting("c*", in: root.path).get()[0] == Array("caf".utf8) + [0xE9])
    #expect(try names("**/caf[!a]", FolderMemory()) == [#"caf\xe9"#])
    let fault = FileNameFault(#"the name `caf\xe9` is not UTF-8"#)
    #expect(FileNames.texts(fitting: "*", in: root.path) == .failure(fault))
    #expect(FileNames.texts(fitting: "*.c", in: root.path) == .success([]))
    let look = try FileScan(
      [.path("."), .glob("*")], in: root.path, memory: [], hashes: FileMemory(.quick),
      links: .themselves)
    while try !look.goOn(until: .max) {}
    #expect(look.files.map(\.path) == [[46], [46, 47] + bytes.suffix(4), Array(bytes.suffix(4))])
  }

  @Test func `a file that is called as the pattern is written is found, beside others or without`()
    throws
  {
    try FileManager.default.createDirectory(
      at: root.appendingPathComponent("[ab]"), withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: root) }
    try Data().write(to: root.appendingPathComponent("[ab]/c"))
    func names(_ written: FileNames.WrittenName) throws -> [[UInt8]] {
      let names = try FileNames.fitting("[ab]/c", in: root.path, written: written).get()
      return (0..<names.count).map { names[$0] }
    }
    #expect(try names(.insteadOfNone) == [Array("[ab]/c".utf8)])
    try FileManager.default.createDirectory(
      at: root.appendingPathComponent("a"), withIntermediateDirectories: true)
    try Data().write(to: root.appendingPathComponent("a/c"))
    #expect(try names(.beside) == [Array("[ab]/c".utf8), Array("a/c".utf8)])
    #expect(try names(.insteadOfNone) == [Array("a/c".utf8)])
    #expect(try self.names("[x]/c", FolderMemory()) == [])
  }

  /// A folder is listed again if its times changed or are too new to be trusted. Files that appear
  /// or disappear any time after the last listing are found.
  @Test func `what is remembered of a folder is never another state of it`() throws {
    try FileManager.default.createDirectory(
      at: root.appendingPathComponent("in"), withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: root) }
    let folders = FolderMemory()
    for round in 0..<120 {
      let file = root.appendingPathComponent(
        (Bool.random() ? "in/" : "") + "f\(Int.random(in: 0..<6))")
      if (try? FileManager.default.removeItem(at: file)) == nil {
        try Data().write(to: file)
      }
      // Sometimes within a step of the file system's clock, sometimes past all doubt.
      if Int.random(in: 0..<4) == 0 { try waitUntilTelling() }
      for pattern in ["f*", "in/f*", "**/f*", "**/f?", "*/f1"] {
        let (known, found) = (try names(pattern, folders), try names(pattern, FolderMemory()))
        #expect(known == found, "\(pattern) in round \(round)")
      }
    }
  }

  private func waitUntilTelling() throws {
    for folder in [root.path, root.path + "/in"] {
      let stamp = FileStamp(try Path.status(folder))
      while !stamp.isTelling(atNanoseconds: Clock.wallMilliseconds * 1_000_000) { sched_yield() }
    }
  }
}

@Suite("Paths that are no inputs")
struct LeftOutPathsTests {
  private func contains(_ left: LeftOutPaths, _ path: String) -> Bool {
    Array(path.utf8).withUnsafeBytes { left.contains($0) }
  }

  @Test func `a path is left out however it is written`() {
    var left = LeftOutPaths("/p/a")
    for path in ["out", "x/y", "../z", "/p/a/abs", "/q"] { left.add(.path(path)) }
    left.add(.glob("gen/*.c"))
    left.add(.glob("app/[id]/o"))
    for path in [
      "out", "out/b", "./out", "x/y", "x/y/z", "x/../out", "/p/a/out/q", "../a/out", "../z",
      "../z/a",
      "/p/z", "abs/b", "/q/r", "../../q", "gen/a.c", "x//y", "app/i/o", "app/[id]/o",
    ] {
      #expect(contains(left, path), "\(path)")
    }
    for path in [
      "ou", "outer", "x", "x/yy", "z", "q", "gen/b/a.c", "gen", "../out", "/p/out", ".out",
      "app/[i]/o",
    ] {
      #expect(!contains(left, path), "\(path)")
    }
  }

  @Test func `a path is found among many as by a look at each of them`() {
    var random = SplitMix64(seed: 7)
    func path() -> String {
      (0..<Int.random(in: 1...4, using: &random)).map { _ in
        ["a", "a-", "ab", "b", "a!"].randomElement(using: &random) ?? "a"
      }.joined(separator: "/")
    }
    for _ in 0..<200 {
      let outputs = (0..<Int.random(in: 0...9, using: &random)).map { _ in path() }
      var left = LeftOutPaths("/p")
      for output in outputs { left.add(.path(output)) }
      for _ in 0..<20 {
        let input = path()
        let isIn = outputs.contains { input == $0 || input.hasPrefix($0 + "/") }
        #expect(contains(left, input) == isIn, "\(input) among \(outputs)")
        #expect(contains(left, "./" + input) == isIn, "./\(input) among \(outputs)")
      }
    }
  }

  /// A comparison of each output with each input is a billion, and takes the processor minutes.
  @Test func `as many inputs as outputs are told apart as fast as they are many`() {
    let count = 30_000
    let start = processorSeconds
    var left = LeftOutPaths("/p")
    for number in 0..<count { left.add(.path("o/\(number)")) }
    #expect(!(0..<count).contains { contains(left, "i/\($0)") || contains(left, "./i/\($0)") })
    #expect((0..<count).allSatisfy { contains(left, "o/\($0)/a") })
    #expect(processorSeconds - start < 30)
  }

  /// That this thread has used, whatever else the machine does.
  private var processorSeconds: Int {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec
  }

  @Test func `all is left out of a folder that is itself left out`() {
    for path in [".", "..", "/p", "/p/a", "/"] {
      var left = LeftOutPaths("/p/a")
      left.add(.path(path))
      #expect(contains(left, "b/c") && contains(left, "./b"), "\(path)")
    }
  }
}
