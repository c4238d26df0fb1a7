import Foundation
import Glibc
import Testing

@testable import OpflowSystem

/// Trees are removed whole, and nothing beside them. All that a link here aims at is in the test's
/// folder.
@Suite struct FileTreeTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try Self.make("precious/sub", in: folder)
    try Self.touch("precious/file", in: folder)
    try Self.touch("precious/sub/file", in: folder)
  }

  private static func make(_ name: String, in folder: TemporaryFolder) throws {
    try FileManager.default.createDirectory(
      atPath: folder(name), withIntermediateDirectories: true)
  }

  private static func touch(_ name: String, in folder: TemporaryFolder) throws {
    try File.open(folder(name), [.writeOnly, .create]).close()
  }

  private static func remove(_ name: String, in folder: TemporaryFolder) throws(Errno) {
    try File.open(folder.path, [.readOnly, .directory, .noFollow]).removeTree(name)
  }

  /// What there is in the test's folder beside what must stay.
  private func left() throws -> [String] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
    let precious = ["precious", "precious/file", "precious/sub", "precious/sub/file"]
    #expect(names.filter { $0.hasPrefix("precious") } == precious)
    return names.filter { !$0.hasPrefix("precious") }
  }

  @Test func `links are removed, and not what they lead to`() throws {
    try Self.make("tree/a/b", in: folder)
    try Path.symbolicLink(folder("precious"), at: folder("tree/absolute"))
    try Path.symbolicLink("../../../precious", at: folder("tree/a/b/relative"))
    try Path.symbolicLink("../precious/file", at: folder("tree/file"))
    try Path.symbolicLink("..", at: folder("tree/a/up"))
    try Path.symbolicLink("nothing", at: folder("tree/a/dangling"))
    try Self.remove("tree", in: folder)
    #expect(try left() == [])
  }

  @Test func `whatever stands in the tree's place is removed itself`() throws {
    try Path.symbolicLink(folder("precious"), at: folder("tree"))
    try Self.remove("tree", in: folder)
    try Path.symbolicLink("tree", at: folder("tree"))
    try Self.remove("tree", in: folder)
    #expect(mkfifo(folder("tree"), 0) == 0)
    try Self.remove("tree", in: folder)
    try Self.touch("tree", in: folder)
    try Self.remove("tree", in: folder)
    #expect(try left() == [])
    try Self.remove("tree", in: folder)
  }

  @Test(arguments: ["", ".", "..", "/", "tree/sub", "../tree", "tree/"])
  func `only an entry of the folder itself can be named`(_ name: String) throws {
    try Self.make("tree/sub", in: folder)
    #expect(throws: Errno.invalid) { try Self.remove(name, in: folder) }
    #expect(try left() == ["tree", "tree/sub"])
  }

  @Test func `a folder is emptied and stays`() throws {
    try Self.make("tree/a/b", in: folder)
    try Self.touch("tree/.hidden", in: folder)
    try Path.symbolicLink("../precious", at: folder("tree/link"))
    try File.open(folder("tree"), [.readOnly, .directory, .noFollow]).removeContents()
    #expect(try left() == ["tree"])
  }

  @Test func `names of any bytes`() throws {
    try Self.make("tree", in: folder)
    let names: [[UInt8]] = [
      Array("a\nb".utf8), [0xff, 0xfe], Array("-rf *".utf8), Array("...".utf8),
      [UInt8](repeating: 0x78, count: 255), Array(".opflow-1".utf8),
    ]
    for name in names {
      let path = (folder("tree/").utf8 + name + [0]).map { CChar(bitPattern: $0) }
      #expect(mkdir(path, 0o700) == 0)
      let inner = (folder("tree/").utf8 + name + Array("/\n".utf8) + [0])
        .map { CChar(bitPattern: $0) }
      #expect(mkdir(inner, 0o700) == 0)
    }
    try Self.remove("tree", in: folder)
    #expect(try left() == [])
  }

  @Test func `a tree of five thousand levels`() throws {
    try Self.make("tree", in: folder)
    var place = open(folder("tree"), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    for _ in 0..<5000 {
      try #require(
        mkdirat(place, "d", 0o700) == 0 && symlinkat(folder("precious"), place, "l") == 0)
      let next = openat(place, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      close(place)
      try #require(next >= 0)
      place = next
    }
    close(place)
    try Self.remove("tree", in: folder)
    #expect(try left() == [])
  }

  @Test func `a folder without permissions, for a user who is not root`() async throws {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      if geteuid() == 0 {
        try #require(chown(folder.path, 65_534, 65_534) == 0)
        try #require(setgid(65_534) == 0 && setuid(65_534) == 0)
      }
      for (name, mode) in [("none", 0), ("read", 0o400), ("write", 0o200), ("search", 0o100)] {
        try Self.make("tree/\(name)/\(name)/in", in: folder)
        try Self.touch("tree/\(name)/file", in: folder)
        try #require(chmod(folder("tree/\(name)/\(name)"), UInt32(mode)) == 0)
        try #require(chmod(folder("tree/\(name)"), UInt32(mode)) == 0)
      }
      try #require(chmod(folder("tree"), 0) == 0)
      try Self.remove("tree", in: folder)
      #expect(Path.isMissing(folder("tree")))
    }
  }

  @Test func `what another user does not let go is an error, and the rest is gone`() async throws {
    await #expect(processExitsWith: .success) {
      guard geteuid() == 0 else { return }
      let folder = try TemporaryFolder()
      try Self.make("tree/theirs/in", in: folder)
      try Self.make("tree/own", in: folder)
      for name in ["", "tree", "tree/own"] {
        try #require(chown(folder(name), 65_534, 65_534) == 0)
      }
      try #require(seteuid(65_534) == 0)
      #expect(throws: Errno.accessDenied) { try Self.remove("tree", in: folder) }
      #expect(try Path.names(in: folder("tree")) == ["theirs"])
      try #require(seteuid(0) == 0)
    }
  }

  @Test func `what is mounted in the tree is not entered`() async throws {
    await #expect(processExitsWith: .success) {
      // This process gets mounts of its own; without the right to have them, the test ends.
      let newMounts: Int32 = 0x0002_0000  // CLONE_NEWNS
      let unshare = unsafeBitCast(
        try #require(dlsym(nil, "unshare")), to: (@convention(c) (Int32) -> Int32).self)
      guard unshare(newMounts) == 0,
        mount("none", "/", nil, UInt(MS_REC | MS_PRIVATE), nil) == 0
      else { return }
      let folder = try TemporaryFolder()
      try Self.make("precious", in: folder)
      try Self.touch("precious/file", in: folder)
      try Self.make("tree/a/mount", in: folder)
      try Self.touch("tree/a/file", in: folder)
      let place = folder("tree/a/mount")
      try #require(mount(folder("precious"), place, nil, UInt(MS_BIND), nil) == 0)
      let error = #expect(throws: Errno.self) { try Self.remove("tree", in: folder) }
      #expect(error?.rawValue == EXDEV)
      #expect(Path.exists(folder("precious/file")))
      #expect(try Path.names(in: folder("tree/a")) == ["mount"])
      try #require(umount2(place, 0) == 0)
      try Self.remove("tree", in: folder)
      #expect(Path.isMissing(folder("tree")) && Path.exists(folder("precious/file")))
    }
  }

  @Test(arguments: [
    // Ends when there is nothing to make files in any more.
    "while : > tree/f$((n += 1)); do :; done",
    "while mkdir tree/x && : > tree/x/f; do mv tree/x tree/y; ln -s ../precious tree/x; rm tree/x;"
      + " rm -r tree/y; done",
    "while ln -s ../precious tree/x; do rm tree/x; mkdir -m 0 tree/x; rmdir tree/x; done",
  ])
  func `somebody who changes it meanwhile leads it nowhere else`(_ script: String) throws {
    try Self.make("tree/deep/er", in: folder)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", script]
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    process.standardError = FileHandle.nullDevice
    try process.run()
    while (try? Self.remove("tree", in: folder)) == nil {}
    process.waitUntilExit()
    #expect(try left() == [])
  }
}
