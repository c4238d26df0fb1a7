import OpflowManifest
import OpflowPlan
import Testing

/// `inputs` and `outputs`, from the manifest to the plan.
struct DeclaredFileTests {
  @Test func `every kind of entry comes into the plan, lists in lists one behind the other`()
    throws
  {
    let plan = try plan(
      """
      vars: { ext: "ch" }
      x-common: &common
        - ../include
        - [{ env: CC }, { run: [gcc, --version] }]
      tasks:
        a:
          run: x
          inputs: [main.c, *common, [["**/*.${{ vars.ext }}", /usr/include/, "a b", "{}.c"]], main.c]
          outputs: ["out/${{ task.id }}", [out/*.map, []], out/]
        b: { run: x, inputs: "*.c", outputs: o/b }
        c: { run: x, inputs: [], outputs: [] }
        d: { run: x }
      """)
    #expect(
      Array(plan.inputs(of: try plan.id("a"))) == [
        .path("main.c"), .path("../include"), .environment("CC"),
        .command(["gcc", "--version"]), .glob("**/*.ch"), .path("/usr/include/"),
        .path("a b"), .path("{}.c"), .path("main.c"),
      ])
    #expect(
      Array(plan.outputs(of: try plan.id("a"))) == [
        .path("out/a"), .glob("out/*.map"), .path("out/"),
      ])
    #expect(Array(plan.inputs(of: try plan.id("b"))) == [.glob("*.c")])
    #expect(Array(plan.outputs(of: try plan.id("b"))) == [.path("o/b")])
    let tasks = plan.tasks.map { TaskID($0) }
    #expect(tasks.map { plan.isChecked($0) } == [true, true, true, false])
    #expect(tasks.map { plan.declaresOutputs($0) } == [true, true, false, false])
    #expect(plan.hasChecks)
  }

  @Test func `the value of an expression is a name, and what is written a pattern`() throws {
    let plan = try plan(
      """
      vars: { dir: "a[1]", all: "*.c", back: 'x\\', odd: "!{a,b}", none: "" }
      env: { Q: "what?" }
      tasks:
        a:
          matrix: { f: ["[x]", "y*"] }
          run: x
          inputs:
            - "${{ vars.dir }}/*.c"
            - "${{ vars.all }}"
            - "${{ vars.back }}*"
            - "${{ vars.odd }}"
            - "${{ env.Q }}"
            - "${{ matrix.f }}.in"
            - "src/${{ '**' }}/[${{ vars.back }}]"
            - "[!a${{ vars.dir }}/[ab]/[*]*"
            - 's/\\${{ vars.all }}'
            - 's/\\\\${{ vars.all }}'
            - 's/\\${{ vars.none }}*'
            - '[\\${{ vars.all }}'
            - 'lit\\*[[]eral'
            - plain
          outputs: ["o/${{ matrix.f }}", 'p\\?${{ matrix.f }}']
      """)
    let task = try plan.id("a[f=%5Bx%5D]")
    #expect(
      Array(plan.inputs(of: task)) == [
        .glob(#"a\[1]/*.c"#), .path("*.c"), .glob(#"x\\*"#), .path("!{a,b}"), .path("what?"),
        .path("[x].in"), .path(#"src/**/[x\]"#),
        .glob(#"\[!aa\[1]/[ab]/[*]*"#), .path(#"s/\*.c"#), .path(#"s/\*.c"#),
        .glob(#"s/\\*"#), .path(#"[\*.c"#), .path("lit*[eral"), .path("plain"),
      ])
    #expect(Array(plan.outputs(of: task)) == [.path("o/[x]"), .path("p?[x]")])
    for (name, text) in [
      ("*.c", "${{ vars.all }}"), ("[x].in", "${{ matrix.f }}.in"),
      ("p?[x]", #"p\?${{ matrix.f }}"#),
      ("plain", nil), ("!{a,b}", nil),
    ] {
      #expect(plan.writtenText(ofPath: name, of: task) == text, "\(name)")
    }
  }

  @Test func `the quoting of a name does not change the declaration of its task`() throws {
    func digest(_ output: String) throws -> UInt64 {
      try plan("vars: { v: 'o[1]' }\ntasks: { a: { run: x, outputs: [\(output)] } }")
        .declarationDigest(TaskID(0))
    }
    #expect(try digest("'${{ vars.v }}'") == digest(#"'o\[1]'"#))
    #expect(try digest("'${{ vars.v }}'") != digest("'o[1]'"))
  }

  @Test(arguments: [
    ("{a,b}${{ vars.x }}", "`{a,b}x` contains `{a,b}`, but opflow does not expand braces"),
    ("{${{ vars.x }},b}/*", "`{x,b}/*` contains `{,b}`, but opflow does not expand braces"),
    ("!${{ vars.x }}", "`!x` begins with `!`, but a pattern cannot exclude files"),
    ("${{ vars.none }}", "an item of `inputs` is empty: the result of `${{ vars.none }}`"),
    ("[${{ vars.x }}/[a", "`\\[x/[a` is not a valid pattern: a `[` has no `]`"),
  ])
  func `the text around an expression is checked`(input: String, message: String) {
    let found = errors(
      in: "vars: { x: x, none: '' }\ntasks: { a: { run: x, inputs: ['\(input)'] } }")
    #expect(found.first.map { $0.hasSuffix(": \(message)") } ?? false, "\(found)")
  }

  @Test func `a name from a value may be of spaces alone`() throws {
    let plan = try plan("vars: { v: ' ' }\ntasks: { a: { run: x, inputs: ['${{ vars.v }}'] } }")
    #expect(Array(plan.inputs(of: TaskID(0))) == [.path(" ")])
    #expect(errors(in: "tasks: { a: { run: x, inputs: [' '] } }").count == 1)
  }

  @Test func `the output of a download is its file, as it is written`() throws {
    let plan = try plan(
      "tasks: { a: { dir: in, download: { url: 'http://h/x', to: 'x[1].tgz' } } }")
    let task = try plan.id("a")
    #expect(!plan.hasChecks && !plan.isChecked(task) && plan.declaresOutputs(task))
    #expect(Array(plan.outputs(of: task)) == [.path("x[1].tgz")])
  }

  @Test func `each matrix task has its own, and a matrix without tasks has none`() throws {
    let plan = try plan(
      """
      tasks:
        build:
          matrix: { arch: [x86, arm] }
          run: x
          inputs: [common.c, "${{ matrix.arch }}.c", { env: "CC_${{ matrix.arch }}" }]
          outputs: ["out/${{ matrix.arch }}"]
        none:
          matrix: { f: { glob: "*.csv" } }
          run: x
          inputs: ["${{ matrix.f }}"]
          outputs: [x]
      """)
    for arch in ["x86", "arm"] {
      let task = try plan.id("build[arch=\(arch)]")
      #expect(
        Array(plan.inputs(of: task)) == [
          .path("common.c"), .path("\(arch).c"), .environment("CC_\(arch)"),
        ])
      #expect(Array(plan.outputs(of: task)) == [.path("out/\(arch)")])
    }
    let none = try plan.id("none")
    #expect(!plan.isChecked(none) && !plan.declaresOutputs(none))
  }

  @Test func `merged maps give the list whole, or not at all`() throws {
    let plan = try plan(
      """
      x-base: &base { run: x, inputs: [a, b] }
      tasks:
        one: { <<: *base }
        two: { <<: *base, inputs: [c] }
      """)
    #expect(Array(plan.inputs(of: try plan.id("one"))) == [.path("a"), .path("b")])
    #expect(Array(plan.inputs(of: try plan.id("two"))) == [.path("c")])
  }

  @Test func `paths of included tasks stay as they are written, from their own folder`() throws {
    let plan = try plan(
      "include: [{ path: sub/m.yaml, as: s }]\ntasks: { a: { run: x, inputs: [f] } }",
      files: ["sub/m.yaml": "tasks: { b: { run: x, inputs: [f, g*], outputs: [o] } }"])
    let task = try plan.id("s/b")
    #expect(Array(plan.inputs(of: task)) == [.path("f"), .glob("g*")])
    #expect(Array(plan.outputs(of: task)) == [.path("o")])
    #expect(try plan.directoryText("s/b") == "/data/project/sub")
  }

  @Test
  func `inputs and outputs are not in the fingerprint, and outputs are in the digest`()
    throws
  {
    func compiled(_ keys: String) throws -> (Fingerprint, UInt64) {
      let plan = try plan("tasks: { a: { run: x\(keys) } }")
      return (plan.fingerprint(TaskID(0)), plan.declarationDigest(TaskID(0)))
    }
    let first = try compiled(", inputs: [a, b], outputs: [c]")
    for keys in ["", ", inputs: [a]", ", inputs: [a, b], outputs: [d]"] {
      #expect(try compiled(keys).0 == first.0)
    }
    #expect(try compiled(", inputs: ['*'], outputs: [c]").1 == first.1)
    #expect(try compiled(", inputs: [a, b], outputs: [d]").1 != first.1)
    #expect(try compiled(", inputs: [a, b, { env: CC }], outputs: [c]").1 != first.1)
  }

  @Test func `a task may declare an output twice`() throws {
    let text = "tasks: { a: { run: x, outputs: [o, o, ./o, o/, 'p*', 'p*'] } }"
    #expect(try compile(text).warnings.isEmpty)
  }

  @Test func `a path with a shell variable has a warning`() throws {
    let warnings = try compile(
      "tasks: { a: { run: x, inputs: [$HOME/x], outputs: ['~/y'] } }"
    ).warnings
    #expect(
      warnings.map(\.message) == [
        "an item of `inputs` contains `$HOME`, which opflow does not expand here",
        "an item of `outputs` contains `~`, which opflow does not expand here",
      ])
  }

  @Test func `a task with cache and inputs is cached`() throws {
    let cached = try plan(
      """
      secrets: { TOKEN: { env: HOME } }
      tasks:
        a: { run: x, inputs: [s], cache: true }
        b: { run: x, inputs: [s], cache: false }
        c: { run: x, inputs: [s], secrets: [TOKEN], cache: { secrets: true } }
      """
    )
    #expect(try ["a", "b", "c"].map { cached.isCached(try cached.id($0)) } == [true, false, true])
    #expect(cached.hasCaches && cached.contentHash == .strong)
  }

  @Test(arguments: [
    ("run: x, cache: true", "`cache` needs `inputs`"),
    ("run: x, inputs: [s], cache: yes", "`cache` must be true or false, not `yes`"),
    ("run: x, inputs: [s], cache: { secret: true }", "unknown key `secret` in `cache`"),
    (
      "run: x, inputs: [s], secrets: [TOKEN], cache: true",
      "a task with `secrets` needs `cache: { secrets: true }`"
    ),
    (
      "run: x, inputs: [s], interactive: true, cache: true",
      "an `interactive` task cannot have `cache`"
    ),
    (
      "run: x, inputs: [a], control: true, cache: true",
      "a task with `control` cannot have `cache`"
    ),
    ("download: { url: 'http://a/b', to: b }, cache: true", "a download cannot have `cache`"),
    (
      "run: x, inputs: [s], outputs: [../o], cache: true",
      "`../o` is outside the manifest's folder, and `cache` restores nothing there"
    ),
    (
      "run: x, inputs: [src], outputs: [src], cache: true",
      "`src` is also an output of this task, and `cache` would overwrite it with an old copy"
    ),
    (
      "run: x, inputs: ['src/**/*.c'], outputs: [./src], cache: true",
      "`src/**/*.c` is part of this task's output `./src`, and `cache` would overwrite it with an"
        + " old copy"
    ),
    (
      "run: x, inputs: [in], outputs: ['*'], cache: true",
      "`*` includes `m.yaml`, a file of this manifest: `cache` would overwrite it with an old copy"
    ),
    (
      "run: x, inputs: [in.c], outputs: ['*.c'], cache: true",
      "`in.c` is part of this task's output `*.c`, and `cache` would overwrite it with an old copy"
    ),
    (
      "run: x, inputs: [s], outputs: ['*.y?ml'], cache: true",
      "`*.y?ml` includes `m.yaml`, a file of this manifest: `cache` would overwrite it with an old"
        + " copy"
    ),
    (
      "run: x, inputs: [s], outputs: [.], cache: true",
      "`.` is the manifest's folder, and `cache` needs outputs below it"
    ),
  ])
  func `a task that cannot be cached is an error`(keys: String, message: String) throws {
    let found = errors(in: "secrets: { TOKEN: { env: HOME } }\ntasks: { a: { \(keys) } }")
    #expect(found.first.map { $0.hasSuffix(": \(message)") } ?? false, "\(found)")
  }
}
