import OpflowManifest
import OpflowPlan
import Testing

/// The matrix tasks that a `matrix` makes: their IDs and their commands.
struct MatrixTests {
  /// The IDs of the matrix tasks of a task `t` with that matrix.
  private func instances(_ matrix: String, files: [String: String] = [:]) throws -> [String] {
    try plan("tasks:\n  t:\n    run: x\n    matrix: \(matrix)\n", files: files).ids
  }

  @Test func `each combination makes a matrix task, and the last axis changes first`() throws {
    #expect(
      try instances("{ arch: [x86_64, aarch64], mode: [debug, release] }") == [
        "t[arch=x86_64,mode=debug]", "t[arch=x86_64,mode=release]",
        "t[arch=aarch64,mode=debug]", "t[arch=aarch64,mode=release]",
      ])
  }

  @Test func `matrix tasks are where their task is declared`() throws {
    let plan = try plan(
      "tasks: { a: { run: x }, b: { run: x, matrix: { n: [1, 2] } }, c: { run: x } }")
    #expect(plan.ids == ["a", "b[n=1]", "b[n=2]", "c"])
  }

  @Test func `values keep the text that they are written with`() throws {
    #expect(
      try instances("{ v: [3.10, 3.1, \"1\", 0x10, true, yes, 007, 1e3, -5] }") == [
        "t[v=3.10]", "t[v=3.1]", "t[v=1]", "t[v=0x10]", "t[v=true]", "t[v=yes]", "t[v=007]",
        "t[v=1e3]", "t[v=-5]",
      ])
  }

  @Test func `a range counts from its first number to its last`() throws {
    #expect(
      try instances("{ n: { range: [-1, 2] } }") == ["t[n=-1]", "t[n=0]", "t[n=1]", "t[n=2]"])
    #expect(try instances("{ n: { range: [3, 3] } }") == ["t[n=3]"])
  }

  @Test func `bounds of a range and values may be expressions`() throws {
    let plan = try plan(
      """
      vars: { shards: 2, mode: fast }
      tasks:
        t:
          run: x
          matrix: { n: { range: [1, "${{ vars.shards }}"] }, m: ["${{ vars.mode }}-1"] }
      """)
    #expect(plan.ids == ["t[n=1,m=fast-1]", "t[n=2,m=fast-1]"])
  }

  @Test func `bytes that no id may have are escaped, and an empty value is one`() throws {
    #expect(
      try instances(
        "{ v: [\"a b\", \"x,y=[z]\", \"50%\", \"é\", \"\", \"a/b.c-d+e@f:g_h\", \"~\"] }")
        == [
          "t[v=a%20b]", "t[v=x%2Cy%3D%5Bz%5D]", "t[v=50%25]", "t[v=%C3%A9]", "t[v=]",
          "t[v=a/b.c-d+e@f:g_h]", "t[v=%7E]",
        ])
  }

  @Test func `an id of more than two hundred bytes is cut, and ended by a hash`() throws {
    let long = String(repeating: "x", count: 195)
    let ids = try instances("{ v: [\(long), \(long)y, \(long)z, \"\(long)  é\"] }")
    #expect(ids[0] == "t[v=\(long)]")
    #expect(ids[0].utf8.count == 200)
    for id in ids[1...] {
      #expect(id.utf8.count <= 200)
      #expect(id.hasPrefix("t[v=xxxx"))
      #expect(id.suffix(18).first == "~" && id.last == "]")
    }
    #expect(Set(ids).count == 4)
  }

  @Test func `the name of a matrix is never cut`() throws {
    let name = String(repeating: "n", count: 250)
    let ids = try plan("tasks: { \(name): { run: x, matrix: { v: [a, b] } } }").ids
    #expect(ids.allSatisfy { $0.hasPrefix(name + "[") })
    #expect(Set(ids).count == 2)
  }

  @Test func `exclude removes matrix tasks by some of their values`() throws {
    #expect(
      try instances(
        "{ a: [1, 2], b: [x, y], exclude: [{ a: 1, b: x }, { b: \"y\", a: 2 }] }")
        == ["t[a=1,b=y]", "t[a=2,b=x]"])
    #expect(
      try instances("{ a: [1, 2], b: [x, y], exclude: [{ a: 1 }] }") == [
        "t[a=2,b=x]", "t[a=2,b=y]",
      ])
  }

  @Test func `include adds whole matrix tasks, also an excluded one, and changes none`() throws {
    #expect(
      try instances(
        "{ a: [1, 2], b: [x], exclude: [{ a: 1 }], include: [{ b: x, a: 1 }, { a: 9, b: z }] }")
        == ["t[a=2,b=x]", "t[a=1,b=x]", "t[a=9,b=z]"])
  }

  @Test func `values of a row belong together, and the first column makes the ID`() throws {
    let text = """
      tasks:
        t:
          run: x ${{ matrix.sample }} ${{ matrix.depth }} ${{ matrix.chrom }}
          matrix:
            rows:
              - { sample: s1, depth: 30 }
              - { depth: 60, sample: s2 }
            chrom: [c1, c2]
      """
    let plan = try plan(text)
    #expect(
      plan.ids == [
        "t[sample=s1,chrom=c1]", "t[sample=s1,chrom=c2]", "t[sample=s2,chrom=c1]",
        "t[sample=s2,chrom=c2]",
      ])
    #expect(try plan.scriptText("t[sample=s2,chrom=c1]") == "x s2 60 c1")
  }

  @Test(arguments: [
    ("s.tsv", "sample\tdepth\ns1\t30\n007\t1 2\n"),
    ("s.tsv", "\u{EF}\u{BB}\u{BF}sample\tdepth\r\n\r\ns1\t30\r\n007\t1 2\r\n\n\n"),
    ("s.tsv", "sample\tdepth\ns1\t30\n007\t1 2"),
    ("s.csv", "sample,depth\ns1,30\n007,1 2\n"),
    ("s.csv", "\"sample\",depth\r\n\"s1\",\"30\"\r\n007,\"1 2\"\r\n"),
  ])
  func `a table has a header row and a line for each row`(_ name: String, _ text: String) throws {
    let plan = try plan(
      "tasks: { t: { run: 'x ${{ matrix.depth }}', matrix: { rows: \(name) } } }",
      files: [name: text])
    #expect(plan.ids == ["t[sample=s1]", "t[sample=007]"])
    #expect(try plan.scriptText("t[sample=007]") == "x 1 2")
  }

  @Test func `values in quotes may contain commas, quotes and newlines`() throws {
    let plan = try plan(
      "tasks: { t: { run: [x, '${{ matrix.b }}'], matrix: { rows: { file: s.csv } } } }",
      files: ["s.csv": "a,b\n1,\"x, \"\"y\"\"\nz\"\n2,\n"])
    #expect(try plan.wordTexts("t[a=1]") == ["x", "x, \"y\"\nz"])
    #expect(try plan.wordTexts("t[a=2]") == ["x", ""])
  }

  @Test func `expressions in a file are not evaluated`() throws {
    let plan = try plan(
      "tasks: { t: { run: [x, '${{ matrix.b }}'], matrix: { rows: s.tsv } } }",
      files: ["s.tsv": "a\tb\n1\t${{ env.HOME }}\n"])
    #expect(try plan.wordTexts("t[a=1]") == ["x", "${{ env.HOME }}"])
  }

  @Test func `lines of a file are values, empty ones are none`() throws {
    #expect(
      try instances("{ f: { lines: list.txt } }", files: ["list.txt": "a\r\n\nb c\n#d"])
        == ["t[f=a]", "t[f=b%20c]", "t[f=%23d]"])
  }

  @Test func `files that fit a pattern are values, sorted`() throws {
    #expect(
      try instances("{ f: { glob: \"d/*.csv\" } }", files: ["d/b.csv": "", "d/a.csv": "", "e": ""])
        == ["t[f=d/a.csv]", "t[f=d/b.csv]"])
  }

  @Test(arguments: [
    ("{ f: { glob: \"*.zip\" } }", "no file matches `*.zip`, so the task has no matrix tasks"),
    ("{ f: { lines: empty } }", "`empty` has no values, so the task has no matrix tasks"),
    ("{ rows: empty }", "`empty` has no values, so the task has no matrix tasks"),
    ("{ rows: names.tsv, c: [1] }", "`names.tsv` has no values, so the task has no matrix tasks"),
    ("{ f: { lines: one }, exclude: [{ f: a }] }", "`exclude` removes all matrix tasks"),
  ])
  func `an empty matrix is one task that is skipped, with a warning`(
    _ matrix: String, _ warning: String
  ) throws {
    let text = """
      tasks:
        t: { run: 'x ${{ matrix.f }}', timeout: '${{ matrix.time }}', matrix: \(matrix) }
        all: { needs: t, run: x }
        some: { needs: ["t[f=1]"], run: x }
      """
    let files = ["empty": "\n\r\n", "names.tsv": "a\tb\n", "one": "a"]
    let plan = try plan(text, files: files)
    #expect(plan.ids == ["t", "all", "some"])
    #expect(plan.flags(try plan.id("t")).isSuperset(of: [.conditionFalse, .emptyMatrix]))
    #expect(try plan.needTexts("all") == ["t on success"])
    #expect(try plan.needTexts("some") == ["t on success"])
    #expect(try compile(text, files: files).warnings.map(\.message) == [warning])
  }

  @Test func `include adds matrix tasks if a file has no values`() throws {
    #expect(
      try instances("{ f: { glob: \"*.zip\" }, include: [{ f: a.zip }] }") == ["t[f=a.zip]"])
  }

  @Test func `an item of exclude that matches no matrix task has a warning`() throws {
    let compiled = try compile(
      "tasks: { t: { run: x, matrix: { a: [1, 2], exclude: [{ a: 2 }, { a: 3 }] } } }")
    #expect(compiled.taskCount == 1)
    #expect(compiled.warnings.map(\.message) == ["this item of `exclude` matches no matrix task"])
    #expect(compiled.warnings.map(\.column) == [64])
  }

  @Test func `every value of a task may use matrix values, and may be one`() throws {
    let plan = try plan(
      """
      resources: { gpu: 4 }
      tasks:
        t:
          matrix: { rows: [{ n: a, gpu: 1, last: false, time: 5s, low: low }, { n: b, gpu: 0.5, last: true, time: 1m, low: 7 }] }
          desc: leg ${{ matrix.n }} of ${{ task.id }}
          run: [echo, "${{ matrix.n }}"]
          dir: d/${{ matrix.n }}
          env: { N: "${{ matrix.n }}" }
          if: matrix.n != 'a'
          finally: ${{ matrix.last }}
          timeout: ${{ matrix.time }}
          priority: ${{ matrix.low }}
          resources: { gpu: "${{ matrix.gpu }}" }
          retry: { max: "${{ matrix.last && '3' || '1' }}" }
          tags: [all, "${{ matrix.n }}"]
      """)
    let (a, b) = (try plan.id("t[n=a]"), try plan.id("t[n=b]"))
    #expect(plan.description(of: b) == "leg b of t[n=b]")
    #expect(try plan.wordTexts("t[n=a]") == ["echo", "a"])
    #expect(try plan.directoryText("t[n=b]") == "/data/project/d/b")
    #expect(try plan.environmentTexts("t[n=a]") == ["N=a"])
    #expect(plan.flags(a) == [.conditionFalse])
    #expect(plan.flags(b) == [.finally])
    #expect(plan.policy(a).timeoutMilliseconds == 5000)
    #expect(plan.policy(b).timeoutMilliseconds == 60_000)
    #expect(plan.priority[a.index] == -4)
    #expect(plan.priority[b.index] == 7)
    #expect(try plan.demandTexts("t[n=b]") == ["cpu=1", "gpu=0.5"])
    #expect(plan.policy(b).retryMax == 3)
    #expect(plan.texts(.tags, of: a).map { plan.string($0) } == ["all", "a"])
  }

  @Test func `a matrix may be merged into tasks`() throws {
    let plan = try plan(
      """
      x-two: &two { matrix: { n: [1, 2] }, run: "x ${{ matrix.n }}" }
      tasks:
        a: { <<: *two }
        b: { <<: *two, matrix: { n: [3] } }
        c: { run: x, "matri\\x78": { n: [4] } }
      """)
    #expect(plan.ids == ["a[n=1]", "a[n=2]", "b[n=3]", "c[n=4]"])
  }

  @Test func `the plan has its matrices`() throws {
    let plan = try plan(
      """
      tasks:
        a: { run: x }
        t: { run: x, matrix: { rows: [{ s: p, d: q }], m: [1, 2] } }
        e: { run: x, matrix: { f: { glob: none } } }
      """)
    #expect(plan.matrixGroups.count == 1)
    #expect(plan.matrixGroupName(MatrixGroupID(0)) == "t")
    #expect(plan.instances(MatrixGroupID(0)) == 1..<3)
    #expect(plan.axes(MatrixGroupID(0)).map { plan.string($0) } == ["s", "d", "m"])
    #expect(
      plan.instanceValues(TaskID(2), of: MatrixGroupID(0)).map { plan.string($0) } == [
        "p", "q", "2",
      ])
    #expect(plan.tasks.map { plan.matrixGroup(of: TaskID($0))?.index } == [nil, 0, 0, nil])
  }
}
