import Foundation
import OpflowCore
import OpflowManifest
import OpflowSystem
import Testing

@testable import OpflowRuntime

/// Whole runs whose workers are behind one stream.
@Suite struct RelayRunTests {
  /// A run of a manifest through a coordinator and an agent, in a process of its own.
  private struct Site {
    let fixture: StateFixture
    let folder: RunFolder
    let exitCode: Int32
    let launched: Int

    init(
      _ text: String, patience: Int64 = 0, answer: @escaping (String) -> RelayAgent.Answer
    ) throws {
      fixture = try StateFixture()
      var request = RunRequest()
      request.maxParallel = 3
      request.maxFailures = 0
      var new = try NewRun(
        ManifestFile(at: fixture.write("opflow.yaml", text)), fixture.state, request)
      try new.selectTasks()
      let drive = try new.begin()
      folder = drive.folder
      let run = folder.id.description
      let orders = try Self.pipe()
      let reports = try Self.pipe()
      let agent = RelayAgent(
        folder: folder.path, run: run, host: "node2", orders: Descriptor(owning: orders.read),
        reports: Descriptor(owning: reports.write), answer: answer)
      let heading = ProgressHeading(
        run: run, initial: drive.initial, resumeCommand: "", logsCommand: "", logPath: { _ in "" })
      agent.start()
      let result = try drive.perform(
        request, progress: ProgressOptions(mode: .quiet), heading: heading
      ) { watch throws(Errno) in
        [
          try RelayLauncher(
            site: 0, watch: watch, name: "node2", input: Descriptor(owning: reports.read),
            output: Descriptor(owning: orders.write), patience: patience)
        ]
      }
      exitCode = result.exitCode
      #expect(agent.wait())
      launched = agent.launched
    }

    /// Two numbers to be owned.
    private static func pipe() throws -> (read: Int32, write: Int32) {
      let pipe = try OpflowSystem.Pipe()
      return (try pipe.read.duplicate().release(), try pipe.write.duplicate().release())
    }

    func journal() throws -> String {
      String(decoding: try File.read(folder.journal), as: UTF8.self)
    }

    /// The lines of an event.
    func lines(_ event: String) throws -> [String] {
      try journal().split(separator: "\n").map(String.init).filter {
        $0.split(separator: "\t", omittingEmptySubsequences: false)[3] == event
      }
    }

    func text(_ name: String) throws -> String {
      String(decoding: try File.read(fixture.root + "/" + name), as: UTF8.self)
    }
  }

  private static let pipeline = """
    tasks:
      a: { run: 'echo a >> done' }
      b: { run: 'echo b >> done', needs: a }
      c: { run: 'echo c >> done', needs: a }
      d: { run: 'echo d >> done', needs: [b, c] }
      e: { run: 'exit 3', allow_failure: true }

    """

  @Test func `a pipeline runs by workers behind one stream`() async throws {
    await #expect(processExitsWith: .success) {
      let site = try Site(RelayRunTests.pipeline) { _ in .pass }
      #expect(site.exitCode == 0)
      let done = try site.text("done").split(separator: "\n")
      #expect(done.first == "a" && done.last == "d" && done.count == 4)
      // The journal names the machine, and nothing by which a process of this one could be meant.
      let workers = try site.lines("worker")
      #expect(workers.count == site.launched && site.launched > 0)
      #expect(workers.allSatisfy { $0.hasSuffix("\tstart=0\tboot=\tgroup=0\thost=node2") })
      #expect(try site.lines("success").count == 4)
      #expect(try site.lines("interrupt").isEmpty)
    }
  }

  @Test func `a worker that is killed behind the stream costs its task a try and nothing else`()
    async throws
  {
    await #expect(processExitsWith: .success) {
      nonisolated(unsafe) var kills = 1
      let site = try Site(RelayRunTests.pipeline) { line in
        // The end of the first one: whether it ran nobody knows.
        guard line.hasPrefix("ended\t0\t1"), kills > 0 else { return .pass }
        kills -= 1
        return .kill
      }
      #expect(site.exitCode == 0)
      #expect(try site.text("done").split(separator: "\n").filter { $0 == "a" }.count == 2)
      let interrupts = try site.lines("interrupt")
      #expect(interrupts.count == 1)
      #expect(interrupts.first?.contains("\ta\tn=1\treason=worker-lost") == true)
    }
  }

  @Test func `a stream that breaks costs the tasks of all its workers, and then there are none`()
    async throws
  {
    await #expect(processExitsWith: .success) {
      let text = """
        tasks:
          a: { run: 'echo $$ > a.pid; exec sleep 1000' }
          b: { run: 'echo $$ > b.pid; exec sleep 1000' }
          c: { run: 'until test -s a.pid && test -s b.pid; do :; done' }

        """
      let site = try Site(text) { $0.hasPrefix("ended\t2\t1") ? .breakOff : .pass }
      #expect(site.exitCode == 1)
      #expect(try site.lines("interrupt").count == 3)
      let failures = try site.lines("failure")
      #expect(failures.count == 3)
      #expect(failures.allSatisfy { $0.contains("what=the stream to node2 ended") })
      let pid = try #require(Int32(site.text("b.pid").dropLast()))
      #expect(ProcessStatus.read(pid) == nil)
    }
  }

  @Test func `a task is given to nobody before the patience with a lost stream has run out`()
    async throws
  {
    await #expect(processExitsWith: .success) {
      let start = Clock.monotonicNanoseconds
      let site = try Site("tasks:\n  a: { run: 'true' }\n", patience: 700) {
        $0.hasPrefix("started") ? .breakOff : .pass
      }
      #expect(site.exitCode == 1)
      #expect(Clock.monotonicNanoseconds - start >= 700_000_000)
    }
  }

  @Test func `a resume says which machines it cannot look at`() async throws {
    await #expect(processExitsWith: .success) {
      let site = try Site(RelayRunTests.pipeline) { _ in .pass }
      // As if the coordinator had been killed before it wrote its last line.
      let lines = try site.journal().split(separator: "\n").dropLast()
      try Data((lines.joined(separator: "\n") + "\n").utf8)
        .write(to: URL(fileURLWithPath: site.folder.journal))
      let prepared = try PreparedResume(
        ResumedRun(site.folder, nil, RunRequest()), RunRequest())
      let drive = try prepared.begin(holding: RunFolderLock.take(site.folder))
      let warnings = drive.warnings
      #expect(
        warnings.contains(
          "an earlier drive had workers on node2, which cannot be looked at from here"))
    }
  }
}
