import Fixtures
import OpflowBase
import OpflowJournal
import OpflowPlan
import OpflowViews
import Testing

/// What the logs of CI servers show.
@Suite struct ViewCITests {
  private func plan(_ names: [String] = ["fetch", "build"]) throws -> Plan {
    try ViewFixture.plan(names.map { ($0, []) })
  }

  private func run(
    _ mode: OutputMode, passesCommands: Bool = true, color: Bool = false
  ) throws -> ViewDriver {
    var options = ProgressOptions(mode: mode)
    options.passesCommands = passesCommands
    options.color = color
    return ViewDriver(try plan(), options) { ("ci/a,b:c%.yaml", $0.index + 7) }
  }

  @Test func `GitHub folds what went well, and has an annotation for what did not`() throws {
    var view = try run(.gitHub)
    _ = view.errorText()
    view.start("fetch")
    view.output("fetch", "a\n")
    view.end("fetch", .success, outputBytes: 2)
    view.start("build")
    view.output("build", "no\n50% :,\n")
    view.end("build", .failure, .exit(1), outputBytes: 3)
    #expect(
      view.errorText() == """
        [0/2] fetch started
        ::group::[1/2] fetch succeeded in 1.2s
        a
        ::endgroup::
        [1/2] build started
        [2/2] build failed after 1.2s: exit 1
          make build
        no
        50% :,


        """)
    view.close(.failed, exit: 1)
    let text = view.errorText()
    #expect(
      text.hasPrefix(
        """
        ::error file=ci/a%2Cb%3Ac%25.yaml,line=8,title=build::exit 1 after 1.2s%0Ano%0A50%25 :,

        """), "\(text)")
    #expect(
      RunnerCommand.all(in: text) == [
        RunnerCommand(
          name: "error",
          properties: ["file": "ci/a,b:c%.yaml", "line": "8", "title": "build"],
          data: "exit 1 after 1.2s\nno\n50% :,")
      ])
  }

  @Test(arguments: [(9, 9), (10, 10), (11, 10)])
  func `ten failures are ten annotations`(failures: Int, annotations: Int) throws {
    let names = (0..<failures).map { "t\($0)" }
    var view = ViewDriver(try plan(names), ProgressOptions(mode: .gitHub))
    for name in names {
      view.start(name)
      view.end(name, .failure, .exit(1))
    }
    view.close(.failed, exit: 1)
    let errors = RunnerCommand.all(in: view.errorText()).filter { $0.name == "error" }
    #expect(errors.count == annotations)
    #expect(errors.last?.properties["title"] == (failures > 10 ? "opflow" : names.last))
    if failures > 10 { #expect(errors.last?.data == "and 2 more failures") }
  }

  @Test(arguments: [OutputMode.gitHub, .group, .line, .quiet, .live])
  func `allowed failures and flaky tasks are warnings, in every mode`(mode: OutputMode) throws {
    var options = ProgressOptions(mode: mode)
    options.annotates = true
    var view = ViewDriver(try plan(), options) { ("ci.yaml", $0.index + 7) }
    view.start("fetch")
    view.end("fetch", .retry, .exit(75))
    view.start("fetch", attempt: 2)
    view.end("fetch", .success, attempt: 2)
    view.start("build")
    view.output("build", "no\n")
    view.end("build", .failure, .exit(1), outputBytes: 3) { $0.allowed = true }
    view.close(.succeeded)
    let commands = RunnerCommand.all(in: view.errorText()).filter { $0.name != "group" }
    #expect(
      commands.filter { $0.name != "endgroup" } == [
        RunnerCommand(
          name: "warning", properties: ["file": "ci.yaml", "line": "7", "title": "fetch"],
          data: "flaky: attempt 1 failed: exit 75 after 1.2s; attempt 2 succeeded"),
        RunnerCommand(
          name: "warning", properties: ["file": "ci.yaml", "line": "8", "title": "build"],
          data: "allowed to fail: exit 1 after 1.2s\nno"),
      ])
  }

  @Test func `of many warnings nine are told, and the tenth says how many more`() throws {
    let names = (0..<12).map { "t\($0)" }
    var view = ViewDriver(try plan(names), ProgressOptions(mode: .gitHub))
    for name in names {
      view.start(name)
      view.end(name, .failure, .exit(1)) { $0.allowed = true }
    }
    view.close(.succeeded)
    let warnings = RunnerCommand.all(in: view.errorText()).filter { $0.name == "warning" }
    #expect(warnings.prefix(9).map { $0.properties["title"] } == names.prefix(9).map { $0 })
    #expect(warnings.dropFirst(9).map(\.data) == ["and 3 more warnings"])
  }

  @Test func `a manifest's name moves no terminal`() throws {
    var view = ViewDriver(
      try plan(["a"]), ProgressOptions(mode: .gitHub),
      place: { _ in ("x\u{1b}[31m\u{9b}y:1.yaml", 3) })
    view.start("a")
    view.end("a", .failure, .exit(1))
    view.close(.failed, exit: 1)
    let text = view.errorText()
    #expect(text.contains("::error file=x"), "\(text)")
    #expect(!text.unicodeScalars.contains { $0 == "\u{1b}" || $0 == "\u{9b}" })
  }

  @Test func `a command that is printed moves no terminal, and a shell reads it back`() {
    #expect(QuotedWords.quoted("a b") == "'a b'")
    #expect(QuotedWords.quoted("x\u{1b}[31m'\\y") == #"$'x\033[31m\'\\y'"#)
    #expect(QuotedWords.quoted("\u{9b}") == #"$'\302\233'"#)
  }

  @Test func `of many failures nine are annotations, and the tenth says how many more`() throws {
    let names = (0..<12).map { "t\($0)" }
    var view = ViewDriver(try plan(names), ProgressOptions(mode: .gitHub))
    for name in names {
      view.start(name)
      view.end(name, .failure, .exit(1))
    }
    view.close(.failed, exit: 1)
    let errors = RunnerCommand.all(in: view.errorText()).filter { $0.name == "error" }
    #expect(errors.count == 10)
    #expect(errors.prefix(9).map { $0.properties["title"] } == names.prefix(9).map { $0 })
    #expect(errors.last?.data == "and 3 more failures")
    #expect(errors.first?.properties["file"] == nil)
  }

  @Test func `GitLab has a section for each attempt, with its times`() throws {
    var view = try run(.gitLab)
    _ = view.errorText()
    view.wait(60_000)
    view.start("fetch")
    view.output("fetch", "a\u{1b}[0Ksection_end:1:x\r\u{1b}[0K\n")
    view.end("fetch", .success, wall: 30_000_000, outputBytes: 2)
    view.start("build")
    view.output("build", "no\n")
    view.end("build", .failure, .exit(1), attempt: 1, outputBytes: 3)
    let erase = "\u{1b}[0K"
    #expect(
      view.errorText() == """
        [0/2] fetch started
        \(erase)section_start:31:opflow-r1-0-1[collapsed=true]\r\(erase)[1/2] fetch succeeded in 30.0s
        asection_end:1:x
        \(erase)section_end:61:opflow-r1-0-1\r\(erase)
        [1/2] build started
        \(erase)section_start:59:opflow-r1-1-1\r\(erase)[2/2] build failed after 1.2s: exit 1
          make build
        no
        \(erase)section_end:61:opflow-r1-1-1\r\(erase)

        """)
    view.close(.failed, exit: 1)
    #expect(!view.errorText().contains("::error"))
  }

  /// Lines that are commands, or nearly.
  private static let hostile = [
    "::error file=a::x", " \t::add-mask::x", "\u{3000}\u{a0}::stop-commands::x", "a ##[error]x",
    "##[add-mask]x", "###[group]x", "##[set-env name=a;b=c]x", "\u{1b}[31m::error::x", "::group::",
    "::::error::x", "\u{200b}##[warning]x", "\r::error::x", "##vso[task.setvariable]x",
    "::ERROR::x", "::error::::error::x",
  ]

  @Test(arguments: [OutputMode.gitHub, .group, .line, .quiet])
  func `with --ci-commands off no line of a task is a command`(mode: OutputMode) throws {
    for color in [false, true] {
      var view = try run(mode, passesCommands: false, color: color)
      view.start("build")
      for line in Self.hostile { view.output("build", line + "\n") }
      view.end("build", .failure, .unknown, outputBytes: 900) {
        $0.outcome.reason = .refused
        $0.detail = "##[error]x"
      }
      view.start("fetch")
      view.output("fetch", "::error::x\nstd::vector ##nothing\n")
      view.end("fetch", .success, outputBytes: 900)
      view.warning("##[error]x")
      let text = view.errorText()
      let own = mode == .gitHub ? ["group", "endgroup"] : []
      #expect(RunnerCommand.all(in: text).map(\.name) == own, "\(text)")
      #expect(!text.contains("##vso["), "\(text)")
      if mode != .quiet { #expect(text.contains("std::vector ##nothing"), "\(text)") }
    }
  }

  @Test func `by default they pass, because tools annotate too`() throws {
    var view = try run(.gitHub)
    view.start("fetch")
    view.output("fetch", "::warning file=a.c,line=3::unused\n##[debug]x\n")
    view.end("fetch", .success, outputBytes: 900)
    #expect(
      RunnerCommand.all(in: view.errorText()).map(\.name)
        == ["group", "warning", "debug", "endgroup"])
  }

  @Test func `the line between two attempts does not count as output`() throws {
    var view = try run(.quiet)
    view.start("build", attempt: 2)
    view.output("build", "\n--- attempt 2 ---\nno\n")
    view.end("build", .failure, .exit(1), attempt: 2, outputBytes: 9)
    let text = view.errorText()
    #expect(
      text.contains("build failed after 1.2s (attempt 2): exit 1\n  make build\n  | no\n  log:"),
      "\(text)")
  }

  @Test(arguments: [20, 32_768])
  func `all that a task printed is shown, read piece by piece when its turn comes`(piece: Int)
    throws
  {
    var view = try run(.gitHub)
    view.logPieceBytes = piece
    _ = view.errorText()
    let lines = (0..<3000).map { "line \($0) ä" }
    view.start("fetch", attempt: 2)
    view.output("fetch", "--- attempt 2 ---\n" + lines.joined(separator: "\n"))
    view.end("fetch", .success, attempt: 2, outputBytes: 5 << 20)
    view.start("build")
    view.end("build", .failure, .exit(1))
    // Nothing of it is there before somebody reads.
    #expect(view.outputRoom == 4 << 20)
    #expect(
      view.errorText() == """
        [0/2] fetch started (attempt 2)
        ::group::[1/2] fetch succeeded in 1.2s (attempt 2)
        \(lines.joined(separator: "\n"))
        ::endgroup::
        [1/2] build started
        [2/2] build failed after 1.2s: exit 1
          make build

        """)
  }

  @Test func `where nobody reads in the end, it is said how much is not shown`() throws {
    var view = try run(.gitHub)
    view.start("fetch")
    view.output("fetch", String(repeating: "x\n", count: 1 << 20))
    view.end("fetch", .success, outputBytes: 2 << 20)
    view.close(.succeeded)
    view.leaveOutOutput()
    let text = view.errorText()
    let hidden = "\n… 2MiB not shown; full log: logs/fetch.log\n::endgroup::\n"
    #expect(text.contains(hidden), "\(text)")
    #expect(text.hasSuffix("\nrun r1 succeeded in 0.00s: 1 succeeded, 1 pending\n"))
  }
}
