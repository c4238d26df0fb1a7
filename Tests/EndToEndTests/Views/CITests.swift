import Foundation
import Testing

/// What a CI server sees of a run, and notifications of its end.
@Suite struct CITests {
  @Test func `on GitHub failures are annotations at their line, and the step has a summary`() throws
  {
    let place = try Workplace()
    try place.write(
      "ci/opflow.yaml",
      """
      name: demo
      max_failures: 0
      tasks:
        good: { run: echo fine }
        bad:
          run: "echo why; exit 3"
      """)
    try place.write("summary.md", "before\n")
    let environment = [
      "GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": place.path,
      "GITHUB_STEP_SUMMARY": place.file("summary.md"), "NO_COLOR": "1",
    ]
    let run = try place.opflow("run", "ci/opflow.yaml", status: 1, environment: environment)
    #expect(run.errors.contains("::group::["))
    #expect(run.errors.contains("\nfine\n::endgroup::\n"))
    #expect(run.errors.contains("\n::error file=ci/opflow.yaml,line=5,title=bad::exit 3 after "))
    #expect(run.errors.contains("%0Awhy\n"))
    let summary = try place.text("summary.md")
    #expect(summary.hasPrefix("before\n### <code>demo</code> failed\n"))
    #expect(summary.contains("```text\nwhy\n```\n"))
  }

  @Test(arguments: ["line", "group", "quiet"])
  func `every mode of output has annotations and a summary on GitHub`(mode: String) throws {
    let place = try Workplace("name: demo\ntasks: { bad: { run: exit 3 } }")
    let environment = [
      "GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": place.path,
      "GITHUB_STEP_SUMMARY": place.file("summary.md"), "NO_COLOR": "1",
    ]
    let run = try place.opflow("run", "--output", mode, status: 1, environment: environment)
    #expect(!run.errors.contains("::group::"))
    #expect(run.errors.contains("\n::error file=opflow.yaml,line=2,title=bad::exit 3 after "))
    #expect(try place.text("summary.md").hasPrefix("### <code>demo</code> failed\n"))
  }

  @Test(arguments: ["line", "quiet", "github"])
  func `what is allowed to fail, and what is flaky, is a warning on GitHub`(mode: String) throws {
    let place = try Workplace(
      """
      tasks:
        may: { run: echo why; exit 3, allow_failure: true }
        flaky: { run: "[ $OPFLOW_ATTEMPT = 2 ]", retry: { max: 1, delay: 0s } }
      """)
    let environment = [
      "GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": place.path,
      "GITHUB_STEP_SUMMARY": place.file("summary.md"), "NO_COLOR": "1",
    ]
    let run = try place.opflow("run", "--output", mode, environment: environment)
    let warnings = run.errorLines.filter { $0.hasPrefix("::warning ") }.sorted()
    #expect(warnings.count == 2, "\(run)")
    #expect(
      warnings.last?.hasPrefix(
        "::warning file=opflow.yaml,line=3,title=flaky::flaky: attempt 1 failed: exit 1 after ")
        == true)
    #expect(
      warnings.first?.hasPrefix(
        "::warning file=opflow.yaml,line=2,title=may::allowed to fail: exit 3 after ") == true)
    #expect(warnings.first?.hasSuffix("%0Awhy") == true)
    let summary = try place.text("summary.md")
    #expect(summary.contains("#### Failed (allowed)\n"))
    #expect(summary.contains("| <code>may</code> | exit 3 |\n"))
    #expect(summary.contains("#### Flaky\n"))
    #expect(summary.contains("| <code>flaky</code> | 2 | exit 1 |\n"))
  }

  @Test func `all that a task printed is in its group, however much it is`() throws {
    let place = try Workplace(
      "tasks: { a: { run: seq 400000 }, b: { needs: [a], run: \"printf x; exit 1\" } }")
    let run = try place.opflow(
      "run", status: 1, environment: ["GITHUB_ACTIONS": "true", "NO_COLOR": "1"])
    let lines = run.errors.split(separator: "\n").map(String.init)
    let start = lines.firstIndex { $0.hasPrefix("::group::") } ?? 0
    let end = lines.firstIndex(of: "::endgroup::") ?? 0
    #expect(lines[(start + 1)..<max(end, start + 1)].elementsEqual((1...400_000).map { "\($0)" }))
    #expect(lines.contains("x"))
    #expect(
      run.errors.hasSuffix("to continue: opflow resume \(try place.runFolder().suffix(20))\n"))
    // A file is written as it is.
    try place.shell("GITHUB_ACTIONS=true NO_COLOR=1 \"$opflow\" run 2> told", status: 1)
    #expect(try place.text("told").utf8.count >= 2_688_895)
  }

  @Test func `on GitLab tasks are sections`() throws {
    let place = try Workplace("tasks: { a: { run: \"echo fine; echo '##[error]x'\" } }")
    let run = try place.opflow(
      "run", "--ci-commands", "off", environment: ["GITLAB_CI": "true", "NO_COLOR": "1"])
    #expect(run.errors.contains("[collapsed=true]\r\u{1b}[0K[1/1] a succeeded"))
    #expect(run.errors.contains("\nfine\n# #[error]x\n\u{1b}[0Ksection_end:"))
  }

  @Test func `a command is told of the end, and its failure is a warning`() throws {
    let place = try Workplace("name: demo\ntasks: { a: { run: exit 3 } }")
    let run = try place.opflow(
      "run", "--json", "--notify", "cat > told; echo said; exit 9", status: 1)
    let told = try place.text("told")
    #expect(told.contains("\"name\":\"demo\"") && told.contains("\"state\":\"failed\",\"exit\":1"))
    #expect(told.contains("\"failed\":[{\"id\":\"a\",\"attempts\":1,\"exit\":3"))
    #expect(
      run.errors.hasSuffix("said\nopflow: warning: --notify: the command exited with code 9\n"))
    #expect(run.output.hasSuffix("}\n") && !run.output.contains("said"))
    #expect(place.entries(try place.runFolder()).filter { $0.hasPrefix("notify") } == [])
  }

  @Test func `a signal ends a command that is told, and nothing of it is left`() throws {
    let place = try Workplace("tasks: { a: { run: \"true\" } }")
    let here = try place.gate("here")
    let live = try place.start(
      "run", "--notify", "(setsid sleep 1000 &); sleep 1000 & echo > here; wait")
    _ = try here.next()
    live.send(SIGINT)
    let run = try live.finish()
    #expect(run.status == 0)
    #expect(run.errors.hasSuffix("the command was killed because opflow received a signal\n"))
    place.expectNothingAlive()
  }

  @Test func `what a command leaves behind is ended with it`() throws {
    let place = try Workplace("tasks: { a: { run: \"true\" } }")
    try place.opflow("run", "--notify", "setsid sleep 1000 & sleep 1000 &")
    place.expectNothingAlive()
  }
}
