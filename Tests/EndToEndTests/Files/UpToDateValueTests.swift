import Glibc
import Testing

/// Tasks that are up to date by another run, and whose values others read.
struct UpToDateValueTests {
  private static let manifest = """
    tasks:
      a: { inputs: [src], outputs: [out], run: "echo a >> trace; touch out; cat src > $OPFLOW_VALUES/v" }
      b: { needs: a, inputs: [], env: { V: "${{ needs.a.v }}" }, run: 'echo "b $V" >> trace' }
      c: { needs: a, env: { V: "${{ needs.a.v }}" }, run: 'echo "c $V" >> trace' }
      d: { needs: a, if: "needs.a.v == 'text'", run: "echo d >> trace" }
      e: { needs: a, run: 'cp -r $OPFLOW_NEEDS/a .; echo "e $(cat a/v)" >> trace' }
    """

  private func place() throws -> Workplace {
    let place = try Workplace(Self.manifest)
    try place.write("src", "text\n")
    return place
  }

  /// What starts in another run, sorted.
  private func starts(
    _ place: Workplace, _ arguments: String = "run", status: Int32 = 0,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> [String] {
    try place.shell(
      "rm -rf trace a; \"$opflow\" \(arguments)", status: status, sourceLocation: sourceLocation)
    return place.lines().sorted()
  }

  @Test func `values of a task that is up to date are those that it left`() throws {
    let place = try place()
    #expect(try starts(place) == ["a", "b text", "c text", "d", "e text"])
    // A task that reads the same values is up to date, too, in each later run.
    for _ in 0..<3 { #expect(try starts(place) == ["c text", "d", "e text"]) }
    try place.write("src", "other\n")
    #expect(try starts(place) == ["a", "b other", "c other", "e other"])
    #expect(try starts(place) == ["c other", "e other"])
    try place.shell("$opflow journal verify $(ls .opflow/runs | tail -1)")
  }

  @Test func `they are there when the run that left them is not`() throws {
    let place = try place()
    #expect(try starts(place) == ["a", "b text", "c text", "d", "e text"])
    try place.shell("rm -r .opflow/runs/*")
    #expect(try starts(place) == ["c text", "d", "e text"])
    #expect(try starts(place, "resume --rerun c") == ["c text"])
    try place.shell("rm -r .opflow/runs/*/values")
    #expect(try starts(place, "resume --rerun c") == ["c text"])
  }

  @Test func `a resume and its journal know them`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { inputs: [src], run: "echo a >> trace; cat src > $OPFLOW_VALUES/v" }
        b: { needs: a, env: { V: "${{ needs.a.v }}" }, run: 'echo "b $V" >> trace; test -e ok' }
      """)
    try place.write("src", "text\n")
    #expect(try starts(place, status: 1) == ["a", "b text"])
    try place.shell("rm -r .opflow/runs/*")
    #expect(try starts(place, status: 1) == ["b text"])
    let fresh = try #require(place.journal().first { $0.event == "fresh" })
    #expect(fresh.task == "a")
    #expect(fresh.values["values"]?.contains(#/^v:[0-9a-f]{16}$/#) == true)
    #expect(place.entries(try place.runFolder() + "/values") == ["a.0"])
    try place.write("ok", "")
    #expect(try starts(place, "resume") == ["b text"])
    #expect(place.entries(try place.runFolder() + "/values") == ["a.0"])
  }

  @Test func `a value is as it was, whatever bytes it has`() throws {
    let place = try Workplace(
      #"""
      tasks:
        a:
          inputs: []
          run: |
            cd $OPFLOW_VALUES
            : > empty; echo > line; printf 'a\\\tb\r\nc\n\n' > text; printf 'x\r\n' > windows
            head -c 65536 /dev/zero | tr '\0' '\\' > long
            for i in $(seq 95); do echo $i > v$i; done
        b: { needs: a, run: 'rm -rf all; cp -r $OPFLOW_NEEDS/a all; (cd all; sha256sum *) > sums' }
      """#)
    try place.opflow("run")
    let sums = try place.text("sums")
    #expect(sums.split(separator: "\n").count == 100)
    try place.remove("sums")
    let run = try place.opflow("run", "--output", "line")
    #expect(run.errors.contains("a is up to date"), "\(run)")
    #expect(try place.text("sums") == sums)
  }

  @Test func `a task whose values nobody read runs once more when somebody does`() throws {
    let place = try Workplace(
      "tasks: { a: { inputs: [], run: \"echo a >> trace; echo 1 > $OPFLOW_VALUES/v\" } }")
    // The name alone would have the task keep them.
    try place.write(
      "opflow.yaml", "tasks: { a: { inputs: [], run: \"echo a >> trace; ./leave\" } }")
    try place.writeProgram("leave", "#!/bin/sh\necho 1 > $OPFLOW_VALUES/v\n")
    #expect(try starts(place) == ["a"])
    #expect(try starts(place) == [])
    try place.shell(
      #"echo '  b: { needs: a, env: { V: "${{ needs.a.v }}" }, run: "echo b $V >> trace" }' > b"#)
    try place.shell(
      """
      (echo tasks:; echo '  a: { inputs: [], run: "echo a >> trace; ./leave" }'; \
      cat b) > opflow.yaml
      """
    )
    let run = try place.opflow("run", "--output", "line")
    #expect(
      run.errors.contains(
        "a started: its dependents read its values, which opflow did not record"), "\(run)")
    #expect(place.lines().suffix(2) == ["a", "b 1"])
    #expect(try starts(place) == ["b 1"])
  }

  @Test func `a value that holds what is a secret now is not handed on`() throws {
    let place = try place()
    try place.write("src", "confidential\n")
    #expect(try starts(place) == ["a", "b confidential", "c confidential", "e confidential"])
    try place.write(
      "opflow.yaml",
      "secrets: { TOKEN: { file: token } }\n" + Self.manifest
        + "\n  s: { secrets: [TOKEN], run: \"true\" }\n")
    try place.shell("printf confidential > token; chmod 600 token")
    let run = try place.opflow("run", "--output", "line", status: 1)
    #expect(run.errors.contains("a started: one of its values contains a secret"), "\(run)")
    #expect(
      run.errors.contains("$OPFLOW_VALUES/v contains a secret; opflow records values"), "\(run)")
  }
}
