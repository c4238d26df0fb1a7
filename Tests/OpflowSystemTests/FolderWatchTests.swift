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
