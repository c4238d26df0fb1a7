import OpflowManifest
import Testing

/// Invalid files of variables, and invalid items of `env_file`.
struct BadVariableFileTests {
  @Test(arguments: files + items)
  func `is refused with every error in its file`(_ bad: BadProject) {
    #expect(bad.project.errors() == bad.errors)
  }

  private static func file(_ text: String, _ errors: String...) -> BadProject {
    var bad = BadProject(
      text, ["m.yaml": "env_file: [.env]\ntasks: { a: { run: x } }", ".env": text])
    bad.errors = errors
    return bad
  }

  private static let unnamed = "this line has no variable name"
  private static let foreign = "this is not a valid variable name"

  static let files: [BadProject] = [
    file("=b", ".env:1:1: \(unnamed)"), file("A=1\n  =b\n", ".env:2:3: \(unnamed)"),
    file("!A=b", ".env:1:1: \(unnamed)"), file("'A'=b", ".env:1:1: \(unnamed)"),
    file("A=1\n\u{FEFF}B=2", ".env:2:1: the file contains a byte order mark here"),
    file("A=1\nexport B\u{FEFF}=2", ".env:2:9: the file contains a byte order mark here"),
    file("\u{FEFF}\u{FEFF}A=1", ".env:1:1: the file contains a byte order mark here"),
    file("a.b=c", ".env:1:1: \(foreign)"), file("1A=b", ".env:1:1: \(foreign)"),
    file("a-b=c", ".env:1:1: \(foreign)"), file("A=1\nÜ=x", ".env:2:1: \(foreign)"),
    file("a[0]", ".env:1:1: \(foreign)"),
    file("A B=c", ".env:1:3: expected `=` after the name"),
    file("A!=c", ".env:1:2: expected `=` after the name"),
    file("A=1\nhello world\n", ".env:2:7: expected `=` after the name"),
    file("OPFLOW_RUN=1", ".env:1:1: `OPFLOW_RUN` is reserved"),
    file("A='b\nC=d\n", ".env:1:3: the quoted value has no closing quote"),
    file("A=\"b", ".env:1:3: the quoted value has no closing quote"),
    file("A=\"b\\\"", ".env:1:3: the quoted value has no closing quote"),
    file("A=\"b\"c", ".env:1:6: only a comment can follow the closing quote"),
    file("A='b' 'c'", ".env:1:7: only a comment can follow the closing quote"),
    file("A=\"x\ny\"z", ".env:2:3: only a comment can follow the closing quote"),
    file("A=${B", ".env:1:3: `${` is not closed"),
    file("A=x${B:-c", ".env:1:4: `${` is not closed"),
    file("A=\"${B\"", ".env:1:4: `${` is not closed"),
    file("A=${}", ".env:1:3: expected a variable name after `${`"),
    file("A=${1}", ".env:1:3: expected a variable name after `${`"),
    file("A=${B!}", ".env:1:3: this `${` is not a valid variable"),
    file("A=${B:}", ".env:1:3: this `${` is not a valid variable"),
    file("A=${B:?give B}", ".env:1:3: `B` is not set"),
    file("C=\nA=${C:?give C}", ".env:2:3: `C` is empty"),
    file("A=\"\\0\"", ".env:1:4: an octal escape must be from `\\01` to `\\0177`"),
    file("A=b\0c", ".env:1:4: the file contains a NUL byte"),
    file(
      "=1\nA='b' c\nB=2\n=3", ".env:1:1: \(unnamed)",
      ".env:2:7: only a comment can follow the closing quote", ".env:4:1: \(unnamed)"),
  ]

  private static func item(_ item: String, _ errors: String...) -> BadProject {
    var bad = BadProject(item, ["m.yaml": "env_file: \(item)\ntasks: { a: { run: x } }"])
    bad.errors = errors
    return bad
  }

  static let items: [BadProject] = [
    item(".env", "m.yaml:1:11: `env_file` must be a list of paths, not a string"),
    item("{ A: b }", "m.yaml:1:11: `env_file` must be a list of paths, not a map"),
    item("[3]", "m.yaml:1:12: an item of `env_file` must be a string, not a number"),
    item("['']", "m.yaml:1:12: an item of `env_file` is empty"),
    item("['?']", "m.yaml:1:12: an item of `env_file` has no path after the `?`"),
    item("[{ path: .env }]", "m.yaml:1:12: an item of `env_file` must be a path, not a map"),
    item("[.env]", "m.yaml:1:12: cannot read `.env`: no such file"),
    item("['${{ vars.x }}']", "m.yaml:1:17: unknown name `vars.x`"),
    BadProject(
      "in an included file",
      [
        "m.yaml": "include: [db/t.yaml]", "db/t.yaml": "tasks: { b: { run: x } }\nenv_file: [x]",
      ], "db/t.yaml:2:12: cannot read `db/x`: no such file"),
    BadProject(
      "a line of a file of an included file",
      [
        "m.yaml": "include: [db/t.yaml]", "db/t.yaml": "tasks: { b: { run: x } }\nenv_file: [x]",
        "db/x": "\nA=\"",
      ], "db/x:2:3: the quoted value has no closing quote"),
    BadProject(
      "in a task", ["m.yaml": "tasks: { a: { run: x, env_file: [.env] } }"],
      "m.yaml:1:23: unknown key `env_file` in a task"),
    BadProject(
      "a download in place of one",
      [
        "m.yaml":
          "env_file: [.env]\ntasks: { a: { download: { url: 'http://h/a', to: .env } } }",
        ".env": "A=b",
      ], "m.yaml:2:50: `.env` is a file of this manifest"),
  ]

  @Test(arguments: [
    NamedFileFault.noFile("a folder"), .noFile("a FIFO"), .failed("Permission denied"), .tooLarge,
  ])
  func `an unreadable file is an error, even if it may be missing`(_ fault: NamedFileFault) {
    for path in [".env", "?.env"] {
      var project = Project(["m.yaml": "env_file: ['\(path)']\ntasks: { a: { run: x } }"])
      project.faults[".env"] = fault
      #expect(project.errors().first?.hasPrefix("m.yaml:1:12: cannot read `.env`: ") == true)
    }
  }

  @Test func `a file that is not text has an error with a place`() {
    var project = Project(["m.yaml": "env_file: [.env]\ntasks: { a: { run: x } }"])
    project.files[".env"] = Array("A=b\nC=".utf8) + [0xC3, 10]
    #expect(project.errors() == [".env:2:3: the file is not valid UTF-8 from here on"])
    project.files[".env"] = [UInt8](repeating: 65, count: 2 << 20)
    #expect(
      project.errors() == [
        "m.yaml:1:12: cannot read `.env`: it is larger than 1 MiB, or all files together are too"
          + " large"
      ])
  }

  @Test func `no error shows a value`() {
    let lines = [
      "A=hunter2 ${B", "A='hunter2", "A=\"hunter2\" x", "A=\"x\nhunter2 ${B\"", "A hunter2",
      "=hunter2", "!hunter2", "OPFLOW_X=hunter2", "A=${B:?hunter2}${", "A='x\nhunter2' y",
    ]
    for line in lines {
      let project = Project(["m.yaml": "env_file: [.env]\ntasks: { a: { run: x } }", ".env": line])
      let error = #expect(throws: ManifestError.self) { try project.compile() }
      guard let error, !line.contains(":?") else { continue }
      let shown = DiagnosticRenderer(isColored: false).render(error)
      #expect(!shown.contains("hunter2"), "\(shown)")
      #expect(shown.contains("***"), "\(shown)")
    }
  }

  @Test func `no error shows a value that is not text`() {
    for before in ["A=hunter2", "A='x\nhunter2=3", "A=\"\nB\nhunter2: "] {
      for byte: UInt8 in [0, 0xE4] {
        var project = Project(["m.yaml": "env_file: [.env]\ntasks: { a: { run: x } }"])
        project.files[".env"] = Array(before.utf8) + [byte] + Array("hunter2\n'".utf8)
        let error = #expect(throws: ManifestError.self) { try project.compile() }
        guard let error else { continue }
        let shown = DiagnosticRenderer(isColored: false).render(error)
        #expect(!shown.contains("hunter2"), "\(shown)")
      }
    }
  }
}
