import Testing

/// Environment, folder and defaults of a task.
struct EnvironmentTests {
  @Test func `the task's env wins over the defaults', the manifest's and the inherited one`() throws
  {
    let place = try Workplace(
      """
      env: { B: manifest, C: manifest, D: manifest }
      defaults: { env: { C: defaults, D: defaults } }
      tasks:
        a: { env: { D: task }, run: 'echo "$A $B $C $D" >> trace' }
      """)
    try place.opflow(
      "run",
      environment: ["A": "inherited", "B": "inherited", "C": "inherited", "D": "inherited"])
    #expect(place.lines() == ["inherited manifest defaults task"])
  }

  @Test func `a task's own variables override those of the manifest, late values too`() throws {
    let place = try Workplace(
      """
      env: { A: file, PATH: /bin:/usr/bin, C: file, D: file }
      tasks:
        first: { run: 'echo left > "$OPFLOW_VALUES/V"' }
        plain: { run: env > plain }
        own: { run: env > own, env: { C: own, A: file, E: own } }
        late: { run: env > late, needs: [first], env: { E: own, A: "${{ needs.first.V }}" } }
      """)
    try place.opflow("run")
    func variables(_ name: String) -> [String] {
      place.lines(name).filter { line in
        ["A=", "C=", "E=", "D="].contains { line.hasPrefix($0) }
      }.sorted()
    }
    #expect(variables("plain") == ["A=file", "C=file", "D=file"])
    #expect(variables("own") == ["A=file", "C=own", "D=file", "E=own"])
    #expect(variables("late") == ["A=left", "C=file", "D=file", "E=own"])
  }

  @Test func `env reads the manifest's value over the inherited one`() throws {
    let place = try Workplace(
      """
      env: { A: manifest, PATHS: "${{ env.A }}:${{ env.B }}" }
      tasks:
        a: { run: 'echo "${{ env.A }} $PATHS" >> trace' }
      """)
    try place.opflow("run", environment: ["A": "inherited", "B": "b"])
    #expect(place.lines() == ["manifest inherited:b"])
  }

  @Test func `a task knows its run, its ID and its attempt`() throws {
    let place = try Workplace(
      "tasks: { 'a/b:c@1': { run: 'echo $OPFLOW_RUN $OPFLOW_TASK $OPFLOW_ATTEMPT >> trace' } }")
    try place.opflow("run")
    #expect(place.lines() == ["\(try #require(place.runs.first)) a/b:c@1 1"])
  }

  @Test func `numbers keep the text they are written with`() throws {
    let place = try Workplace(
      """
      tasks:
        a:
          env: { A: 3.10, B: 0x1F, C: 1e3, D: 0o17, E: yes, F: 007 }
          run: echo "$A $B $C $D $E $F" >> trace
      """)
    try place.opflow("run")
    #expect(place.lines() == ["3.10 0x1F 1e3 0o17 yes 007"])
  }

  @Test func `values with line feeds, quotes and letters of any script arrive whole`() throws {
    let place = try Workplace(
      #"""
      tasks:
        a:
          env: { TEXT: "one\ntwo\t\"three\" 'four' Ünï – 漢字" }
          run: printf %s "$TEXT" > out
      """#)
    try place.opflow("run")
    #expect(try place.text("out") == "one\ntwo\t\"three\" 'four' Ünï – 漢字")
  }

  @Test func `a task runs in the manifest's folder`() throws {
    let place = try Workplace()
    try place.write("sub/opflow.yaml", "tasks: { a: { run: 'pwd > out; echo $PWD >> out' } }")
    try place.opflow("run", "sub/opflow.yaml")
    #expect(place.lines("sub/out") == [place.file("sub"), place.file("sub")])
    #expect(place.exists("sub/.opflow"))
  }

  @Test func `dir is relative to the manifest's folder`() throws {
    let place = try Workplace()
    try place.write("sub/deep/file", "")
    try place.write("sub/opflow.yaml", "tasks: { a: { dir: deep, run: 'pwd; ls > ../out' } }")
    try place.opflow("run", "sub/opflow.yaml")
    #expect(place.lines("sub/out") == ["file"])
  }

  @Test func `an earlier task may make the folder`() throws {
    let place = try Workplace(
      """
      tasks:
        make: { run: mkdir made }
        use: { needs: [make], dir: made, run: echo here > file }
      """)
    try place.opflow("run")
    #expect(place.lines("made/file") == ["here"])
  }

  @Test func `a missing folder fails the task and is named`() throws {
    let place = try Workplace("tasks: { a: { dir: nowhere, run: 'true' } }")
    let run = try place.opflow("run", status: 1)
    #expect(run.errors.contains("nowhere"))
    #expect(run.errors.lowercased().contains("no such file or directory"))
  }

  @Test func `maps in defaults merge key by key, other values are replaced`() throws {
    let place = try Workplace(
      """
      defaults:
        shell: [bash, -c]
        retry: { max: 3, delay: 1ms }
        env: { A: "1", B: "1" }
      tasks:
        a:
          env: { B: "2" }
          retry: { max: 1 }
          run: echo "$A$B ${BASH_VERSION:+bash}" >> trace; exit 1
        b: { shell: [sh, -c], run: 'echo "$A$B ${BASH_VERSION:+bash}" >> trace' }
      """)
    try place.opflow("run", "-j", "1", "-k", status: 1)
    #expect(place.lines().sorted() == ["11 ", "12 bash", "12 bash"])
  }

  @Test func `anchors and merge keys share what tasks have in common`() throws {
    let place = try Workplace(
      """
      x-base: &base { env: { A: base }, run: 'echo "$A" >> trace' }
      tasks:
        a: *base
        b: { <<: *base, env: { A: own } }
        c: { <<: [*base], needs: [a, b] }
      """)
    try place.opflow("run", "-j", "1")
    #expect(place.lines() == ["base", "own", "base"])
  }
}
