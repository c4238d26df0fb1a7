import Glibc
import Testing

@testable import OpflowSystem

@Suite struct FileTests {
  let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  @Test func `what is written comes back, whole and in parts`() throws {
    let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let file = try File.open(folder("a"), [.readWrite, .create])
    try file.writeAll(bytes)
    try file.syncData()
    #expect(try file.status().sizeBytes == 100_000)
    #expect(try File.read(folder("a")) == bytes)

    var part = [UInt8](repeating: 0, count: 10)
    let count = try part.withUnsafeMutableBufferPointer { part throws(Errno) in
      try file.read(into: UnsafeMutableRawBufferPointer(part), at: 99_995)
    }
    #expect(count == 5)
    #expect(Array(part.prefix(5)) == Array(bytes.suffix(5)))
    try file.truncate(to: 3)
    #expect(try File.read(folder("a")) == Array(bytes.prefix(3)))
    try file.close()
  }

  @Test func `a file is read into no more room than it takes`() throws {
    let bytes = [UInt8](repeating: 7, count: 1 << 20)
    try File.open(folder("large"), [.writeOnly, .create]).writeAll(bytes)
    let read = try File.read(folder("large"))
    #expect(read == bytes)
    #expect(read.capacity < bytes.count + 8192)
  }

  @Test func `opening what is not there says so`() {
    #expect(throws: Errno.noSuchFile) { _ = try File.read(folder("none")) }
    #expect("\(Errno.noSuchFile)" == "No such file or directory")
  }

  @Test func `a file is replaced whole, also over what a broken replacement left`() throws {
    try File.open(folder("f.new"), [.writeOnly, .create]).writeAll("torn")
    for text in ["one", "another"] {
      try Array(text.utf8).withUnsafeBytes { try File.replace(folder("f"), with: $0, mode: 0o400) }
      #expect(try File.read(folder("f")) == Array(text.utf8))
    }
    #expect(try Path.status(folder("f")).mode == 0o400)
    #expect(try Path.names(in: folder.path) == ["f"])
  }

  @Test func `a file that cannot be put in place leaves nothing beside it`() throws {
    try File.open(folder("f.new"), [.writeOnly, .create]).writeAll("torn")
    try File.put(Array("one".utf8), at: folder("f"), mode: 0o400)
    #expect(try File.read(folder("f")) == Array("one".utf8))
    #expect(try Path.status(folder("f")).mode == 0o400)
    try Path.makeDirectory(folder("taken"))
    #expect(throws: Errno.self) { try File.put([], at: folder("taken")) }
    #expect(try Path.names(in: folder.path).sorted() == ["f", "taken"])
  }

  @Test func `a link is not followed where that is asked`() throws {
    try File.open(folder("target"), [.writeOnly, .create]).close()
    try Path.symbolicLink("target", at: folder("link"))
    #expect(throws: Errno.tooManyLinks) {
      _ = try File.open(folder("link"), [.writeOnly, .noFollow])
    }
    #expect(try Path.linkStatus(folder("link")).kind == .link)
    #expect(try Path.status(folder("link")).kind == .file)
    #expect(try Path.real(folder("link")).hasSuffix("/target"))
  }

  @Test func `folders are made with those above them`() throws {
    let made = try Path.makeDirectories(folder("a/b/c"))
    #expect(made == [folder("a"), folder("a/b"), folder("a/b/c")])
    #expect(try Path.makeDirectories(folder("a/b/c")).isEmpty)
    try File.open(folder("file"), [.writeOnly, .create]).close()
    #expect(throws: Errno.notADirectory) { try Path.makeDirectories(folder("file/below")) }
  }

  @Test(arguments: [
    ("/a/b", "/a"), ("/a", "/"), ("a", "."), ("a/b/", "a"), ("/", "/"), ("", "."), ("a//b", "a"),
  ])
  func `the parent of a path`(path: String, parent: String) {
    #expect(Path.parent(of: path) == parent)
  }

  @Test func `a mapped file shows the file's bytes`() throws {
    let file = try File.open(folder("m"), [.readWrite, .create])
    try file.writeAll("mapped")
    let mapped = try MappedFile(file)
    #expect(mapped.bytes.elementsEqual("mapped".utf8))
    MappedFile.unmap(mapped.bytes)
    try file.truncate(to: 0)
    #expect(try MappedFile(folder("m")).bytes.isEmpty)
  }

  @Test func `a mapped file that was cut short ends the program with 74`() async throws {
    await #expect(processExitsWith: .exitCode(74)) {
      let folder = try TemporaryFolder()
      let file = try File.open(folder("m"), [.readWrite, .create])
      try file.writeAll([UInt8](repeating: 1, count: 8192))
      let mapped = try MappedFile(file)
      try MappedFile.exitOnBusError()
      try file.truncate(to: 0)
      #expect(mapped.bytes[5000] == 1)
    }
  }

  @Test(arguments: ["fifo", "/dev/zero", "file", "nowhere", "folder"])
  func `a file of opflow's own is opened where it is one, and nothing is waited for`(
    other: String
  ) throws {
    try File.put([1], at: folder("file"))
    switch other {
    case "fifo": #expect(mkfifo(folder("other"), 0o600) == 0)
    case "folder": try Path.makeDirectory(folder("other"))
    default: try Path.symbolicLink(other, at: folder("other"))
    }
    for flags in [.readOnly, .readWrite, [.writeOnly, .append], [.readWrite, .create]]
      as [File.Flags]
    {
      #expect(throws: Errno.notRegular) { try File.openRegular(folder("other"), flags).close() }
    }
    #expect(throws: Errno.notRegular) { try File.readRegular(folder("other"), atMost: 10) }
    #expect(try File.readRegular(folder("file"), atMost: 1) == [1])
    #expect(throws: Errno.fileTooBig) { try File.readRegular(folder("file"), atMost: 0) }
  }

  @Test func `an exclusive lock keeps others out until it goes`() throws {
    let path = folder("lock")
    do {
      let lock = try FileLock.lock(path, .exclusive)
      #expect(try isFree(path, .exclusive) == false)
      #expect(try isFree(path, .shared) == false)
      _ = consume lock
    }
    let first = try FileLock.lock(path, .shared)
    let second = try FileLock.lock(path, .shared)
    #expect(try isFree(path, .exclusive) == false)
    _ = consume second
    #expect(try isFree(path, .exclusive) == false)
    _ = consume first
    #expect(try isFree(path, .exclusive))
  }

  private func isFree(_ path: String, _ mode: FileLock.Mode) throws -> Bool {
    guard let lock = try FileLock.tryLock(path, mode) else { return false }
    _ = consume lock
    return true
  }
}
