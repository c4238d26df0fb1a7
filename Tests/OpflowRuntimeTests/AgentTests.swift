import Foundation
import OpflowBase
import OpflowManifest
import OpflowPlan
import OpflowSystem
import Testing

@testable import OpflowRuntime

/// The real agent, in a process of its own, told by the test what to do.
@Suite struct AgentTests {
  /// An agent for a run without a session.
  private final class Fixture {
    let state: StateFixture
    let folder: RunFolder
    let planKey: String
    private let process: SpawnedProcess
    private var messages: Descriptor?
    private let reports: Descriptor
    private var bytes: [UInt8] = []

    /// - Parameters:
    ///   - arguments: behind the command.
    ///   - environment: variables beside this process's own, for the root of the state folder.
    init(
      _ text: String = "tasks:\n  a: { run: 'echo hello > a' }\n", arguments: [String] = [],
      environment: (String) throws -> [String] = { _ in [] }
    ) throws {
      state = try StateFixture()
      var new = try NewRun(
        ManifestFile(at: state.write("opflow.yaml", text)), state.state, RunRequest())
      try new.selectTasks()
      let session = try new.begin()
      folder = session.request.folder
      planKey = session.request.plan.key.description
      let messages = try OpflowSystem.Pipe()
      let reports = try OpflowSystem.Pipe()
      process = try Program.spawn(
        WorkerHarness.program, arguments: ["agent"] + arguments,
        additions: try environment(state.root), input: messages.read.rawValue,
        output: reports.write.rawValue, error: 2, options: .newSession)
      self.messages = messages.takeWrite()
      self.reports = reports.takeRead()
    }

    deinit {
      process.kill()
      // One that nobody reaps is found before the processes of exit tests, which then never end.
      _ = try? process.wait()
    }

    func say(_ line: String) throws { try messages?.writeAll(line + "\n") }

    func open(lease: Int = 5_000, key: String? = nil, folder: String? = nil) throws {
      try say(
        "open\t1\t\(self.folder.id)\t\(key ?? planKey)\t\(lease)\t\(folder ?? self.folder.path)")
    }

    func hangUp() { messages = nil }

    func signal(_ signal: Signal) throws { try process.signal(signal) }

    /// The next line; nil at the end.
    func next() throws -> String? {
      while true {
        if let end = bytes.firstIndex(of: 10) {
          let line = String(decoding: bytes[..<end], as: UTF8.self)
          bytes.removeSubrange(...end)
          return line
        }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = try buffer.withUnsafeMutableBytes { try reports.read(into: $0) }
        if count == 0 { return nil }
        bytes += buffer[..<count]
      }
    }

    /// Passes over lines until one begins with that, and answers pulses meanwhile where it is to.
    func await(_ start: String, answering: Bool = true) throws -> String? {
      while let line = try next() {
        if line.hasPrefix("pulse\t"), answering { try? say(line) }
        if line.hasPrefix(start) { return line }
      }
      return nil
    }

    func exit() throws -> EndedProcess.Status { try process.wait().status }
  }

  @Test func `it runs a task for who opened it, and leaves when told`() throws {
    let agent = try Fixture()
    try agent.open()
    let hello = try #require(try agent.await("hello\t"))
    #expect(hello.hasPrefix("hello\t1\t\(agent.planKey)\t"))
    #expect(hello.contains("\tcores=") && hello.contains("\tmemory=") && hello.contains("\thost="))
    try agent.say("launch\t7\tcommand")
    #expect(try agent.await("7\thello\t") != nil)
    try agent.say("7\trun\t0\t1")
    #expect(try agent.await("7\tended\t0\t1")?.contains("\texit=0") == true)
    #expect(try String(contentsOfFile: agent.state.root + "/a", encoding: .utf8) == "hello\n")
    try agent.say("bye")
    #expect(try agent.await("gone\t7") == "gone\t7")
    #expect(try agent.await("bye") == "bye")
    #expect(try agent.next() == nil)
    #expect(try agent.exit() == .exit(0))
  }

  @Test func `a worker that is killed is told as gone, with all below it`() throws {
    let agent = try Fixture(
      "tasks:\n  a: { run: 'setsid sleep 1000 & echo $! > pid; exec sleep 1000' }\n")
    try agent.open()
    try agent.say("launch\t0\tcommand")
    #expect(try agent.await("0\thello\t") != nil)
    try agent.say("0\trun\t0\t1")
    let started = try #require(try agent.await("0\tstarted\t0\t1\t"))
    let task = try #require(Int32(started.split(separator: "\t").last ?? ""))
    var left: Int32?
    while left == nil {
      let text = try? String(contentsOfFile: agent.state.root + "/pid", encoding: .utf8)
      left = text.flatMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }
    try agent.say("kill\t0")
    #expect(try agent.await("gone\t0") != nil)
    #expect(ProcessStatus.read(task) == nil)
    #expect(left.flatMap { ProcessStatus.read($0) } == nil)
    // One that is gone is not there to be killed.
    try agent.say("kill\t0")
    try agent.say("launch\t1\tcommand")
    #expect(try agent.await("1\thello\t") != nil)
  }

  @Test(arguments: ["the end of the stream", "the end of the lease", "TERM", "garbage"])
  func `it ends its workers at`(_ cause: String) throws {
    let agent = try Fixture("tasks:\n  a: { run: 'exec sleep 1000' }\n")
    try agent.open(lease: cause == "the end of the lease" ? 700 : 60_000)
    #expect(try agent.await("hello\t") != nil)
    try agent.say("launch\t0\tcommand")
    #expect(try agent.await("0\thello\t", answering: true) != nil)
    try agent.say("0\trun\t0\t1")
    let started = try #require(try agent.await("0\tstarted\t0\t1\t"))
    let task = try #require(Int32(started.split(separator: "\t").last ?? ""))
    switch cause {
    case "the end of the stream": agent.hangUp()
    case "TERM": try agent.signal(.terminate)
    case "garbage": try agent.say("what is this?")
    default: break
    }
    var told: String?
    while let line = try agent.next() {
      if line.hasPrefix("leaving\t") { told = line }
      if line == "bye" {
        // Before that, nothing was left.
        #expect(ProcessStatus.read(task).map { $0.isZombie } ?? true)
        break
      }
    }
    #expect((told != nil) == (cause != "the end of the stream"))
    #expect(try agent.next() == nil)
    #expect(try agent.exit() == .exit(cause == "garbage" ? 1 : 0))
  }

  /// Slurm's controller may be away just then, and nobody else is left to end it.
  @Test func `a job that nobody drives the run of is cancelled until Slurm takes it`() throws {
    let agent = try Fixture(arguments: ["--end-job"]) { root in
      let tool = root + "/scancel"
      try "#!/bin/sh\necho \"$@\" >> '\(root)/asked'\ntest $(wc -l < '\(root)/asked') -ge 2\n"
        .write(toFile: tool, atomically: true, encoding: .utf8)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: tool)
      return ["SLURM_JOB_ID=12", "PATH=\(root):/usr/bin:/bin"]
    }
    try agent.open(lease: 200)
    #expect(try agent.await("hello\t") != nil)
    agent.hangUp()
    #expect(try agent.exit() == .exit(0))
    let asked = try String(contentsOfFile: agent.state.root + "/asked", encoding: .utf8)
    #expect(asked == "--quiet 12\n--quiet 12\n")
  }

  @Test func `a pulse that is answered keeps it, one that is not does not`() throws {
    let agent = try Fixture()
    try agent.open(lease: 400)
    let start = Clock.monotonicNanoseconds
    for _ in 0..<6 { #expect(try agent.await("pulse\t") != nil) }
    // Six pulses of 200 ms: longer than the heartbeat timeout.
    #expect(Clock.monotonicNanoseconds - start >= 900_000_000)
    #expect(try agent.await("bye", answering: false) == "bye")
  }

  @Test func `it refuses a run that it cannot see`() throws {
    let agent = try Fixture()
    try agent.open(lease: 200, folder: "/nonexistent")
    #expect(
      try agent.await("refused\t")
        == "refused\tcannot use the run's folder /nonexistent on this node:"
        + " No such file or directory; put it on a file system that all nodes share")
    #expect(try agent.await("bye") == "bye")
    #expect(try agent.exit() == .exit(1))
  }

  @Test func `it refuses another plan, and another version`() throws {
    let other = try Fixture()
    try other.open(lease: 200, key: String(repeating: "0", count: 32))
    #expect(try other.await("refused\t")?.contains("is not the plan of the run") == true)
    let newer = try Fixture()
    try newer.say("open\t99\twhatever\tit\tsays")
    #expect(
      try newer.await("refused\t")
        == "refused\tthe run uses version 99 of the agent protocol, the opflow of this node"
        + " version 1; install the same opflow on all nodes")
  }
}
