import Testing

/// `opflow tasks`.
struct TasksCommandTests {
  private func place() throws -> Workplace {
    let place = try Workplace()
    try place.write(
      "ci.yaml",
      """
      vars: { os: linux }
      tasks:
        lint: { desc: look at the style, run: x, tags: [fast, style] }
        build: { matrix: { arch: [x64, arm64] }, run: x }
        deploy: { desc: "to ${{ vars.os }}", manual: true, needs: [build], run: x }
      """)
    return place
  }

  @Test func `tasks lists the tasks of a manifest with descriptions and tags`() throws {
    let all = try place().opflow("tasks", "ci.yaml")
    #expect(
      all.output == """
        ci.yaml: 4 tasks
        TASK             DESCRIPTION        TAGS
        lint             look at the style  fast, style
        build (2 tasks)
        deploy           to linux (manual)

        """)
    #expect(all.errors == "")
  }

  @Test func `tasks lists only the tasks that you name`() throws {
    let place = try place()
    let some = try place.opflow(
      "tasks", "ci.yaml", "tag:fast", "build[arch=x64]", "--set", "os=bsd")
    #expect(
      some.output == """
        ci.yaml: 4 tasks
        TASK                  DESCRIPTION        TAGS
        lint                  look at the style  fast, style
        build (1 of 2 tasks)

        """)
    let none = try place.opflow("tasks", "ci.yaml", "lnt", status: 2)
    #expect(none.errors.contains("did you mean `lint`?"))
  }

  @Test func `a missing manifest is an error and does not print the help`() throws {
    let place = try place()
    let lost = try place.opflow("tasks", status: 2)
    #expect(lost.errors.contains("no opflow.yaml here or in a folder above"))
    #expect(lost.output == "")
  }
}
