import Foundation
import Testing

/// Runs that a process on another machine holds, by a file system that both see. Here the other
/// machine is a name in the lock's file.
@Suite struct TakeOverTests {
  private static let manifest = """
    tasks:
      a: { run: 'echo a >> trace' }
      b: { run: 'echo b >> trace; echo up > up; test -e again || exec sleep 1000', needs: a }

    """

  /// A run whose coordinator was killed while `b` ran.
  private func died() throws -> Workplace {
    let place = try Workplace(Self.manifest)
    let up = try place.gate("up")
    let run = try place.start("run")
    #expect(try up.next() == "up")
    run.send(SIGKILL)
    _ = try run.finish()
    place.expectNothingAlive()
    try place.shell("rm up; touch up again; mkfifo locked go")
    return place
  }

  /// Holds the lock of the run until `go` is written to.
  private func holdElsewhere(_ place: Workplace) throws -> LiveProcess {
    let holder = try place.startShell(
      """
      exec 9<>"$(echo .opflow/runs/*/lock)"; flock 9
      printf '77 elsewhere\\n' > "$(echo .opflow/runs/*/lock)"
      echo > locked; read word < go
      """)
    try place.shell("read word < locked")
    return holder
  }

  @Test(arguments: [["resume"], ["run", "--resume"]])
  func `a resume waits for the other machine to give up its lock`(_ words: [String]) throws {
    let place = try died()
    let holder = try holdElsewhere(place)
    let resume = try place.startShell("exec $opflow \(words.joined(separator: " ")) 2> told")
    try place.shell("until grep -q 'held by process 77 on elsewhere; waiting' told; do :; done")
    try place.shell("echo > go")
    _ = try holder.finish()
    #expect(try resume.finish().status == 0)
    #expect(place.lines() == ["a", "b", "b"])
  }

  @Test(arguments: [["resume"], ["run", "--resume"]])
  func `a person says that it is gone`(_ words: [String]) throws {
    let place = try died()
    let holder = try holdElsewhere(place)
    let line = words.joined(separator: " ")
    let end = try place.startShell("exec $opflow \(line) --take-over").finish()
    #expect(end.status == 0, "\(end)")
    #expect(!end.errors.contains("waiting"), "\(end)")
    #expect(place.lines() == ["a", "b", "b"])
    try place.opflow("journal", "verify")
    try place.shell("echo > go")
    _ = try holder.finish()
  }

  @Test func `one that comes back ends what it has, and writes nothing more`() throws {
    let place = try Workplace(Self.manifest)
    let up = try place.gate("up")
    let old = try place.start("run", "--output", "line")
    #expect(try up.next() == "up")
    // From here on, it belongs to another machine, and is stopped.
    try place.shell(
      "printf '%s elsewhere\\n' \(old.pid) > \"$(echo .opflow/runs/*/lock)\"; rm up; touch up again"
    )
    old.send(SIGSTOP)
    try place.opflow("resume", "--take-over")
    #expect(place.lines() == ["a", "b", "b"])
    let journal = try place.shell("cat .opflow/runs/*/journal.log").output
    old.send(SIGCONT)
    let end = try old.finish()
    #expect(end.status == 74, "\(end)")
    #expect(
      end.errors.contains(" has taken over the run; opflow ends the tasks that run here"),
      "\(end)")
    #expect(try place.shell("cat .opflow/runs/*/journal.log").output == journal)
    #expect(try place.status().counts["succeeded"] == 2)
    try place.opflow("journal", "verify")
    place.expectNothingAlive()
  }

  @Test func `one of this machine is not taken for gone`() throws {
    let place = try Workplace(Self.manifest)
    let up = try place.gate("up")
    let run = try place.start("run")
    #expect(try up.next() == "up")
    let resume = try place.opflow("resume", "--take-over", status: 5)
    #expect(resume.errors.contains("stop it with `kill "), "\(resume)")
    run.send(SIGTERM)
    #expect(try run.finish().status == -SIGTERM)
  }
}
