import Foundation
import Testing

/// Where the output of tasks goes, and what a person sees while they run.
struct OutputTests {
  @Test func `a log holds the bytes as they came`() throws {
    let place = try Workplace(
      #"""
      tasks:
        a:
          run: printf '\000\001\377\r\n\t\033[1mbold'
      """#)
    try place.opflow("run")
    let bytes = try place.bytes(place.runFolder() + "/logs/a.log")
    #expect(bytes == [0, 1, 255, 13, 10, 9, 27] + Array("[1mbold".utf8))
  }

  @Test func `standard output and standard error share the log in their order`() throws {
    let place = try Workplace("tasks: { a: { run: 'echo 1; echo 2 >&2; echo 3; echo 4 >&2' } }")
    try place.opflow("run")
    #expect(try place.log("a") == "1\n2\n3\n4\n")
  }

  @Test func `ten megabytes of output arrive whole`() throws {
    let place = try Workplace("tasks: { a: { run: 'seq 1400000' } }")
    try place.opflow("run", "--output", "quiet")
    let log = try place.log("a")
    #expect(log.utf8.count > 9_000_000)
    #expect(log.hasSuffix("\n1399999\n1400000\n"))
    #expect(log.split(separator: "\n").count == 1_400_000)
  }

  @Test func `a silent task leaves no log`() throws {
    let place = try Workplace("tasks: { a: { run: 'true' } }")
    try place.opflow("run")
    #expect(place.entries(try place.runFolder() + "/logs") == [])
    #expect(try place.status()["a"]?.log == nil)
  }

  @Test func `the log's name is the id with odd bytes escaped`() throws {
    let long = String(repeating: "x", count: 255)
    let place = try Workplace(
      """
      tasks:
        a/b:c@1+2=: { run: "true" }
      """)
    #expect(try place.opflow("run", status: nil).status == 3, "an ID cannot contain `=`")
    try place.write(
      "opflow.yaml",
      """
      tasks:
        "a/b:c@1+2": { run: echo odd }
        "\(long)": { run: echo long }
      """)
    try place.opflow("run")
    let names = place.entries(try place.runFolder() + "/logs")
    #expect(names.contains("a%2Fb%3Ac@1+2.log"))
    #expect(names.count == 2)
    #expect(names.allSatisfy { $0.utf8.count <= 255 })
  }

  @Test func `line output puts the id before each whole line`() throws {
    let place = try Workplace(
      """
      tasks:
        one: { run: "printf 'first '; echo half; echo second; printf unfinished" }
      """)
    let run = try place.opflow("run", "--output", "line")
    #expect(run.output == "")
    for line in ["one | first half", "one | second", "one | unfinished"] {
      #expect(run.errorLines.contains { $0.hasSuffix(line) }, "\(run)")
    }
  }

  @Test func `lines of tasks that run at once stay whole`() throws {
    let place = try Workplace(
      """
      max_parallel: 4
      x-say: &say { run: 'for i in $(seq 300); do printf "%s" "$OPFLOW_TASK"; echo " says $i"; done' }
      tasks: { a: *say, b: *say, c: *say, d: *say }
      """)
    let run = try place.opflow("run", "--output", "line")
    for id in ["a", "b", "c", "d"] {
      let lines = run.errorLines.filter { $0.hasPrefix("\(id) | ") }
      #expect(lines == (1...300).map { "\(id) | \(id) says \($0)" })
    }
  }

  @Test func `group output shows each task in one block`() throws {
    let place = try Workplace(
      """
      max_parallel: 2
      tasks:
        a: { run: "echo a1; echo a > here; read x < go; echo a2" }
        b: { run: "echo b1; echo b > here; read x < go; echo b2" }
      """)
    let here = try place.gate("here")
    let go = try place.gate("go")
    let live = try place.start("run", "--output", "group")
    _ = try here.next(2)
    try go.letGo(2)
    let run = try live.finish()
    #expect(run.status == 0)
    let said = run.errorLines.compactMap { line in
      ["a1", "a2", "b1", "b2"].first { line.hasSuffix($0) }
    }
    #expect(said == ["a1", "a2", "b1", "b2"] || said == ["b1", "b2", "a1", "a2"], "\(run)")
  }

  @Test func `blocks are the default where GitHub runs it`() throws {
    let place = try Workplace("tasks: { a: { run: echo hello } }")
    let run = try place.opflow("run", environment: ["GITHUB_ACTIONS": "true"])
    let group = try place.opflow("run", "--output", "group")
    #expect(run.errors.contains("hello"))
    #expect(!group.errors.contains("a | hello"))
    #expect(!run.errors.contains("a | hello"))
  }

  @Test func `quiet shows failures and nothing of what went well`() throws {
    let place = try Workplace(
      """
      max_failures: 0
      tasks:
        good: { run: echo fine }
        bad: { run: "echo broken; exit 3" }
      """)
    let run = try place.opflow("run", "--output", "quiet", status: 1)
    #expect(!run.errors.contains("fine"))
    #expect(run.errors.contains("bad"))
    #expect(run.errors.contains("broken"))
  }

  @Test func `--json prints an object a line and nothing else`() throws {
    let place = try Workplace(
      """
      max_failures: 0
      tasks:
        a: { run: "echo noise; printf more" }
        b: { needs: [a], run: exit 3, retry: { max: 1, delay: 1ms } }
        c: { needs: [b], run: "true" }
      """)
    let run = try place.opflow("run", "--json", status: 1)
    var events: [String] = []
    for line in run.outputLines {
      let value = try JSONSerialization.jsonObject(with: Data(line.utf8))
      let object = try #require(value as? [String: Any])
      events.append(object["event"] as? String ?? "?")
    }
    #expect(events.contains("start"))
    #expect(events.contains("success"))
    #expect(events.contains("retry"))
    #expect(events.contains("failure"))
    #expect(events.contains("skip"))
    #expect(!run.output.contains("noise"))
  }

  @Test func `nothing is coloured where no terminal is, unless asked`() throws {
    let place = try Workplace("tasks: { a: { run: exit 1 } }")
    #expect(!(try place.opflow("run", status: 1)).errors.contains("\u{1B}["))
    #expect(
      try place.opflow("run", "--color", "always", status: 1).errors.contains("\u{1B}["))
    #expect(!(try place.opflow("run", "--color", "never", status: 1)).errors.contains("\u{1B}["))
  }

  @Test func `control characters of a task do not reach the person's terminal`() throws {
    let place = try Workplace(#"tasks: { a: { run: "printf 'x\\033]0;title\\007y\\n'" } }"#)
    let run = try place.opflow("run", "--output", "line")
    #expect(!run.errors.contains("\u{1B}"))
    #expect(!run.errors.contains("\u{7}"))
  }

  @Test func `a reader of standard error that goes away does not end the run`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: seq 20000 }
        b: { needs: [a], run: echo b >> trace }
      """)
    try place.shell("\"$opflow\" run 2>&1 | head -n 1", status: nil)
    place.expectNothingAlive()
    #expect(place.lines() == ["b"])
  }

  @Test func `a run whose reader went away sleeps while its tasks run`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "for i in 1 2 3 4 5 6 7 8 9; do echo $i; sleep 1; done; echo a >> trace" }
      """)
    // A loop that turns for nothing would use up the processor time that it may have.
    try place.shell(
      "(ulimit -t 3; \"$opflow\" run --output line 2>&1; echo $? > code) | head -n 1", status: nil)
    #expect(place.lines() == ["a"])
    #expect(try place.text("code") == "0\n")
  }

  @Test func `on a terminal progress is shown in place and the terminal is left in order`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: echo a >> trace }
        b: { needs: [a], run: "echo broken; exit 3" }
      """)
    let run = try place.shell("script -qec '\"$opflow\" run' /dev/null", status: 1)
    #expect(place.lines() == ["a"])
    #expect(run.output.contains("broken"))
    #expect(run.output.contains("opflow resume"))
    let hidden = run.output.components(separatedBy: "\u{1B}[?25l").count
    let shown = run.output.components(separatedBy: "\u{1B}[?25h").count
    #expect(hidden == shown || hidden < shown, "the cursor is shown again")
  }
}
