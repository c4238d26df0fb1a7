import Foundation
import OpflowPlan
import OpflowSystem
import Testing

@testable import OpflowWorker

@Suite("Files that are known again")
final class FileMemoryTests {
  private let root: String

  init() throws {
    root = try Path.real(NSTemporaryDirectory()) + "/opflow-memory-" + UUID().uuidString
    try Path.makeDirectories(root)
    try File.put([UInt8](repeating: 0, count: 4096), at: root + "/a")
  }

  deinit { try? FileManager.default.removeItem(atPath: root) }

  private func look(_ memory: SeenFiles) throws -> FileScan {
    let look = try FileScan(
      [.path("a")], in: root, memory: memory, hashes: FileMemory(.quick), links: .themselves)
    while try !look.goOn(until: .max) {}
    return look
  }

  private func waitUntilTelling() throws {
    let stamp = FileStamp(try Path.status(root + "/a"))
    while !stamp.isTelling(atNanoseconds: Clock.wallMilliseconds * 1_000_000) { sched_yield() }
  }

  /// A page that is dirty already changes no time of its file when it is written again.
  @Test func `what is written through a mapping is seen, whether or not the times tell it`() throws
  {
    let file = open(root + "/a", O_RDWR)
    let page = try #require(mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0))
    close(file)
    page.storeBytes(of: 1, as: UInt8.self)
    try waitUntilTelling()
    let first = try look([])
    page.storeBytes(of: 2, as: UInt8.self)
    let second = try look(first.files)
    #expect(first.files[0].content != second.files[0].content)
    munmap(page, 4096)
    try waitUntilTelling()
    let third = try look(second.files)
    #expect(third.files[0].content == second.files[0].content)
    // From now on its times tell.
    #expect(third.hasRead && third.files[0].stamp != nil)
    #expect(try !look(third.files).hasRead)
  }

  @Test func `a file that is open for writing is read each time, and not written down for that`()
    throws
  {
    let file = try File.open(root + "/a", .readWrite)
    try waitUntilTelling()
    let first = try look([])
    #expect(!first.hasRead && first.files[0].stamp == nil)
    try file.close()
    #expect(try look(first.files).hasRead)
  }
}
