import Foundation
import OpflowBase
import OpflowSystem
import Testing

@testable import OpflowWorker

/// A cache that others may write to, and entries that they made.
@Suite final class HostileCacheTests {
  private let root: String
  private let cache: ResultCache
  private static let key = SHA256.digest(of: "key".utf8)

  init() throws {
    let place = NSTemporaryDirectory() + "opflow-cache-" + UUID().uuidString
    for folder in ["", "/project", "/victim", "/C/2"] {
      try Path.makeDirectories(place + folder)
    }
    root = try Path.real(place)
    cache = ResultCache(
      .shared(path: root + "/C", mayWrite: true, limitBytes: 1000), state: root)
  }

  deinit { try? FileManager.default.removeItem(atPath: root) }

  private func write(_ name: String, _ text: String, hoursOld: Int64 = 0) throws {
    let file = try File.open("\(root)/\(name)", [.writeOnly, .create], mode: 0o644)
    try file.writeAll(text)
    try file.setModified(
      nanoseconds: (Clock.wallMilliseconds - hoursOld * 3_600_000) * 1_000_000)
  }

  private func names(_ folder: String) throws -> [String] {
    try Path.names(in: "\(root)/\(folder)").sorted()
  }

  // MARK: - The store

  private func keep(_ text: String, as key: SHA256.Digest = key) throws {
    let draft = try cache.begin()
    try draft.file.writeAll(text)
    try cache.keep(draft, as: key)
  }

  @Test(.timeLimit(.minutes(30)))
  func `nothing elsewhere is removed or written through links in a cache`() throws {
    let shelf = String(Self.key.description.prefix(2))
    let other = shelf == "ab" ? "cd" : "ab"
    for (name, link) in [("new", "C/2/new"), ("shelf", "C/2/\(shelf)"), ("other", "C/2/\(other)")] {
      try Path.makeDirectories("\(root)/victim/\(name)")
      try write("victim/\(name)/f", String(repeating: "x", count: 2000), hoursOld: 100)
      try Path.symbolicLink("\(root)/victim/\(name)", at: "\(root)/\(link)")
      #expect(throws: (any Error).self) {
        // The last link harms nobody: it is only looked into when there is too much.
        try keep(String(repeating: "y", count: 900))
        if name == "other" { try keep(String(repeating: "y", count: 990)); throw Errno.invalid }
      }
      #expect(try names("victim/\(name)") == ["f"], "\(link)")
      if name != "other" { try Path.remove("\(root)/\(link)") }
    }
    // A later entry makes room, and finds nothing beside those of the cache.
    for number in 0..<4 {
      try keep(String(repeating: "y", count: 600), as: SHA256.digest(of: "\(number)".utf8))
    }
    #expect(try names("victim/other") == ["f"])
  }

  @Test(.timeLimit(.minutes(30)), arguments: ["link", "fifo", "name", "folder"])
  func `how much there is is told by a file of the cache alone`(_ kind: String) throws {
    try write("victim/f", "a text that is none of opflow's")
    let size = root + "/C/2/size"
    switch kind {
    case "link": try Path.symbolicLink(root + "/victim/f", at: size)
    case "fifo": #expect(mkfifo(size, 0o666) == 0)
    case "name": try Path.link(root + "/victim/f", to: size)
    default: try Path.makeDirectory(size)
    }
    let fault = #expect(throws: CacheFault.self) { try keep("x") }
    #expect(fault?.detail.contains(" \(size): ") == true, "\(String(describing: fault))")
    #expect(try File.read(root + "/victim/f") == Array("a text that is none of opflow's".utf8))
  }

  @Test func `what is no file under the name of a result is none`() throws {
    let digits = Self.key.description
    let folder = "\(root)/C/2/\(digits.prefix(2))"
    let path = "\(folder)/\(digits.dropFirst(2))"
    try keep("x")
    #expect(try cache.open(Self.key) != nil)
    try Path.remove(path)
    #expect(mkfifo(path, 0o666) == 0)
    #expect(try cache.open(Self.key) == nil)
    try Path.remove(path)
    try write("victim/f", "x")
    try Path.symbolicLink("\(root)/victim/f", at: path)
    #expect(try cache.open(Self.key) == nil)
    try Path.remove(path)
    try Path.removeDirectory(folder)
    try Path.rename("\(root)/victim/f", to: "\(root)/victim/\(digits.dropFirst(2))")
    try Path.symbolicLink("\(root)/victim", at: folder)
    #expect(try cache.open(Self.key) == nil)
  }

  @Test func `others may count what they add where they may add it`() throws {
    let mask = File.creationMask
    try keep("x")
    #expect(try Path.status(root + "/C/2/size").mode == 0o666 & ~mask)
  }

  @Test func `a locked size is waited for once, and counted when it is free`() throws {
    try keep("x")
    let size = root + "/C/2/size"
    let holder = try File.open(size, [.readOnly])
    #expect(try holder.tryLock())
    let start = Clock.monotonicNanoseconds
    for number in 0..<20 { try keep("yy", as: SHA256.digest(of: "\(number)".utf8)) }
    // One wait, where each had its own.
    #expect(Clock.monotonicNanoseconds - start < 4_000_000_000)
    #expect(try File.read(size) == Array("1\n".utf8))
    holder.unlock()
    try keep("z", as: SHA256.digest(of: "z".utf8))
    #expect(try File.read(size) == Array("42\n".utf8))
  }

  @Test func `what is added to a cache whose size stays locked is counted by the next one`() throws
  {
    try keep("x")
    let size = root + "/C/2/size"
    let holder = try File.open(size, [.readOnly])
    #expect(try holder.tryLock())
    try keep("yy", as: SHA256.digest(of: "1".utf8))
    cache.leave()
    #expect(!Path.exists(size))
    // This session counts more than a tenth of the limit.
    try keep("x")
    let other = try File.open(size, [.readOnly])
    #expect(try other.tryLock())
    for number in 2..<6 {
      try keep(String(repeating: "y", count: 300), as: SHA256.digest(of: "\(number)".utf8))
    }
    let entries = try names("C/2").filter { $0.utf8.count == 2 }
      .flatMap { try names("C/2/\($0)") }
    #expect(entries.count < 6)
    #expect(Path.exists(size))
  }

  // MARK: - Entries

  private struct Made { let kind: CacheEntry.Item.Kind; let name: String; let content: String }

  private func restore(
    _ made: [Made], paths: [String] = [], patterns: [String] = []
  ) throws -> ResultRestoring? {
    var bytes: [UInt8] = []
    var items: [CacheEntry.Item] = []
    for one in made {
      bytes += one.content.utf8
      items.append(
        CacheEntry.Item(
          kind: one.kind, mode: 0o644, sizeBytes: Int64(one.content.utf8.count),
          digest: SHA256.digest(of: one.content.utf8), name: Array(one.name.utf8)))
    }
    bytes += CacheEntry(items: items).end(key: Self.key)
    let draft = try cache.begin()
    try draft.file.writeAll(bytes)
    try cache.keep(draft, as: Self.key)
    let outputs = CachedOutputs(
      project: root + "/project", folder: root + "/project",
      paths.map { .path($0) } + patterns.map { .glob($0) })
    return try ResultRestoring(
      cache, Self.key, folder: root + "/project", stage: root + "/stage",
      own: OwnFiles(root + "/project", []),
      isResult: outputs.areAll)
  }

  @Test func `an entry that lacks an output, or has more, is none`() throws {
    let link = Made(kind: .link, name: "o", content: "x")
    #expect(try restore([link], paths: ["o"]) != nil)
    #expect(try restore([link], paths: ["o", "p"]) == nil)
    #expect(try restore([link], paths: ["o"], patterns: ["*.c"]) == nil)
    #expect(try restore([link], paths: ["o"], patterns: ["./q/../?"]) != nil)
    #expect(try restore([link], paths: ["p"]) == nil)
    let below = Made(kind: .file, name: "o/a", content: "")
    #expect(try restore([link, below], paths: ["o"]) == nil)
    #expect(
      try restore([Made(kind: .folder, name: "o", content: ""), below], paths: ["./o/"]) != nil)
    #expect(try names("project") == [])
  }

  @Test(arguments: [
    "/etc", "..", "../victim", "o/../../victim", "./../x", "l/..", "/", "x/..", "../project",
  ])
  func `no link comes back that leads elsewhere`(_ target: String) throws {
    let restoring = try #require(
      try restore(
        [
          Made(kind: .file, name: "a", content: "a"),
          Made(kind: .link, name: "l", content: target),
        ], paths: ["a", "l"]))
    let fault = #expect(throws: CacheFault.self) { _ = try restoring.goOn(until: .max) }
    // It is named, and the entry.
    #expect(fault?.detail.contains("/2/") == true, "\(String(describing: fault))")
    #expect(
      fault?.detail.hasSuffix("it is damaged; its link `l` leads elsewhere") == true,
      "\(String(describing: fault))")
    #expect(try names("project") == [])
  }

  @Test func `links lead anywhere within`() throws {
    let folder = root + "/project"
    func destination(_ target: String, at path: String) -> String? {
      LinkReach.destination(of: target, at: Array(path.utf8), folder: folder).map {
        String(decoding: $0, as: UTF8.self)
      }
    }
    for (path, target, end) in [
      ("l", "a", "a"), ("l", "./a/b", "a/b"), ("o/l", "../a", "a"),
      ("o/p/l", "../../x/y", "x/y"), ("o/p/l", "x/", "o/p/x"), ("o/l", "..", ""),
      ("l", folder, ""), ("o/l", folder + "/a", "a"),
    ] {
      #expect(destination(target, at: path) == end, "\(path) \(target)")
    }
    for target in [folder + "x", folder + "/..", folder + "/a/../../x"] {
      #expect(destination(target, at: "l") == nil, "\(target)")
    }
  }

  @Test func `what was put in place goes where the rest cannot follow`() throws {
    let restoring = try #require(
      try restore(
        [
          Made(kind: .folder, name: "n", content: ""),
          Made(kind: .danglingLink, name: "n/l", content: "x"),
          Made(kind: .file, name: "o/a", content: "a"), Made(kind: .file, name: "p", content: "p"),
        ], paths: ["n", "o/a", "p"]))
    try write("project/p", "p")
    #expect(try restoring.goOn(until: .max) != nil)
    #expect(try names("project") == ["n", "o", "p"])
    restoring.takeAway()
    // It was there before.
    #expect(try names("project") == ["p"])
  }
}
