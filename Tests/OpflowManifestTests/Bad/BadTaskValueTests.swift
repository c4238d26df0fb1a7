import Testing

/// Wrong values of the other keys of a task.
struct BadTaskValueTests {
  @Test(arguments: cases)
  func `is refused with every error at its place`(_ bad: BadManifest) {
    #expect(errors(in: bad.text) == bad.errors)
  }

  static let cases: [BadManifest] = [
    BadManifest(
      "allow_failure that is a word", task: "run: x\nallow_failure: yes",
      "4:20: `allow_failure` must be true, false or a list of exit codes, not `yes`"),
    BadManifest(
      "allow_failure that is a number", task: "run: x\nallow_failure: 2",
      "4:20: `allow_failure` must be true, false or a list of exit codes, not `2`"),
    BadManifest(
      "allow_failure with a code that is a word", task: "run: x\nallow_failure: [a]",
      "4:21: an item of `allow_failure` must be a whole number, not `a`"),
    BadManifest(
      "allow_failure that is a map", task: "run: x\nallow_failure: { codes: [1] }",
      "4:20: `allow_failure` must be true, false or a list of exit codes, not a map"),
    BadManifest(
      "finally that is a word", task: "run: x\nfinally: always",
      "4:14: `finally` must be true or false, not `always`"),
    BadManifest(
      "on_interrupted that is unknown", task: "run: x\non_interrupted: ignore",
      "4:21: `on_interrupted` must be rerun or fail, not `ignore`"),
    BadManifest(
      "several tags in a text", task: "run: x\ntags: slow, ui",
      "4:11: a tag cannot contain a space or a comma"),
    BadManifest(
      "a tag that is a number", task: "run: x\ntags: [a, 1]",
      "4:15: an item of `tags` must be a string, not a number"),
    BadManifest(
      "an env that is a list", task: "run: x\nenv: [A=1]",
      "4:10: `env` must be a map, not a list"),
    BadManifest(
      "an env value that is null", task: "run: x\nenv: { A: }",
      "4:15: `env.A` has no value; it must be a string, a number or a boolean"),
    BadManifest(
      "an env value twice", task: "run: x\nenv: { A: 1, A: 2 }",
      "4:18: the key `A` occurs twice in this map"),
    BadManifest(
      "a resource that is unknown", task: "run: x\nresources: { nett: 1 }",
      "4:18: unknown resource `nett`"),
    BadManifest(
      "a resource in the wrong type", task: "run: x\nresources: { cpu: many }",
      "4:23: `resources.cpu` must be a whole number, not `many`"),
    BadManifest(
      "a resource that is a fraction", task: "run: x\nresources: { cpu: 0.5 }",
      "4:23: `resources.cpu` must be a whole number, not `0.5`"),
    BadManifest(
      "a part of a byte", task: "run: x\nresources: { memory: 0.5 }",
      "4:26: `resources.memory` must be a size, not `0.5`"),
    BadManifest(
      "resources that are a number", task: "run: x\nresources: 4",
      "4:16: `resources` must be a map, not a number"),
    BadManifest(
      "a resource near another's name",
      "resources: { net: 2 }\ntasks:\n  a: { run: x, resources: { nte: 1 } }",
      "3:29: unknown resource `nte`"),
    BadManifest(
      "a resource beyond its capacity",
      "resources: { net: 2 }\ntasks:\n  a: { run: x, resources: { net: 3 } }",
      "3:34: `net: 3` is more than the limit of 2"),
    BadManifest(
      "a fraction beyond the capacity",
      "resources: { gpu: 0.5 }\ntasks:\n  a: { run: x, resources: { gpu: 0.75 } }",
      "3:34: `gpu: 0.75` is more than the limit of 0.5"),
    BadManifest(
      "a fraction finer than thousandths",
      "resources: { gpu: 1 }\ntasks:\n  a: { run: x, resources: { gpu: 0.3333 } }",
      "3:34: `resources.gpu` has more than three decimals: `0.3333`"),
    BadManifest(
      "a fraction of cpu", "tasks:\n  a: { run: x, resources: { cpu: 0.5 } }",
      "2:34: `resources.cpu` must be a whole number, not `0.5`"),
    BadManifest(
      "a fraction of a GPU", "tasks:\n  a: { run: x, resources: { gpu: 0.5 } }",
      "2:34: `resources.gpu` must be a whole number, not `0.5`"),
    BadManifest(
      "an amount below zero",
      "resources: { gpu: 1 }\ntasks:\n  a: { run: x, resources: { gpu: -0.5 } }",
      "3:34: `resources.gpu` must be a number or a size, not `-0.5`"),
    BadManifest(
      "downloads beyond their capacity", "tasks:\n  a: { run: x, resources: { download: 5 } }",
      "2:39: `download: 5` is more than the limit of 4"),
  ]
}
