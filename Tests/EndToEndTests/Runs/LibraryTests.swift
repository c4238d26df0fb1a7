import Drill
import Foundation
import Testing

/// The example programs of the library, as its pages show them.
struct LibraryTests {
  private static let programs =
    URL(fileURLWithPath: Program.path).deletingLastPathComponent().path

  private func run(
    _ example: String, _ arguments: String..., in place: Workplace, status: Int32 = 0
  ) throws -> Finished {
    let launch = place.launch(
      "\(Self.programs)/Example\(example)", arguments, input: nil, environment: [:], in: nil)
    let finished = try launch.start().finish()
    #expect(finished.status == status, "\(example): \(finished)")
    return finished
  }

  @Test func `a serial queue runs one task at a time, in the order in which they came`() throws {
    let place = try Workplace()
    let end = try run("Serial", in: place)
    #expect(end.output == "3 written, 0 left\n")
    #expect(place.lines("letters.txt") == ["a", "b", "c"])
    place.expectNothingAlive()
    // The queue was closed, so its name is free, and everything runs again.
    _ = try run("Serial", in: place)
    #expect(place.lines("letters.txt") == ["a", "b", "c", "a", "b", "c"])
    place.expectNothingAlive()
  }

  @Test func `a queue with dependencies goes on where it was when its program is started again`()
    throws
  {
    let place = try Workplace()
    let first = try run("Graph", in: place)
    #expect(
      first.output == """
        fetch succeeded - 1
        build failed - 2
        notes succeeded - 1
        publish skipped upstream 0
        report succeeded - 1

        """)
    // The run stopped with its program.
    place.expectNothingAlive()
    try place.write("ready", "")
    let second = try run("Graph", in: place)
    #expect(
      second.output == """
        fetch reused - 1
        build succeeded - 3
        notes reused - 1
        publish succeeded - 1
        report succeeded - 2

        """)
    #expect(try place.text("release.txt") == "source\nsource\n")
    place.expectNothingAlive()
  }

  @Test func `a queue is suspended, continued, cancelled and waited for`() throws {
    let place = try Workplace()
    let end = try run("Steering", in: place)
    #expect(
      end.output == """
        suspended: true, waiting: 20, running: 0
        the first one runs
        the third is cancelled: true
        cancelled: 20

        """)
    place.expectNothingAlive()
  }

  @Test func `a download goes on where it was when its program is started again`() throws {
    let place = try Workplace()
    let server = try #require(BadServer.shared)
    let size = 12_000_000
    let url = server.url("/paced/\(size)/3/4-\(place.mark)")
    try place.write("hash.py", Self.hash(of: server.url("/plain/\(size)/3/x")))
    let hash = try place.shell("python3 hash.py").output.trimmingCharacters(in: .newlines)
    let first = try run("Download", url, hash, "0.3", in: place)
    #expect(first.output == "left at a part of it\n")
    place.expectNothingAlive()
    #expect(place.exists("file.bin.part"))
    let second = try run("Download", url, hash, "1", in: place)
    #expect(second.output == "succeeded: whole\n")
    #expect(try place.bytes("file.bin").count == size)
    // The partial file was not fetched again.
    let sent = try server.log("/paced/\(size)/3/4-\(place.mark)").map(\.sent).reduce(0, +)
    #expect(sent < size * 3 / 2, "\(sent)")
    place.expectNothingAlive()
  }

  private static func hash(of url: String) -> String {
    """
    import hashlib, urllib.request
    print(hashlib.sha256(urllib.request.urlopen("\(url)").read()).hexdigest())
    """
  }

  @Test func `closures run as tasks, by dependencies and priorities`() throws {
    let place = try Workplace()
    let end = try run("Blocks", in: place)
    #expect(
      end.output == """
        page: failed, NoSuchPage(number: 7), 2 tries
        slow: cancelled
        early fetch parse late

        """)
    #expect(try place.text("parsed.txt") == "parsed\n")
    place.expectNothingAlive()
  }

  @Test func `completion and state are observed`() throws {
    let place = try Workplace()
    let end = try run("Observed", in: place)
    #expect(
      end.output == """
        good: succeeded
        bad: failed, exit code 3
        left: skipped, ready: false, reason: upstream
        3 ends were told

        """)
    place.expectNothingAlive()
  }
}
