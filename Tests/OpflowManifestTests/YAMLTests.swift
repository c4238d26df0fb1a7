import OpflowManifest
import OpflowPlan
import Testing

/// Features of YAML itself.
struct YAMLTests {
  @Test func `scalars resolve by the core schema of YAML 1_2`() throws {
    let plan = try plan(
      """
      tasks:
        no: { run: x, env: { A: no, B: on, C: y, D: 0o17, E: 1e3, F: 3.10, G: ~x, H: true } }
        yes: { run: x, desc: on, retry: 0o17 }
        123: { run: x, needs: [no, yes], max: 1 }
      """.replacing(", max: 1", with: ""))
    #expect(
      try plan.environmentTexts("no")
        == ["A=no", "B=on", "C=y", "D=0o17", "E=1e3", "F=3.10", "G=~x", "H=true"])
    #expect(plan.policy(try plan.id("yes")).retryMax == 15)
    #expect(try plan.needTexts("123") == ["no on success", "yes on success"])
  }

  @Test func `true and false are commands`() throws {
    let plan = try plan("tasks: { a: { run: true }, b: { run: false } }")
    #expect(try plan.scriptText("a") == "true")
    #expect(try plan.scriptText("b") == "false")
  }

  @Test func `quoted scalars are strings`() {
    #expect(
      errors(in: "tasks: { a: { run: x, retry: '1', finally: \"true\" } }") == [
        "1:30: `retry` must be a whole number or a map, not \"1\"",
        "1:44: `finally` must be true or false, not \"true\"",
      ])
  }

  @Test func `anchors, aliases and merge keys work`() throws {
    let plan = try plan(
      """
      x-base: &base
        env: &env { A: 1, B: 2 }
        dir: src
        run: &script echo base
      x-more: &more { dir: more, desc: text }
      tasks:
        a: { <<: *base, dir: own }
        b: { <<: [*more, *base], run: *script }
        c:
          run: x
          env: { <<: *env, B: 3 }
        d: *base
      """)
    #expect(try plan.scriptText("a") == "echo base")
    #expect(try plan.directoryText("a") == "/data/project/own")
    #expect(try plan.environmentTexts("a") == ["A=1", "B=2"])
    #expect(try plan.directoryText("b") == "/data/project/more")
    #expect(try plan.scriptText("b") == "echo base")
    #expect(try plan.environmentTexts("c") == ["B=3", "A=1"])
    #expect(try plan.directoryText("d") == "/data/project/src")
  }

  @Test func `a merged map may itself merge`() throws {
    let plan = try plan(
      """
      x-a: &a { dir: a, run: from a }
      x-b: &b { <<: *a, dir: b }
      tasks: { t: { <<: *b } }
      """)
    #expect(try plan.directoryText("t") == "/data/project/b")
    #expect(try plan.scriptText("t") == "from a")
  }

  @Test func `merged tasks join the explicit ones`() throws {
    let plan = try plan(
      """
      x-tasks: &tasks
        b: { run: merged }
        a: { run: merged }
      tasks:
        a: { run: own, needs: b }
        <<: *tasks
      """)
    #expect(plan.taskCount == 2)
    #expect(try plan.scriptText("a") == "own")
    #expect(try plan.scriptText("b") == "merged")
  }

  @Test func `an error in a merged map is reported once, at its place`() {
    #expect(
      errors(
        in: """
          x-base: &base { runn: x, timeout: soon }
          tasks:
            a: { <<: *base, run: x }
            b: { <<: *base, run: x }
          """) == [
          "1:17: unknown key `runn` in a task",
          "1:35: `timeout` must be a duration, not `soon`",
        ])
  }

  @Test func `Windows line endings and a byte order mark are fine`() throws {
    let plan = try plan("\u{FEFF}tasks:\r\n  a:\r\n    run: |\r\n      one\r\n      two\r\n")
    #expect(try plan.scriptText("a") == "one\ntwo\n")
    #expect(
      errors(in: "\u{FEFF}a: 1\r\ntasks:\r\n  b: 2\r\n").map { $0.prefix(4) } == ["1:1:", "3:6:"])
  }

  @Test func `blocks and quotes give the string that YAML defines`() throws {
    let plan = try plan(
      #"""
      tasks:
        a: { run: "a\tb \u00e4 \x41 \
             c" }
        b:
          run: >-
            one
            two

            three
        c: { run: 'it''s' }
        d: { run: !!str 5 }
      """#)
    #expect(try plan.scriptText("a") == "a\tb ä A c")
    #expect(try plan.scriptText("b") == "one two\nthree")
    #expect(try plan.scriptText("c") == "it's")
    #expect(try plan.scriptText("d") == "5")
  }

  @Test func `characters of several bytes are read unchanged`() throws {
    let plan = try plan(
      "# ünïcödé\ntasks:\n  a: { run: echo „ä“ 日本 🎉, desc: 'ß' }\n  b: { run: x }\n")
    #expect(try plan.scriptText("a") == "echo „ä“ 日本 🎉")
    #expect(try plan.scriptText("b") == "x")
  }

  @Test func `keys that begin with x- are ignored`() throws {
    _ = try plan("x-anything: [1, { a: b }]\nx-: ~\ntasks: { a: { run: x } }")
  }

  @Test func `ids of every allowed character are taken`() throws {
    let id = "aZ0_.-+@:/x"
    let plan = try plan("tasks: { '\(id)': { run: x }, b: { run: x, needs: '\(id)' } }")
    #expect(try plan.needTexts("b") == ["\(id) on success"])
  }
}
