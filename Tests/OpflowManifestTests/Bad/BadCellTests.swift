import OpflowManifest
import Testing

/// Errors about a value from a table or from the lines of a file: where the manifest uses it, and
/// where the file has it.
struct BadCellTests {
  private func told(_ tasks: String, _ files: [String: String]) -> [String] {
    var all = files
    all["m.yaml"] = "tasks:\n\(tasks)"
    return Project(all).diagnostics().map { diagnostic in
      ([Project.text(diagnostic)]
        + diagnostic.notes.map { note in
          let column = note.column > 0 ? ":\(note.column)" : ""
          return "\(note.file):\(note.line)\(column): \(note.message)"
        }).joined(separator: "\n")
    }
  }

  private let priorities =
    "must be very_low, low, normal, high, very_high or a number from -1000 to 1000"

  @Test func `every bad cell of a table has an error with its line and column`() {
    let tasks = """
        a:
          matrix: { rows: s.csv }
          priority: ${{ matrix.prio }}
          run: x
      """
    let valueTable = "name,note,prio\nx,,high\n\n\"y\",\"a, \"\"b\"\"\nc\",soon\nz,é,later\n"
    #expect(
      told(tasks, ["s.csv": valueTable]) == [
        """
        m.yaml:4:15: `priority` \(priorities), not `soon`
        s.csv:5:4: `matrix.prio` is `soon` here
        m.yaml:2: in the matrix task `a[name=y]`
        """,
        """
        m.yaml:4:15: `priority` \(priorities), not `later`
        s.csv:6:5: `matrix.prio` is `later` here
        m.yaml:2: in the matrix task `a[name=z]`
        """,
      ])
  }

  @Test func `a cell of several matrix tasks has one error`() {
    let tasks = """
        a:
          matrix: { os: [p, q], rows: s.tsv, n: { range: [1, 3] } }
          timeout: "${{ matrix.time }}"
          run: x
      """
    #expect(
      told(tasks, ["s.tsv": "name\ttime\nx\tsoon\ny\tsoon\n"]) == [
        """
        m.yaml:4:14: `timeout` must be a duration, not `soon`
        s.tsv:2:3: `matrix.time` is `soon` here
        """,
        """
        m.yaml:4:14: `timeout` must be a duration, not `soon`
        s.tsv:3:3: `matrix.time` is `soon` here
        m.yaml:2: in the matrix task `a[os=p,name=y,n=1]`
        """,
      ])
  }

  @Test func `a text of several cells has notes about all cells and no other parts`() {
    let tasks = """
        a:
          matrix: { os: [p], rows: s.tsv, unit: { lines: units } }
          timeout: ${{ matrix.time }}${{ matrix.os }}${{ matrix.unit }}${{ matrix.time }}
          run: x
          desc: ${{ matrix.name }}
      """
    #expect(
      told(tasks, ["s.tsv": "name\ttime\nx\t5\n", "units": "\n\nages\n"]) == [
        """
        m.yaml:4:14: `timeout` must be a duration, not `5pages5`
        s.tsv:2:3: `matrix.time` is `5` here
        units:3:1: `matrix.unit` is `ages` here
        """
      ])
  }

  @Test func `a value that include adds is in no file`() {
    let tasks = """
        a:
          matrix: { rows: s.tsv, include: [{ name: z, time: later }] }
          timeout: ${{ matrix.time }}
          run: x
      """
    #expect(
      told(tasks, ["s.tsv": "name\ttime\nx\t5s\n"]) == [
        """
        m.yaml:4:14: `timeout` must be a duration, not `later`
        m.yaml:2: in the matrix task `a[name=z]`
        """
      ])
  }

  @Test func `a text that is wrong in every matrix task has one error`() {
    let tasks = """
        a:
          matrix: { n: [1, 2, 3] }
          timeout: ${{ matrix.n }} ages
          run: x
      """
    #expect(
      told(tasks, [:]) == ["m.yaml:4:14: `timeout` must be a duration, not `1 ages`"])
  }

  @Test(arguments: [
    ("{ rows: s.csv }", "a,b\n1\n"), ("{ rows: s.csv }", "a,b\n1,\"x\n"),
    ("{ rows: s.csv }", "a\n\"x\"y\n"), ("{ rows: s.csv }", "a,a\n1,2\n"),
    ("{ rows: s.csv }", "a,b\n1,2\n1,3\n"), ("{ rows: s.csv }", "a,b\n,2\n"),
    ("{ rows: s.csv }", "a\n\u{0}\n"), ("{ f: { lines: s.csv } }", "a\na\n"),
    ("{ f: { lines: s.csv } }", "\u{0}\n"),
  ])
  func `a wrong file has one error, even if two tasks read it`(_ matrix: String, _ file: String) {
    let once = told("  a: { matrix: \(matrix), run: x }\n", ["s.csv": file])
    #expect(once.count == 1 && once[0].hasPrefix("s.csv:"), "\(once)")
    let twice = told(
      "  a: { matrix: \(matrix), run: x }\n  b: { matrix: \(matrix), run: x }\n", ["s.csv": file])
    #expect(twice == once)
  }

  @Test func `thousands of bad cells take no longer than the file`() {
    let rows = (0..<20_000).map { "r\($0)\tbad\($0)\n" }.joined()
    let tasks = "  a: { matrix: { rows: s.tsv }, timeout: \"${{ matrix.t }}\", run: x }\n"
    let error = #expect(throws: ManifestError.self) {
      try Project(["m.yaml": "tasks:\n" + tasks, "s.tsv": "name\tt\n" + rows]).compile()
    }
    #expect(error?.errorCount == 20_000)
    #expect(error?.diagnostics.count == 50)
    #expect(error?.diagnostics.last?.notes.first?.line == 51)
  }
}
