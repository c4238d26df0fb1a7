import Testing

/// Errors in the top-level keys.
struct BadTopLevelTests {
  @Test(arguments: cases)
  func `is refused with every error at its place`(_ bad: BadManifest) {
    #expect(errors(in: bad.text) == bad.errors)
  }

  static let cases: [BadManifest] = [
    BadManifest(
      "no tasks", "version: 1\nname: x",
      "1:1: `tasks` is missing"),
    BadManifest(
      "tasks without a value", "tasks:",
      "1:7: `tasks` must be a map of task IDs to tasks, not empty"),
    BadManifest(
      "tasks with nothing in it", "tasks: {}",
      "1:8: `tasks` is empty"),
    BadManifest(
      "tasks as a list", "tasks:\n  - run: x",
      "2:3: `tasks` must be a map of task IDs to tasks, not a list"),
    BadManifest(
      "tasks as a text", "tasks: build",
      "1:8: `tasks` must be a map of task IDs to tasks, not a string"),
    BadManifest(
      "another version", "version: 2\ntasks: { a: { run: x } }",
      "1:10: this opflow reads version 1 of the manifest format, not 2"),
    BadManifest(
      "a version in quotes", "version: \"1\"\ntasks: { a: { run: x } }",
      "1:10: `version` must be a whole number, not \"1\""),
    BadManifest(
      "a version that is no integer", "version: 1.0\ntasks: { a: { run: x } }",
      "1:10: `version` must be a whole number, not `1.0`"),
    BadManifest(
      "an unknown key", "nmae: x\ntasks: { a: { run: x } }",
      "1:1: unknown key `nmae` in the manifest"),
    BadManifest(
      "an unknown key like none", "zebra: x\ntasks: { a: { run: x } }",
      "1:1: unknown key `zebra` in the manifest"),
    BadManifest(
      "another tool's key for tasks", "jobs: { a: { run: x } }",
      "1:1: unknown key `jobs` in the manifest"),
    BadManifest(
      "another tool's key for vars", "variables: { a: 1 }\ntasks: { a: { run: x } }",
      "1:1: unknown key `variables` in the manifest"),
    BadManifest(
      "a key twice", "name: a\nname: b\ntasks: { a: { run: x } }",
      "2:1: the key `name` occurs twice in this map"),
    BadManifest(
      "a name that is a number", "name: 42\ntasks: { a: { run: x } }",
      "1:7: `name` must be a string, not a number"),
    BadManifest(
      "an empty name", "name: ''\ntasks: { a: { run: x } }",
      "1:7: `name` is empty"),
    BadManifest(
      "a description that is a list", "desc: [a]\ntasks: { a: { run: x } }",
      "1:7: `desc` must be a string, not a list"),
    BadManifest(
      "max_parallel below one", "max_parallel: 0\ntasks: { a: { run: x } }",
      "1:15: `max_parallel` must be at least 1, not 0"),
    BadManifest(
      "max_parallel that is a word", "max_parallel: many\ntasks: { a: { run: x } }",
      "1:15: `max_parallel` must be a whole number or `auto`, not `many`"),
    BadManifest(
      "max_parallel that is a list", "max_parallel: [4]\ntasks: { a: { run: x } }",
      "1:15: `max_parallel` must be a whole number or `auto`, not a list"),
    BadManifest(
      "keep_runs that keeps none", "keep_runs: 0\ntasks: { a: { run: x } }",
      "1:12: `keep_runs` must be at least 1, not 0"),
    BadManifest(
      "keep_runs that is a word", "keep_runs: all\ntasks: { a: { run: x } }",
      "1:12: `keep_runs` must be a whole number, not `all`"),
    BadManifest(
      "concurrency that is a number", "concurrency: 4\ntasks: { a: { run: x } }",
      "1:14: `concurrency` must be the name of a group of runs"),
    BadManifest(
      "concurrency as GitHub has it",
      "concurrency: { group: x, cancel-in-progress: true }\ntasks: { a: { run: x } }",
      "1:14: `concurrency` must be the name of a group of runs"),
    BadManifest(
      "concurrency without a name", "concurrency: ''\ntasks: { a: { run: x } }",
      "1:14: `concurrency` is empty"),
    BadManifest(
      "if_running that is another word", "if_running: cancel\ntasks: { a: { run: x } }",
      "1:13: `if_running` must be wait, fail or allow, not `cancel`"),
    BadManifest(
      "max_failures below zero", "max_failures: -1\ntasks: { a: { run: x } }",
      "1:15: `max_failures` must be at least 0, not -1"),
    BadManifest(
      "max_failures that is a boolean", "max_failures: true\ntasks: { a: { run: x } }",
      "1:15: `max_failures` must be a whole number, not `true`"),
    BadManifest(
      "vars as a list", "vars: [a]\ntasks: { a: { run: x } }",
      "1:7: `vars` must be a map, not a list"),
    BadManifest(
      "a variable without a value", "vars: { a: }\ntasks: { a: { run: x } }",
      "1:12: `vars.a` has no value; it must be a string, a number or a boolean"),
    BadManifest(
      "a variable that is null", "vars: { a: null }\ntasks: { a: { run: x } }",
      "1:12: `vars.a` must be a string, a number or a boolean, not null"),
    BadManifest(
      "a variable that is a list", "vars: { a: [1] }\ntasks: { a: { run: x } }",
      "1:12: `vars.a` must be a string, a number or a boolean, not a list"),
    BadManifest(
      "a variable with a bad name", "vars: { 'a b': 1 }\ntasks: { a: { run: x } }",
      "1:9: `a b` is not a valid variable name"),
    BadManifest(
      "a variable twice", "vars:\n  a: 1\n  a: 2\ntasks: { a: { run: x } }",
      "3:3: the key `a` occurs twice in this map"),
    BadManifest(
      "a variable that sees a later one",
      "vars:\n  a: ${{ vars.b }}\n  b: 1\ntasks: { a: { run: x } }",
      "2:10: unknown name `vars.b`"),
    BadManifest(
      "env as a text", "env: A=1\ntasks: { a: { run: x } }",
      "1:6: `env` must be a map, not a string"),
    BadManifest(
      "an environment value that is null", "env: { A: ~ }\ntasks: { a: { run: x } }",
      "1:11: `env.A` must be a string, a number or a boolean, not null"),
    BadManifest(
      "an environment value that is a map", "env: { A: { b: c } }\ntasks: { a: { run: x } }",
      "1:11: `env.A` must be a string, a number or a boolean, not a map"),
    BadManifest(
      "an environment name with an equals sign", "env: { 'A=B': 1 }\ntasks: { a: { run: x } }",
      "1:8: `A=B` is not a valid environment variable name"),
    BadManifest(
      "an environment name of opflow's own", "env: { OPFLOW_RUN: 1 }\ntasks: { a: { run: x } }",
      "1:8: `OPFLOW_RUN` is reserved: opflow sets the variables that begin with `OPFLOW_`"),
    BadManifest(
      "resources as a list", "resources: [net]\ntasks: { a: { run: x } }",
      "1:12: `resources` must be a map, not a list"),
    BadManifest(
      "a capacity of zero", "resources: { net: 0 }\ntasks: { a: { run: x } }",
      "1:19: `resources.net` must be more than 0"),
    BadManifest(
      "a capacity finer than thousandths",
      "resources: { net: 0.0005 }\ntasks: { a: { run: x } }",
      "1:19: `resources.net` has more than three decimals: `0.0005`"),
    BadManifest(
      "a capacity of too many thousandths",
      "resources: { net: 18446744073709552 }\ntasks: { a: { run: x } }",
      "1:19: `resources.net` is too large: `18446744073709552`"),
    BadManifest(
      "a capacity of too many digits",
      "resources: { net: 99999999999999999999999 }\ntasks: { a: { run: x } }",
      "1:19: `resources.net` is too large: `99999999999999999999999`"),
    BadManifest(
      "a size of too many bytes", "resources: { net: 20PiB }\ntasks: { a: { run: x } }",
      "1:19: `resources.net` is too large: `20PiB`"),
    BadManifest(
      "a capacity that is a word", "resources: { net: lots }\ntasks: { a: { run: x } }",
      "1:19: `resources.net` must be a number or a size, not `lots`"),
    BadManifest(
      "a capacity with an unknown unit", "resources: { memory: 2GiX }\ntasks: { a: { run: x } }",
      "1:22: `resources.memory` must be a size, not `2GiX`"),
    BadManifest(
      "a capacity of cpu as a size", "resources: { cpu: 2GiB }\ntasks: { a: { run: x } }",
      "1:19: `resources.cpu` must be a whole number, not `2GiB`"),
    BadManifest(
      "cpu set twice", "max_parallel: 4\nresources: { cpu: 2 }\ntasks: { a: { run: x } }",
      "2:14: the limit of `cpu` is set twice"),
    BadManifest(
      "a resource with a bad name", "resources: { 'a b': 1 }\ntasks: { a: { run: x } }",
      "1:14: `a b` is not a valid resource name"),
    BadManifest(
      "defaults as a list", "defaults: [a]\ntasks: { a: { run: x } }",
      "1:11: `defaults` must be a map, not a list"),
    BadManifest(
      "a task key in defaults", "defaults: { run: x }\ntasks: { a: { run: x } }",
      "1:13: unknown key `run` in `defaults`"),
    BadManifest(
      "an unknown key in defaults", "defaults: { shel: x }\ntasks: { a: { run: x } }",
      "1:13: unknown key `shel` in `defaults`"),
    BadManifest(
      "a wrong value in defaults", "defaults: { timeout: soon }\ntasks: { a: { run: x } }",
      "1:22: `timeout` must be a duration, not `soon`"),
  ]
}
