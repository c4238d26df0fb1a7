import Foundation
import Testing

/// Tasks that are added to a live run.
struct AddTests {
  private static let manifest = """
    max_failures: 0
    tasks:
      work: { run: 'echo in > in; read w < out' }
      done: { run: echo done >> trace }
    """

  /// A run whose task `work` runs.
  private func begin(_ manifest: String = manifest) throws -> (place: Workplace, run: LiveProcess) {
    let place = try Workplace(manifest)
    let (`in`, _) = (try place.gate("in"), try place.gate("out"))
    let run = try place.start("run")
    _ = try `in`.next()
    return (place, run)
  }

  private func end(_ place: Workplace, _ run: LiveProcess, status: Int32 = 0) throws {
    try place.gate("out").letGo()
    let end = try run.finish()
    #expect(end.status == status, "\(end)")
  }

  @Test func `they may need those of the run and each other`() throws {
    let (place, run) = try begin()
    try place.write(
      "more.yaml",
      """
      tasks:
        b: { needs: [work], run: echo b >> trace }
        c: { needs: [b, done], run: echo c >> trace }
      """)
    let add = try place.opflow("add", "more.yaml")
    #expect(try add.output == "added 2 tasks to run \(#require(place.runs.first)): b, c\n")
    try end(place, run)
    #expect(place.lines() == ["done", "b", "c"])
    #expect(try place.status()["c"]?.state == "succeeded")
    let line = try #require(try place.journal().first { $0.event == "extend" })
    #expect(line.values["count"] == "4" && line.values["value"] == "2")
    #expect(line.values["by"] == "opflow add")
    place.expectNothingAlive()
  }

  @Test func `standard input is a manifest as well`() throws {
    let (place, run) = try begin()
    let json = try place.opflow(
      "add", "-", "--json",
      input: "tasks: { x: { matrix: { n: [1, 2] }, run: echo x >> trace } }")
    let answer = #""done":true,"tasks":2,"ids":["x[n=1]","x[n=2]"],"unchanged":[]}"#
    #expect(json.output.contains(answer), "\(json)")
    try end(place, run)
    #expect(place.lines().sorted() == ["done", "x", "x"])
  }

  @Test func `what is there already comes to nothing, and in part`() throws {
    let (place, run) = try begin()
    let id = try #require(place.runs.first)
    try place.write("same.yaml", "tasks: { done: { run: echo done >> trace } }")
    #expect(
      try place.opflow("add", "same.yaml").output
        == "nothing to add; run \(id) already has done\n")
    try place.write(
      "part.yaml",
      "tasks: { done: { run: echo done >> trace }, d: { needs: done, run: echo d >> trace } }")
    #expect(
      try place.opflow("add", "part.yaml").output
        == "added 1 task to run \(id): d; it already has done\n")
    #expect(
      try place.opflow("add", "part.yaml").output
        == "nothing to add; run \(id) already has done, d\n")
    try end(place, run)
    #expect(place.lines() == ["done", "d"])
    #expect(try place.entries(place.runFolder() + "/added").count == 1)
  }

  @Test func `a mistake adds nothing, and is told with its place`() throws {
    let (place, run) = try begin()
    try place.write(
      "bad.yaml", "tasks:\n  ok: { run: echo ok >> trace }\n  bad: { needs: [nobody], run: x }\n")
    let add = try place.opflow("add", "bad.yaml", status: 3)
    #expect(add.errors.contains("bad.yaml:3:18: "), "\(add)")
    try place.write("other.yaml", "tasks:\n  done: { run: echo other >> trace }\n")
    let other = try place.opflow("add", "other.yaml", status: 3)
    #expect(other.errors.contains("other.yaml:2:3: "), "\(other)")
    #expect(
      other.errors.contains("`done` is already in the run, with a different `run`"),
      "\(other)")
    try end(place, run)
    #expect(place.lines() == ["done"])
    #expect(try !place.exists(place.runFolder() + "/added"))
  }

  @Test func `nothing is added to a run that is over`() throws {
    let (place, run) = try begin()
    try end(place, run)
    try place.write("more.yaml", "tasks: { b: { run: echo b >> trace } }")
    let add = try place.opflow("add", "more.yaml", status: 2)
    #expect(add.errors.contains("is not live: it succeeded just now"), "\(add)")
    #expect(try !place.exists(place.runFolder() + "/added"))
  }

  @Test func `nothing is added once the finally tasks began`() throws {
    let (place, run) = try begin(
      """
      tasks:
        a: { run: 'true' }
        work: { finally: true, run: 'echo in > in; read w < out' }
      """)
    try place.write("more.yaml", "tasks: { b: { run: echo b >> trace } }")
    let add = try place.opflow("add", "more.yaml", status: 2)
    #expect(add.errors.contains("finally"), "\(add)")
    #expect(try place.entries(place.runFolder() + "/added").isEmpty)
    try end(place, run)
    #expect(place.lines() == [])
  }

  @Test func `a secret that no task listed when the run began cannot be had`() throws {
    let place = try Workplace(
      """
      secrets: { A: { env: A }, B: { env: B } }
      tasks:
        work: { secrets: [A], run: 'echo in > in; read w < out' }
      """)
    let (`in`, _) = (try place.gate("in"), try place.gate("out"))
    try place.write("run.sh", "export A=first-secret; exec $opflow run")
    let run = try place.startShell(". ./run.sh")
    _ = try `in`.next()
    try place.write("b.yaml", "tasks: { b: { secrets: [B], run: 'true' } }")
    let refused = try place.opflow("add", "b.yaml", status: 2)
    #expect(refused.errors.contains("`b` lists the secret `B`"), "\(refused)")
    try place.write("a.yaml", "tasks: { a: { secrets: [A], run: 'echo ${#A} >> trace' } }")
    try place.opflow("add", "a.yaml")
    try end(place, run)
    #expect(place.lines() == ["12"])
  }

  // MARK: - By a task

  private static let adding = """
    max_failures: 0
    tasks:
      scan:
        control: true
        run: |
          for i in 1 2 3; do echo "  p$i: { run: echo p$i >> trace }"; done | { echo tasks:; cat; } > parts.yaml
          $opflow add parts.yaml
          echo scanned >> trace
          test ! -e fail
      last: { needs: [scan], run: echo last >> trace }
    """

  @Test func `what a task adds waits for its end`() throws {
    let place = try Workplace(Self.adding)
    try place.opflow("run")
    #expect(place.lines().first == "scanned")
    #expect(place.lines().sorted() == ["last", "p1", "p2", "p3", "scanned"])
    let line = try #require(try place.journal().first { $0.event == "extend" })
    #expect(line.task == "scan" && line.values["n"] == "1" && line.values["by"] == "task scan")
  }

  @Test func `what a task added that fails is skipped, and runs when it has succeeded`() throws {
    let place = try Workplace(Self.adding)
    try place.write("fail", "")
    try place.opflow("run", status: 1)
    #expect(place.lines() == ["scanned"])
    #expect(try place.status()["p1"]?.state == "skipped")
    try place.remove("fail")
    try place.opflow("resume")
    #expect(place.lines().sorted() == ["last", "p1", "p2", "p3", "scanned", "scanned"])
    // It has said once more what is to be added, and that alone holds.
    #expect(try place.journal().count { $0.event == "extend" } == 2)
    #expect(try place.status().tasks.count == 5)
  }

  @Test func `a task may add only where the manifest says so`() throws {
    let place = try Workplace(Self.adding.replacing("control: true", with: "tags: [x]"))
    let run = try place.opflow("run", status: 1)
    #expect(run.errors.contains("to control the run, it needs `control: true`"), "\(run)")
    #expect(place.lines() == [])
    #expect(try place.entries(place.runFolder() + "/added").isEmpty)
  }

  @Test func `a task that is tried again adds the same without a second of it`() throws {
    let place = try Workplace(
      Self.adding.replacing(
        "test ! -e fail", with: "test $OPFLOW_ATTEMPT -gt 1"
      ).replacing("control: true", with: "control: true\n    retry: { max: 1, delay: 10ms }"))
    try place.opflow("run")
    #expect(place.lines().sorted() == ["last", "p1", "p2", "p3", "scanned", "scanned"])
  }

  @Test func `a task finds its run wherever it works and the run is kept`() throws {
    let place = try Workplace(
      """
      tasks:
        scan:
          control: true
          dir: elsewhere
          run: |
            echo "tasks: { p: { run: echo p >> $PWD/../trace } }" | $opflow add -
            $opflow status $OPFLOW_RUN | grep -q 'p  *pending'
            $opflow status | grep -q 'scan  *running'
      """)
    try place.write("elsewhere/empty", "")
    try place.opflow("run", "--state-dir", "kept")
    #expect(place.lines() == ["p"])
    #expect(!place.exists(".opflow"))
  }

  @Test func `what needs a task that the run leaves out is refused, and named`() throws {
    let place = try Workplace(
      """
      tasks:
        work: { run: 'echo in > in; read w < out' }
        lint: { run: echo lint >> trace }
        by-hand: { manual: true, run: echo by-hand >> trace }
      """)
    let (`in`, out) = (try place.gate("in"), try place.gate("out"))
    let run = try place.start("run", "work")
    _ = try `in`.next()
    for need in ["lint", "by-hand"] {
      try place.write("more.yaml", "tasks: { more: { needs: \(need), run: echo more >> trace } }")
      let add = try place.opflow("add", "more.yaml", status: 2)
      #expect(
        add.errors
          == "opflow: add: more needs \(need), which is not part of this session\n")
    }
    try out.letGo()
    #expect(try run.finish().status == 0)
    #expect(place.lines() == [])
    #expect(try place.entries(place.runFolder() + "/added").isEmpty)
  }

  // MARK: - Several at once

  @Test func `those that add at once all come in, once each`() throws {
    let (place, run) = try begin()
    for index in 0..<8 {
      try place.write(
        "more\(index).yaml",
        """
        tasks:
          shared: { run: echo shared >> trace }
          t\(index): { needs: shared, run: echo t\(index) >> trace }
        """)
    }
    try place.shell(
      """
      for i in 0 1 2 3 4 5 6 7; do $opflow add more$i.yaml & done; for j in $(jobs -p); \
      do wait $j || exit 9; done
      """
    )
    try end(place, run)
    #expect(place.lines().filter { $0 == "shared" }.count == 1)
    #expect(Set(place.lines()) == Set(["done", "shared"] + (0..<8).map { "t\($0)" }))
    let listed = try place.journal().filter { $0.event == "extend" }.compactMap { $0.values["id"] }
    #expect(try place.entries(place.runFolder() + "/added") == listed.sorted())
  }
}
