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
    "opflow: warning: the value of the secret `TOKEN` stands in \(place), which is written down and"
      + " shown: have it in `secrets` alone"
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
        """, ["l": "one\n\(Self.token)\n"]) == [text("the id `a[x=***]`")])
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
        == [text("`desc` of `b0`, and in 2 other tasks")])
    #expect(
      try warnings("tasks: { a: { secrets: [TOKEN], run: 'true' }, \(tasks[0]), \(tasks[1]) }")
        == [text("`desc` of `b0`, and in another task")])
  }

  @Test func `nothing is told where none stands`() throws {
    #expect(try warnings("tasks: { a: { secrets: [TOKEN], run: 'echo $TOKEN' } }") == [])
  }
}
