import OpflowManifest
import OpflowPlan
import Testing

/// The places of tasks, for annotations.
struct TaskPlaceTests {
  @Test func `each task has its file and line`() throws {
    let compiled = try compile(
      """
      include: [{ path: lib/b.yaml, as: lib }, c.yaml]
      tasks:
        # one
        a: { run: "true" }

        b:
          matrix: { n: [1, 2] }
          run: "true"
        c: { run: "true" }
      """,
      files: [
        "lib/b.yaml": "\n\ntasks: { x: { run: \"true\" },\n  y: { run: \"true\" } }",
        "c.yaml": "tasks:\n  z: { run: \"true\" }\n",
      ])
    let plan = try Plan(copying: compiled.planBytes)
    try plan.validate()
    let places = plan.tasks.map { TaskID($0) }.map { task in
      let place = plan.place(of: task)
      return "\(plan.nameString(task)) \(place?.path ?? "none"):\(place?.line ?? 0)"
    }
    #expect(
      places == [
        "a /data/project/m.yaml:4", "b[n=1] /data/project/m.yaml:6",
        "b[n=2] /data/project/m.yaml:6",
        "c /data/project/m.yaml:9", "lib/x /data/project/lib/b.yaml:3",
        "lib/y /data/project/lib/b.yaml:4", "z /data/project/c.yaml:2",
      ])
  }
}
