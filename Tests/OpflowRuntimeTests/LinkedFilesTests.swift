import Foundation
import OpflowBase
import OpflowPlan
import OpflowSystem
import Testing

@testable import OpflowWorker

/// What a look finds behind links, in random trees: against what `realpath` and the files
/// themselves tell.
@Suite("Files behind links")
final class LinkedFilesTests {
  private let root: String
  private var project: String { root + "/project" }

  init() throws {
    root = try Path.real(NSTemporaryDirectory()) + "/opflow-links-" + UUID().uuidString
    try Path.makeDirectories(project)
  }

  deinit { try? FileManager.default.removeItem(atPath: root) }

  // MARK: - Looks

  private static func leftOut(_ out: [FileScan.Item], _ folder: String) -> LeftOut {
    var left = LeftOutPaths(folder)
    for item in out { left.add(item) }
    return LeftOut(path: left.contains, listed: left.containsListed, target: left.containsTarget)
  }

  private func look(
    _ items: [FileScan.Item], memory: SeenFiles = [], out: [FileScan.Item] = []
  ) throws -> FileScan {
    let look = try FileScan(
      items, in: project, memory: memory, hashes: FileMemory(.quick),
      links: .followed(project: project, Self.leftOut(out, project)))
    while try !look.goOn(until: .max) {}
    return look
  }

  private struct Entry: Equatable, CustomStringConvertible {
    let kind: SeenFile.Kind
    let path: String
    let content: PlanKey
    var description: String { "\(kind) \(path)" }
  }

  private func entries(_ look: FileScan) -> [Entry] {
    (Array(look.links) + Array(look.files)).map {
      Entry(kind: $0.kind, path: String(decoding: $0.path, as: UTF8.self), content: $0.content)
    }
  }

  private func shell(_ script: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-ec", script]
    process.currentDirectoryURL = URL(fileURLWithPath: project)
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(script)")
  }

  private func names(_ items: [FileScan.Item], out: [FileScan.Item] = []) throws -> [String] {
    let look = try look(items, out: out)
    #expect(look.missing.isEmpty)
    return entries(look).map(\.description)
  }

  @Test func `a link at any position of a path counts, and what the path leads to`() throws {
    try shell(
      """
      mkdir -p a/real ../else/deep; echo 1 > a/real/x; echo 2 > ../else/y; echo 3 > ../else/deep/z
      ln -s real a/l; ln -s a/l m; ln -s m/x n; ln -s ../else/deep d; ln -s \(root)/else e
      """)
    #expect(try names([.path("a/l/x")]) == ["link a/l", "file a/l/x"])
    #expect(try names([.path("n")]) == ["link n", "file n"])
    // As the kernel does it: `..` is the folder above the one that the link leads to.
    #expect(try names([.path("d/../y")]) == ["link d", "file d/../y"])
    #expect(try names([.path("e/y")]) == ["link e", "file e/y"])
    #expect(try names([.path("\(root)/project/a/l/x")]).count == 2)
    #expect(
      try names([.glob("*/x"), .glob("e/*")]) == ["link e", "link m", "file e/y", "file m/x"])
    #expect(
      try names([.path("a")]) == [
        "link a/l", "folder a", "folder a/l", "file a/l/x", "folder a/real",
      ])
    #expect(try names([.path("m/")]) == ["link m", "folder m/", "file m/x"])
  }

  @Test func `how the project is reached does not count, and a linked folder within it does`()
    throws
  {
    try shell("mkdir -p sub/real; echo 1 > sub/real/x; ln -s real sub/l")
    try FileManager.default.createSymbolicLink(
      atPath: root + "/way", withDestinationPath: "project")
    func names(_ folder: String, _ project: String) throws -> [String] {
      let look = try FileScan(
        [.path("x")], in: folder, memory: [], hashes: FileMemory(.quick),
        links: .followed(project: project, .nothing))
      while try !look.goOn(until: .max) {}
      return entries(look).map(\.description)
    }
    #expect(try names(root + "/way/sub/real", root + "/way") == ["file x"])
    #expect(try names(project + "/sub/real", project) == ["file x"])
    #expect(try names(project + "/sub/l", project) == ["link .", "file x"])
    #expect(try names(root + "/way/sub/l", root + "/way") == ["link .", "file x"])
    #expect(try names(root + "/way/sub/real", project) == ["link .", "file x"])
  }

  @Test func `a link to nothing and a loop are absent, and a name that is missing is missing`()
    throws
  {
    try shell(
      "ln -s gone a; ln -s b c; ln -s c b; ln -s /gone/too d; mkdir e; ln -s e f; ln -s a/ g")
    for path in ["a", "b", "c", "d", "g", "a/x"] {
      let link = path.prefix(1)
      #expect(try names([.path(path)]) == ["link \(link)", "absent \(path)"], "\(path)")
    }
    #expect(
      try names([.glob("?")])
        == "abcdfg".map { "link \($0)" } + [
          "absent a", "absent b", "absent c", "absent d", "folder f", "absent g",
        ])
    for path in ["e/x", "f/x", "x", "f/../x"] {
      #expect(try look([.path(path)]).missing == [path])
    }
  }

  @Test func `a folder is entered once, and what leads to it again counts as its text`() throws {
    try shell(
      """
      mkdir -p in/deep ../else; echo 1 > in/deep/x; echo 2 > ../else/y
      ln -s . in/self; ln -s .. in/deep/up; ln -s ../../else in/a; ln -s ../../else in/b
      """)
    #expect(
      try names([.path("in")]) == [
        "link in/a", "link in/b", "link in/deep/up", "link in/self", "folder in", "folder in/a",
        "file in/a/y", "folder in/deep", "file in/deep/x",
      ])
  }

  @Test func `a link into own outputs counts as its text alone, however they are reached`() throws {
    try shell(
      """
      mkdir -p in out state real; echo 1 > out/x; echo 2 > real/z; echo 3 > state/y; ln -s real way
      ln -s ../out in/a; ln -s ../out/x in/b; ln -s ../state/y in/c; ln -s ../real/z in/d; ln -s ../out/new in/e
      ln -s .. in/f
      """)
    let links = "abcdef".map { "link in/\($0)" }
    #expect(
      try names([.path("in")], out: [.path("out"), .path("state"), .glob("way/*")]) == links + [
        "link in/f/way", "folder in", "folder in/f", "folder in/f/in", "folder in/f/real",
      ])
  }

  @Test func `what cannot be read is told with both names, and a FIFO is not opened`() throws {
    try shell("mkfifo pipe; ln -s pipe p; ln -s /dev/zero z; ln -s /proc/self/mem m")
    #expect(try names([.path("p"), .path("z")]) == ["link p", "link z", "other p", "other z"])
    let own = "/proc/\(getpid())/mem"
    #expect(
      throws: ScanFault(
        detail: "cannot read `m`, which leads to `\(own)`: Input/output error")
    ) { try look([.path("m")]) }
  }

  @Test func `a link to a folder that a pattern does not enter is told where it leads elsewhere`()
    throws
  {
    try shell(
      """
      mkdir -p src/a/b ../else src/.hidden; echo > src/a/x.h; echo > ../else/y.h
      ln -s ../../else src/vendor; ln -s a src/again; ln -s a/x.h src/z.h; ln -s .hidden src/dots; ln -s gone src/no
      """)
    let found = try look([.glob("src/**/*.h")])
    #expect(
      found.unentered.map { "\($0.pattern) \($0.link) \($0.instead)" } == [
        "src/**/*.h src/dots src/dots/**/*.h", "src/**/*.h src/vendor src/vendor/**/*.h",
      ])
    #expect(
      entries(found).map(\.description) == ["link src/z.h", "file src/a/x.h", "file src/z.h"])
    #expect(try look([.glob("src/**")]).unentered.isEmpty)
    // The suggested pattern enters the link, whatever its name, and then there is no warning.
    try shell("mv src/vendor 'src/v[1]'")
    let instead = try look([.glob("src/**/*.h")]).unentered.map(\.instead)
    #expect(instead.contains(#"src/v\[1]/**/*.h"#), "\(instead)")
    #expect(try look([.glob("src/**/*.h")] + instead.map { .glob($0) }).unentered.isEmpty)
    try shell("mv 'src/v[1]' src/vendor")
    #expect(try names([.glob("src/vendor/**/*.h")]) == ["link src/vendor", "file src/vendor/y.h"])
  }

  // MARK: - Random trees

  private struct Seeded: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }

  /// Folders of the project and one beside it; names in them may be files, folders and links.
  private static let folders = [
    "project", "project/d", "project/d/e", "project/g", "else", "else/d",
  ]
  private static let leaves = ["a", "b", "c", "l", "m"]

  private func target(_ random: inout Seeded) -> String {
    let folder = Self.folders.randomElement(using: &random) ?? ""
    let name =
      Bool.random(using: &random) ? "" : "/" + (Self.leaves.randomElement(using: &random) ?? "")
    let inner = folder.dropFirst(folder.hasPrefix("project/") ? 8 : 0)
    return [
      "\(root)/\(folder)\(name)", "../\(folder)\(name)", "../../\(folder)\(name)",
      String(inner) + name, "..", ".", "l", "m/../a", "../l/b", "gone",
    ].randomElement(using: &random) ?? "a"
  }

  /// Puts something else where something may be.
  private func mutate(_ random: inout Seeded) throws {
    let folder = "\(root)/\(Self.folders.randomElement(using: &random) ?? "")"
    guard Path.isDirectory(folder) else {
      try Path.makeDirectories(folder)
      return
    }
    let path = folder + "/" + (Self.leaves.randomElement(using: &random) ?? "")
    try? FileManager.default.removeItem(atPath: path)
    switch Int.random(in: 0..<8, using: &random) {
    case 0: break
    case 1...3:
      try File.put(Array((["1", "2", "3"].randomElement(using: &random) ?? "").utf8), at: path)
      if Bool.random(using: &random) { chmod(path, 0o755) }
    case 4: try Path.makeDirectory(path)
    default: try Path.symbolicLink(target(&random), at: path)
    }
  }

  /// What a task reads that opens a path and all that is below, told by the C library alone; and
  /// the real paths of the files among it.
  private func oracle(_ path: String, _ reached: inout Set<String>, _ entered: inout Set<String>)
    -> String
  {
    var isFolder: ObjCBool = false
    guard let real = try? Path.real(path),
      FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
    else { return "absent" }
    reached.insert(real)
    guard isFolder.boolValue else {
      let content = FileManager.default.contents(atPath: path).map {
        String(decoding: $0, as: UTF8.self)
      }
      return "\(content ?? "?") \(FileManager.default.isExecutableFile(atPath: path))"
    }
    if !entered.insert(real).inserted { return "again" }
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted {
      $0.utf8.lexicographicallyPrecedes($1.utf8)
    }
    return "{"
      + names.map { "\($0): \(oracle(path + "/" + $0, &reached, &entered))" }.joined(
        separator: ", ") + "}"
  }

  private func oracle(_ items: [String], _ reached: inout Set<String>) -> String {
    items.map { item in
      var entered: Set<String> = []
      return oracle(project + "/" + item, &reached, &entered)
    }.joined(separator: "; ")
  }

  @Test(arguments: 0..<24)
  func `whatever of what is read changes is seen, and nothing else`(_ seed: Int) throws {
    var random = Seeded(state: UInt64(seed))
    for folder in Self.folders { try Path.makeDirectories(root + "/" + folder) }
    for _ in 0..<40 { try mutate(&random) }
    let items = ["a", "l", "l/a", "d", "g/l/../a", "m/m", "../else/l", "d/e/m", "."]
    var memory: [SeenFiles] = items.map { _ in [] }
    var before: [(told: String, seen: [Entry])] = []
    for round in 0..<40 {
      for (place, item) in items.enumerated() {
        var reached: Set<String> = []
        let told = oracle([item], &reached)
        let look = try look([.path(item)], memory: memory[place])
        let seen =
          entries(look)
          + look.missing.map {
            Entry(kind: .absent, path: "missing " + $0, content: PlanKey(high: 0, low: 0))
          }
        memory[place] = look.files
        #expect(
          told == "absent" ? look.files.allSatisfy { $0.kind == .absent } : look.missing.isEmpty,
          "\(item) in round \(round)")
        if round > 0 {
          let old = before[place]
          if told != old.told {
            #expect(seen != old.seen, "\(item) in round \(round): \(old.told) -> \(told)")
          }
          before[place] = (told, seen)
        } else {
          before.append((told, seen))
        }
        // A file that is not reached may hold anything.
        guard round % 8 == 0, let folder = Self.folders.randomElement(using: &random) else {
          continue
        }
        let other = "\(root)/\(folder)/unread\(round)"
        if reached.contains("\(root)/\(folder)") || !Path.isDirectory("\(root)/\(folder)") {
          continue
        }
        try File.put(Array("\(round)".utf8), at: other)
        #expect(
          entries(try self.look([.path(item)], memory: memory[place])) == entries(look), "\(item)")
        try Path.remove(other)
      }
      try mutate(&random)
    }
  }
}
