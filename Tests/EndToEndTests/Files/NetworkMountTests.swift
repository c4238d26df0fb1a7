import Foundation
import Glibc
import Testing

/// Machines that see the project's folder through a real network's file system, which shows them
/// late what others wrote.
@Suite(.whereMountsAre, .serialized)
struct NetworkMountTests {
  /// Who sees the folder how: the coordinator, and the machine of its agent. Nil is the file server
  /// itself.
  enum Views: String, CaseIterable {
    case serverSessions, machineSessions, machinesAlone

    var coordinator: String? { self == .serverSessions ? nil : "n2" }
    var agent: String? { self == .machineSessions ? nil : "n1" }
  }

  /// Each task reads what the one before it wrote on the other machine.
  private static let chain = """
    tasks:
      a:
        inputs: [src]
        outputs: [a.txt]
        run: 'cat src > a.txt; cat src > "$OPFLOW_VALUES/word"'
      b: { needs: [a], inputs: [a.txt], outputs: [b.txt], run: cat a.txt > b.txt, local: true }
      c:
        needs: [b]
        inputs: [b.txt]
        outputs: [c/]
        run: 'rm -rf c; mkdir c; cp b.txt c/1; cp b.txt "c/$(cat src)"'
      d: { needs: [c], inputs: ["c/*"], outputs: [d.txt], run: cat c/* > d.txt, local: true }
      e:
        needs: [a, d]
        inputs: [d.txt]
        outputs: ["e/*.out"]
        env: { WORD: "${{ needs.a.word }}" }
        run: 'mkdir -p e; (cat d.txt; echo "$WORD") > e/1.out'
      f: { needs: [e], run: cat e/1.out > f.txt, local: true }

    """

  @Test(arguments: Views.allCases)
  func `tasks of several machines read what the one before wrote, and are up to date then`(
    _ views: Views
  ) throws {
    let mount = try NetworkMount(Self.chain)
    for word in ["one", "two", "six", "one"] {
      try mount.place.write("src", word + "\n")
      // A stamp that is young is not trusted by anybody.
      try mount.place.shell("touch -d '1 hour ago' src")
      let run = try mount.opflow("run", on: views.coordinator, agents: [views.agent])
      #expect(mount.place.lines("f.txt") == [word, word, word], "\(run)")
      #expect(!run.errors.contains("while it ran"), "\(run)")
    }
    let again = try mount.opflow("run", on: views.coordinator, agents: [views.agent])
    #expect(again.errors.contains(": 1 succeeded, 5 up to date\n"), "\(again)")
    mount.place.expectNothingAlive()
  }

  /// A task of `n1` that wants what was made on the file server, or by it, after `n1` had looked
  /// for it.
  static let late: [(detail: String, missed: String, manifest: String)] = [
    (
      "an input in a folder that was not there", "made",
      """
      tasks:
        make: { run: mkdir -p made; echo x > made/it, local: true }
        take: { needs: [make], inputs: [made/it], run: cat made/it > taken }
      """
    ),
    (
      "what an input's pattern fits", "made",
      """
      tasks:
        make: { run: mkdir -p made; echo x > made/it, local: true }
        take: { needs: [make], inputs: ["made/i*"], run: cat made/i* > taken }
      """
    ),
    (
      "an output of what it needs", "made",
      """
      tasks:
        make: { run: echo x > made, outputs: [made], local: true }
        take: { needs: [make], run: cat made > taken }
      """
    ),
    (
      "what an output's pattern fits", "made",
      """
      tasks:
        make: { run: mkdir -p made; echo x > made/it, outputs: ["made/*"], local: true }
        take: { needs: [make], run: cat made/it > taken }
      """
    ),
    (
      "an output that it has another machine write", "taken",
      """
      tasks:
        take: { run: '! test -e taken; echo x > "$OTHER/taken"', outputs: [taken] }
      """
    ),
  ]

  @Test(arguments: late.map(\.detail))
  func `what a machine looked for before it was there is waited for:`(_ detail: String) throws {
    let late = try #require(Self.late.first { $0.detail == detail })
    let mount = try NetworkMount(late.manifest)
    try mount.miss(late.missed, on: "n1")
    let run = try mount.opflow(
      "run", on: nil, agents: ["n1"], environment: ["OTHER": mount.view(of: "n2")])
    #expect(mount.place.lines("taken") == ["x"], "\(run)")
    #expect(!run.errors.contains("no file matches"), "\(run)")
    mount.place.expectNothingAlive()
  }

  @Test func `the coordinator finds values that another machine left in a folder that it missed`()
    throws
  {
    let mount = try NetworkMount(
      """
      tasks:
        look: { run: '! test -e $OPFLOW_RUN_DIR/values', local: true }
        make: { needs: [look], run: 'echo x > "$OPFLOW_VALUES/it"' }
        take: { needs: [make], env: { IT: "${{ needs.make.it }}" }, run: 'echo "$IT" > taken', local: true }
      """)
    let run = try mount.opflow("run", on: "n2", agents: ["n1"])
    #expect(mount.place.lines("taken") == ["x"], "\(run)")
  }

  @Test func `a task whose output is not there has failed all the same`() throws {
    let mount = try NetworkMount("tasks: { a: { run: 'true', outputs: [made] } }")
    let run = try mount.opflow("run", on: nil, agents: ["n1"], status: 1)
    #expect(run.errors.contains("exited 0 but did not create its output `made`"), "\(run)")
    mount.place.expectNothingAlive()
  }

  @Test func `what needs have not left holds up no task for long, and only the first of many`()
    throws
  {
    let mount = try NetworkMount(
      """
      tasks:
        make: { run: exit 1, outputs: [made], allow_failure: true, local: true }
        take:
          needs: [make]
          matrix: { n: { range: [1, 3] } }
          resources: { one: 1 }
          run: echo x >> taken
      resources: { one: 1 }
      """)
    let began = ContinuousClock.now
    let run = try mount.opflow("run", on: nil, agents: ["n1"])
    #expect(mount.place.lines("taken").count == 3, "\(run)")
    #expect(ContinuousClock.now - began < .seconds(12))
  }

  @Test func `while a run is watched, what another machine writes is seen`() throws {
    let mount = try NetworkMount(
      "tasks: { a: { inputs: [src, 'in/*'], run: 'cat src in/* >> trace; echo . >> trace' } }")
    try mount.place.write("src", "1\n")
    try mount.place.write("in/1", "a\n")
    let run = try mount.start("run --watch", on: "n2", agents: ["n1"])
    try run.waitForRounds(1)
    // Of the same size.
    try mount.place.write("src", "2\n")
    try run.waitForRounds(2)
    try mount.place.write("in/2", "b\n")
    try run.waitForRounds(3)
    let told = try run.leave()
    #expect(
      mount.place.lines() == ["1", "a", ".", "2", "a", ".", "2", "a", "b", "."], "\(told)")
    mount.place.expectNothingAlive()
  }
}

extension NetworkMountTests {
  /// The lock of a run, on a file system that keeps the locks of each machine apart.
  @Suite struct Locks {
    private static let manifest = """
      tasks:
        a: { run: 'echo a >> trace; until test -e go; do sleep 0.05; done' }
        b: { needs: [a], run: 'echo b >> trace' }

      """

    /// A run on `n2`, until the file `go` exists.
    private func begun() throws -> (NetworkMount, LiveProcess) {
      let mount = try NetworkMount(Self.manifest)
      let run = try mount.start("run", on: "n2")
      try mount.place.shell("until test -s trace; do :; done")
      return (mount, run)
    }

    @Test func `a run of another machine goes on for who looks, and is waited for`() throws {
      let (mount, run) = try begun()
      let status = try mount.opflow("status", on: "n1").output
      #expect(status.contains("): running for "), "\(status)")
      let resume = try mount.start("resume", on: "n1")
      try resume.waitForError(
        "is held by process \(run.pid) on n2; waiting up to 120 s")
      try mount.place.shell("touch go")
      #expect(try run.finish().status == 0)
      let end = try resume.finish()
      #expect(end.status == 0 && end.errors.contains("there is nothing left to run"), "\(end)")
      #expect(mount.place.lines() == ["a", "b"])
      let journal = try mount.opflow("journal verify", on: nil).output
      #expect(journal.contains("intact"), "\(journal)")
      // It gave its lock up: nobody is waited for.
      #expect(try mount.opflow("resume", on: "n1").errors.contains("waiting") == false)
      mount.place.expectNothingAlive()
    }

    @Test func `of one that was killed a person says that it is gone`() throws {
      let (mount, run) = try begun()
      run.send(SIGKILL)
      _ = try run.finish()
      mount.place.expectNothingAlive()
      let resume = try mount.start("resume", on: "n1")
      try resume.waitForError("is held by process \(run.pid) on n2; waiting")
      resume.send(SIGKILL)
      _ = try resume.finish()
      let again = try mount.start("resume --take-over", on: "n1")
      try mount.place.shell("until test $(wc -l < trace) = 2; do :; done; touch go")
      let end = try again.finish()
      #expect(end.status == 0, "\(end)")
      #expect(mount.place.lines() == ["a", "a", "b"])
      // Its own machine knows it by its number.
      #expect(try mount.opflow("resume", on: "n1").status == 0)
      mount.place.expectNothingAlive()
    }

    @Test
    func `one that comes back sees that its run is another's, though the lock looks the same`()
      throws
    {
      let (mount, run) = try begun()
      run.send(SIGSTOP)
      // Its task is of a kernel that both machines have here, and would be ended.
      let again = try mount.start("resume --take-over", on: "n1")
      try mount.place.shell("until test $(wc -l < trace) = 2; do :; done; touch go")
      #expect(try again.finish().status == 0)
      run.send(SIGCONT)
      let end = try run.finish()
      #expect(end.status == 74, "\(end)")
      #expect(
        end.errors.contains("has taken over the run; opflow ends the tasks that run here"),
        "\(end)")
      let journal = try mount.opflow("journal verify", on: nil).output
      #expect(journal.contains("intact"), "\(journal)")
      mount.place.expectNothingAlive()
    }
  }

}

extension NetworkMountTests {
  /// A machine whose file system is no more, or gives no answer.
  @Suite struct Losses {
    private static let manifest = """
      tasks:
        a:
          run: |
            uname -n >> trace
            test -e again && exit
            touch again
            while :; do sleep 0.05; echo more; done

      """

    @Test func `what hangs with its file system runs elsewhere`() throws {
      let mount = try NetworkMount(Self.manifest)
      let link = try mount.link(of: "n1")
      defer { kill(link, SIGCONT) }
      let run = try mount.start("run", on: nil, agents: ["n1"])
      try mount.place.shell("until test -e again; do :; done")
      kill(link, SIGSTOP)
      try run.waitForError("its worker was lost: it did not respond for 10 s")
      kill(link, SIGCONT)
      let end = try run.finish()
      #expect(end.status == 0, "\(end)")
      #expect(mount.place.lines() == ["n1", "n1"])
      mount.place.expectNothingAlive()
    }

    @Test func `a run whose file system is gone says so, and a resume goes on`() throws {
      let mount = try NetworkMount(Self.manifest)
      let link = try mount.link(of: "n2")
      let run = try mount.start("run", on: "n2")
      try mount.place.shell("until test -e again; do :; done")
      kill(link, SIGKILL)
      let end = try run.finish()
      #expect(end.status == 74, "\(end)")
      #expect(end.errors.contains("transport endpoint is not connected"), "\(end)")
      mount.place.expectNothingAlive()
      let resume = try mount.opflow("resume", on: nil)
      #expect(mount.place.lines().count == 2, "\(resume)")
    }
  }
}
