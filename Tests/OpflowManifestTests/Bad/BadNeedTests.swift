import Testing

/// Invalid `needs`.
struct BadNeedTests {
  @Test(arguments: cases)
  func `is refused with every error at its place`(_ bad: BadManifest) {
    #expect(errors(in: bad.text) == bad.errors)
  }

  static let cases: [BadManifest] = [
    BadManifest(
      "an unknown task", task: "run: x\nneeds: [bb]",
      "4:13: unknown task `bb`"),
    BadManifest(
      "a task with a similar name", "tasks:\n  fetch: { run: x }\n  b: { run: x, needs: [fech] }",
      "3:24: unknown task `fech`"),
    BadManifest(
      "two unknown tasks", "tasks:\n  a: { run: x, needs: [x1, y1] }",
      "2:24: unknown task `x1`",
      "2:28: unknown task `y1`"),
    BadManifest(
      "itself", task: "run: x\nneeds: a",
      "4:12: task `a` needs itself"),
    BadManifest(
      "a task needed twice",
      "tasks:\n  a: { run: x }\n  b: { run: x, needs: [a, { task: a, on: failure }] }",
      "3:35: `a` is needed twice"),
    BadManifest(
      "needs that are a map", task: "run: x\nneeds: { task: b }",
      "4:12: `needs` must be a task ID or a list, not a map"),
    BadManifest(
      "a need that is a list", task: "run: x\nneeds: [[b]]",
      "4:13: an item of `needs` must be a task ID, not a list"),
    BadManifest(
      "a need that is null", task: "run: x\nneeds: [~]",
      "4:13: an item of `needs` must be a task ID, not null"),
    BadManifest(
      "a need without its task", task: "run: x\nneeds: [{ on: success }]",
      "4:13: an item of `needs` has no `task`"),
    BadManifest(
      "a need with an unknown key", task: "run: x\nneeds: [{ id: b }]",
      "4:15: unknown key `id` in an item of `needs`"),
    BadManifest(
      "a need with an unknown condition",
      "tasks:\n  a: { run: x }\n  b: { run: x, needs: [{ task: a, on: done }] }",
      "3:39: `on` must be success, failure, finished or ran, not `done`"),
    BadManifest(
      "a ring of two", "tasks:\n  a: { run: x, needs: b }\n  b: { run: x, needs: a }",
      "2:23: dependency cycle: a -> b -> a"),
    BadManifest(
      "a ring of three behind another task",
      """
      tasks:
        z: { run: x, needs: a }
        a: { run: x, needs: [b] }
        b: { run: x, needs: [c] }
        c:
          run: x
          needs:
            - a
      """,
      "3:24: dependency cycle: a -> b -> c -> a"),
    BadManifest(
      "two rings",
      """
      tasks:
        a: { run: x, needs: b }
        b: { run: x, needs: a }
        c: { run: x, needs: d }
        d: { run: x, needs: c }
      """,
      "2:23: dependency cycle: a -> b -> a",
      "4:23: dependency cycle: c -> d -> c"),
    BadManifest(
      "a need of a finally task",
      "tasks:\n  a: { run: x, needs: c }\n  c: { run: x, finally: true }",
      "2:23: task `a` needs the `finally` task `c`, which runs after it"),
  ]
}
