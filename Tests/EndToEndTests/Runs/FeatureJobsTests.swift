import Foundation
import Screen
import Testing

/// Runs the manifests in `jobs/features`: each does what its comment says.
struct FeatureJobsTests {
  private func place(_ feature: String) throws -> Workplace {
    try .ofJob("features/\(feature).yaml")
  }

  private static let features: [(name: String, exit: Int32, output: [String])] = [
    ("allow-failure", 0, ["published"]),
    ("anchors", 0, ["checking first, strict", "checking second, loose", "checking third, strict"]),
    ("arguments", 0, ["hello nobody"]),
    ("cache", 0, ["counted", "8"]),
    ("clean", 0, ["page 3"]),
    ("concurrency", 0, ["deployed"]),
    ("control", 0, ["processing north", "processing south", "all parts are processed"]),
    ("download", 0, ["out/fetched/list"]),
    ("env-file", 0, ["hello world in red"]),
    ("environment", 0, ["task 1 C.UTF-8"]),
    ("finally", 1, ["run state is failed, stopping the server", "notification sent"]),
    ("gpu", 0, ["training on GPU 0", "training on GPU 1", "GPUs of this task are ''"]),
    ("if-and-vars", 0, ["version 1.20, debug", "packed by task pack"]),
    (
      "include", 0,
      [
        "main/init runs in the folder include", "localhost:5433", "localhost:5434",
        "both servers are up",
      ]
    ),
    ("inputs", 0, ["the count is 3"]),
    ("interrupted", 0, ["may run twice", "must not run twice"]),
    ("jobserver", 0, ["built library-4", "built server-4"]),
    ("manual", 0, ["built"]),
    (
      "matrix", 0,
      ["building for aarch64, release", "calling normal at depth 30 on chr2", "report written"]
    ),
    ("matrix-after", 0, ["processing west", "report written"]),
    ("max-failures", 1, ["task two succeeds"]),
    ("memory-limit", 0, ["less than 64 MiB"]),
    ("needs", 1, ["configured", "compile failed, see its log", "all tasks have finished"]),
    ("ports", 0, ["status 200"]),
    ("priority", 0, ["most urgent"]),
    ("resources", 0, ["only this task uses the database", "linking", "waiting"]),
    ("retry", 1, ["attempt 5", "attempt 1"]),
    ("rows", 0, ["calling tumour at depth 60 on chr1", "merging tumour"]),
    ("secrets", 0, ["build: no token", "publish: token is ***"]),
    ("services", 0, ["hello from the service", "200"]),
    ("shell", 0, ["I am in /", "$HOME is not expanded", "* neither", "42"]),
    ("stop", 1, ["got SIGINT, cleaning up"]),
    ("tags", 0, ["built", "fast", "slow", "packed"]),
    ("timeout", 1, []),
    ("values", 0, ["publishing v1.2 with app-x86_64 app-aarch64"]),
  ]

  /// Manifests that wait for an answer; each has a test of its own below.
  private static let questions = ["approve", "interactive"]

  /// The names of the manifests in a folder, sorted.
  private static func manifests(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: Program.package + "/" + folder)
      .filter { $0.hasSuffix(".yaml") }.sorted()
  }

  @Test func `every manifest in the folder is tested here`() throws {
    let tested = Self.features.map(\.name) + Self.questions
    #expect(try Self.manifests(in: "jobs/features") == tested.map { $0 + ".yaml" }.sorted())
  }

  @Test func `the README of the examples lists exactly the manifests that exist`() throws {
    let page = try String(contentsOfFile: Program.package + "/jobs/README.md", encoding: .utf8)
    let listed = page.matches(of: /(?m)^\| `([^`]+\.yaml)` \|/).map { String($0.1) }
    let features = try Self.manifests(in: "jobs/features").map { "features/" + $0 }
    #expect(try listed.sorted() == (Self.manifests(in: "jobs") + features).sorted())
  }

  @Test(arguments: features.map(\.name))
  func `a feature's manifest runs as its comment says`(name: String) throws {
    let feature = try #require(Self.features.first { $0.name == name })
    let place = try place(name)
    // The folder of opflow comes first, because a task with `control` calls opflow.
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    let run = try place.opflow(
      "run", status: feature.exit,
      environment: [
        "FAST": "1", "CUDA_VISIBLE_DEVICES": "0,1",
        "PATH": URL(fileURLWithPath: Program.path).deletingLastPathComponent().path + ":" + path,
      ])
    let output = try place.opflow("logs").output
    for text in feature.output { #expect(output.contains(text), "\(run)\n\(output)") }
    #expect(!output.contains("never started"))
    place.expectNothingAlive()
  }

  @Test func `priorities start tasks in the order of their names`() throws {
    let place = try place("priority")
    try place.opflow("run")
    let starts = try place.journal().filter { $0.event == "start" }.map(\.task)
    #expect(starts == ["first", "second", "third", "fourth", "fifth", "sixth"])
  }

  @Test func `a value from the command line turns the stripping on`() throws {
    let place = try place("if-and-vars")
    try place.opflow("run", "--set", "mode=release")
    #expect(try place.status()["strip"]?.state == "succeeded")
    #expect(try place.log("build") == "version 1.20, release\n")
  }

  @Test func `tags select tasks`() throws {
    let place = try place("tags")
    try place.opflow("run", "--only", "tag:test")
    let status = try place.status()
    #expect(status["test-slow"]?.state == "succeeded")
    #expect(status["pack"]?.state != "succeeded")
  }

  @Test func `a manual task runs if it is named`() throws {
    let place = try place("manual")
    try place.opflow("run")
    #expect(try place.journal().filter { $0.event == "start" }.map(\.task) == ["build"])
    try place.opflow("run", "deploy")
    #expect(try place.opflow("logs", "deploy").output == "deployed\n")
  }

  @Test func `arguments reach a script and a list`() throws {
    let place = try place("arguments")
    try place.opflow("run", "greet", "--", "Ada", "Grace")
    #expect(try place.opflow("logs", "greet").output == "hello Ada\nhello Grace\n")
    try place.opflow("run", "list", "--", "Ada", "Grace")
    #expect(try place.opflow("logs", "list").output == "name: Ada\nname: Grace\n")
  }

  @Test func `tasks are up to date until an input changes`() throws {
    let place = try place("inputs")
    try place.opflow("run")
    let again = try place.opflow("run")
    #expect(again.errors.contains("2 up to date"), "\(again)")
    try place.opflow("run", environment: ["UNIT": "bytes"])
    #expect(try place.opflow("logs", "report").output == "the count is 18\n")
  }

  @Test func `a removed output is restored from the cache`() throws {
    let place = try place("cache")
    try place.opflow("run")
    try place.remove("out/cache")
    let again = try place.opflow("run")
    #expect(again.errors.contains("(1 from the cache)"), "\(again)")
    #expect(try place.text("out/cache/words") == "8\n")
  }

  @Test func `old outputs are removed`() throws {
    let place = try place("clean")
    try place.opflow("run")
    #expect(place.entries("out/clean") == ["1.html", "2.html", "3.html"])
    try place.opflow("run", "--set", "pages=2")
    #expect(place.entries("out/clean") == ["1.html", "2.html"])
  }

  @Test(arguments: [("approve", "publish", Int32(0)), ("reject", "discard", 1)])
  func `an answer decides which task runs`(
    answer: String, next: String, status: Int32
  ) throws {
    let place = try place("approve")
    let run = try place.start("run")
    try run.waitForError("Publish this build?")
    try place.opflow(answer, "release")
    #expect(try run.finish().status == status)
    let starts = try place.journal().filter { $0.event == "start" }.map(\.task)
    #expect(starts == ["build", "release", next])
  }

  @Test func `an interactive task reads its answer from the terminal`() throws {
    let place = try place("interactive")
    let terminal = try place.startAtTerminal("run")
    try terminal.wait { $0.text.contains { $0.contains("Which version?") } }
    try terminal.type("1.2\n")
    #expect(try terminal.finish() == 0)
    #expect(try place.log("build") == "building version 1.2\n")
  }
}
