import Foundation
import OpflowSystem
import Testing

@testable import OpflowWorker

@Suite("Looks from a folder that is kept open")
final class HeldFolderTests {
  private let root: String

  init() throws {
    root = NSTemporaryDirectory() + "opflow-held-" + UUID().uuidString
    for folder in ["a/in", "b"] { try Path.makeDirectories("\(root)/\(folder)") }
    for (name, text) in [("a/in/x", "1"), ("b/x", "12"), ("b/y", "123")] {
      try File.open("\(root)/\(name)", [.writeOnly, .create]).writeAll(text)
    }
    try FileManager.default.createSymbolicLink(
      atPath: root + "/a/link", withDestinationPath: "../b")
  }

  deinit { try? FileManager.default.removeItem(atPath: root) }

  private func size(
    _ folder: inout HeldFolder, _ path: String, from start: String
  ) throws(Errno) -> Int64 {
    try Array(path.utf8).withUnsafeBytes {
      folder.linkStatus($0, from: root + "/" + start)
    }.get().sizeBytes
  }

  @Test(arguments: [true, false])
  func `it finds what the whole path finds`(_ isHeld: Bool) throws {
    var folder = HeldFolder()
    if isHeld { folder.hold() }
    #expect(try size(&folder, "in/x", from: "a") == 1)
    #expect(try size(&folder, "in/../in//x", from: "a") == 1)
    #expect(try size(&folder, "link/x", from: "a") == 2)
    #expect(try size(&folder, "link", from: "a") == 4)
    #expect(try size(&folder, "x", from: "a/link") == 2)
    #expect(try size(&folder, root + "/b/y", from: "a") == 3)
    // From another folder, and back.
    #expect(try size(&folder, "y", from: "b") == 3)
    #expect(try size(&folder, "../b/y", from: "a") == 3)
    #expect(throws: Errno.noSuchFile) { try size(&folder, "y", from: "a") }
    #expect(throws: Errno.noSuchFile) { try size(&folder, "x", from: "none") }
    #expect(throws: Errno.notADirectory) { try size(&folder, "x", from: "b/x") }
    #expect(throws: Errno.notADirectory) { try size(&folder, "in/x/z", from: "a") }
  }

  @Test func `a folder that is put in its place is seen a moment later`() throws {
    var folder = HeldFolder()
    folder.hold()
    #expect(try size(&folder, "in/x", from: "a") == 1)
    try Path.rename("\(root)/a", to: "\(root)/old")
    try Path.makeDirectories("\(root)/a/in")
    try File.open("\(root)/a/in/x", [.writeOnly, .create]).writeAll("1234")
    folder.letGo()
    folder.hold()
    #expect(try size(&folder, "in/x", from: "a") == 4)
    // That is its own folder for all that comes.
    folder.letGo()
    #expect(try size(&folder, "in/x", from: "a") == 4)
  }
}
