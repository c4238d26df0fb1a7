import Drill
import Foundation
import Glibc
import Testing

/// What a program that uses the library may do and suffer.
struct LibraryHostTests {
  private static let programs =
    URL(fileURLWithPath: Program.path).deletingLastPathComponent().path

  private func start(
    _ program: String, _ arguments: String..., in place: Workplace
  ) throws -> LiveProcess {
    try place.launch(
      "\(Self.programs)/\(program)", arguments, input: nil,
      environment: ["SWIFT_BACKTRACE": "enable=no"], in: nil
    ).start()
  }

  @Test func `the program's children, signals and forks are its own`() throws {
    let place = try Workplace()
    let host = try start("QuietHost", in: place)
    try host.waitForOutput("waiting\n")
    // It is killed, and leaves a child that it forked: the runs stop all the same.
    host.send(SIGKILL)
    let end = try host.finish()
    let forked = try #require(
      end.output.split(separator: "\n").first { $0.hasPrefix("forked: ") }
        .flatMap { pid_t($0.dropFirst(8)) })
    let rest = end.output.replacing("forked: \(forked)\n", with: "")
    #expect(
      rest == """
        b: succeeded, tries: 2
        children: none
        SIGCHLD: 0
        handlers are those of before: true
        own child: 7
        waiting

        """)
    #expect(kill(forked, 0) == 0)
    try place.shell("$opflow wait one --state-dir .opflow; test $? = 143")
    kill(forked, SIGKILL)
    place.expectNothingAlive()
  }

  /// A sample of `scripts/soak hosts`.
  @Test(arguments: 1...6)
  func
    `killed at any moment, with all that works for it, nothing is lost and nothing is done twice`(
      _ seed: Int
    ) throws
  {
    var drill = try HostDrill(
      host: "\(Self.programs)/DrillHost", seed: UInt64(seed), taskCount: 24,
      parent: NSTemporaryDirectory())
    try drill.run(killing: 5)
  }
}
