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

  @Test func `the tasks of a manifest are listed with what it says of them`() throws {
    let all = try place().opflow("tasks", "ci.yaml")
    #expect(
      all.output == """
        ci.yaml: 4 tasks
        TASK            DESCRIPTION        TAGS
        lint            look at the style  fast, style
        build (2 legs)
        deploy          to linux (manual)

        """)
    #expect(all.errors == "")
  }

  @Test func `tasks that are named are listed alone`() throws {
    let place = try place()
    let some = try place.opflow(
      "tasks", "ci.yaml", "tag:fast", "build[arch=x64]", "--set", "os=bsd")
    #expect(
      some.output == """
        ci.yaml: 4 tasks
        TASK                 DESCRIPTION        TAGS
        lint                 look at the style  fast, style
        build (1 of 2 legs)

        """)
    let none = try place.opflow("tasks", "ci.yaml", "lnt", status: 2)
    #expect(none.errors.contains("did you mean `lint`?"))
  }

  @Test func `a manifest that is not there is told, and none is no reason for the help`() throws {
    let place = try place()
    let lost = try place.opflow("tasks", status: 2)
    #expect(lost.errors.contains("no opflow.yaml here or in a folder above"))
    #expect(lost.output == "")
  }
}
