import Testing

/// Values of secrets that come into a manifest by another door, and are written down there.
struct WrittenSecretTests {
  private static let token = "hunter22XyZ"

  private func warnings(_ manifest: String, _ files: [String: String] = [:]) throws -> [String] {
    let place = try Workplace(manifest)
    for (name, text) in files { try place.write(name, text) }
    let done = try place.opflow(
      "run", environment: ["TOKEN": Self.token, "GH_TOKEN": Self.token])
    #expect(done.status == 0)
    let lines = done.errors.split(separator: "\n").filter { $0.contains("warning:") }
    for line in lines { #expect(!line.contains(Self.token)) }
    return lines.map(String.init)
  }

  private func text(_ place: String) -> String {
    "opflow: warning: the value of the secret `TOKEN` appears in \(place), which opflow stores and"
      + " shows; keep it only in the source that `secrets` names"
  }

  @Test func `that of another variable of the environment is told`() throws {
    #expect(
      try warnings(
        """
        tasks:
          a: { secrets: [TOKEN], env: { U: "x-${{ env.GH_TOKEN }}" }, run: "true" }
        """) == [text("the variable `U` of `a`")])
  }

  @Test func `that of a file of variables is told`() throws {
    #expect(
      try warnings(
        """
        env_file: [.env]
        tasks:
          a: { secrets: [TOKEN], run: "true" }
          b: { run: "true" }
        """, [".env": "URL=postgres://me:\(Self.token)@db/x\n"]) == [
          text("the variable `URL` of `a`")
        ])
  }

  @Test func `that of a line, which names a leg, is told without its value`() throws {
    #expect(
      try warnings(
        """
        tasks:
          a: { secrets: [TOKEN], matrix: { x: { lines: l } }, run: "true" }
        """, ["l": "one\n\(Self.token)\n"]) == [text("the ID `a[x=***]`")])
  }

  @Test func `that of a cell of a sheet is told`() throws {
    #expect(
      try warnings(
        """
        tasks:
          a: { secrets: [TOKEN], matrix: { rows: s.csv }, run: "true" }
        """, ["s.csv": "name,key\nx,\(Self.token)\n"]) == [text("`matrix` of `a[name=x]`")])
  }

  @Test func `that of the manifest itself, also in base64, is told`() throws {
    #expect(
      try warnings("tasks: { a: { secrets: [TOKEN], run: [echo, aHVudGVyMjJYeVo=] } }") == [
        text("`run` of `a`")
      ])
  }

  @Test func `that of a tag and of the line for people is told`() throws {
    func told(_ key: String) throws -> [String] {
      try warnings("tasks: { a: { secrets: [TOKEN], \(key), run: 'true' } }")
    }
    #expect(try told("tags: [x, \(Self.token)]") == [text("`tags` of `a`")])
    #expect(try told("desc: use \(Self.token)") == [text("`desc` of `a`")])
  }

  @Test func `that of several tasks is told with their number`() throws {
    let tasks = (0..<3).map {
      "b\($0): { run: 'true', desc: x\($0) \(Self.token), tags: [\(Self.token)] }"
    }
    #expect(
      try warnings(
        "tasks: { a: { secrets: [TOKEN], run: 'true' }, \(tasks.joined(separator: ", ")) }")
        == [text("`desc` of `b0` and in 2 other tasks")])
    #expect(
      try warnings("tasks: { a: { secrets: [TOKEN], run: 'true' }, \(tasks[0]), \(tasks[1]) }")
        == [text("`desc` of `b0` and in another task")])
  }

  @Test(arguments: [
    ("shell: [sh, -c, 'x \(token)'], run: x", "shell"),
    ("run: x, service: { ready: { exec: [probe, \(token)] } }", "ready"),
    ("run: x, service: { ready: { http: 'http://localhost:1/\(token)' } }", "ready"),
    ("run: x, service: { ready: { log: \(token) } }", "ready"),
    ("run: x, service: { ports: [\(token)] }", "ports"),
    ("run: x, inputs: [{ run: [echo, '${{ env.GH_TOKEN }}'] }]", "inputs"),
    ("run: x, inputs: [\(token)/*]", "inputs"), ("run: x, outputs: [\(token)]", "outputs"),
    ("run: x, needs: [z], if: needs.z.v == '\(token)'", "if"),
    ("approve: 'Is \(token) right?'", "approve"), ("run: x, dir: \(token)", "dir"),
    ("download: { url: 'http://h/', to: x, headers: { A: '${{ env.GH_TOKEN }}' } }", "headers"),
  ])
  func `that of any key of a task is told, whether or not the task runs`(
    _ task: String, _ key: String
  ) throws {
    let place = try Workplace(
      "tasks: { t: { \(task) }, z: { secrets: [TOKEN], run: 'echo 1 > $OPFLOW_VALUES/v' } }")
    let run = try place.opflow(
      "run", "-q", "z", environment: ["TOKEN": Self.token, "GH_TOKEN": Self.token])
    #expect(run.errors.contains(text("`\(key)` of `t`") + "\n"), "\(run)")
  }

  @Test(arguments: [
    ("name: a ${{ env.GH_TOKEN }}", "`name`"), ("desc: a \(token)", "`desc`"),
    ("concurrency: '${{ env.GH_TOKEN }}'", "`concurrency`"),
    ("resources: { \(token): 1 }", "`resources`"),
    ("vars: { unused: \(token) }", "line 1 of opflow.yaml"),
    ("# \(token)", "line 1 of opflow.yaml"), ("env_file: [.env]", "line 2 of .env"),
  ])
  func `that of the top is told, and of what no task has`(_ top: String, _ place: String) throws {
    #expect(
      try warnings(
        top + "\ntasks: { a: { secrets: [TOKEN], run: 'true' } }",
        [".env": "\n# \(Self.token)\n"]) == [text(place)])
  }

  /// By a task of the run, which knows the value.
  @Test(arguments: [
    (#"{ "x-%s": { run: a } }"#, "the ID `x-***`"),
    (#"{ x: { run: [echo, "%s"] } }"#, "`run` of `x`"), ("{ x: { run: a } } # %s", "line 1 of -"),
    (#"{ x: { matrix: { v: { lines: list } }, run: a } }"#, "the ID `x[v=***]`"),
    (#"{ x: { matrix: { rows: rows.csv }, run: a } }"#, "`matrix` of `x[n=a]`"),
  ])
  func `what is added is refused, and written nowhere`(_ tasks: String, _ detail: String) throws {
    let place = try Workplace(
      """
      secrets: { TOKEN: { env: TOKEN } }
      tasks:
        adds:
          control: true
          secrets: [TOKEN]
          run: |
            echo "$TOKEN" > list
            printf 'n,other\\na,%s\\n' "$TOKEN" > rows.csv
            sed "s/%s/$TOKEN/g" tasks | "$opflow" add - || { echo "exit $?" >> trace; exit 1; }
      """)
    try place.write("tasks", "tasks: \(tasks)\n")
    let run = try place.opflow("run", status: 1, environment: ["TOKEN": Self.token])
    #expect(
      run.errors.contains(
        "opflow: add: the value of the secret `TOKEN` appears in \(detail), which opflow would"
          + " store and show; list the secret under `secrets` of the task, "), "\(run)")
    #expect(place.lines() == ["exit 2"])
    #expect(try place.status().tasks.map(\.id) == ["adds"])
    try expectNowhere(in: place, run)
  }

  @Test func `tasks of a matrix that is known late are refused, and the matrix fails`()
    throws
  {
    let place = try Workplace(
      """
      tasks:
        list: { secrets: [TOKEN], run: 'echo "p $TOKEN" > parts' }
        each: { matrix: { p: { lines: parts, after: list } }, run: "true" }
        last: { needs: each, run: touch last }
      """)
    let run = try place.opflow("run", "-k", status: 1, environment: ["TOKEN": Self.token])
    #expect(run.errors.contains("appears in the ID `each[p=p%20***]`"), "\(run)")
    #expect(try place.status()["each"]?.state == "failed")
    #expect(!place.exists("last"))
    try expectNowhere(in: place, run)
    // It is made again when the list is clean.
    try place.write("parts", "p\n")
    try place.opflow("resume", environment: ["TOKEN": Self.token])
    #expect(place.exists("last"))
  }

  private func expectNowhere(in place: Workplace, _ shown: Finished...) throws {
    #expect(!shown.contains { ($0.output + $0.errors).contains(Self.token) })
    try place.shell("! grep -r '\(Self.token)' .opflow")
    #expect(try place.shell("find .opflow | grep -c '\(Self.token)'", status: 1).output == "0\n")
  }

  @Test func `nothing is told where none stands`() throws {
    #expect(try warnings("tasks: { a: { secrets: [TOKEN], run: 'echo $TOKEN' } }") == [])
  }
}
