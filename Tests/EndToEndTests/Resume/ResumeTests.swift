import Foundation
import Testing

/// What a resume runs again, and why.
struct ResumeTests {
  /// Three in a chain and one beside it; `last` fails until `ok` is there.
  private func failed(_ manifest: String? = nil) throws -> Workplace {
    let place = try Workplace(
      manifest ?? """
        tasks:
          first: { run: echo first >> trace }
          beside: { run: echo beside >> trace }
          middle: { needs: [first], run: echo middle >> trace }
          last: { needs: [middle, beside], run: "echo last >> trace; test -e ok" }
        """)
    try place.opflow("run", "-j", "1", status: 1)
    try place.write("ok", "")
    try place.write("trace", "")
    return place
  }

  private func edit(_ place: Workplace, _ old: String, _ new: String) throws {
    let text = try place.text("opflow.yaml")
    #expect(text.contains(old))
    try place.write("opflow.yaml", text.replacing(old, with: new))
  }

  @Test func `only what is not done runs`() throws {
    let place = try failed()
    try place.opflow("resume")
    #expect(place.lines() == ["last"])
    #expect(try place.status().state == "succeeded")
    #expect(try place.status()["last"]?.attempts == 2)
  }

  @Test func `a run that is done has nothing to resume`() throws {
    let place = try failed()
    try place.opflow("resume")
    try place.write("trace", "")
    try place.opflow("resume")
    #expect(place.lines().isEmpty)
  }

  @Test func `a run that was stopped when all was done is brought to its end`() throws {
    let place = try failed()
    try place.opflow("resume")
    // As if the signal had come just after the last task.
    var lines = try place.text(place.journalName).split(separator: "\n").map(String.init)
    let close = try #require(lines.popLast().flatMap { JournalLine($0) })
    #expect(close.event == "close")
    let rest =
      """
      \(close.sequence)\t\(close.milliseconds)\tclose\t\td=2\tstate=interrupted\tcode=130\tsignal=2
      """
    let sum = String(CRC32C.checksum(Array(rest.utf8)), radix: 16)
    lines.append(String(repeating: "0", count: 8 - sum.count) + sum + "\t" + rest)
    try place.write(place.journalName, lines.joined(separator: "\n") + "\n")
    #expect(try place.status().state == "interrupted")
    try place.write("trace", "")
    try place.opflow("resume")
    #expect(place.lines().isEmpty)
    #expect(try place.status().state == "succeeded")
  }

  @Test func `run --resume is one command that can be repeated`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: echo a >> trace }
        b: { needs: [a], run: "echo b >> trace; test -e ok" }
      """)
    try place.opflow("run", "--resume", status: 1)
    try place.opflow("run", "--resume", status: 1)
    #expect(place.lines() == ["a", "b", "b"])
    #expect(place.runs.count == 1)
    try place.write("ok", "")
    try place.opflow("run", "--resume")
    #expect(place.lines() == ["a", "b", "b", "b"])
    try place.opflow("run", "--resume")
    #expect(place.lines() == ["a", "b", "b", "b", "a", "b"])
    #expect(place.runs.count == 2)
  }

  @Test func `run --resume with other values starts anew`() throws {
    let place = try Workplace(
      """
      vars: { v: x }
      tasks:
        a: { run: "echo a-${{ vars.v }} >> trace" }
        b: { needs: [a], run: test -e ok }
      """)
    try place.opflow("run", "--resume", status: 1)
    try place.opflow("run", "--resume", "--set", "v=y", status: 1)
    #expect(place.lines() == ["a-x", "a-y"])
    #expect(place.runs.count == 2)
  }

  @Test func `run without --resume starts anew and names the way to go on`() throws {
    let place = try failed()
    try place.remove("ok")
    let run = try place.opflow("run", status: 1)
    #expect(run.errors.contains("opflow resume"))
    #expect(place.lines().contains("first"))
    #expect(place.runs.count == 2)
  }

  @Test(arguments: [
    ("run: echo middle", "run: echo changed", ["changed", "last"], "its `run` changed"),
    (
      "middle: { needs: [first]", "middle: { env: { X: '1' }, needs: [first]",
      ["middle", "last"], "its `env` changed"
    ),
    (
      "middle: { needs: [first]", "middle: { dir: ., needs: [first]", ["middle", "last"],
      "its `dir` changed"
    ),
    (
      "middle: { needs: [first]", "middle: { shell: bash, needs: [first]", ["middle", "last"],
      "its `shell` changed"
    ),
    (
      "middle: { needs: [first]", "middle: { needs: [first, beside]", ["middle", "last"],
      "its `needs` changed"
    ),
  ])
  func `a changed task runs again, and what needs it`(
    old: String, new: String, expected: [String], reason: String
  ) throws {
    let place = try failed()
    try edit(place, old, new)
    // `dir: .` is the folder it had anyway: no change of what decides the result.
    let same = new.contains("dir: .,")
    let resume = try place.opflow("resume", "-j", "1")
    #expect(place.lines() == (same ? ["last"] : expected))
    if !same {
      #expect(resume.errors.contains(reason), "\(resume)")
      #expect(try place.journal().contains { $0.event == "resume" && $0.task == "middle" })
    }
  }

  @Test func `a changed base reruns its dependents with the reason told`() throws {
    let place = try failed()
    try edit(place, "run: echo first", "run: echo changed")
    let resume = try place.opflow("resume", "-j", "1")
    #expect(place.lines() == ["changed", "middle", "last"])
    #expect(resume.errors.contains("middle: re-run (first is re-run)"), "\(resume)")
  }

  @Test(arguments: [
    "priority: 5", "timeout: 1h", "retry: 3", "resources: { cpu: 0 }", "desc: words", "tags: [t]",
    "stop: { grace: 1s }",
  ])
  func `what does not decide the result reruns nothing`(key: String) throws {
    let place = try failed()
    try edit(place, "middle: { ", "middle: { \(key), ")
    try place.opflow("resume")
    #expect(place.lines() == ["last"])
  }

  @Test func `a comment or another order changes nothing`() throws {
    let place = try failed()
    try edit(place, "tasks:\n", "# a comment\n\ntasks:\n  new: { run: echo new >> trace }\n")
    let resume = try place.opflow("resume", "-j", "1")
    #expect(place.lines().sorted() == ["last", "new"])
    #expect(resume.errors.contains("new is new in the manifest\n"), "\(resume)")
    #expect(
      try place.journal().contains {
        $0.event == "resume" && $0.task == "new" && $0.values["reason"] == "new"
      })
    #expect(!resume.errors.contains("last is new in the manifest"))
  }

  @Test func `what a failure held back is not told as new`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: test -e ok }
        b: { run: echo b >> trace }
      """)
    try place.opflow("run", "-j", "1", status: 1)
    try place.write("ok", "")
    #expect(!(try place.opflow("resume")).errors.contains("is new"))
  }

  @Test func `a task that was removed is told`() throws {
    let place = try failed()
    try edit(place, "  beside: { run: echo beside >> trace }\n", "")
    try edit(place, "needs: [middle, beside]", "needs: [middle]")
    let resume = try place.opflow("resume")
    #expect(place.lines() == ["last"])
    #expect(resume.errors.contains("no longer in the manifest: beside\n"), "\(resume)")
  }

  @Test func `--rerun runs what is done again, and what needs it`() throws {
    let place = try failed()
    let resume = try place.opflow("resume", "-j", "1", "--rerun", "middle")
    #expect(place.lines() == ["middle", "last"])
    #expect(resume.errors.contains("middle: re-run (--rerun)"), "\(resume)")
    try place.write("trace", "")
    try place.opflow("resume", "-j", "1", "--rerun", "f*")
    #expect(place.lines() == ["first", "middle", "last"])
  }

  @Test func `the recorded --set, --only and --skip hold again`() throws {
    let place = try Workplace(
      """
      vars: { v: file }
      tasks:
        a: { run: "echo a-${{ vars.v }} >> trace" }
        b: { needs: [a], run: "echo b-${{ vars.v }} >> trace; test -e ok" }
        c: { run: echo c >> trace }
        d: { needs: [b], run: echo d >> trace }
      """)
    try place.opflow("run", "--set", "v=set", "--only", "d", "--skip", "a", status: 1)
    #expect(place.lines() == ["b-set"])
    try place.write("ok", "")
    try place.opflow("resume")
    #expect(place.lines() == ["b-set", "b-set", "d"])
  }

  @Test func `another --set on a resume reruns what it changes`() throws {
    let place = try failed(
      """
      vars: { v: x }
      tasks:
        a: { run: "echo a-${{ vars.v }} >> trace" }
        b: { run: echo b >> trace }
        c: { needs: [a, b], run: "echo c >> trace; test -e ok" }
      """)
    try place.opflow("resume", "-j", "1", "--set", "v=y")
    #expect(place.lines() == ["a-y", "c"])
  }

  @Test func `a skip is settled as long as its verdict holds`() throws {
    let place = try failed(
      """
      tasks:
        maybe: { if: "env.MODE == 'full'", run: echo maybe >> trace }
        next: { needs: [maybe], run: echo next >> trace }
        last: { needs: [next], run: test -e ok }
      """)
    try place.opflow("resume")
    #expect(place.lines() == [])
    let again = try failed(
      """
      tasks:
        maybe: { if: "env.MODE == 'full'", run: echo maybe >> trace }
        next: { needs: [maybe], run: echo next >> trace }
        last: { needs: [next], run: test -e ok }
      """)
    try again.opflow("resume", environment: ["MODE": "full"])
    #expect(again.lines() == ["maybe", "next"])
  }

  @Test func `an allowed failure is settled`() throws {
    let place = try failed(
      """
      tasks:
        lint: { run: "echo lint >> trace; exit 1", allow_failure: true }
        last: { needs: [lint], run: test -e ok }
      """)
    try place.opflow("resume")
    #expect(place.lines() == [])
  }

  @Test func `a manifest edited wrong leaves the run untouched`() throws {
    let place = try failed()
    try edit(place, "needs: [first]", "needs: [frist]")
    let before = try place.bytes(place.journalName)
    let resume = try place.opflow("resume", status: 3)
    #expect(resume.errors.contains("opflow.yaml:4:"))
    #expect(try place.bytes(place.journalName) == before)
    try edit(place, "needs: [frist]", "needs: [first]")
    try place.opflow("resume")
    #expect(place.lines() == ["last"])
  }

  @Test func `without its manifest a run resumes from its own copy`() throws {
    let place = try failed()
    try place.remove("opflow.yaml")
    try place.opflow("resume")
    #expect(place.lines() == ["last"])
  }

  @Test func `a run whose manifest came from standard input resumes`() throws {
    let place = try Workplace()
    let manifest = """
      tasks:
        a: { run: echo a >> trace }
        b: { needs: [a], run: "echo b >> trace; test -e ok" }
      """
    try place.opflow("run", "-", status: 1, input: manifest)
    try place.write("ok", "")
    try place.opflow("resume")
    #expect(place.lines() == ["a", "b", "b"])
  }

  @Test func `on_interrupted fail keeps a task failed until it is asked for`() throws {
    let place = try Workplace(
      """
      tasks:
        once:
          run: echo once >> trace; test -e ok || { echo here > here; tail -f /dev/null; }
          on_interrupted: fail
      """)
    let here = try place.gate("here")
    let live = try place.start("run")
    _ = try here.next()
    live.send(9)
    #expect(try live.finish().status == -9)
    try place.write("ok", "")
    let again = "--rerun once\n"
    #expect(try place.opflow("status").output.hasSuffix(again))
    let failed = try place.opflow("resume", status: 1)
    #expect(failed.errors.hasSuffix(again), "\(failed)")
    #expect(!failed.errors.contains("to continue: "), "\(failed)")
    #expect(place.lines() == ["once"])
    try place.opflow("resume", status: 1)
    #expect(place.lines() == ["once"])
    try place.opflow("resume", "--rerun", "once")
    #expect(place.lines() == ["once", "once"])
  }

  @Test func `a live run is held, and its holder is named`() throws {
    let place = try Workplace("tasks: { a: { run: 'echo here > here; read x < go' } }")
    let here = try place.gate("here")
    let go = try place.gate("go")
    let live = try place.start("run")
    _ = try here.next()
    for arguments in [["resume"], ["run", "--resume"]] {
      let second =
        arguments.count == 1
        ? try place.opflow(arguments[0], status: 5)
        : try place.opflow(arguments[0], arguments[1], status: 5)
      #expect(second.errors.contains("\(live.pid)"), "\(second)")
    }
    try go.letGo()
    #expect(try live.finish().status == 0)
  }

  @Test func `two runs of one manifest at once do not disturb each other`() throws {
    let place = try Workplace(
      "tasks: { a: { run: 'echo here > here; read x < go; echo done >> trace' } }")
    let here = try place.gate("here")
    let go = try place.gate("go")
    let one = try place.start("run")
    let two = try place.start("run")
    _ = try here.next(2)
    try go.letGo(2)
    #expect(try one.finish().status == 0)
    #expect(try two.finish().status == 0)
    #expect(place.runs.count == 2)
    #expect(place.lines() == ["done", "done"])
  }

  @Test func `resume --dry-run tells what would run and why, and runs nothing`() throws {
    let place = try failed()
    try edit(place, "run: echo first", "run: echo changed")
    let plan = try place.opflow("resume", "--dry-run")
    #expect(plan.output.contains("first"))
    #expect(plan.output.contains("its `run` changed"))
    #expect(place.lines().isEmpty)
  }

  @Test func `a failed retry starts anew on resume`() throws {
    let place = try Workplace(
      """
      tasks:
        bad: { run: "echo $OPFLOW_ATTEMPT >> trace; exit 1", retry: { max: 1, delay: 1ms } }
      """)
    try place.opflow("run", status: 1)
    try place.opflow("resume", status: 1)
    #expect(place.lines() == ["1", "2", "3", "4"])
  }
}
