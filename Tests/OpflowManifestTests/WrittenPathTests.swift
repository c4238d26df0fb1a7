import OpflowManifest
import Testing

/// Two tasks cannot write the same file, even under different names.
struct WrittenPathTests {
  /// Returns the errors of a manifest that downloads to these files, one a line from line 2.
  private func errors(_ targets: [String], links: [String: String] = [:]) -> [String] {
    let tasks = targets.enumerated().map { index, target in
      "  t\(index): { download: { url: 'http://h/x', to: '\(target)' } }"
    }
    return OpflowManifestTests.errors(
      in: "tasks:\n" + tasks.joined(separator: "\n"), links: links
    ).map { String($0.split(separator: ": ", maxSplits: 1)[1]) }
  }

  @Test(arguments: ["part", "part.meta", "part.meta.new", "part.decoded"])
  func `a download cannot write the temporary file of another one`(_ suffix: String) {
    let detail = "is the temporary file of a download"
    let part = "x.\(suffix)"
    let detour = "a/..//./\(part)"
    #expect(errors(["x", part]) == ["`\(part)` \(detail)"])
    #expect(errors([part, "x"]) == ["`\(part)` \(detail)"])
    #expect(errors(["x", detour]) == ["`\(detour)` \(detail)"])
    #expect(errors(["x", "/data/project/\(part)"]).count == 1)
    let others: [String] = ["x", "y.\(suffix)", "x\(suffix)", "\(part).z"]
    #expect(errors(others) == [])
  }

  @Test func `a chain of temporary files has an error at each`() {
    #expect(errors(["x", "x.part", "x.part.part"]).count == 2)
  }

  @Test func `the folder that a task runs in counts`() {
    let text = """
      tasks:
        a: { dir: out, download: { url: 'http://h/x', to: x } }
        b: { dir: src, download: { url: 'http://h/x', to: ../out/x.part } }
        c: { run: x, outputs: [out/x.part.meta] }
      """
    #expect(
      OpflowManifestTests.errors(in: text) == [
        "3:53: `../out/x.part` is the temporary file of a download",
        "4:26: `out/x.part.meta` is the temporary file of a download",
      ])
  }

  @Test(arguments: [
    (["a/x", "b/x"], ["/data/project/b": "a"]),
    (["a/x", "b/x"], ["/data/project/b": "/data/project/a"]),
    (["a/x", "b/x"], ["/data/project/a": "c/../d", "/data/project/b": "d"]),
    (["a/x", "b/x"], ["/data/project/b": "c", "/data/project/c": "a"]),
    (["x", "/other/x"], ["/data": "/", "/project": "/other"]),
    (["x", "y"], ["/data/project/y": "x"]), (["y", "x"], ["/data/project/y": "x"]),
    (["y", "z"], ["/data/project/y": "x", "/data/project/z": "./x"]),
  ])
  func `two names of one file are one file`(_ targets: [String], _ links: [String: String]) {
    #expect(errors(targets) == [])
    #expect(errors(targets, links: links) == ["`\(targets[1])` is written twice"])
  }

  @Test func `a temporary file is found through links`() {
    let links = ["/data/project/b": "a"]
    #expect(
      errors(["a/x", "b/x.part"], links: links)
        == ["`b/x.part` is the temporary file of a download"])
  }

  @Test func `a link that a download replaces has no temporary file at its destination`() {
    #expect(errors(["y", "x.part"], links: ["/data/project/y": "x"]) == [])
    #expect(errors(["y", "y.part"], links: ["/data/project/y": "x"]).count == 1)
  }

  @Test func `circular links end the search`() {
    let links = ["/data/project/a": "b", "/data/project/b": "a", "/data/project/c": "c"]
    #expect(errors(["a/x", "c/x"], links: links) == [])
  }

  @Test func `a file cannot also be a folder`() {
    #expect(errors(["a", "a/b"]) == ["`a` is a file here, but a folder for another download"])
    #expect(
      errors(["a/b/c", "a/b/d", "a"])
        == ["`a` is a file here, but a folder for another download"])
    #expect(errors(["a/b", "ab", "a.b"]) == [])
  }

  @Test(arguments: ["a/", "a/.", "a/..", ".", "..", "/", "a//"])
  func `a target must name a file`(_ target: String) {
    #expect(errors([target]) == ["`\(target)` is a folder, not a file"])
  }

  @Test func `a task cannot write the manifest`() {
    #expect(errors(["m.yaml"]) == ["`m.yaml` is this manifest"])
    #expect(errors(["../project/m.yaml"]) == ["`../project/m.yaml` is this manifest"])
    #expect(errors(["x"], links: ["/data/project/x": "m.yaml"]) == ["`x` is this manifest"])
  }

  @Test func `a task cannot write into the folder of runs`() {
    let detail = "is in the folder where opflow keeps its runs"
    let within: [String] = errors([".opflow/x", ".opflow/y/z"])
    #expect(within.count == 2)
    #expect(within.allSatisfy { $0.hasSuffix(detail) })
    #expect(errors([".opflow"]) == ["`.opflow` \(detail)"])
    let linked: [String] = ["`s/x` \(detail)"]
    #expect(errors(["s/x"], links: ["/data/project/s": ".opflow"]) == linked)
    #expect(errors(["s/x"], links: ["/data/project/.opflow": "s"]) == linked)
    #expect(errors([".opflow.d", ".opflowx/y"]) == [])
  }
}
