import OpflowSystem
import Testing

@Suite struct FolderWatchTests {
  private static let hangNanoseconds: Int64 = 60_000_000_000

  @Test func `a change ends the wait, also one that was before it`() throws {
    let folder = try TemporaryFolder()
    var watch = try FolderWatch([folder.path])
    let file = try File.open(folder.path + "/file", [.writeOnly, .create])
    let began = Clock.monotonicNanoseconds
    try watch.wait(nanoseconds: Self.hangNanoseconds)
    try file.writeAll("text")
    try watch.wait(nanoseconds: Self.hangNanoseconds)
    #expect(Clock.monotonicNanoseconds - began < Self.hangNanoseconds)
  }

  @Test func `one file is watched, and what comes into its folder`() throws {
    let folder = try TemporaryFolder()
    let file = try File.open(folder.path + "/file", [.writeOnly, .create])
    let other = try File.open(folder.path + "/other", [.writeOnly, .create])
    var watch = try FolderWatch(file: folder.path + "/file", in: folder.path)
    let began = Clock.monotonicNanoseconds
    try other.writeAll("text")
    try watch.wait(nanoseconds: 2_000_000)
    #expect(Clock.monotonicNanoseconds - began >= 2_000_000)
    try file.writeAll("text")
    try watch.wait(nanoseconds: Self.hangNanoseconds)
    try Path.rename(folder.path + "/other", to: folder.path + "/third")
    try watch.wait(nanoseconds: Self.hangNanoseconds)
    #expect(Clock.monotonicNanoseconds - began < Self.hangNanoseconds)
  }

  @Test func `without a change the wait ends with its time`() throws {
    let folder = try TemporaryFolder()
    var watch = try FolderWatch([folder.path])
    let began = Clock.monotonicNanoseconds
    try watch.wait(nanoseconds: 2_000_000)
    #expect(Clock.monotonicNanoseconds - began >= 2_000_000)
  }

  @Test func `a folder that is not there is an error`() throws {
    #expect(throws: Errno.noSuchFile) { _ = try FolderWatch(["/no/such/folder"]) }
  }
}
