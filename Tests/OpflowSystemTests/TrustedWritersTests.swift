import OpflowSystem
import Testing

/// Whether a file that was found counts, by who may have written it.
struct TrustedWritersTests {
  private static let me = TrustedWriters(users: [ProcessID.ownUser])
  private static let others = TrustedWriters(users: [ProcessID.ownUser &+ 1])

  private let folder: TemporaryFolder
  private var file: String { folder("file") }

  init() throws {
    folder = try TemporaryFolder()
    try setMode(0o755, folder.path)
    try File.put([], at: file, mode: 0o644)
  }

  private func setMode(_ mode: UInt32, _ path: String) throws {
    try File.open(path, .readOnly).setMode(mode)
  }

  @Test func `a file of a trusted user counts, and one of anybody else does not`() throws {
    #expect(Self.me.doubt(file) == nil)
    #expect(Self.me.doubt(folder("missing")) == nil)
    let foreign = try #require(Self.others.doubt(file))
    #expect(foreign.fault == .owner(ProcessID.ownUser))
    #expect(foreign.path == folder.path)
  }

  @Test(arguments: [0o666, 0o622, 0o602] as [UInt32])
  func `a file that everybody may write does not count`(mode: UInt32) throws {
    try setMode(mode, file)
    #expect(Self.me.doubt(file)?.fault == .mode(mode))
  }

  @Test func `nor does any file, or none, of a folder that everybody may write`() throws {
    try setMode(0o757, folder.path)
    #expect(Self.me.doubt(file)?.path == folder.path)
    #expect(Self.me.doubt(folder("missing"))?.fault == .mode(0o757))
  }

  @Test func `in a sticky folder the file decides`() throws {
    try setMode(0o1777, folder.path)
    #expect(Self.me.doubt(file) == nil)
    try setMode(0o646, file)
    #expect(Self.me.doubt(file)?.path == file)
  }

  @Test func `a sticky folder that was found does not count itself`() throws {
    try Path.makeDirectory(folder("state"))
    try setMode(0o1777, folder("state"))
    #expect(Self.me.doubt(folder("state"))?.fault == .mode(0o1777))
  }

  @Test func `behind a link the file and its folder count`() throws {
    try Path.makeDirectory(folder("behind"))
    try File.put([], at: folder("behind/file"))
    try Path.symbolicLink("behind/file", at: folder("link"))
    #expect(Self.me.doubt(folder("link")) == nil)
    try setMode(0o777, folder("behind"))
    #expect(Self.me.doubt(folder("link"))?.path == (try Path.real(folder("behind"))))
  }

  @Test func `behind a link all folders of further links count`() throws {
    try Path.makeDirectory(folder("one"))
    try Path.makeDirectory(folder("two"))
    try Path.symbolicLink("../two/link", at: folder("one/link"))
    try Path.symbolicLink("./../file", at: folder("two/link"))
    try Path.symbolicLink("\(folder.path)/one/link", at: folder("link"))
    #expect(Self.me.doubt(folder("link")) == nil)
    for name in ["one", "two"] {
      try setMode(0o777, folder(name))
      #expect(Self.me.doubt(folder("link"))?.path.hasSuffix("/\(name)") == true, "\(name)")
      try setMode(0o755, folder(name))
    }
    // A folder in the path is a link.
    try Path.symbolicLink("one", at: folder("way"))
    try Path.symbolicLink("way/link", at: folder("around"))
    #expect(Self.me.doubt(folder("around")) == nil)
    try setMode(0o777, folder("two"))
    #expect(Self.me.doubt(folder("around")) != nil)
  }

  @Test func `whoever may write what the user named is trusted beside it`() throws {
    try File.put([], at: folder("found"), mode: 0o644)
    try setMode(0o664, folder("found"))
    let trusted = Self.others.including(writersOf: file)
    #expect(trusted.doubt(file) == nil)
    try setMode(0o646, folder("found"))
    #expect(trusted.doubt(folder("found"))?.fault == .mode(0o646))
    try setMode(0o646, file)
    #expect(Self.others.including(writersOf: file).doubt(folder("found")) == nil)
    #expect(Self.others.including(writersOf: folder("-")).doubt(file) != nil)
  }

  // MARK: - Private groups

  private static let accounts = Array(
    """
    root:x:0:0:root:/root:/bin/sh
    ann:x:1000:1000:Ann:/home/ann:/bin/sh
    bob:x:1001:100::/home/bob:/bin/sh
    eve:x:1002:1002::/home/eve:/bin/sh
    joe:x:1003:1002::/home/joe:/bin/sh
    tom:x:1005:1005::/home/tom:/bin/sh
    """.utf8)
  private static let groups = Array(
    """
    root:x:0:
    users:x:100:
    ann:x:1000:ann
    bob:x:1001:
    eve:x:1002:
    staff:x:1004:
    tom:x:1005:ann
    broken
    """.utf8)

  @Test(
    arguments: [
      (0, 0, true), (1000, 1000, true),
      // The group of all users; one of his name that he is not in; one with another's account in
      // it.
      (100, 1001, false), (1001, 1001, false), (1002, 1002, false),
      // A member beside him; a user whom the files do not know, as his group.
      (1005, 1005, false), (5000, 5000, true), (5000, 5001, false), (1004, 1004, false),
      (1000, 0, false),
    ] as [(UInt32, UInt32, Bool)])
  func `a group is private where it has a user's name and nobody else in it`(
    group: UInt32, user: UInt32, isPrivate: Bool
  ) {
    #expect(
      TrustedWriters.isPrivate(group, of: user, accounts: Self.accounts, groups: Self.groups)
        == isPrivate)
  }
}
