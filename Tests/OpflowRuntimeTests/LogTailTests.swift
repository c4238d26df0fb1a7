import Foundation
import OpflowRuntime
import Testing

@Suite struct LogTailTests {
  private func read(_ tail: inout LogTail) throws -> String {
    var bytes: [UInt8] = []
    try withUnsafeTemporaryAllocation(byteCount: 8, alignment: 1) { buffer in
      _ = try tail.read(into: buffer) { bytes.append(contentsOf: $0) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func `a log is read as it grows, from before it is there`() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "logtail-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("task.log")
    var tail = LogTail(path: file.path)
    #expect(try read(&tail) == "")
    try Data("more than eight bytes\n".utf8).write(to: file)
    #expect(try read(&tail) == "more than eight bytes\n")
    #expect(try read(&tail) == "")
    let handle = try FileHandle(forWritingTo: file)
    try handle.seekToEnd()
    try handle.write(contentsOf: Data("and more".utf8))
    try handle.close()
    #expect(try read(&tail) == "and more")
  }

  @Test func `a symbolic link in place of a log is not followed`() throws {
    let link = FileManager.default.temporaryDirectory.appendingPathComponent(
      "logtail-\(UUID().uuidString)")
    let target = link.path + ".target"
    try Data("a text".utf8).write(to: URL(fileURLWithPath: target))
    try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: target)
    defer { for path in [link.path, target] { try? FileManager.default.removeItem(atPath: path) } }
    var tail = LogTail(path: link.path)
    #expect(throws: (any Error).self) { try read(&tail) }
  }
}
