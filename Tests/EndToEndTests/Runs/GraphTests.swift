import Testing

/// `opflow graph`, of manifests and of runs.
struct GraphTests {
  private static let manifest = """
    name: demo
    tasks:
      fetch: { run: 'true' }
      build: { matrix: { cpu: [arm, "</svg>\\"x"] }, needs: fetch, run: 'true' }
      test: { needs: build, run: 'exit 3' }
      pack: { needs: test, run: 'true' }
    """

  @Test func `a manifest is drawn as text, or in the format of the file's name`() throws {
    let place = try Workplace(Self.manifest)
    let text = try place.opflow("graph").output
    #expect(text.contains("fetch → build (2 tasks) → test → pack\n"), "\(text)")
    #expect(try place.opflow("graph", "build").output.contains("pack") == false)
    try place.opflow("graph", "-o", "g.dot")
    #expect(try place.text("g.dot").contains("digraph \"demo\" {"))
    try place.opflow("graph", "opflow.yaml", "-o", "g.mmd")
    #expect(try place.text("g.mmd").hasPrefix("flowchart LR\n"))
    #expect(place.runs.isEmpty)
    try place.opflow("graph", "nobody", status: 2)
  }

  @Test func `a run is drawn with its states`() throws {
    let place = try Workplace(Self.manifest)
    try place.opflow("run", status: 1)
    let run = try #require(place.runs.first)
    for text in [
      try place.opflow("graph", run).output,
      try place.opflow("graph", "--run", "opflow.yaml").output,
    ] {
      #expect(text.contains("✔ fetch → ✔ build (2 tasks; succeeded)"), "\(text)")
      #expect(text.contains("✘ test → – pack"), "\(text)")
    }
    let dot = try place.opflow("graph", run, "--format", "dot").output
    #expect(dot.contains("[label=\"test\\nfailed\""), "\(dot)")
  }

  @Test func `Graphviz draws svg as one document, whatever the names contain`() throws {
    let place = try Workplace(Self.manifest)
    guard try place.shell("command -v dot >/dev/null && echo yes || echo no").output == "yes\n"
    else {
      let missing = try place.opflow("graph", "--format", "svg", status: 2)
      #expect(missing.errors.contains("svg needs Graphviz"), "\(missing)")
      return
    }
    try place.opflow("graph", "-o", "g.svg", "-v")
    let svg = try place.text("g.svg")
    #expect(svg.hasSuffix("</svg>\n") && svg.split(separator: "</svg>").count == 2, "\(svg)")
    #expect(svg.contains(">fetch</text>"), "\(svg)")
  }

  @Test func `a missing or failing Graphviz leaves the file unchanged`() throws {
    let place = try Workplace(Self.manifest)
    try place.write("g.svg", "before")
    try place.shell("mkdir bin")
    try place.writeProgram("bin/dot", "#!/bin/sh\necho 'it is broken' >&2\nexit 4\n")
    let failed = try place.shell(
      "PATH=$PWD/bin:$PATH \"$opflow\" graph -o g.svg", status: 74)
    #expect(failed.errors.contains("`dot` exited with code 4: it is broken"), "\(failed)")
    let missing = try place.shell("PATH=$PWD \"$opflow\" graph -o g.svg", status: 2)
    #expect(missing.errors.contains("`dot` was not found in PATH"), "\(missing)")
    #expect(try place.text("g.svg") == "before")
  }
}
