import OpflowBase
import OpflowManifest
import OpflowPlan
import OpflowRuntime
import OpflowSystem
import Testing

/// Matrices that are made of files of the machine.
@Suite struct MatrixFileTests {
  private let fixture: StateFixture

  init() throws {
    fixture = try StateFixture()
    for name in [
      "data", "data/x", "data/x/y", "data/.hidden", "data/é", "other",
    ] { try Path.makeDirectory(fixture.root + "/" + name) }
    for name in [
      "data/b.csv", "data/a.csv", "data/A.csv", "data/a10.csv", "data/.dot.csv", "data/x/c.csv",
      "data/x/y/d.csv", "data/x/y/e.txt", "data/.hidden/f.csv", "data/é/g h.csv", "other/k[1].csv",
    ] { _ = try fixture.write(name, "x") }
    // A link to a parent folder, one to a folder, one to a file, and a dangling one.
    try Path.symbolicLink("..", at: fixture.root + "/data/x/up")
    try Path.symbolicLink("../other", at: fixture.root + "/data/link")
    try Path.symbolicLink("a.csv", at: fixture.root + "/data/z.csv")
    try Path.symbolicLink("nothing", at: fixture.root + "/data/gone.csv")
    try Path.symbolicLink("self", at: fixture.root + "/self")
  }

  private func manifest(_ matrix: String) throws -> ManifestFile {
    try ManifestFile(
      at: fixture.write(
        "opflow.yaml", "tasks: { t: { run: [x, '${{ matrix.f }}'], matrix: { f: \(matrix) } } }"))
  }

  /// The values of the matrix tasks, in order.
  private func values(_ matrix: String) throws -> [String] {
    let plan = try manifest(matrix).compile(runID: "r", set: [], maxParallel: nil).openPlan()
    guard plan.matrixGroups.count == 1 else { return [] }
    return plan.tasks.map { plan.string(plan.instanceValues(TaskID($0), of: MatrixGroupID(0))[0]) }
  }

  @Test(arguments: [
    ("data/*.csv", ["data/A.csv", "data/a.csv", "data/a10.csv", "data/b.csv", "data/z.csv"]),
    ("./data/a?.csv", []), ("data/a??.csv", ["data/a10.csv"]),
    ("data/[a-b].csv", ["data/a.csv", "data/b.csv"]), ("data/[!a-z]*.csv", ["data/A.csv"]),
    ("data/.*.csv", ["data/.dot.csv"]), ("data/a.csv", ["data/a.csv"]), ("data/c.csv", []),
    ("data/x/**/*.csv", ["data/x/c.csv", "data/x/y/d.csv"]),
    (
      "**/[c-g]*.csv",
      ["data/x/c.csv", "data/x/y/d.csv", "data/é/g h.csv"]
    ),
    ("data/x/**", ["data/x/c.csv", "data/x/y/d.csv", "data/x/y/e.txt"]),
    ("data/*/k*", ["data/link/k[1].csv"]), ("other/k[[]1].csv", ["other/k[1].csv"]),
    ("data/*/", ["data/link", "data/x", "data/é"]), ("data/x/**/", ["data/x", "data/x/y"]),
    ("data/x/y/../c.csv", ["data/x/y/../c.csv"]), ("nowhere/*", []), ("data/a.csv/*", []),
  ])
  func `a pattern fits files, sorted by their bytes`(_ pattern: String, _ found: [String]) throws {
    #expect(try values("{ glob: \"\(pattern)\" }") == found)
  }

  @Test func `a pattern from the root gives whole paths`() throws {
    let root = fixture.root
    #expect(
      try values("{ glob: \"\(root)/data/[ab].csv\" }")
        == ["\(root)/data/a.csv", "\(root)/data/b.csv"])
  }

  private func problem(_ matrix: String) throws -> String {
    let file = try manifest(matrix)
    do throws(PreparationError) {
      _ = try file.compile(runID: "r", set: [], maxParallel: nil)
    } catch {
      guard case .diagnostics(let diagnostics) = error else { throw error }
      return diagnostics.diagnostics.map { "\($0.column): \($0.message)" }.joined(separator: "\n")
    }
    return ""
  }

  @Test func `what cannot be read is told`() throws {
    #expect(
      try problem("{ lines: self }")
        == "66: cannot read `self`: Too many levels of symbolic links")
    #expect(
      try problem("{ lines: data }") == "66: cannot read `data`: it is a folder, not a file")
    #expect(
      try problem("{ lines: /dev/zero }")
        == "66: cannot read `/dev/zero`: it is a device, not a file")
    #expect(
      try problem("{ lines: gone }") == "66: cannot read `gone`: no such file")
    #expect(
      try problem("{ glob: 'x[' }") == "65: cannot expand `x[`: its `[` is not closed")
    #expect(
      try problem("{ glob: 'self/*' }")
        == "65: cannot expand `self/*`: `\(fixture.root)/self/`: "
        + "Too many levels of symbolic links")
    _ = try File.open(
      ofBytes: Array("\(fixture.root)/caf".utf8) + [0xE9, 0], from: File.workingFolder,
      [.writeOnly, .create])
    #expect(
      try problem("{ glob: 'caf*' }")
        == #"65: cannot expand `caf*`: the name `caf\xe9` is not UTF-8"#)
  }

  @Test func `a changed file and a new one make another plan, others do not`() throws {
    _ = try fixture.write("sheet.tsv", "f\nx\n")
    let file = try ManifestFile(
      at: fixture.write(
        "opflow.yaml",
        """
        tasks:
          a: { run: x, matrix: { f: { glob: "data/*.csv" } } }
          b: { run: x, matrix: { rows: sheet.tsv } }
        """))
    func key() throws -> PlanKey {
      try file.compile(runID: "r", set: [], maxParallel: nil).planKey
    }
    let before = try key()
    _ = try fixture.write("data/new.txt")
    #expect(try key() == before)
    _ = try fixture.write("data/new.csv")
    let after = try key()
    #expect(after != before)
    _ = try fixture.write("sheet.tsv", "f\ny\n")
    #expect(try key() != after)
  }
}
