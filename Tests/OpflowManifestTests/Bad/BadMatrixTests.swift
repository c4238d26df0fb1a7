import OpflowManifest
import Testing

/// Errors in a `matrix`, in the file that has them.
struct BadMatrixTests {
  @Test(arguments: shapes + axes + ranges + rows + lists)
  func `is refused with every error at its place`(_ bad: BadManifest) {
    #expect(errors(in: bad.text, files: Self.files) == bad.errors)
  }

  private static let files = [
    "good.tsv": "a\tb\n1\t2\n", "short.tsv": "a\tb\n1\t2\n3\n", "long.csv": "a,b\n1,2,3\n",
    "twice.tsv": "a\tb\n1\t2\n1\t3\n", "unnamed.tsv": "a\t\n1\t2\n", "blank.csv": "a, b\n1,2\n",
    "same.tsv": "a\ta\n1\t2\n", "nothing.tsv": "a\tb\n\t2\n", "nul.tsv": "a\n1\u{0}\n",
    "latin.tsv": "a\n1\n\u{E9}\n", "open.csv": "a,b\n1,\"x\n", "behind.csv": "a\n\"x\"y\n",
    "lines": "p\nq\n\np\n", "loop": "!Too many levels of symbolic links",
    "folder": "!it is a folder",
    "nul": "p\u{0}q", "many.tsv": "a\tb\n1\n2\n3\t4\t5\n",
  ]

  /// A task with that matrix, whose value begins at 3:13.
  private static func matrix(_ title: String, _ text: String, _ errors: String...) -> BadManifest {
    var bad = BadManifest(title, "tasks:\n  a:\n    matrix: \(text)\n    run: x\n")
    bad.errors = errors
    return bad
  }

  static let shapes: [BadManifest] = [
    matrix("a list", "[a]", "3:13: `matrix` must be a map, not a list"),
    matrix("a list of maps", "[{ a: 1 }]", "3:13: `matrix` must be a map, not a list"),
    matrix("a text", "a", "3:13: `matrix` must be a map, not a string"),
    matrix("nothing", "", "3:12: `matrix` must be a map, not empty"),
    matrix("an empty map", "{}", "3:13: `matrix` is empty"),
    matrix(
      "no axis", "{ exclude: [{ a: 1 }], include: [{ a: 1 }] }",
      "3:13: `matrix` has no axis and no `rows`"),
    matrix(
      "an axis twice", "{ n: [1], n: [2] }", "3:23: the key `n` occurs twice in this map"),
    matrix("an axis with a dot", "{ a.b: [1] }", "3:15: `a.b` is not a valid name in a `matrix`"),
    matrix("an axis that is a number", "{ 1: [1] }", "3:15: `1` is not a valid name in a `matrix`"),
    matrix("an axis without a name", "{ \"\": [1] }", "3:15: `` is not a valid name in a `matrix`"),
    matrix(
      "an axis that is a column", "{ rows: [{ n: 1 }], n: [1] }",
      "3:33: the `matrix` has the name `n` twice"),
    matrix(
      "a matrix that speaks of itself", "{ a: [1], b: [\"${{ matrix.a }}\"] }",
      "3:32: unknown name `matrix.a`"),
    matrix(
      "a matrix that speaks of its task", "{ a: [\"${{ task.id }}\"] }",
      "3:24: `task.id` has no value outside a task"),
    BadManifest(
      "an unknown name in an expression",
      task: "run: x ${{ matrix.arhc }}\nmatrix: { arch: [a, b] }",
      "3:16: unknown name `matrix.arhc`"),
    BadManifest(
      "a matrix of another task",
      "tasks:\n  a: { run: 'x', matrix: { n: [1] } }\n  b: { run: 'x ${{ matrix.n }}' }",
      "3:20: unknown name `matrix.n`"),
    BadManifest(
      "an id that is none", "tasks:\n  'a b': { run: x, matrix: { n: [1, 2] } }",
      "2:3: `a b` is not a valid task ID"),
    BadManifest(
      "an ID with a bracket", "tasks:\n  'a[n=1]': { run: x }",
      "2:3: `a[n=1]` is not a valid task ID"),
    BadManifest(
      "an unknown key, once for all legs", task: "run: x\nmatrix: { n: [1, 2, 3] }\nfrobnicate: 1",
      "5:5: unknown key `frobnicate` in a task"),
    BadManifest(
      "a value that is wrong in each leg, once",
      task: "run: x\nmatrix: { n: [p, q, r] }\ntimeout: ${{ matrix.n }}",
      "5:14: `timeout` must be a duration, not `p`"),
    BadManifest(
      "a value that is wrong in some legs",
      task: "run: x\nmatrix: { n: [1s, q, 2s, r] }\ntimeout: ${{ matrix.n }}",
      "5:14: `timeout` must be a duration, not `q`"),
    BadManifest(
      "one file of all legs",
      task: "matrix: { n: [1, 2] }\ndownload: { url: 'https://x/y', to: z }",
      "4:41: `z` is written twice"),
  ]

  static let axes: [BadManifest] = [
    matrix(
      "an axis that is a text", "{ arch: a }", "3:21: `matrix.arch` must be a list, not a string"),
    matrix("an axis that is nothing", "{ arch: }", "3:21: `matrix.arch` must be a list, not empty"),
    matrix("an empty list", "{ arch: [] }", "3:21: `matrix.arch` is empty"),
    matrix(
      "a null", "{ arch: [~] }",
      "3:22: `matrix.arch` must be a list of strings, numbers or booleans, not null"),
    matrix(
      "a list in a list", "{ arch: [[a]] }",
      "3:22: `matrix.arch` must be a list of strings, numbers or booleans, not a list"),
    matrix(
      "a map in a list", "{ arch: [{ n: a }] }",
      "3:22: an item of `matrix.arch` must be a value, not a map"),
    matrix(
      "a value twice", "{ arch: [a, b, a] }",
      "3:28: `a` occurs twice in `matrix.arch`; two matrix tasks would be equal"),
    matrix(
      "a number and the same text", "{ v: [1, \"1\"] }",
      "3:22: `1` occurs twice in `matrix.v`; two matrix tasks would be equal"),
    matrix(
      "an expression without quotes", "{ arch: {{ vars.x }} }",
      "3:21: `matrix.arch` must be a list, not a map"),
    matrix("a map without values", "{ n: {} }", "3:18: `matrix.n` has no values"),
    matrix(
      "an unknown way", "{ n: { count: 3 } }", "3:18: `matrix.n` has no values",
      "3:20: unknown key `count` in an axis of a `matrix`"),
    matrix(
      "two ways", "{ n: { range: [1, 2], lines: f } }",
      "3:35: `matrix.n` has both `range` and `lines`"),
    matrix(
      "a pattern that is none", "{ n: { glob: [a] } }",
      "3:26: `glob` must be a string, not a list"),
    matrix("an empty pattern", "{ n: { glob: '' } }", "3:26: `glob` is empty"),
    matrix(
      "a bracket that is not closed", "{ n: { glob: 'a[' } }",
      "3:26: cannot expand `a[`: its `[` is not closed"),
    matrix(
      "no file of lines", "{ n: { lines: 5 } }", "3:27: `lines` must be a string, not a number"),
    matrix(
      "a file that is not there", "{ n: { lines: gone } }",
      "3:27: cannot read `gone`: no such file"),
    matrix(
      "links in a ring", "{ n: { lines: loop } }",
      "3:27: cannot read `loop`: Too many levels of symbolic links"),
    matrix("a folder", "{ n: { lines: folder } }", "3:27: cannot read `folder`: it is a folder"),
    matrix(
      "a line twice", "{ n: { lines: lines } }",
      "lines:4:1: `p` occurs twice in `matrix.n`; two matrix tasks would be equal"),
    matrix("a file with a NUL", "{ n: { lines: nul } }", "nul:1:2: the file contains a NUL byte"),
    matrix(
      "after a task that is not there", "{ n: { glob: '*.gz', after: pull } }",
      "3:41: unknown task `pull`"),
    matrix(
      "after alone", "{ n: { after: pull } }",
      "3:18: `matrix.n` has no values"),
  ]

  static let ranges: [BadManifest] = [
    matrix(
      "a number", "{ n: { range: 5 } }", "3:27: `range` must be a list of two numbers, not a number"
    ),
    matrix(
      "one bound", "{ n: { range: [5] } }",
      "3:27: `range` must be two numbers, the first and the last, not 1"),
    matrix(
      "three", "{ n: { range: [1, 2, 3] } }",
      "3:27: `range` must be two numbers, the first and the last, not 3"),
    matrix(
      "texts", "{ n: { range: [a, 2] } }",
      "3:28: an item of `range` must be a whole number, not `a`"),
    matrix(
      "fractions", "{ n: { range: [1, 2.5] } }",
      "3:31: an item of `range` must be a whole number, not `2.5`"),
    matrix("backwards", "{ n: { range: [4, 1] } }", "3:27: `range` ends before it begins: 4 to 1"),
    matrix(
      "a zero that would be lost", "{ n: { range: [01, 10] } }",
      "3:28: a number of `range` begins with 0, but the values would not"),
    matrix(
      "numbers beyond all", "{ n: { range: [1, 99999999999999999999] } }",
      "3:31: an item of `range` must be at most 1000000000000000, not 99999999999999999999"),
    matrix(
      "a thousand million legs", "{ n: { range: [1, 1000000000] } }",
      "3:15: too many matrix tasks: 1000000000"),
    matrix(
      "a product beyond all numbers",
      """
      { a: { range: [1, 1000000000] }, b: { range: [1, 1000000000] }, \
      c: { range: [0, 1000000000] } }
      """,
      "3:77: too many matrix tasks: 1000000000 × 1000000000 × 1000000001"),
    matrix(
      "too many before exclude",
      "{ a: { range: [1, 1001] }, b: { range: [1, 1000] }, exclude: [{ a: 1 }] }",
      "3:15: too many matrix tasks: 1001 × 1000 = 1001000"),
  ]

  static let rows: [BadManifest] = [
    matrix("rows that are a number", "{ rows: 5 }", "3:21: `rows` must be a string, not a number"),
    matrix("no rows", "{ rows: [] }", "3:21: `rows` is empty"),
    matrix("rows of texts", "{ rows: [a] }", "3:22: an item of `rows` must be a map, not a string"),
    matrix("a first row without names", "{ rows: [{}] }", "3:22: the first row is empty"),
    matrix(
      "a column that is missing", "{ rows: [{ a: 1, b: 2 }, { a: 3 }] }",
      "3:38: `b` is missing here; each row needs the names of the first"),
    matrix(
      "a column too many", "{ rows: [{ a: 1, size: 2 }, { a: 3, sise: 4 }] }",
      "3:49: the `matrix` has no name `sise`"),
    matrix(
      "a row twice", "{ rows: [{ a: 1, b: 2 }, { b: 3, a: 1 }] }",
      "3:49: `1` occurs twice in `rows.a`; two matrix tasks would be equal"),
    matrix(
      "a null in a row", "{ rows: [{ a: ~ }] }",
      "3:27: `matrix.a` must be a string, a number or a boolean, not null"),
    matrix(
      "a list in a row", "{ rows: [{ a: [1] }] }",
      "3:27: `matrix.a` must be a string, a number or a boolean, not a list"),
    matrix(
      "a bad name in a row", "{ rows: [{ 'a b': 1 }] }",
      "3:24: `a b` is not a valid name in a `matrix`"),
    matrix("a file by no name", "{ rows: {} }", "3:21: `rows` has no `file`"),
    matrix(
      "a file after a task", "{ rows: { file: parts.tsv, after: scan } }",
      "3:47: unknown task `scan`"),
    matrix(
      "an unknown key of rows", "{ rows: { path: x } }", "3:21: `rows` has no `file`",
      "3:23: unknown key `path` in `rows`"),
    matrix(
      "a sheet that is not there", "{ rows: gone.tsv }",
      "3:21: cannot read `gone.tsv`: no such file"),
    matrix(
      "a row that is too short", "{ rows: short.tsv }",
      "short.tsv:3:1: this row has 1 column, but the header row has 2"),
    matrix(
      "a row that is too long", "{ rows: long.csv }",
      "long.csv:2:5: this row has 3 columns, but the header row has 2"),
    matrix(
      "every wrong row of a sheet", "{ rows: many.tsv }",
      "many.tsv:2:1: this row has 1 column, but the header row has 2",
      "many.tsv:3:1: this row has 1 column, but the header row has 2",
      "many.tsv:4:5: this row has 3 columns, but the header row has 2"),
    matrix(
      "a row of a sheet twice", "{ rows: twice.tsv }",
      "twice.tsv:3:1: `1` occurs twice in `rows.a`; two matrix tasks would be equal"),
    matrix(
      "a column without a name", "{ rows: unnamed.tsv }",
      "unnamed.tsv:1:3: `` is not a valid name in a `matrix`"),
    matrix(
      "a space before a name", "{ rows: blank.csv }",
      "blank.csv:1:3: ` b` is not a valid name in a `matrix`"),
    matrix(
      "two columns of a name", "{ rows: same.tsv }",
      "same.tsv:1:3: the `matrix` has the name `a` twice"),
    matrix(
      "a leg without a name", "{ rows: nothing.tsv }",
      "nothing.tsv:2:1: `a` is empty here, but the task's ID needs a value"),
    matrix("a sheet with a NUL", "{ rows: nul.tsv }", "nul.tsv:2:2: the file contains a NUL byte"),
    matrix(
      "a sheet in another encoding", "{ rows: latin.tsv }",
      "latin.tsv:3:1: this line is not valid UTF-8"),
    matrix(
      "a quote that is not closed", "{ rows: open.csv }",
      "open.csv:2:3: a quoted value is not closed"),
    matrix(
      "text behind a quote", "{ rows: behind.csv }",
      "behind.csv:2:4: text follows the closing quote of a value"),
  ]

  static let lists: [BadManifest] = [
    matrix(
      "exclude that is a map", "{ a: [1, 2], exclude: { a: 1 } }",
      "3:35: `exclude` must be a list of maps, not a map"),
    matrix("exclude without items", "{ a: [1, 2], exclude: [] }", "3:35: `exclude` is empty"),
    matrix(
      "exclude of texts", "{ a: [1, 2], exclude: [1] }",
      "3:36: an item of `exclude` must be a map, not a number"),
    matrix(
      "an item that fits all", "{ a: [1, 2], exclude: [{}] }",
      "3:36: an item of `exclude` is empty, so it matches every matrix task"),
    matrix(
      "a key in exclude that is none", "{ arch: [1, 2], exclude: [{ arhc: 1 }] }",
      "3:41: the `matrix` has no name `arhc`"),
    matrix(
      "a list in exclude", "{ a: [1, 2], exclude: [{ a: [1, 2] }] }",
      "3:41: an item of `exclude` takes one value for a name, not a list"),
    matrix(
      "a null in exclude", "{ a: [1, 2], exclude: [{ a: }] }",
      "3:41: `matrix.a` has no value; it must be a string, a number or a boolean"),
    matrix(
      "exclude that leaves nothing", "{ a: [1, 2], exclude: [{ a: 1 }, { a: 2 }] }",
      "3:35: `exclude` removes all matrix tasks"),
    matrix(
      "include that is a map", "{ a: [1], include: { a: 2 } }",
      "3:32: `include` must be a list of maps, not a map"),
    matrix("include without items", "{ a: [1], include: [] }", "3:32: `include` is empty"),
    matrix(
      "include with part of a leg", "{ a: [1], b: [1], include: [{ a: 2 }] }",
      "3:41: `b` is missing here; `include` needs a value for each name"),
    matrix(
      "include with more than a leg", "{ a: [1], include: [{ a: 1, color: green }] }",
      "3:41: the `matrix` has no name `color`"),
    matrix(
      "include of a leg that is there", "{ a: [1, 2], include: [{ a: 2 }] }",
      "3:36: a matrix task with a=2 already exists"),
    matrix(
      "include of a leg twice", "{ a: [1], include: [{ a: 2 }, { a: 2 }] }",
      "3:43: a matrix task with a=2 already exists"),
    matrix(
      "include of another row of that name",
      "{ rows: [{ a: 1, b: 1 }], include: [{ a: 1, b: 2 }] }",
      "3:49: a matrix task with a=1 already exists"),
  ]
}

/// Errors in `needs` that name a matrix.
struct BadMatrixGroupNeedTests {
  @Test(arguments: cases)
  func `is refused with every error at its place`(_ bad: BadManifest) {
    #expect(errors(in: bad.text) == bad.errors)
  }

  /// A task with those keys, which begin at 4:8, below a task with a matrix and one without.
  private static func task(_ title: String, _ keys: String, _ errors: String...) -> BadManifest {
    var bad = BadManifest(
      title,
      """
      tasks:
        one: { run: x }
        build: { run: x, matrix: { arch: [x86, arm], mode: [d, r], exclude: [{ arch: arm, mode: d }] } }
        t: { \(keys), run: x }
      """)
    bad.errors = errors
    return bad
  }

  static let cases: [BadManifest] = [
    task("an unknown family", "needs: ['biuld[arch=arm]']", "4:16: unknown task `biuld[arch=arm]`"),
    task(
      "brackets of a task on its own", "needs: ['one[arch=arm]']",
      "4:16: `one` has no `matrix`, so it has no matrix tasks"),
    task(
      "an unknown name", "needs: ['build[arhc=arm]']",
      "4:16: the `matrix` of `build` has no name `arhc`"),
    task("no name", "needs: ['build[]']", "4:16: the `matrix` of `build` has no name ``"),
    task(
      "a name twice", "needs: ['build[arch=arm,arch=x86]']",
      "4:16: `build[…]` names `arch` twice"),
    task(
      "an unknown value", "needs: ['build[arch=amr]']", "4:16: `build` has no task with arch=amr"),
    task(
      "values that no leg has together", "needs: ['build[mode=d,arch=arm]']",
      "4:16: `build` has no task with arch=arm, mode=d"),
    task(
      "a join of a task on its own", "needs: ['build[arch]']",
      "4:16: `build[arch]` selects by the task's own `arch`, but `t` has no `matrix`"),
    task(
      "a join by what is not mine", "matrix: { cpu: [arm] }, needs: ['build[arch]']",
      "4:40: `build[arch]` selects by the task's own `arch`, but its `matrix` has no name `arch`"),
    task(
      "a leg without a partner", "matrix: { arch: [arm, riscv, mips] }, needs: ['build[arch]']",
      "4:54: `build` has no task with arch=riscv, which `t[arch=riscv]` needs"),
    task(
      "a leg that is needed twice", "needs: [build, 'build[arch=arm]']",
      "4:23: `build[arch=arm,mode=r]` is needed twice"),
    task(
      "a family twice", "needs: [build, build]",
      "4:23: `build[arch=x86,mode=d]` is needed twice"),
    task("its own family", "matrix: { n: [1, 2] }, needs: [t]", "4:39: task `t[n=1]` needs itself"),
    task(
      "its own leg", "matrix: { n: [1, 2] }, needs: ['t[n]']", "4:39: task `t[n=1]` needs itself"),
    task(
      "a bracket that is not closed", "needs: ['build[arch']", "4:16: unknown task `build[arch`"),
    BadManifest(
      "a family at the end, needed before it",
      """
      tasks:
        a: { run: x, needs: [end] }
        end: { run: x, finally: true, matrix: { n: [1, 2] } }
      """,
      "2:24: task `a` needs the `finally` task `end[n=1]`, which runs after it"),
    BadManifest(
      "more needs than there may be",
      """
      tasks:
        a: { run: x, matrix: { n: { range: [1, 5000] } } }
        b: { run: x, matrix: { n: { range: [1, 5000] } }, needs: [a] }
      """,
      "3:61: 5000 matrix tasks need 5000 tasks each; a manifest can have at most 20000000"
        + " dependencies"),
    BadManifest(
      "a family whose matrix is wrong, and nothing of what follows from that",
      """
      tasks:
        a: { run: 'x ${{ matrix.n }}', timeout: '${{ matrix.n }}', matrix: { n: [] } }
        b: { run: x, needs: ["a[n=1]", a], matrix: { n: [1] } }
        c: { run: x, needs: ["b[n]"], matrix: { n: 1 } }
      """,
      "2:75: `matrix.n` is empty", "3:34: `a` is needed twice",
      "4:46: `matrix.n` must be a list, not a number"),
  ]

  @Test(arguments: [
    (
      "needs: ['build[arch=amr]']",
      "the values of `arch` are x86, arm; did you mean `build[arch=arm]`?"
    ),
    ("needs: ['build[mode=release]']", "the values of `mode` are d, r"),
    (
      "needs: ['build[mode=d,arch=arm]']",
      "these values exist, but no task of `build` combines them"
    ),
    (
      "matrix: { arch: [arm, riscv] }, needs: ['build[arch]']",
      "add it to the `matrix` of `build`, or `exclude` the task that needs it"
    ),
  ])
  func `the help about an unknown value lists the values`(_ keys: String, _ help: String) throws {
    let text = Self.task("", keys).text
    let error = try #require(throws: ManifestError.self) { try compile(text) }
    #expect(error.diagnostics.map(\.help) == [help])
  }

  @Test(arguments: [
    ("[build[arch]]", "build[arch]"), ("[a, build-it[x=1, y=2], b]", "build-it[x=1, y=2]"),
  ])
  func `the help about unquoted brackets in a list asks for quotes`(
    _ needs: String, _ name: String
  ) throws {
    let error = try #require(throws: ManifestError.self) {
      try compile("tasks:\n  t:\n    needs: \(needs)\n    run: x\n")
    }
    #expect(error.diagnostics[0].message == "the list in brackets is not closed before this")
    #expect(error.diagnostics[0].help == "put a name with brackets in quotes: \"\(name)\"")
  }
}
