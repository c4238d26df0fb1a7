import OpflowManifest
import OpflowPlan
import OpflowRuntime
import Testing

@testable import Opflow

/// Added tasks are in the plan unchanged, with any characters.
struct ManifestTextTests {
  private func plan(_ tasks: [NewTask]) throws -> Plan {
    let manifest = ManifestFile.composed(ManifestText(tasks).bytes, folder: "/tmp")
    return try manifest.compile(runID: "run", set: [], maxParallel: nil).openPlan()
  }

  private func script(_ text: String) throws -> String {
    let plan = try plan([NewTask("t", .command(["printf", "%s", text]))])
    return plan.words(TaskID(0)).map { plan.string($0) }.last ?? ""
  }

  @Test(arguments: [
    "plain", "", " a ", "\"q\" \\ '", "a\nb\tc\r", "${{ vars.x }}", "$${{ x }}", "$$ ${HOME} $(x)",
    "\u{1}\u{7f}", "ä 🙂 \u{85} \u{2028} \u{feff}", "- x: [y, {z}] # c", "yes", "0x1F", "&a *b !c",
  ])
  func `a word comes through as it is`(_ word: String) throws {
    #expect(try script(word) == word)
  }

  @Test func `every key comes through`() throws {
    var task = NewTask(
      "build", .shell("make -j2"), needs: ["a", .failure("b")], priority: .high,
      retry: RetryPolicy(max: 2, delay: .milliseconds(1500), exitCodes: [75]),
      timeout: .seconds(90),
      cwd: "sub", env: ["A": "${{ x }}", "B_1": "\"2\""])
    task.stop = StopPolicy(signal: "INT", grace: .milliseconds(100))
    task.allowFailure = true
    task.resources = ["cpu": 2]
    task.failsWhenInterrupted = true
    task.tags = ["slow"]
    task.description = "builds it"
    let plan = try plan([NewTask("a", .shell("true")), NewTask("b", .shell("true")), task])
    let build = try #require(plan.task(named: "build"))
    #expect(plan.needs(build).count == 2)
    #expect(plan.flags(build).contains(.failWhenInterrupted))
    #expect(plan.allowsFailure(build, .exit(1), nil))
  }

  @Test func `a download comes through`() throws {
    let hash = String(repeating: "0f", count: 32)
    let plan = try plan([
      NewTask(
        "d",
        .download(
          "https://example.org/a?x=${{y}}", to: "out/a.bin", sha256: hash,
          mirrors: ["http://example.net/"], headers: ["X-A": "1: \"2\""], maxSpeed: 1000))
    ])
    #expect(plan.kind(TaskID(0)) == .download)
    #expect(plan.download(TaskID(0)).sources.first?.contains("x=${{y}}") == true)
  }
}
