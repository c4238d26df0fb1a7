import Drill
import Foundation
import OpflowPlan
import OpflowSystem
import OpflowWire
import Testing

@Suite("What a download never replaces, and what is never taken for it", .timeLimit(.minutes(30)))
struct ReplacementTests {
  /// Something that is no file.
  enum Thing: String, CaseIterable {
    case folder, fifo, socket, device

    /// False where this user may not make it.
    func make(at path: String) throws -> Bool {
      switch self {
      case .folder: try Path.makeDirectory(path)
      case .fifo: guard mkfifo(path, 0o600) == 0 else { throw Errno(rawValue: errno) }
      case .socket:
        guard mknod(path, S_IFSOCK | 0o600, 0) == 0 else { throw Errno(rawValue: errno) }
      // The null device's numbers, under a name of its own.
      case .device: return mknod(path, S_IFCHR | 0o600, 0x103) == 0
      }
      return true
    }

    var words: String { self == .fifo ? "a FIFO" : "a \(rawValue)" }
  }

  private static let target = "file"

  private func harness(
    _ path: String = "/plain/3000/61/x", hash: Bool = false, gate: String = ""
  ) throws -> DownloadHarness {
    let server = try #require(BadServer.shared)
    var spec = DownloadSpec(sources: [server.url(path)], target: Self.target)
    let parts = path.split(separator: "/")
    if hash, let size = Int(parts[1]), let seed = Int(parts[2]) {
      spec.sha256 = sha(Payload.bytes(size, seed: seed))
    }
    if !gate.isEmpty { spec.headers = [DownloadHeader(name: "X-Gate", value: gate)] }
    return try DownloadHarness([spec])
  }

  private func end(_ harness: DownloadHarness) throws -> DownloadHarness.End {
    try harness.run()
    return try harness.end()
  }

  @Test(arguments: Thing.allCases)
  func `what is no file is refused before anything is asked for`(_ thing: Thing) throws {
    for hash in [false, true] {
      // Nobody answers there: the failure would be another one.
      let harness = try DownloadHarness([
        DownloadSpec(sources: ["http://127.0.0.1:1/x"], target: Self.target)
      ])
      let path = harness.path(Self.target)
      guard try thing.make(at: path) else { return }
      let before = try Path.linkStatus(path)
      let end = try end(harness)
      #expect(end.outcome.reason == .fetchFinal)
      #expect(end.report.detail == "cannot create the file \(path): it is \(thing.words)")
      #expect(try Path.linkStatus(path).identity == before.identity)
      _ = hash
    }
  }

  @Test(arguments: Thing.allCases)
  func `so is a link to it`(_ thing: Thing) throws {
    let harness = try harness()
    let path = harness.path(Self.target)
    guard try thing.make(at: harness.path("thing")) else { return }
    try Path.symbolicLink("thing", at: harness.path("between"))
    try Path.symbolicLink("between", at: path)
    let end = try end(harness)
    #expect(end.outcome.reason == .fetchFinal)
    #expect(
      end.report.detail
        == "cannot create the file \(path): it is a symbolic link to \(thing.words)")
    #expect(try Path.linkStatus(path).kind == .link)
    #expect(Set(try Path.names(in: harness.folder + "/work")) == ["file", "thing", "between"])
  }

  @Test func `a link that means another file to each process is refused`() throws {
    for name in ["/dev/stdout", "/proc/self/fd/2", "/proc/self/exe"] {
      let harness = try harness()
      let path = harness.path(Self.target)
      try Path.symbolicLink(name, at: harness.path("between"))
      try Path.symbolicLink("between", at: path)
      let end = try end(harness)
      #expect(end.outcome.reason == .fetchFinal)
      #expect(
        end.report.detail.hasPrefix(
          "cannot create the file \(path): it is a symbolic link into /proc"))
      #expect(try Path.linkTarget(path) == "between")
    }
  }

  @Test(
    arguments: Thing.allCases,
    [3000, 300_000])
  func `what comes there while it is fetched is refused too`(_ thing: Thing, _ size: Int) throws {
    for isLink in [false, true] {
      let gate = try Gate()
      let harness = try harness("/gated/\(size)/62/x", gate: gate.path)
      try harness.run()
      let opened = try gate.open()
      let path = harness.path(Self.target)
      let isMade = try thing.make(at: isLink ? harness.path("thing") : path)
      if isLink { try Path.symbolicLink("thing", at: path) }
      try opened.close()
      let end = try harness.end()
      guard isMade else { return }
      #expect(end.outcome.reason == .fetchFinal)
      #expect(end.report.detail.hasSuffix(thing.words), "\(end.report.detail)")
      #expect(try Path.linkStatus(path).kind != .file)
    }
  }

  @Test(
    arguments: Thing.allCases,
    [".part", ".part.meta", ".part.meta.new"])
  func `what is no file at a name beside it is neither replaced nor opened`(
    _ thing: Thing, _ suffix: String
  ) throws {
    let harness = try harness("/plain/3000000/63/x")
    let path = harness.path(Self.target + suffix)
    guard try thing.make(at: path) else { return }
    let before = try Path.linkStatus(path)
    let end = try end(harness)
    #expect(end.outcome.reason == .fetchFinal)
    #expect(
      end.report.detail.contains("cannot replace \(path): it is \(thing.words)"),
      "\(end.report.detail)")
    #expect(try Path.linkStatus(path).identity == before.identity)
    #expect(harness.content(Self.target) == nil)
  }

  @Test func `a link to a file, or to nothing, is replaced, and what it names stays`() throws {
    for leadsSomewhere in [true, false] {
      let harness = try harness()
      if leadsSomewhere {
        try File.open(harness.path("other"), [.writeOnly, .create]).writeAll("theirs")
      }
      try Path.symbolicLink("other", at: harness.path(Self.target))
      #expect(try end(harness).outcome.isSuccess)
      #expect(harness.content(Self.target) == Payload.bytes(3000, seed: 61))
      #expect(try Path.linkStatus(harness.path(Self.target)).kind == .file)
      #expect(harness.content("other") == (leadsSomewhere ? Array("theirs".utf8) : nil))
    }
  }

  @Test func `a link to what is asked for is kept`() throws {
    let harness = try harness(hash: true)
    try File.open(harness.path("other"), [.writeOnly, .create])
      .writeAll(Payload.bytes(3000, seed: 61))
    try Path.symbolicLink("other", at: harness.path(Self.target))
    let end = try end(harness)
    #expect(end.report.isKept)
    #expect(try Path.linkStatus(harness.path(Self.target)).kind == .link)
  }

  @Test(arguments: Thing.allCases)
  func `a source that is no file is named`(_ thing: Thing) throws {
    let folder = NSTemporaryDirectory() + "opflow-source-" + UUID().uuidString
    guard try thing.make(at: folder) else { return }
    defer { _ = try? FileManager.default.removeItem(atPath: folder) }
    let harness = try DownloadHarness([
      DownloadSpec(sources: ["file://\(folder)"], target: Self.target),
      DownloadSpec(sources: ["file://\(folder)%00x"], target: "other"),
    ])
    let end = try end(harness)
    #expect(end.outcome.reason == .fetchFinal)
    #expect(
      end.report.detail.hasSuffix("it is \(thing.words), not a regular file"),
      "\(end.report.detail)")
    try harness.run(1)
    #expect(try harness.end().report.detail.contains("NUL"))
    #expect(try Path.names(in: harness.folder + "/work") == [])
  }

  // MARK: - Other files in place of the part

  /// What somebody does to a part while the second half of the file is awaited.
  enum Deed: String, CaseIterable {
    case renamedOver, removed, removedAndMade, linkedOver, folderMoved, folderLinked, appended, cut

    func perform(in folder: String) throws {
      let part = folder + "/file.part"
      let evil = [UInt8](repeating: 7, count: 3_000_000)
      switch self {
      case .renamedOver, .linkedOver, .removedAndMade:
        try File.open(folder + "/evil", [.writeOnly, .create]).writeAll(evil)
        if self == .removedAndMade { try Path.remove(part) }
        if self == .linkedOver {
          try Path.symbolicLink("evil", at: folder + "/link")
          try Path.rename(folder + "/link", to: part)
        } else {
          try Path.rename(folder + "/evil", to: part)
        }
      case .removed: try Path.remove(part)
      case .folderMoved:
        try Path.rename(folder, to: folder + ".moved")
        try Path.makeDirectory(folder)
      case .folderLinked:
        try Path.rename(folder, to: folder + ".moved")
        try Path.makeDirectory(folder + ".other")
        try File.open(folder + ".other/file.part", [.writeOnly, .create]).writeAll(evil)
        try Path.symbolicLink(folder + ".other", at: folder)
      case .appended: try File.open(part, [.writeOnly, .append]).writeAll("more")
      case .cut: try File.open(part, .writeOnly).truncate(to: 5)
      }
    }
  }

  @Test(
    arguments: Deed.allCases,
    [false, true])
  func `a part in whose place another file has come is not put in place`(_ deed: Deed, _ hash: Bool)
    throws
  {
    let gate = try Gate()
    let harness = try harness("/half_gated/3000000/64/x", hash: hash, gate: gate.path)
    try harness.run()
    let opened = try gate.open()
    // A whole piece is written by then.
    try harness.progress(1_400_000)
    try deed.perform(in: harness.folder + "/work")
    try opened.close()
    let end = try harness.end()
    #expect(end.outcome.reason == .fetchFinal)
    #expect(end.report.detail.hasPrefix("cannot finish \(harness.path(Self.target)): "))
    #expect(harness.content(Self.target) == nil)
    // Nor does the next try take it for its own.
    #expect(harness.content("file.part.meta") == nil)
  }

  @Test func `whenever another file comes to the part's place, what is at the target was verified`()
    throws
  {
    for size in [100, 200_000] {
      let harness = try harness("/plain/\(size)/65/x", hash: true)
      let work = harness.folder + "/work"
      let right = Payload.bytes(size, seed: 65)
      let race = try Race(in: work)
      for attempt in 1...60 {
        try harness.run(attempt: Int32(attempt))
        let end = try harness.end()
        let found = harness.content(Self.target)
        if end.outcome.isSuccess {
          #expect(found == right)
          try Path.remove(harness.path(Self.target))
        } else {
          #expect(found == nil)
        }
      }
      race.end()
    }
  }

  /// Renames files to `file.part` as fast as it can.
  private final class Race: @unchecked Sendable {
    private let lock = NSLock()
    private var isOver = false
    private let done = DispatchSemaphore(value: 0)

    init(in folder: String) throws {
      Thread.detachNewThread { [self] in
        while !lock.withLock({ isOver }) {
          guard let file = try? File.open(folder + "/evil", [.writeOnly, .create, .truncate]) else {
            continue
          }
          try? file.writeAll("evil")
          try? Path.rename(folder + "/evil", to: folder + "/file.part")
        }
        done.signal()
      }
    }

    func end() {
      lock.withLock { isOver = true }
      done.wait()
    }
  }

  /// A FIFO that a server waits for.
  private final class Gate {
    let path = NSTemporaryDirectory() + "opflow-gate-" + UUID().uuidString
    init() throws { guard mkfifo(path, 0o600) == 0 else { throw Errno(rawValue: errno) } }
    deinit { unlink(path) }
    /// Waits until the server, which has the request, reads from the other end.
    func open() throws -> Descriptor { try File.open(path, .writeOnly) }
  }
}
