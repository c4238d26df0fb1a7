import OpflowBase
import OpflowManifest
import OpflowPlan
import Testing

/// The meaning of `needs` that name a matrix.
struct MatrixGroupNeedTests {
  private static let matrixGroups = """
    tasks:
      db: { run: x }
      build: { run: x, matrix: { arch: [a, b], mode: [d, r] } }
      call: { run: x, matrix: { rows: [{ s: 1, batch: p }, { s: 2, batch: q }, { s: 3, batch: p }] } }

    """

  private func needs(of task: String, _ text: String) throws -> [String] {
    try plan(Self.matrixGroups + text).needTexts(task)
  }

  @Test func `the name of a matrix means all its tasks`() throws {
    #expect(
      try needs(of: "t", "  t: { run: x, needs: [db, { task: build, on: finished }] }\n") == [
        "db on success", "build[arch=a,mode=d] on finished", "build[arch=a,mode=r] on finished",
        "build[arch=b,mode=d] on finished", "build[arch=b,mode=r] on finished",
      ])
  }

  @Test func `a need may be above the matrix`() throws {
    let plan = try plan(
      """
      tasks: { t: { run: x, needs: b }, b: { run: x, matrix: { n: [1, 2] } }, \
      c: { run: x, needs: [t] } }
      """
    )
    #expect(try plan.needTexts("t") == ["b[n=1] on success", "b[n=2] on success"])
    #expect(try plan.needTexts("c") == ["t on success"])
  }

  @Test func `a join selects the matrix tasks with the own value`() throws {
    let text = "  t: { run: x, needs: \"build[arch]\", matrix: { k: [1, 2], arch: [b, a] } }\n"
    for k in 1...2 {
      #expect(
        try needs(of: "t[k=\(k),arch=a]", text)
          == ["build[arch=a,mode=d] on success", "build[arch=a,mode=r] on success"])
    }
  }

  @Test func `a join may be by several names, and also name values`() throws {
    let both = "  t: { run: x, needs: [\"build[mode, arch]\"], matrix: { arch: [a], mode: [r] } }\n"
    #expect(try needs(of: "t[arch=a,mode=r]", both) == ["build[arch=a,mode=r] on success"])
    let one = "  t: { run: x, needs: [\"build[arch,mode=d]\"], matrix: { arch: [b] } }\n"
    #expect(try needs(of: "t[arch=b]", one) == ["build[arch=b,mode=d] on success"])
  }

  @Test func `a join may be by a column that is not in the ID`() throws {
    let text = "  merge: { run: x, needs: [\"call[batch]\"], matrix: { batch: [p, q] } }\n"
    #expect(
      try needs(of: "merge[batch=p]", text) == ["call[s=1] on success", "call[s=3] on success"])
    #expect(try needs(of: "merge[batch=q]", text) == ["call[s=2] on success"])
  }

  @Test func `values select matrix tasks for an empty matrix too, and a join selects all`() throws {
    func needs(_ need: String) throws -> [String] {
      try self.needs(
        of: "t",
        "  t: { run: x, needs: [\"\(need)\"], matrix: { arch: { glob: \"none/*\" } } }\n")
    }
    #expect(try needs("build[arch=b,mode=d]") == ["build[arch=b,mode=d] on success"])
    #expect(try needs("call[s=2]") == ["call[s=2] on success"])
    #expect(try needs("build[arch,mode=d]").count == 4)
    #expect(throws: ManifestError.self) { try needs("build[arch=c]") }
  }

  @Test func `the generator of a matrix waits for needs that select by values`() throws {
    func needs(_ need: String) throws -> [String] {
      try self.needs(
        of: "t",
        "  t: { run: x, needs: [\"\(need)\"], matrix: { arch: { lines: l, after: db } } }\n")
    }
    #expect(try needs("build[arch=b,mode=d]") == ["db on ran", "build[arch=b,mode=d] on success"])
    #expect(try needs("build[arch,mode=d]").count == 5)
    #expect(throws: ManifestError.self) { try needs("build[arch=c]") }
  }

  @Test func `values select matrix tasks`() throws {
    #expect(
      try needs(of: "t", "  t: { run: x, needs: [\"build[arch=b]\", \"call[s=2]\"] }\n") == [
        "build[arch=b,mode=d] on success", "build[arch=b,mode=r] on success",
        "call[s=2] on success",
      ])
    #expect(
      try needs(of: "t", "  t: { run: x, needs: \"build[mode=r,arch=b]\" }\n")
        == ["build[arch=b,mode=r] on success"])
  }

  @Test func `a matrix task is found by the ID that views show`() throws {
    let value = String(repeating: "v", count: 300)
    let matrixGroups = "  f: { run: x, matrix: { v: [\"a b,c\", \(value)1, \(value)2] } }\n"
    let ids = try plan("tasks:\n" + matrixGroups).ids
    #expect(ids[0] == "f[v=a%20b%2Cc]")
    for id in ids {
      let text = "tasks:\n" + matrixGroups + "  t: { run: x, needs: [\"\(id)\"] }\n"
      #expect(try plan(text).needTexts("t") == ["\(id) on success"])
    }
  }

  @Test func `a matrix task may need another one of its matrix`() throws {
    let plan = try plan(
      """
      tasks:
        t:
          run: x
          matrix: { rows: [{ n: a, before: "" }, { n: b, before: a }] }
          needs: ["${{ matrix.before && 't[n=a]' || 'start' }}"]
        start: { run: x }
      """)
    #expect(try plan.needTexts("t[n=a]") == ["start on success"])
    #expect(try plan.needTexts("t[n=b]") == ["t[n=a] on success"])
  }

  @Test func `dependency cycles through matrices are found`() {
    #expect(
      errors(
        in: "tasks: { a: { run: x, needs: b, matrix: { n: [1] } }, b: { run: x, needs: [a] } }")
        == ["1:30: dependency cycle: a[n=1] -> b -> a[n=1]"])
  }

  @Test func `a fingerprint depends on the needed matrix tasks`() throws {
    func fingerprint(_ build: String, _ need: String) throws -> Fingerprint {
      let plan = try plan(
        "tasks: { b: { run: x, matrix: { n: \(build) } }, t: { run: x, needs: [\"\(need)\"] } }")
      return plan.fingerprint(try plan.id("t"))
    }
    let both = try fingerprint("[1, 2]", "b")
    #expect(try fingerprint("[2, 1]", "b") == both)
    #expect(try fingerprint("[1, 2, 3]", "b") != both)
    #expect(try fingerprint("[1, 2]", "b[n=1]") == fingerprint("[1]", "b"))
    #expect(try fingerprint("[1, 2]", "b[n=1]") != fingerprint("[1, 2]", "b[n=2]"))
  }

  @Test func `a plan is compiled from the files of its matrices too`() throws {
    let text = "tasks: { t: { run: x, matrix: { rows: s.tsv, f: { glob: \"*.d\" } } } }"
    func key(_ valueTable: String, _ names: [String]) throws -> PlanKey {
      var files = ["s.tsv": valueTable]
      for name in names { files[name] = "" }
      return try compile(text, files: files).planKey
    }
    let first = try key("a\n1\n", ["x.d"])
    #expect(try key("a\n1\n", ["x.d", "y"]) == first)
    #expect(try key("a\n1\n", ["y.d"]) != first)
    #expect(try key("a\n1\n\n", ["x.d"]) != first)
  }

  @Test func `matrices of included files have their names, files and tasks`() throws {
    let long = String(repeating: "v", count: 300)
    let project = Project([
      "m.yaml": """
      include: [{ path: ci/b.yaml, as: ci }, flat.yaml]
      tasks:
        all: { run: x, needs: [ci/build, flat] }
      """,
      "ci/b.yaml": """
      tasks:
        build: { run: "x ${{ matrix.n }}", matrix: { n: [1, 2] } }
        sheet: { run: x, matrix: { rows: s.tsv } }
        test: { run: x, matrix: { n: [2] }, needs: ["build[n]", "sheet[s=p]", "/flat[f=b]"] }
        cut: { run: x, matrix: { v: [\(long)] } }
        of-cut: { run: x, needs: ["cut[v=\(long)]"] }
      """,
      "ci/s.tsv": "s\np\nq\n",
      "flat.yaml": "tasks: { flat: { run: x, matrix: { f: [a, b] } } }",
    ])
    let plan = try project.plan()
    #expect(
      plan.ids.filter { !$0.contains("cut") } == [
        "all", "ci/build[n=1]", "ci/build[n=2]", "ci/sheet[s=p]", "ci/sheet[s=q]", "ci/test[n=2]",
        "flat[f=a]", "flat[f=b]",
      ])
    #expect(
      try plan.needTexts("ci/test[n=2]")
        == ["ci/build[n=2] on success", "ci/sheet[s=p] on success", "flat[f=b] on success"])
    #expect(try plan.needTexts("all").count == 4)
    let cut = try #require(plan.ids.first { $0.hasPrefix("ci/cut") })
    #expect(try plan.needTexts("ci/of-cut") == ["\(cut) on success"])
    var bad = project
    bad.files["ci/s.tsv"] = Array("s\tt\np\n".utf8)
    #expect(
      bad.errors()
        == ["ci/s.tsv:2:1: this row has 1 column, but the header row has 2"])
    // An ID as views show it, used in its own file and in another one.
    for (file, need) in [("ci/b.yaml", cut.dropFirst(3)), ("m.yaml", cut[...])] {
      var other = project
      other.files[file]? += Array("\n  named: { run: x, needs: [\"\(need)\"] }\n".utf8)
      let id = file == "m.yaml" ? "named" : "ci/named"
      #expect(try other.plan().needTexts(id) == ["\(cut) on success"])
    }
  }
}
