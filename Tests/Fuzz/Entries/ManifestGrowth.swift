/// A way in which a manifest can grow: a key with more and more content, in one place or in each
/// task.
package struct ManifestGrowth: Sendable, CustomStringConvertible {
  /// The contents for a `count`.
  struct Part {
    /// Lines at the top, and entries of `defaults`, of one task and of each of many tasks, with `#`
    /// for the task's number.
    var top = ""
    var defaults = ""
    var one = ""
    var each: String?
    /// Lines under `tasks`.
    var tasks = ""
    var files: [String: String] = [:]
  }

  /// The map and key, such as `task.env`, and the variant if there are several.
  package let key: String
  package let way: String
  let part: @Sendable (Int) -> Part

  package var description: String { way.isEmpty ? key : "\(key) (\(way))" }

  private init(_ key: String, _ way: String = "", _ part: @escaping @Sendable (Int) -> Part) {
    self.key = key
    self.way = way
    self.part = part
  }

  private static func list(
    _ count: Int, _ separator: String = ", ", _ item: (Int) -> String
  ) -> String {
    (0..<count).map(item).joined(separator: separator)
  }

  private static func one(
    _ key: String, _ way: String = "", _ text: @escaping @Sendable (Int) -> String
  ) -> Self {
    Self("task.\(key)", way) { Part(one: text($0)) }
  }

  private static func each(_ key: String, _ text: String) -> Self {
    Self("task.\(key)", "of each") { _ in Part(each: text) }
  }

  private static func matrix(
    _ key: String, _ way: String = "",
    files: @escaping @Sendable (Int) -> [String: String] = { _ in [:] },
    _ text: @escaping @Sendable (Int) -> String
  ) -> Self {
    Self(key, way) {
      Part(tasks: "  m: { run: 'x ${{ task.id }}', matrix: { \(text($0)) } }\n", files: files($0))
    }
  }

  /// All growths. A test has time for four times the count.
  package static let all: [ManifestGrowth] = [
    Self("manifest.name") { Part(top: "name: '\(String(repeating: "x", count: $0))'\n") },
    Self("manifest.desc") { Part(top: "desc: '\(String(repeating: "x", count: $0))'\n") },
    Self("manifest.concurrency") {
      Part(top: "concurrency: '\(String(repeating: "x", count: $0))'\n")
    },
    Self("manifest.vars") { Part(top: "vars: { \(list($0) { "V\($0): v" }) }\n") },
    Self("manifest.vars", "each of the one before") {
      Part(
        top:
          "vars: { V: v, \(list($0) { "V\($0): '${{ vars.V\($0 == 0 ? "" : "\($0 - 1)") }}'" }) }\n"
      )
    },
    Self("manifest.env") { Part(top: "env: { \(list($0) { "E\($0): v" }) }\n") },
    Self("manifest.resources") { Part(top: "resources: { \(list($0) { "r\($0): 4" }) }\n") },
    Self("manifest.resources", "one of each task") {
      Part(
        top: "resources: { \(list($0) { "r\($0): 4" }) }\n", each: "resources: { r#: 1 }")
    },
    Self("manifest.secrets") {
      Part(top: "secrets: { \(list($0) { "S\($0): { env: S\($0) }" }) }\n")
    },
    Self("secret.run") {
      Part(top: "secrets: { S: { run: [\(list($0) { "w\($0)" })] } }\n")
    },
    Self("manifest.env_file") { count in
      Part(top: "env_file: v.env\n", files: ["v.env": list(count, "\n") { "F\($0)=v" }])
    },
    Self("manifest.env_file", "many") { count in
      Part(
        top: "env_file: [\(list(count / 8) { "f\($0).env" })]\n",
        files: Dictionary(
          uniqueKeysWithValues: (0..<(count / 8)).map { ("f\($0).env", "G\($0)=v") }))
    },
    Self("manifest.include") { count in
      Part(
        top: "include: [\(list(count / 8) { "i\($0).yaml" })]\n",
        files: Dictionary(
          uniqueKeysWithValues: (0..<(count / 8)).map {
            ("i\($0).yaml", "tasks: { i\($0): { run: x } }")
          }))
    },
    Self("include.vars") { count in
      Part(
        top: "include: [{ path: p.yaml, as: p, vars: { \(list(count) { "P\($0): v" }) } }]\n",
        files: [
          "p.yaml": "vars: { \(list(count) { "P\($0): v" }) }\ntasks: { a: { run: x } }"
        ])
    },
    Self("defaults.env") { Part(defaults: "env: { \(list($0) { "D\($0): v" }) }") },
    Self("manifest.tasks") { _ in Part(each: "") },
    one("run", "a long script") { "script: |\n" + list($0, "\n") { "      echo \($0)" } },
    one("run", "many words") { "run: [\(list($0) { "w\($0)" })]" },
    one("shell") { "shell: [\(list($0) { "w\($0)" })]" },
    one("env") { "env: { \(list($0) { "T\($0): v" }) }" },
    one("needs") { "needs: [\(list($0) { "n\($0)" })]" },
    one("resources") { _ in "resources: { cpu: 1 }" },
    one("if") { "if: '\(list($0, " || ") { _ in "env.X == env.Y" })'" },
    one("inputs") { "inputs: [\(list($0) { "f\($0)" })]" },
    one("inputs", "patterns") { "inputs: [\(list($0) { "'d\($0)/**/*.c'" })]" },
    one("outputs") { "outputs: [\(list($0) { "o\($0)" })]" },
    Self("input.env") { Part(one: "inputs: [\(list($0) { "{ env: I\($0) }" })]") },
    Self("input.run") { Part(one: "inputs: [{ run: [\(list($0) { "w\($0)" })] }]") },
    one("secrets") { "secrets: [\(list($0) { "S\($0)" })]" },
    one("tags") { "tags: [\(list($0) { "g\($0)" })]" },
    one("desc") { "desc: '\(String(repeating: "x", count: $0))'" },
    one("allow_failure") { "allow_failure: [\(list($0) { "\($0 % 255 + 1)" })]" },
    Self("retry.exit_codes") {
      Part(one: "retry: { max: 1, exit_codes: [\(list($0) { "\($0 % 255 + 1)" })] }")
    },
    each("env", "env: { Z: '#' }"), each("dir", "dir: d#"), each("desc", "desc: 'task #'"),
    each("timeout", "timeout: #s"), each("inputs", "inputs: ['d#/*.c'], outputs: ['o#']"),
    each("outputs", "outputs: ['o#/x']"), each("tags", "tags: ['g#']"),
    each("cache", "inputs: ['d#'], outputs: ['o#'], cache: true"),
    each("finally", "finally: true"), each("matrix", "matrix: { n: [a, b] }"),
    each("foo", "foo: 1"), each("needs", "needs: ['unknown#']"),
    Self("task.needs", "a chain") { count in
      Part(
        tasks: "  c0: { run: x }\n"
          + list(count, "") { "  c\($0 + 1): { run: x, needs: [c\($0)] }\n" })
    },
    Self("task.needs", "a chain of files") { count in
      Part(
        tasks: list(count, "") {
          "  c\($0): { run: x, inputs: [f\($0)], outputs: [f\($0 + 1)] }\n"
        })
    },
    Self("task.service", "one for each task") {
      Part(
        tasks: list($0, "") {
          "  s\($0): { run: x, service: true }\n  u\($0): { run: x, needs: [s\($0)] }\n"
        })
    },
    Self("task.service", "many for one task") { count in
      Part(
        tasks: list(count, "") { "  s\($0): { run: x, service: true }\n" }
          + "  u: { run: x, needs: [\(list(count) { "s\($0)" })] }\n")
    },
    Self("task.approve") { Part(tasks: list($0, "") { "  q\($0): { approve: 'go on?' }\n" }) },
    Self("task.download") {
      Part(tasks: list($0, "") { "  d\($0): { download: { url: 'https://h/x', to: d\($0) } }\n" })
    },
    Self("download.headers") {
      Part(
        tasks:
          """
            d: { download: { url: 'https://h/x', to: d, headers: { \(list($0) { "H\($0): v" }) } } }

          """
      )
    },
    Self("download.mirrors") {
      Part(
        tasks:
          """
            d: { download: { url: 'https://h/x', to: d, \
          mirrors: [\(list($0) { "'https://h/\($0)'" })] } }

          """
      )
    },
    matrix("task.matrix", "axes") { list($0) { "k\($0): [v]" } },
    matrix("task.matrix", "values") { "k: [\(list($0) { "v\($0)" })]" },
    matrix("axis.range") { "k: { range: [1, \($0)] }" },
    matrix("axis.range", "beside axes") {
      "k: { range: [1, \($0)] }, \(list($0) { "a\($0): [v]" })"
    },
    matrix("axis.lines", files: { ["l": list($0, "\n") { "v\($0)" }] }) { _ in "k: { lines: l }" },
    matrix("matrix.rows") { "rows: [\(list($0) { "{ a: v\($0), b: w }" })]" },
    matrix("matrix.rows", "columns") {
      let count = $0
      return "rows: [\(list(2) { row in "{ \(list(count) { "k\($0): v\(row)" }) }" })]"
    },
    matrix(
      "rows.file", "rows", files: { ["s.tsv": "a\tb\n" + list($0, "\n") { "v\($0)\tw" }] }
    ) { _ in "rows: s.tsv" },
    matrix(
      "rows.file", "columns",
      files: { ["s.tsv": list($0, "\t") { "k\($0)" } + "\n" + list($0, "\t") { "v\($0)" }] }
    ) { _ in "rows: s.tsv" },
    matrix("matrix.include") { "include: [\(list($0) { "{ a: v\($0), b: w }" })]" },
    matrix("matrix.exclude") {
      "k: [\(list($0) { "v\($0)" })], exclude: [\(list($0 - 1) { "{ k: v\($0) }" })]"
    },
    Self("task.matrix", "legs that need legs") {
      Part(
        tasks: "  l: { run: x, matrix: { n: { range: [1, \($0)] } } }\n"
          + "  j: { run: x, needs: ['l[n]'], matrix: { n: { range: [1, \($0)] } } }\n")
    },
  ]
}
