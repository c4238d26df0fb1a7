// The only definition of the keys of the run and of included files.

enum ManifestKey: Int, SchemaKey {
  // In the order of the help: the most used first.
  case tasks, vars, env, envFile, defaults, include, maxParallel, maxFailures, resources, secrets
  case name, desc, concurrency, ifRunning, keepRuns, version

  static let ofRootOnly: [ManifestKey] = [
    .maxParallel, .maxFailures, .resources, .secrets, .keepRuns, .concurrency, .ifRunning,
  ]

  static let table = [
    KeyRow(
      "tasks", .each(.task, .map(.task)), standard: "required, unless there is an `include`",
      "The tasks, by ID",
      example: "tasks:\n  hello: { run: echo hello }\n  bye: { needs: [hello], run: echo bye }"),
    KeyRow(
      "vars", .each(.identifier, .scalar),
      "Values for expressions, as `${{ vars.NAME }}`; `--set NAME=VALUE` overrides them",
      example: "vars: { ver: \"1.4.2\" }"),
    KeyRow(
      "env", .each(.taskVariable, .scalar),
      "Environment variables of every task",
      example: "env: { LANG: C.UTF-8 }"),
    KeyRow(
      "env_file", .list(.text, mayBeEmpty: true),
      "Files of variables that are not set yet; a leading `?` makes a file optional",
      example: "env_file: [.env, \"?.env.local\"]"),
    KeyRow(
      "defaults", .map(.defaults),
      "Default values of keys for every task",
      example: "defaults: { shell: bash, timeout: 30m }"),
    KeyRow(
      "include", .list(.either([.text, .map(.include)]), mayBeEmpty: true),
      "More files with tasks",
      example: "include:\n  - lint.yaml\n  - { path: db/tasks.yaml, as: db }"),
    KeyRow(
      "max_parallel", .either([.integer(KeyBounds.maxParallel), .word(["auto"])]),
      standard: "number of CPUs that opflow may use",
      "Limit of `cpu`: at most this many tasks run at once; `-j` overrides it",
      example: "max_parallel: 8"),
    KeyRow(
      "max_failures", .integer(KeyBounds.maxFailures), standard: "1",
      "Start no more tasks after this many failures; 0 is no limit",
      example: "max_failures: 3"),
    KeyRow(
      "resources",
      .entries(
        .identifier, .amount(mayBeNone: false),
        known: [
          ("cpu", .integer(KeyBounds.maxParallel)), ("download", .integer(KeyBounds.maxParallel)),
          ("memory", .size),
        ], mayBeEmpty: true), standard: "{ download: 4 }",
      "Limits that tasks share",
      example: "resources: { database: 1, memory: 4GiB }"),
    KeyRow(
      "secrets", .each(.taskVariable, .map(.secret)),
      "Sources of secret values",
      example: "secrets:\n  TOKEN: { env: CI_TOKEN }\n  KEY: { file: deploy.pem }"),
    KeyRow(
      "name", .text, standard: "the file name",
      "Name of the run in views",
      example: "name: release"),
    KeyRow(
      "desc", .line,
      "Description for readers",
      example: "desc: build, test and publish the SDK"),
    KeyRow(
      "concurrency", .text, standard: "the manifest",
      "Name of a group of runs; `if_running` decides whether two of them can be live",
      example: "concurrency: deploy\nif_running: wait"),
    KeyRow(
      "if_running", .word(["wait", "fail", "allow"]), standard: "`allow`",
      "If another run of the group is live: `wait` for its end, `fail` with exit code 5, or "
        + "`allow` both",
      example: "if_running: wait"),
    KeyRow(
      "keep_runs", .integer(KeyBounds.keepRuns), standard: "50",
      "Number of runs of this manifest to keep; the end of a run removes older ones",
      example: "keep_runs: 10"),
    KeyRow(
      "version", .integer(1...1), standard: "1",
      "Version of the file format; the only one is 1",
      example: "version: 1"),
  ]
}

enum IncludeKey: Int, SchemaKey {
  case path, prefix, vars

  static let table = [
    KeyRow(
      "path", .text, standard: "required",
      "File, relative to the folder of this one",
      example: "path: db/tasks.yaml"),
    KeyRow(
      "as", .text, standard: "the IDs have no prefix",
      "Prefix of the task IDs in the file, followed by a `/`",
      example: "path: db/tasks.yaml\nas: db"),
    KeyRow(
      "vars", .each(.identifier, .scalar),
      "Values for the variables of the file",
      example: "path: db/tasks.yaml\nas: db\nvars: { port: \"5433\" }"),
  ]
}

enum SecretKey: Int, SchemaKey {
  case env, file, run

  static let table = [
    KeyRow(
      "env", .text,
      "Variable in the environment of opflow",
      example: "env: CI_TOKEN"),
    KeyRow(
      "file", .text,
      "File, relative to the manifest's folder",
      example: "file: keys/deploy.pem"),
    KeyRow(
      "run", .command,
      "Command that prints the value; it runs in the manifest's folder",
      example: "run: [pass, show, deploy]"),
  ]
}
