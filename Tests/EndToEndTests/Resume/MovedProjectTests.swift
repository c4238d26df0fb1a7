import Foundation
import Glibc
import Testing

/// Projects that were moved or copied with their runs.
struct MovedProjectTests {
  private static let manifest = """
    tasks:
      here: { run: "pwd > here.txt; echo here >> trace" }
      sub: { dir: sub, needs: [here], run: "pwd > sub.txt; echo sub >> ../trace" }
      last: { needs: [sub], run: "pwd > last.txt; test -e ok" }
    """

  /// A project in `old` whose last task failed, and would succeed now.
  private func project(_ manifest: String = manifest) throws -> Workplace {
    let place = try Workplace()
    try place.write("old/opflow.yaml", manifest)
    try place.shell("mkdir old/sub")
    try place.opflow("run", status: 1, in: place.file("old"))
    try place.shell("touch old/ok; : > old/trace")
    return place
  }

  @Test(arguments: [["resume"], ["run", "--resume"], ["resume", "opflow.yaml"]])
  func `a project that was moved goes on where it is`(_ command: [String]) throws {
    let place = try project()
    try place.shell("mv old new")
    let resume = try place.shell("cd new && $opflow \(command.joined(separator: " "))")
    #expect(place.lines("new/trace").isEmpty, "\(resume)")
    #expect(try place.text("new/last.txt") == place.file("new") + "\n")
    #expect(!place.exists("old"))
    #expect(!resume.errors.contains("warning"), "\(resume)")
    #expect(place.entries("new/.opflow/runs").count == 1)
    #expect(try place.shell("cd new && $opflow runs").output.contains(" opflow.yaml"))
  }

  @Test func `a copy goes on where it is, and says that there are two`() throws {
    let place = try project()
    try place.shell("cp -r old new; rm old/last.txt")
    let resume = try place.shell("cd new && $opflow resume")
    #expect(place.lines("new/trace").isEmpty, "\(resume)")
    #expect(try place.text("new/last.txt") == place.file("new") + "\n")
    #expect(!place.exists("old/last.txt"))
    #expect(resume.errors.contains(place.file("old/opflow.yaml")), "\(resume)")
    #expect(resume.errors.contains(place.file("new/opflow.yaml")), "\(resume)")
    // The other one is as it was.
    try place.shell("cd old && $opflow resume")
    #expect(try place.text("old/last.txt") == place.file("old") + "\n")
    #expect(place.lines("old/trace").isEmpty)
  }

  @Test func `a resume of a copy leaves the processes of the original alone`() throws {
    let place = try Workplace()
    try place.write(
      "old/opflow.yaml",
      "tasks: { a: { run: \"test -e ok || { echo here > ../here; exec tail -f /dev/null; }\" } }")
    let here = try place.gate("here")
    let live = try place.start("run", in: place.file("old"))
    _ = try here.next()
    try place.shell("cp -r old new; touch new/ok; cd new && $opflow resume")
    #expect(try place.status("old/opflow.yaml").tasks[0].state == "running")
    live.send(SIGINT)
    #expect(try live.finish().status == -SIGINT)
  }

  @Test func `a moved run whose manifest is gone goes on in its new folder`() throws {
    let place = try project()
    try place.shell("mv old new; rm new/opflow.yaml; cd new && $opflow resume")
    #expect(try place.text("new/last.txt") == place.file("new") + "\n")
    #expect(place.lines("new/trace").isEmpty)
  }

  @Test func `a run from standard input moves with its folder`() throws {
    let place = try Workplace()
    try place.write("old/m", Self.manifest)
    try place.shell("mkdir old/sub; cd old; $opflow run - < m", status: 1)
    try place.shell("touch old/ok; : > old/trace; mv old new; cd new && $opflow resume")
    #expect(try place.text("new/last.txt") == place.file("new") + "\n")
    #expect(place.lines("new/trace").isEmpty)
  }

  @Test func `what was added to it is read where it is now`() throws {
    let place = try Workplace("")
    try place.write(
      "old/m/opflow.yaml",
      """
      tasks:
        scan: { control: true, run: '$opflow add ../extra/more.yaml; test -e ok' }
      """)
    try place.write("old/extra/more.yaml", "include: [part.yaml]")
    try place.write("old/extra/part.yaml", "tasks: { part: { run: echo old > trace } }")
    try place.shell("cd old/m && $opflow run", status: 1)
    try place.write("old/extra/part.yaml", "tasks: { part: { run: echo new > trace } }")
    try place.shell("mv old new; touch new/m/ok; cd new/m && $opflow resume")
    #expect(place.lines("new/extra/trace") + place.lines("new/m/trace") == ["new"])
  }

  @Test func `a project that is reached through a link was not moved`() throws {
    let place = try project()
    try place.shell("ln -s old new")
    let resume = try place.shell("cd new && $opflow resume --state-dir .opflow")
    #expect(place.lines("old/trace").isEmpty)
    #expect(!resume.errors.contains("still exists"), "\(resume)")
  }

  @Test func `a state folder elsewhere that was moved keeps to the manifest`() throws {
    let place = try Workplace()
    try place.write("old/opflow.yaml", Self.manifest)
    try place.shell("mkdir old/sub; cd old; $opflow run --state-dir ../state", status: 1)
    try place.shell("touch old/ok; : > old/trace; mkdir far; mv state far/state")
    try place.shell("cd old && $opflow resume --state-dir ../far/state")
    #expect(try place.text("old/last.txt") == place.file("old") + "\n")
    #expect(place.lines("old/trace").isEmpty)
  }

  @Test func `a download in a project that was moved is not fetched again`() throws {
    let place = try Workplace()
    try place.write("source", "content")
    try place.write(
      "old/opflow.yaml",
      """
      tasks:
        get: { download: { url: "file://\(place.file("source"))", to: cache/file } }
        last: { needs: [get], run: test -e ok }
      """)
    try place.opflow("run", status: 1, in: place.file("old"))
    try place.shell("mv old new; touch new/ok; cd new && $opflow resume")
    let run = try #require(place.entries("new/.opflow/runs").first)
    let starts = place.lines("new/.opflow/runs/\(run)/journal.log").filter {
      $0.contains("\tstart\tget")
    }
    #expect(starts.count == 1)
  }

  @Test(arguments: ["mv old new", "cp -r old new; rm -r old"])
  func `what is up to date is so where a project was moved to`(_ move: String) throws {
    let place = try Workplace()
    try place.write("old/source", "text")
    try place.write(
      "old/opflow.yaml",
      """
      tasks:
        a: { inputs: [source], outputs: [out/a], run: cp source out/a }
        b: { dir: sub, needs: [a], inputs: [../out/a], outputs: [b], run: cp ../out/a b }
      """)
    try place.write(
      "old/part/opflow.yaml",
      "tasks: { c: { inputs: [../source], outputs: [c], run: cp ../source c } }")
    let run = "$opflow run --output line"
    let runs = "\(run) && \(run) part/opflow.yaml --state-dir .opflow"
    try place.shell("cd old && mkdir sub && \(runs)")
    let moved = try place.shell("\(move); cd new && \(runs)")
    for task in ["a", "b", "c"] {
      #expect(moved.errors.contains("\(task) is up to date"), "\(moved)")
    }
    #expect(!moved.errors.contains("started"), "\(moved)")
    // Later changes are noticed, too.
    try place.write("new/source", "other")
    let edited = try place.shell("cd new && \(runs)")
    #expect(edited.errors.contains("c started: changed: ../source"), "\(edited)")
    #expect(try place.text("new/sub/b") == "other")
  }

  /// An older opflow took folders by their absolute paths, and wrote a dash.
  @Test func `a task that an older opflow ran by another definition runs again`() throws {
    let place = try project()
    let run = try #require(place.entries("old/.opflow/runs").first)
    let journal = "old/.opflow/runs/\(run)/journal.log"
    var lines = place.lines(journal)
    for index in lines.indices {
      guard let range = lines[index].range(of: #"\tfp=[0-9a-f]{16}\."#, options: .regularExpression)
      else { continue }
      let text = lines[index].replacingCharacters(
        in: range, with: "\tfp=0123456789abcdef-")
      let rest = text.drop { $0 != "\t" }.dropFirst()
      let sum = String(CRC32C.checksum(Array(rest.utf8)), radix: 16)
      lines[index] = String(repeating: "0", count: 8 - sum.count) + sum + "\t" + rest
    }
    try place.write(journal, lines.joined(separator: "\n") + "\n")
    let status = try place.opflow("status", in: place.file("old"))
    #expect(status.output.contains("2 succeeded"))
    let resume = try place.opflow("resume", in: place.file("old"))
    #expect(resume.errors.contains("here: re-run (its `dir` changed)"), "\(resume)")
  }
}
