import Foundation
import Glibc
import Testing

/// Runs of manifests with several files, after an edit, a move or a deletion.
struct IncludeRunTests {
  private static let root = """
    include: [{ path: db/tasks.yaml, as: db, vars: { port: "1" } }]
    tasks:
      build: { run: "echo build >> trace" }
      last: { needs: [db/up], run: "echo last >> trace; test -e ok" }
    """
  private static let included = """
    tasks:
      up: { needs: [build], run: "pwd > here.txt; echo up${{ vars.port }} >> ../trace" }
    """

  private func project() throws -> Workplace {
    let place = try Workplace()
    try place.write("p/opflow.yaml", Self.root)
    try place.write("p/db/tasks.yaml", Self.included)
    return place
  }

  @Test(arguments: [
    "include: [/proc/self/environ]\ntasks: {}",
    "tasks: { a: { matrix: { x: { lines: /proc/self/environ } }, run: x } }",
  ])
  func `opflow refuses to read its own environment as a file`(manifest: String) throws {
    let place = try Workplace(manifest)
    let run = try place.opflow("check", status: 3, environment: ["MARK": "hush"])
    #expect(run.errors.contains("it is an entry of /proc, not a file"))
    #expect(!run.errors.contains("hush"))
  }

  @Test func `tasks of an included file run in its folder, under their IDs`() throws {
    let place = try project()
    try place.write("p/ok", "")
    try place.opflow("run", in: place.file("p"))
    #expect(place.lines("p/trace") == ["build", "up1", "last"])
    #expect(try place.text("p/db/here.txt") == place.file("p/db") + "\n")
    let status = try place.shell("cd p && $opflow status")
    #expect(status.output.contains("db/up"))
    let named = try place.shell("cd p && : > trace && $opflow run db/up && $opflow run 'db/*'")
    #expect(named.status == 0)
    #expect(place.lines("p/trace") == ["build", "up1", "build", "up1"])
    let journal = try place.shell("cd p && head -1 .opflow/runs/*/journal.log")
    #expect(journal.output.contains(" db/tasks.yaml"), "\(journal.output)")
  }

  @Test func `a plan is shared until an included file is edited`() throws {
    let place = try project()
    try place.write("p/ok", "")
    let count =
      "cd p && $opflow run -q && ls -i .opflow/runs/*/plan | awk '{print $1}' | sort -u | wc -l"
    #expect(try place.shell(count).output.contains("1"))
    #expect(try place.shell(count).output.contains("1"))
    #expect(try place.shell("cd p && cmp .opflow/runs/*/included").status == 0)
    try place.write("p/db/tasks.yaml", Self.included + "# edited\n")
    #expect(try place.shell(count).output.contains("2"))
    try place.shell("cd p && mv db/tasks.yaml db/real.yaml && ln -s real.yaml db/tasks.yaml")
    #expect(try place.shell(count).output.contains("3"))
  }

  @Test func `a resume names the changed file and re-runs its changed tasks`() throws {
    let place = try project()
    try place.opflow("run", status: 1, in: place.file("p"))
    try place.write("p/ok", "")
    try place.write(
      "p/db/tasks.yaml", Self.included.replacingOccurrences(of: "echo up", with: "echo new"))
    let resume = try place.shell("cd p && : > trace && $opflow resume")
    #expect(
      resume.errors.contains("changed since the last session: db/tasks.yaml"), "\(resume)")
    #expect(place.lines("p/trace") == ["new1", "last"])
    #expect(resume.errors.contains("db/up: re-run (its `run` changed)"), "\(resume)")
    #expect(!(try place.shell("cd p && $opflow resume")).errors.contains("last session"))
  }

  @Test func `a resume of a moved project finds its included files`() throws {
    let place = try project()
    try place.opflow("run", status: 1, in: place.file("p"))
    try place.shell("mv p q; touch q/ok; : > q/trace")
    let resume = try place.shell("cd q && $opflow resume")
    #expect(place.lines("q/trace") == ["last"], "\(resume)")
    #expect(!resume.errors.contains("warning"), "\(resume)")
    #expect(!place.exists("p"))
  }

  @Test(arguments: [
    "rm p/db/tasks.yaml", "rm p/opflow.yaml p/db/tasks.yaml", "mv p q; rm q/db/tasks.yaml",
  ])
  func `a resume uses the copy of a missing included file`(_ loss: String) throws {
    let place = try project()
    try place.opflow("run", status: 1, in: place.file("p"))
    try place.shell("touch p/ok; : > p/trace; \(loss)")
    let folder = place.exists("q") ? "q" : "p"
    let resume = try place.shell("cd \(folder) && $opflow resume")
    #expect(place.lines("\(folder)/trace") == ["last"], "\(resume)")
    // A new run has no copy.
    if place.exists("\(folder)/opflow.yaml") {
      let run = try place.shell("cd \(folder) && $opflow run", status: 3)
      #expect(run.errors.contains("cannot include `db/tasks.yaml`: no such file"))
    }
  }

  @Test func `a resume of a run from standard input reads its included files`() throws {
    let place = try project()
    try place.shell("cd p && $opflow run - < opflow.yaml", status: 1)
    try place.shell("cd p && touch ok && : > trace && mv opflow.yaml gone && $opflow resume")
    #expect(place.lines("p/trace") == ["last"])
  }

  @Test func `an include that is not a regular file is an error with its line`() throws {
    let place = try Workplace(
      "tasks: { a: { run: x } }\ninclude:\n- fifo\n- folder\n- loop\n- none\n- big\n- /dev/zero\n")
    try place.shell("mkfifo fifo; mkdir folder; ln -s loop loop; truncate -s 1G big")
    let check = try place.opflow("check", status: 3)
    for line in [
      "opflow.yaml:3:3: error: cannot include `fifo`: it is a FIFO, not a file",
      "opflow.yaml:4:3: error: cannot include `folder`: it is a folder, not a file",
      "opflow.yaml:5:3: error: cannot include `loop`: Too many levels of symbolic links",
      "opflow.yaml:6:3: error: cannot include `none`: no such file",
      "opflow.yaml:7:3: error: cannot include `big`: it is larger than 256 MiB",
      "opflow.yaml:8:3: error: cannot include `/dev/zero`: it is a device, not a file",
    ] {
      #expect(check.errors.contains(line), "\(check.errors)")
    }
  }

  @Test func `an included file with a name that is not UTF-8 is refused`() throws {
    let place = try Workplace("include: [link.yaml]\ntasks: { a: { run: x } }")
    try place.shell(
      """
      f=$(printf 'x\\377.yaml'); printf 'tasks: { b: { run: x } }' > "$f"; ln -s "$f" link.yaml
      """
    )
    let check = try place.opflow("check", status: 3)
    #expect(
      check.errors.contains(
        "opflow.yaml:1:11: error: cannot include `link.yaml`: the path is not UTF-8"),
      "\(check.errors)")
  }

  @Test func `errors name files relative to the current folder`() throws {
    let place = try Workplace()
    try place.write("ci/m.yaml", "include: [sub/a.yaml, ../b.yaml]")
    try place.write("ci/sub/a.yaml", "tasks: { a: { rn: x } }")
    try place.write("b.yaml", "tasks: { b: { rn: x } }")
    let here = try place.opflow("check", "ci/m.yaml", status: 3)
    #expect(here.errors.contains("ci/sub/a.yaml:1:15: error"), "\(here.errors)")
    #expect(here.errors.contains("ci/../b.yaml:1:15: error"), "\(here.errors)")
    let there = try place.opflow("check", "m.yaml", status: 3, in: place.file("ci"))
    #expect(
      there.errors.contains("\nsub/a.yaml:1:15: error")
        || there.errors.hasPrefix("sub/a.yaml:1:15: error"), "\(there.errors)")
    #expect(there.errors.contains("../b.yaml:1:15: error"), "\(there.errors)")
  }
}
