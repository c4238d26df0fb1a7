import OpflowManifest
import Testing

/// Items of `include` that are wrong, and files that they lead to.
struct BadIncludeTests {
  @Test(arguments: items + files + rings)
  func `is refused with every error in its file`(_ bad: BadProject) {
    #expect(bad.project.errors() == bad.errors)
  }

  static let items: [BadProject] = [
    BadProject(
      "a text", include: "db.yaml", "m.yaml:2:10: `include` must be a list of paths, not a string"),
    BadProject(
      "a map", include: "{ db: db.yaml }",
      "m.yaml:2:10: `include` must be a list of paths, not a map"),
    BadProject(
      "a number", include: "3", "m.yaml:2:10: `include` must be a list of paths, not a number"),
    BadProject(
      "nothing", include: "~", "m.yaml:2:10: `include` must be a list of paths, not empty"),
    BadProject(
      "a number in the list", include: "[3]",
      "m.yaml:2:11: an item of `include` must be a string, not a number"),
    BadProject(
      "null in the list", include: "[db.yaml, ~]",
      "m.yaml:2:20: an item of `include` must be a string, not null"),
    BadProject(
      "an empty path", include: "['']", "m.yaml:2:11: an item of `include` is empty"),
    BadProject(
      "a list in the list", include: "[[db.yaml]]",
      "m.yaml:2:11: an item of `include` must be a string, not a list"),
    BadProject(
      "no path", include: "[{ as: db }]", "m.yaml:2:11: an item of `include` has no `path`"),
    BadProject(
      "a misspelled key", include: "[{ paht: db.yaml }]",
      "m.yaml:2:13: unknown key `paht` in an item of `include`"),
    BadProject(
      "the key of another tool", include: "[{ taskfile: db.yaml }]",
      "m.yaml:2:13: unknown key `taskfile` in an item of `include`"),
    BadProject(
      "what another tool can do", include: "[{ path: db.yaml, optional: true }]",
      "m.yaml:2:28: unknown key `optional` in an item of `include`"),
    BadProject(
      "a key twice", include: "[{ path: db.yaml, path: db.yaml }]",
      "m.yaml:2:28: the key `path` occurs twice in this map"),
    BadProject(
      "a path that is a number", include: "[{ path: 3 }]",
      "m.yaml:2:19: `path` must be a string, not a number"),
    BadProject(
      "a path that is a map", include: "[{ path: { a: b } }]",
      "m.yaml:2:19: `path` must be a string, not a map"),
    BadProject(
      "a name with a slash", include: "[{ path: db.yaml, as: a/b }]",
      "m.yaml:2:32: `as` must be a name, not `a/b`"),
    BadProject(
      "an empty name", include: "[{ path: db.yaml, as: '' }]", "m.yaml:2:32: `as` is empty"),
    BadProject(
      "a name with a blank", include: "[{ path: db.yaml, as: a b }]",
      "m.yaml:2:32: `as` must be a name, not `a b`"),
    BadProject(
      "a name that a tag has", include: "[{ path: db.yaml, as: 'tag:x' }]",
      "m.yaml:2:32: `as` must be a name, not `tag:x`"),
    BadProject(
      "a name that is a list", include: "[{ path: db.yaml, as: [db] }]",
      "m.yaml:2:32: `as` must be a string, not a list"),
    BadProject(
      "variables as a list", include: "[{ path: db.yaml, vars: [a] }]",
      "m.yaml:2:34: `vars` must be a map, not a list"),
    BadProject(
      "a variable with a bad name", include: "[{ path: db.yaml, vars: { 'a b': 1 } }]",
      "m.yaml:2:36: `a b` is not a valid variable name"),
    BadProject(
      "a variable without a value", include: "[{ path: db.yaml, vars: { x: ~ } }]",
      "m.yaml:2:39: `vars.x` must be a string, a number or a boolean, not null"),
    BadProject(
      "a variable that is a list", include: "[{ path: db.yaml, vars: { x: [1] } }]",
      "m.yaml:2:39: `vars.x` must be a string, a number or a boolean, not a list"),
    BadProject(
      "an unknown name in a variable",
      include: "[{ path: db.yaml, vars: { x: '${{ vars.w }}' } }]",
      "m.yaml:2:44: unknown name `vars.w`"),
    BadProject(
      "an unknown name in a path", include: "['${{ vars.w }}.yaml']",
      "m.yaml:2:16: unknown name `vars.w`"),
    BadProject(
      "a path that comes out empty", include: "['${{ vars.none }}']",
      "m.yaml:2:11: an item of `include` is empty: the result of `${{ vars.none }}`"),
    BadProject(
      "an expression without quotes", include: "[{{ vars.v }}]",
      "m.yaml:2:11: an item of `include` must be a string, not a map"),
    BadProject(
      "an address", include: "['https://example.org/ci.yaml']",
      "m.yaml:2:11: an item of `include` must be a path, not an address"),
    BadProject(
      "an address of a repository", include: "[{ path: 'git@example.org:ci.git' }]",
      "m.yaml:2:19: `path` must be a path, not an address"),
    BadProject(
      "include twice", ["m.yaml": "include: []\ninclude: []\ntasks: { a: { run: x } }"],
      "m.yaml:2:1: the key `include` occurs twice in this map"),
    BadProject(
      "a name twice", include: "[{ path: db.yaml, as: x }, { path: ci/build.yaml, as: x }]",
      "m.yaml:2:64: another include already has the name `x`"),
    BadProject(
      "a file twice with variables", include: "[db.yaml, { path: ./db.yaml, vars: { x: 1 } }]",
      "m.yaml:2:28: `db.yaml` is included twice, the second time with `vars`"),
    BadProject(
      "several mistakes", include: "[3, { as: db }, db.yaml, none.yaml]",
      "m.yaml:2:11: an item of `include` must be a string, not a number",
      "m.yaml:2:14: an item of `include` has no `path`",
      "m.yaml:2:35: cannot include `none.yaml`: no such file"),
  ]

  private static func odd(_ title: String, _ fault: NamedFileFault, _ text: String) -> BadProject {
    var bad = BadProject(
      title, include: "[db.yaml, { path: odd, as: odd }]",
      "m.yaml:2:28: cannot include `odd`: \(text)")
    bad.project.faults["odd"] = fault
    return bad
  }

  static let files: [BadProject] = [
    odd("a missing file", .missing, "no such file"),
    odd("a folder", .noFile("a folder"), "it is a folder, not a file"),
    odd("a FIFO", .noFile("a FIFO"), "it is a FIFO, not a file"),
    odd("no permission", .failed("Permission denied"), "Permission denied"),
    odd(
      "a loop of links", .failed("Too many levels of symbolic links"),
      "Too many levels of symbolic links"),
    odd(
      "a gigabyte", .tooLarge, "it is larger than 256 MiB, or all files together are too large"),
    BadProject(
      "a missing file of an included one",
      [
        "m.yaml": "include: [ci/all.yaml]\ntasks: { a: { run: x } }",
        "ci/all.yaml": "# no tasks\ninclude:\n  - build.yaml\n", "build.yaml": "tasks: {}",
      ],
      "ci/all.yaml:3:5: cannot include `ci/build.yaml`: no such file"),
    BadProject(
      "a missing file in a file above",
      [
        "m.yaml": "include: [ci/all.yaml]\ntasks: { a: { run: x } }",
        "ci/all.yaml": "include: [../common.yaml]\n",
      ],
      "ci/all.yaml:1:11: cannot include `ci/../common.yaml`: no such file"),
    BadProject(
      "an absolute path", include: "[/etc/none.yaml]",
      "m.yaml:2:11: cannot include `/etc/none.yaml`: no such file"),
    BadProject(
      "a pattern", include: "['ci/*.yaml']",
      "m.yaml:2:11: cannot include `ci/*.yaml`: no such file"),
    BadProject(
      "a missing file, without further errors",
      ["m.yaml": "include: [none.yaml]\ntasks: { a: { needs: [make, b/c], run: x } }"],
      "m.yaml:1:11: cannot include `none.yaml`: no such file"),
  ]

  static let rings: [BadProject] = [
    BadProject(
      "a file that includes itself",
      ["m.yaml": "tasks: { a: { run: x } }\ninclude: [./m.yaml]"],
      "m.yaml:2:11: `include` cycle: m.yaml -> m.yaml"),
    BadProject(
      "two files that include each other",
      [
        "m.yaml": "include: [a/b.yaml]\ntasks: { a: { run: x } }",
        "a/b.yaml": "tasks: { b: { run: x } }\ninclude: [{ path: ../m.yaml, as: again }]",
      ],
      "a/b.yaml:2:19: `include` cycle: m.yaml -> a/b.yaml -> m.yaml"),
    BadProject(
      "a ring below the root",
      [
        "m.yaml": "include: [b.yaml]\ntasks: { a: { run: x } }",
        "b.yaml": "include: [{ path: c.yaml, as: c }]\ntasks: { b: { run: x } }",
        "c.yaml": "include: [d.yaml]\ntasks: { c: { run: x } }",
        "d.yaml": "include: [{ path: b.yaml, as: b }]\ntasks: { d: { run: x } }",
      ],
      "d.yaml:1:19: `include` cycle: b.yaml -> c.yaml -> d.yaml -> b.yaml"),
  ]

  @Test func `a cycle is found through another name and shown with every step`() throws {
    var project = Project([
      "m.yaml": "include: [b.yaml]\ntasks: { a: { run: x } }",
      "b.yaml": "tasks: { b: { run: x } }\ninclude:\n  - link.yaml\n",
    ])
    project.links["link.yaml"] = "m.yaml"
    let problem = try #require(project.diagnostics().first)
    #expect(
      problem.message == "`include` cycle: m.yaml -> b.yaml -> m.yaml")
    #expect(
      problem.notes.map { "\($0.file):\($0.line): \($0.message)" } == [
        "m.yaml:1: `m.yaml` includes `b.yaml` here", "b.yaml:3: `b.yaml` includes `m.yaml` here",
      ])
    #expect(problem.help == "remove one of these includes")
  }

  @Test func `the help says what to do`() {
    func help(_ include: String) -> String? {
      BadProject("", include: include).project.diagnostics().first?.help
    }
    #expect(help("{ db: db.yaml }") == "write a list: [{ path: db.yaml, as: db }]")
    #expect(help("{ path: db.yaml }") == "write a list: [{ path: db.yaml }]")
    #expect(help("db.yaml") == "write a list: [db.yaml]")
    #expect(help("[{ taskfile: db.yaml }]") == "the key is `path` here")
    #expect(help("[{ path: db.yaml, namespace: x }]") == "the key is `as` here")
    #expect(
      help("[{ path: db.yaml, optional: true }]")
        == "an included file must exist; remove this key")
    #expect(help("['ci/*.yaml']") == "opflow does not expand patterns here; name each file")
    #expect(
      help("[ci/x.yaml]")
        == "a path is relative to the folder of the file that contains it; this one is"
        + " /data/project/ci/x.yaml")
  }

  @Test func `a hundred levels of files end at level 65, with a place`() {
    var files = ["m.yaml": "include: [1.yaml]\ntasks: { a: { run: x } }"]
    for level in 1...100 {
      files["\(level).yaml"] = "tasks: { t\(level): { run: x } }\ninclude: [\(level + 1).yaml]"
    }
    #expect(
      Project(files).errors() == ["64.yaml:2:11: `include` is nested deeper than 64 levels"])
  }

  @Test func `files that include one file twice each do not grow without end`() {
    var files = ["m.yaml": "include: [{ path: 1.yaml, as: l }, { path: 1.yaml, as: r }]"]
    for level in 1...40 {
      files["\(level).yaml"] =
        "include: [{ path: \(level + 1).yaml, as: l }, { path: \(level + 1).yaml, as: r }]"
    }
    files["41.yaml"] = "tasks: { a: { run: x } }"
    let errors = Project(files).errors()
    #expect(errors.contains { $0.hasSuffix(": the manifest includes more than 10000 files") })
    #expect(errors.count <= 50)
  }
}
