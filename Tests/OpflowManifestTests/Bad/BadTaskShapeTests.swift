import Testing

/// Invalid IDs, keys and actions of tasks.
struct BadTaskShapeTests {
  @Test(arguments: cases)
  func `is refused with every error at its place`(_ bad: BadManifest) {
    #expect(errors(in: bad.text) == bad.errors)
  }

  static let cases: [BadManifest] = [
    BadManifest(
      "a task without a value", "tasks:\n  a:\n  b: { run: x }",
      "2:3: task `a` is empty"),
    BadManifest(
      "a task that is a text", "tasks:\n  a: make",
      "2:6: task `a` must be a map, not a string"),
    BadManifest(
      "a task that is a list", "tasks:\n  a: [make]",
      "2:6: task `a` must be a map, not a list"),
    BadManifest(
      "a task with a bad id", "tasks:\n  'a b': { run: x }",
      "2:3: `a b` is not a valid task ID"),
    BadManifest(
      "a task with an empty id", "tasks:\n  '': { run: x }",
      "2:3: the task ID is empty"),
    BadManifest(
      "a task with an id that begins with a dot", "tasks:\n  .a: { run: x }",
      "2:3: `.a` is not a valid task ID"),
    BadManifest(
      "a task with the id of a tag", "tasks:\n  tag:a: { run: x }",
      "2:3: the task ID `tag:a` begins with `tag:`"),
    BadManifest(
      "a task with a bracket in its id", "tasks:\n  'a[1]': { run: x }",
      "2:3: `a[1]` is not a valid task ID"),
    BadManifest(
      "a task with a long id", "tasks:\n  " + String(repeating: "a", count: 256) + ": { run: x }",
      "2:3: the task ID is longer than 255 bytes"),
    BadManifest(
      "a task with an id that is not ASCII", "tasks:\n  bäu: { run: x }",
      "2:3: `bäu` is not a valid task ID"),
    BadManifest(
      "a task twice", "tasks:\n  a: { run: x }\n  b: { run: x }\n  a: { run: y }",
      "4:3: the key `a` occurs twice in this map"),
    BadManifest(
      "a key twice", task: "run: x\nrun: y",
      "4:5: the key `run` occurs twice in this map"),
    BadManifest(
      "no action", task: "dir: x",
      "2:3: task `a` has nothing to do"),
    BadManifest(
      "no action, and a key that says how one is run",
      "tasks:\n  a: { needs: [b], dir: x }\n  b: { run: x }",
      "2:3: task `a` has nothing to do"),
    BadManifest(
      "neither an action nor a need", task: "needs: []",
      "2:3: task `a` has nothing to do"),
    BadManifest(
      "two actions", task: "run: x\ndownload: { url: http://h/x, to: y }",
      "4:5: a task cannot have both `run` and `download`"),
    BadManifest(
      "an unknown key", task: "run: x\nprioritty: high",
      "4:5: unknown key `prioritty` in a task"),
    BadManifest(
      "the key depends_on", task: "run: x\ndepends_on: [b]",
      "4:5: unknown key `depends_on` in a task"),
    BadManifest(
      "the key deps", task: "run: x\ndeps: [b]",
      "4:5: unknown key `deps` in a task"),
    BadManifest(
      "the key dependencies", task: "run: x\ndependencies: [b]",
      "4:5: unknown key `dependencies` in a task"),
    BadManifest(
      "the key requires", task: "run: x\nrequires: [b]",
      "4:5: unknown key `requires` in a task"),
    BadManifest(
      "the key after", task: "run: x\nafter: [b]",
      "4:5: unknown key `after` in a task"),
    BadManifest(
      "the key cmd", task: "cmd: x",
      "3:5: unknown key `cmd` in a task"),
    BadManifest(
      "the key command", task: "command: x",
      "3:5: unknown key `command` in a task"),
    BadManifest(
      "the key commands", task: "commands: x",
      "3:5: unknown key `commands` in a task"),
    BadManifest(
      "the key script", task: "script: x",
      "3:5: unknown key `script` in a task"),
    BadManifest(
      "the key steps", task: "steps: x",
      "3:5: unknown key `steps` in a task"),
    BadManifest(
      "the key cwd", task: "run: x\ncwd: y",
      "4:5: unknown key `cwd` in a task"),
    BadManifest(
      "the key workdir", task: "run: x\nworkdir: y",
      "4:5: unknown key `workdir` in a task"),
    BadManifest(
      "the key working_directory", task: "run: x\nworking_directory: y",
      "4:5: unknown key `working_directory` in a task"),
    BadManifest(
      "the key environment", task: "run: x\nenvironment: { A: 1 }",
      "4:5: unknown key `environment` in a task"),
    BadManifest(
      "the key retries", task: "run: x\nretries: 3",
      "4:5: unknown key `retries` in a task"),
    BadManifest(
      "the key on_failure", task: "run: x\non_failure: y",
      "4:5: unknown key `on_failure` in a task"),
    BadManifest(
      "the key ignore_errors", task: "run: x\nignore_errors: true",
      "4:5: unknown key `ignore_errors` in a task"),
    BadManifest(
      "the key when", task: "run: x\nwhen: y",
      "4:5: unknown key `when` in a task"),
    BadManifest(
      "an empty command", task: "run: ''",
      "3:10: `run` is empty"),
    BadManifest(
      "a command of blanks", task: "run: '  '",
      "3:10: `run` is empty"),
    BadManifest(
      "a command that is null", task: "run:",
      "3:9: `run` has no value; it must be a string"),
    BadManifest(
      "a command that is a number", task: "run: 5",
      "3:10: `run` must be a string, not a number"),
    BadManifest(
      "a command that is a map", task: "run: { a: b }",
      "3:10: `run` must be a string or a list of strings, not a map"),
    BadManifest(
      "an empty list", task: "run: []",
      "3:10: `run` is empty"),
    BadManifest(
      "a list with an empty program", task: "run: ['', x]",
      "3:11: the first item of `run` is empty"),
    BadManifest(
      "a list with several lines", task: "run:\n  - make all\n  - make test",
      "4:9: the first item of `run` must be the name of a program, not `make all`"),
    BadManifest(
      "a list in a list", task: "run: [echo, [a]]",
      "3:17: an item of `run` must be a string, not a list"),
    BadManifest(
      "a null in a list", task: "run: [echo, ~]",
      "3:17: an item of `run` must be a string, not null"),
  ]
}
