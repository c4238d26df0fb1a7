import Foundation
import Testing

/// `check` and `plan`: everything but running.
struct PlanTests {
  @Test(arguments: [["plan"], ["run", "-n"], ["run", "--dry-run"]])
  func `a plan names tasks in their order and writes nothing`(command: [String]) throws {
    let place = try Workplace(
      """
      tasks:
        last: { needs: [first], run: echo last >> trace }
        first: { run: echo first >> trace }
        off: { if: "false", run: echo off >> trace }
      """)
    let plan =
      command.count == 1
      ? try place.opflow(command[0]) : try place.opflow(command[0], command[1])
    let first = try #require(plan.output.range(of: "first"))
    let last = try #require(plan.output.range(of: "last"))
    #expect(first.lowerBound < last.lowerBound)
    #expect(place.entries() == ["opflow.yaml"])
  }

  @Test func `a plan leaves out what is not selected`() throws {
    let place = try Workplace(
      """
      tasks:
        alpha: { run: "true" }
        beta: { needs: [alpha], run: "true" }
        gamma: { run: "true" }
      """)
    let plan = try place.opflow("plan", "--only", "beta")
    #expect(plan.output.contains("alpha"))
    #expect(plan.output.contains("beta"))
    #expect(!plan.outputLines.contains { $0.contains("gamma") && !$0.contains("--only") })
  }

  @Test func `check accepts what is right and writes nothing`() throws {
    let place = try Workplace("tasks: { a: { run: 'echo a >> trace' } }")
    try place.opflow("check")
    #expect(place.entries() == ["opflow.yaml"])
  }

  @Test func `check names file, line and column, shows the line and points`() throws {
    let place = try Workplace(
      """
      tasks:
        build:
          nees: [fetch]
          run: make
        fetch: { run: "true" }
      """)
    let check = try place.opflow("check", status: 3)
    #expect(check.errors.contains("opflow.yaml:3:5"))
    #expect(check.errors.contains("    nees: [fetch]"))
    #expect(check.errors.contains("^"))
    #expect(check.errors.contains("did you mean `needs`?"))
  }

  @Test func `all mistakes of a file are told together`() throws {
    let place = try Workplace(
      """
      max_parallel: none
      tasks:
        a: { run: 5, needs: [nobody] }
        b: { runs: "true" }
        c: { needs: [c], run: "true" }
      """)
    let check = try place.opflow("check", status: 3)
    for line in 1...5 where line != 2 {
      #expect(check.errors.contains("opflow.yaml:\(line):"), "line \(line): \(check)")
    }
  }

  @Test func `of a hundred mistakes fifty are shown and the rest counted`() throws {
    let tasks = (0..<100).map { "  t\($0): { run: x, priorty: 5 }" }
    let place = try Workplace("tasks:\n" + tasks.joined(separator: "\n"))
    let check = try place.opflow("check", status: 3)
    let shown = check.errorLines.filter { $0.contains("opflow.yaml:") }
    #expect(shown.count == 50, "\(check)")
    #expect(check.errors.contains("100 errors in total; the first 50 are shown"))
  }

  @Test func `a cycle is named in full`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { needs: [b], run: "true" }
        b: { needs: [c], run: "true" }
        c: { needs: [a], run: "true" }
      """)
    let check = try place.opflow("check", status: 3)
    #expect(
      ["a -> b -> c -> a", "b -> c -> a -> b", "c -> a -> b -> c"].contains {
        check.errors.contains($0)
      }, "\(check)")
  }

  @Test func `a key that comes later is refused by name, with what to do instead`() throws {
    let place = try Workplace("tasks:\n  a: { run: 'true', retry: { max: 1, memory: 2 } }\n")
    let run = try place.opflow("run", status: 3)
    #expect(
      run.errors.contains("opflow.yaml:2:38: error: `memory` in `retry` is not supported yet"),
      "\(run)")
    #expect(
      run.errors.contains("help: every attempt gets the same memory: set `memory_limit`"), "\(run)")
  }

  @Test func `a manifest may come from standard input`() throws {
    let place = try Workplace()
    try place.opflow("check", "-", input: "tasks: { a: { run: 'true' } }")
    let check = try place.opflow("check", "-", status: 3, input: "tasks: { a: { rum: 'true' } }")
    #expect(check.errors.contains(":1:"))
    try place.opflow("run", "-", input: "tasks: { a: { run: 'pwd > out' } }")
    #expect(place.lines("out") == [place.path])
  }

  @Test func `a manifest that cannot be read is named, with the reason`() throws {
    let place = try Workplace()
    let run = try place.opflow("run", "missing.yaml", status: nil)
    #expect(run.status == 2 || run.status == 3, "\(run)")
    #expect(run.errors.contains("no manifest `missing.yaml`"), "\(run)")
    let folder = try place.opflow("run", ".", status: nil)
    #expect(folder.status == 2 || folder.status == 3, "\(folder)")
  }

  @Test func `Windows line endings are read`() throws {
    let place = try Workplace("tasks:\r\n  a:\r\n    run: echo a > out\r\n")
    try place.opflow("run")
    #expect(place.lines("out") == ["a"])
  }

  @Test(arguments: [
    ("", "empty"), ("- a\n", "must be a map"),
    ("tasks: { a: { run: x } }\n---\ntasks: {}\n", "document"),
    ("tasks: { a: { run: x } }\n\u{0}", "NUL"), ("version: 2\ntasks: { a: { run: x } }", "1"),
    ("tasks:\n\ta: { run: x }\n", "tab"), ("tasks: { a: { run: x }, a: { run: y } }", "a"),
    ("tasks: {}\n", "`tasks` is empty"),
  ])
  func `a file that is no manifest says why`(text: String, word: String) throws {
    let place = try Workplace(text)
    let check = try place.opflow("check", status: 3)
    #expect(check.errors.contains(word), "\(check)")
  }

  @Test func `bytes that are not UTF-8 are a mistake with a place`() throws {
    let place = try Workplace()
    let bytes = Array("tasks: { a: { run: 'x".utf8) + [0xFF, 0xFE] + Array("' } }".utf8)
    try Data(bytes).write(to: URL(fileURLWithPath: place.file("opflow.yaml")))
    let check = try place.opflow("check", status: 3)
    #expect(check.errors.contains("opflow.yaml:1:"))
    #expect(check.errors.contains("UTF-8"))
  }

  @Test func `hostile YAML ends in an error`() throws {
    let place = try Workplace(String(repeating: "[", count: 200_000))
    try place.opflow("check", status: 3)
    var bomb = "x-0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for level in 1...12 {
      let one = "*a\(level - 1)"
      bomb +=
        "x-\(level): &a\(level) [\(Array(repeating: one, count: 10).joined(separator: ", "))]\n"
    }
    try place.write("opflow.yaml", bomb + "tasks: { a: { run: x, needs: *a12 } }\n")
    try place.opflow("check", status: 3)
  }
}
