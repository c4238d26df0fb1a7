import Testing

@testable import OpflowPlan

/// Reads and writes the job options in `MAKEFLAGS`.
struct MakeFlagsTests {
  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  private func with(_ flags: String, _ address: String = "3,4") -> String {
    String(
      decoding: MakeFlags.with(jobs: 4, address: address, in: bytes(flags)), as: UTF8.self)
  }

  private func without(_ flags: String) -> String {
    String(decoding: MakeFlags.withoutJobs(bytes(flags)), as: UTF8.self)
  }

  @Test(arguments: [
    ("", " -j4 --jobserver-auth=3,4"),
    ("k", "k -j4 --jobserver-auth=3,4"),
    ("kw -j8 --jobserver-auth=7,9", "kw -j4 --jobserver-auth=3,4"),
    (" -j --jobserver-fds=7,9 -Otarget", " -j4 --jobserver-auth=3,4 -Otarget"),
    ("-j8", " -j4 --jobserver-auth=3,4"),
    ("--no-print-directory", " -j4 --jobserver-auth=3,4 --no-print-directory"),
    ("k -- CC=gcc B=-j2", "k -j4 --jobserver-auth=3,4 -- CC=gcc B=-j2"),
    (" -- A=x\\ --jobserver-auth=1,2", " -j4 --jobserver-auth=3,4 -- A=x\\ --jobserver-auth=1,2"),
    ("I/a\\ -jb -j3", "I/a\\ -jb -j4 --jobserver-auth=3,4"),
  ])
  func `a jobserver goes in place of what flags say of jobs`(flags: String, expected: String) {
    #expect(with(flags) == expected)
    #expect(MakeFlags.server(in: expected.utf8) == .pipe(read: 3, write: 4))
  }

  @Test(arguments: [
    ("", ""), ("k", "k"), ("kw -j8 --jobserver-auth=7,9", "kw"),
    (" -j4 --jobserver-auth=fifo:/a", ""),
    ("k -j4 --jobserver-auth=3,4 -- A=b", "k -- A=b"), ("k  -Ot", "k  -Ot"),
  ])
  func `what they say of jobs can be taken away, and else nothing`(
    flags: String, expected: String
  ) {
    #expect(without(flags) == expected)
  }

  @Test(
    arguments: [
      ("", nil), ("k", nil), (" -j4", nil), (" -- A=--jobserver-auth=3,4", nil),
      (" -j4 --jobserver-auth=3,4", .pipe(read: 3, write: 4)),
      (" -j4 --jobserver-fds=5,6", .pipe(read: 5, write: 6)),
      (" --jobserver-auth=3,4 --jobserver-auth=fifo:/tmp/x", .fifo(path: Array("/tmp/x".utf8))),
      (" -j4 --jobserver-auth=-2,-2", .withheld), (" --jobserver-auth=fifo:", .withheld),
      (" --jobserver-auth=", .withheld), (" --jobserver-auth=1", .withheld),
      (" --jobserver-auth=1,99999999999", .withheld),
    ] as [(String, MakeFlags.Server?)])
  func `the server is found that they speak of`(flags: String, server: MakeFlags.Server?) {
    #expect(MakeFlags.server(in: flags.utf8) == server)
  }
}
