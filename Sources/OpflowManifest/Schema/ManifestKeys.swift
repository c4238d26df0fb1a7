// The only definition of the keys of the run and of included files.

enum ManifestKey: Int, SchemaKey {
  case version, name, desc, maxParallel, maxFailures, vars, env, resources, defaults, include
  case envFile, secrets, keepRuns, concurrency, ifRunning
  case tasks

  static let ofRootOnly: [ManifestKey] = [
    .maxParallel, .maxFailures, .resources, .secrets, .keepRuns, .concurrency, .ifRunning,
  ]

  static let table = [
    KeyRow(
      "version", .integer(1...1), standard: "1",
      "the format of the file; 1 is the only one there is", example: "version: 1"),
    KeyRow(
      "name", .text, standard: "the file's name", "what views call the run",
      example: "name: release"),
    KeyRow(
      "desc", .line, "a line for people", example: "desc: build, test and publish the SDK"),
    KeyRow(
      "max_parallel", .either([.integer(KeyBounds.maxParallel), .word(["auto"])]),
      standard: "the processors that opflow may use",
      "how many `cpu` there are to share out; `-j` wins over it", example: "max_parallel: 8"),
    KeyRow(
      "max_failures", .integer(KeyBounds.maxFailures), standard: "1",
      "after so many failed tasks nothing new starts; 0 is no limit", example: "max_failures: 3"),
    KeyRow(
      "vars", .each(.identifier, .scalar),
      "values for expressions: `${{ vars.NAME }}`; `--set NAME=VALUE` wins over them",
      example: "vars: { ver: \"1.4.2\" }"),
    KeyRow(
      "env", .each(.taskVariable, .scalar), "environment of every task",
      example: "env: { LANG: C.UTF-8 }"),
    KeyRow(
      "resources",
      .entries(
        .identifier, .amount(mayBeNone: false),
        known: [
          ("cpu", .integer(KeyBounds.maxParallel)), ("download", .integer(KeyBounds.maxParallel)),
          ("memory", .size),
        ], mayBeEmpty: true), standard: "{ download: 4 }", "capacities that tasks share",
      example: "resources: { database: 1, memory: 4GiB }"),
    KeyRow(
      "defaults", .map(.defaults), "keys that every task starts from",
      example: "defaults: { shell: bash, timeout: 30m }"),
    KeyRow(
      "include", .list(.either([.text, .map(.include)]), mayBeEmpty: true),
      "further files with tasks",
      example: "include:\n  - lint.yaml\n  - { path: db/tasks.yaml, as: db }"),
    KeyRow(
      "env_file", .list(.text, mayBeEmpty: true),
      "files of variables that are not set already; with a `?` before it a file may be missing",
      example: "env_file: [.env, \"?.env.local\"]"),
    KeyRow(
      "secrets", .each(.taskVariable, .map(.secret)), "where the values of secrets come from",
      example: "secrets:\n  TOKEN: { env: CI_TOKEN }\n  KEY: { file: deploy.pem }"),
    KeyRow(
      "keep_runs", .integer(KeyBounds.keepRuns), standard: "50",
      "how many runs of this manifest are kept: the end of a run removes older ones",
      example: "keep_runs: 10"),
    KeyRow(
      "concurrency", .text, standard: "the runs of this manifest",
      "the name of a group of runs, of which one is to be live at a time",
      example: "concurrency: deploy\nif_running: wait"),
    KeyRow(
      "if_running", .word(["wait", "fail", "allow"]), standard: "`allow`",
      "while another run of the group is live: `wait` for its end, `fail` with exit code 5, or"
        + " `allow` both", example: "if_running: wait"),
    KeyRow(
      "tasks", .each(.task, .map(.task)), standard: "required, unless there is an `include`",
      "the tasks, by id",
      example: "tasks:\n  hello: { run: echo hello }\n  bye: { needs: [hello], run: echo bye }"),
  ]
}

enum IncludeKey: Int, SchemaKey {
  case path, prefix, vars

  static let table = [
    KeyRow(
      "path", .text, standard: "required", "the file, from the folder of this one",
      example: "path: db/tasks.yaml"),
    KeyRow(
      "as", .text, standard: "the ids join as they are",
      "a name, which with a `/` stands before the ids of its tasks",
      example: "path: db/tasks.yaml\nas: db"),
    KeyRow(
      "vars", .each(.identifier, .scalar), "values for the file's variables",
      example: "path: db/tasks.yaml\nas: db\nvars: { port: \"5433\" }"),
  ]
}

enum SecretKey: Int, SchemaKey {
  case env, file, run

  static let table = [
    KeyRow(
      "env", .text, "a variable of the environment in which opflow is started",
      example: "env: CI_TOKEN"),
    KeyRow(
      "file", .text, "a file, from the manifest's folder", example: "file: keys/deploy.pem"),
    KeyRow(
      "run", .command, "what a command prints, which runs in the manifest's folder",
      example: "run: [pass, show, deploy]"),
  ]
}
