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

  /// The process that drives the newest run; nil where none does.
  private func driver(_ place: Workplace) -> pid_t? {
    guard let run = place.runs.last, let lock = try? place.text(".opflow/runs/\(run)/lock") else {
      return nil
    }
    return lock.split(separator: " ").first.flatMap { pid_t($0) }
  }

  @Test(arguments: 0..<6)
  func `killed at any moment, nothing is lost and nothing is done twice`(_ seed: Int) throws {
    let place = try Workplace()
    var numbers = DrillNumbers(seed: UInt64(7_700 + seed))
    let mode = seed % 2 == 0 ? "stop" : "go-on"
    var added: Set<Substring> = []
    var isClosed = false
    for _ in 0..<4 where !isClosed {
      let host = try start("DrillHost", "24", mode, in: place)
      try host.waitForOutput("added t\(numbers.below(24))\n")
      let choice = numbers.below(3)
      if choice != 0, let pid = driver(place) { kill(pid, SIGKILL) }
      if choice != 1 { host.send(SIGKILL) }
      let said = try host.finish().output.split(separator: "\n")
      for line in said where line.hasPrefix("added ") { added.insert(line.dropFirst(6)) }
      isClosed = said.contains("closed")
    }
    if !isClosed {
      let end = try start("DrillHost", "24", mode, in: place).finish()
      #expect(end.status == 0, "\(end)")
      #expect(end.output.contains("finished 24 true\n"), "\(end)")
    }
    // One that was killed right after it had closed the queue was followed by one that began anew.
    if place.runs.count == 1 {
      let ends = try place.journal().filter { $0.event == "success" }.map(\.task)
      #expect(ends.count == Set(ends).count)
      #expect(added.allSatisfy { ends.contains(String($0)) })
      #expect(ends.count == 24)
    }
    place.expectNothingAlive()
  }

  @Test func `what the disk lacks of the plan after a loss of power, the journal has`() throws {
    let place = try Workplace()
    let host = try start("DrillHost", "24", "stop", in: place)
    try host.waitForOutput("added t12\n")
    let run = try #require(place.runs.last)
    if let pid = driver(place) { kill(pid, SIGKILL) }
    host.send(SIGKILL)
    let said = try host.finish().output.split(separator: "\n")
    let added = said.filter { $0.hasPrefix("added ") }.map { $0.dropFirst(6) }
    // Its head says what the rest does not have.
    let path = "\(place.path)/.opflow/runs/\(run)/plan"
    let plan = try #require(FileHandle(forUpdatingAtPath: path))
    let length = try plan.seekToEnd()
    try plan.seek(toOffset: length / 4)
    try plan.write(contentsOf: Data(count: Int(length - length / 4)))
    try plan.close()
    let end = try start("DrillHost", "24", "stop", in: place).finish()
    #expect(end.status == 0, "\(end)")
    #expect(end.output.contains("run \(run)\n") && end.output.contains("finished 24 true\n"))
    let ends = try place.journal().filter { $0.event == "success" }.map(\.task)
    #expect(ends.count == Set(ends).count && added.allSatisfy { ends.contains(String($0)) })
    place.expectNothingAlive()
  }
}
