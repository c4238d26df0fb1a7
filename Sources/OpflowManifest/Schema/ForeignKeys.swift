enum ForeignKeys {
  /// Words of other tools for each key, separated by spaces.
  private static let table: [(key: StaticString, foreign: String)] = [
    ("needs", "depends_on depends-on dependsOn deps depends dependencies dependency requires"),
    ("needs", "require require_tasks after wait_for upstream prerequisites need on_failure"),
    ("needs", "on_success on_error"),
    ("run", "cmd cmds command commands script shell_command exec execute steps recipe action"),
    ("run", "args entrypoint"),
    ("download", "fetch get url"),
    ("dir", "cwd workdir work_dir working_dir working_directory working-directory directory"),
    ("dir", "chdir path folder"),
    ("env", "environment envs environ"),
    ("vars", "variables params parameters variable var with inputs"),
    ("retry", "retries attempts max_attempts max_retries tries retryPolicy retry_policy"),
    ("timeout", "timeout_minutes timeout-minutes time_limit timeout_seconds deadline duration"),
    ("if", "when condition only_if unless cond only rules"),
    ("allow_failure", "continue_on_error continue-on-error ignore_errors ignore_error"),
    ("allow_failure", "ignore_failure soft_fail allow_fail allow_failures"),
    ("finally", "always after_all teardown cleanup after_script defer"),
    ("inputs", "sources srcs"),
    ("outputs", "generates targets artifacts produces creates outs"),
    ("desc", "description summary help doc comment message"),
    ("name", "title"),
    ("tags", "label labels groups group"),
    ("priority", "prio weight nice"),
    ("resources", "limits resource cpus cpu memory mem cores threads"),
    ("tasks", "jobs targets stages task pipeline nodes actions workflow"),
    ("max_parallel", "parallel max_jobs parallelism max-parallel maxActiveSteps max_active_steps"),
    ("max_failures", "fail_fast fail-fast keep_going failfast"),
    ("include", "includes import imports extends"),
    ("defaults", "default"),
    ("matrix", "strategy foreach with_items loop for"),
    ("shell", "interpreter executable"),
    ("stop", "kill_signal stop_signal grace_period"),
    ("secrets", "secret"),
    ("max", "limit count times"),
    ("delay", "interval wait"),
    ("backoff", "factor multiplier"),
    ("exit_codes", "codes"),
    ("max_delay", "cap"),
    ("signal", "sig"),
    ("grace", "kill_after timeout"),
    ("to", "dest destination output out file target path"),
    ("sha256", "checksum hash sha"),
    ("url", "uri src source href link"),
    ("mirrors", "mirror urls"),
    ("headers", "header"),
    ("mode", "permissions chmod"),
    ("size", "bytes length"),
    ("max_speed", "rate limit_rate"),
    ("resume", "continue"),
    ("task", "id name"),
    ("on", "status condition when if result"),
    ("version", "schema format"),
    ("env_file", "dotenv env_files envfile env-file"),
    ("path", "taskfile file local"),
    ("as", "namespace prefix name"),
    ("interactive", "tty stdin_open"),
    ("service", "daemon background detach"),
    ("concurrency", "maxActiveRuns"),
  ]

  static func key(for text: ByteView, among names: [ByteView]) -> ByteView? {
    for (key, foreign) in table where has(foreign, text) {
      if let name = names.first(where: { $0 == key }) { return name }
    }
    return nil
  }

  static func has(_ words: String, _ text: ByteView) -> Bool {
    words.utf8.split(separator: UInt8(ascii: " ")).contains { text.elementsEqual($0) }
  }

  static func help(for text: ByteView, key: ByteView, isList: Bool) -> String {
    // These keys hold a command in other tools; here it is a separate task.
    if text == "on_failure" || text == "on_success" || text == "on_error" {
      return "let another task need this one: `needs: [{ task: ID, on: failure }]`"
    }
    if isList, key == TaskKey.run.name {
      return "the key is `run` here; write `run: |`, and below it each command on its own line"
    }
    return "the key is `\(key.string)` here"
  }
}

enum ForeignAdvice {
  /// Words with the same help share a row.
  private typealias Advices = [(foreign: String, help: StaticString)]

  private static let clock: StaticString =
    "opflow has no triggers; start `opflow run` from cron, a systemd timer or CI"

  private static let nodes: StaticString =
    "`opflow run --on NODES` decides where tasks run; remove this key"
  private static let plain: StaticString =
    "tasks are processes without a container; remove this key"
  private static let container: StaticString =
    "tasks are processes without a container; to use one, write `run: docker run …`"
  private static let contents: StaticString =
    "opflow compares the contents of the files in `inputs`; remove this key"
  private static let quiet: StaticString = "`opflow run --output quiet` shows failures only"

  // The first keys of tasks do have a counterpart.

  private static let ofTasks: Advices = [
    ("timeout-minutes timeout_minutes", "the key is `timeout` here, with a unit: `timeout: 10m`"),
    ("timeout_seconds", "the key is `timeout` here: `timeout: 90s`"),
    ("uses", "opflow has no actions; write their commands under `run`"),
    ("with", "opflow has no actions; pass values to a command with `env` or `vars`"),
    ("runs-on runs_on", nodes),
    ("networks container_name", plain),
    ("image container", container),
    ("build", "build the image in `run`: `docker build .`; a task runs without a container"),
    ("interval", "opflow repeats no tasks; `delay` in `retry` is the pause between attempts"),
    ("stage", "opflow has no stages; set the order with `needs`"),
    ("parallel", "tasks run in parallel, as far as `needs` and `max_parallel` allow"),
    ("strategy", "write `matrix` in the task itself: `matrix: { NAME: [a, b] }`"),
    ("before_script", "put it at the beginning of `run`"),
    ("silent", quiet),
    ("status", "use `inputs`, which can have a command: `inputs: [{ run: [COMMAND] }]`"),
    ("preconditions", "make it a task that this one needs"),
    ("on", "write `on` in an item of `needs`: `{ task: ID, on: finished }`"),
    ("restart", "`retry` re-runs a task if it fails"),
    ("volumes", "tasks are processes without a container; their folder is `dir`"),
    ("ports", "ports belong to a service: `service: { ports: [http] }`"),
    ("port", "write it as the readiness check of a service: `service: { ready: { port: 8080 } }`"),
    ("healthcheck", "write it in `service`: `service: { ready: { exec: [COMMAND] } }`"),
    ("stop_grace_period", "write it in `stop`: `stop: { grace: 10s }`"),
    ("profiles", "`manual: true` keeps a task out of `opflow run`; `tags` can select it"),
    ("user", "tasks run as the user that starts opflow; begin `run` with `sudo -u NAME`"),
    ("services", "make the service a task with `service: true`, and need it: `needs: [SERVICE]`"),
    (
      "internal private hidden",
      "`manual: true` keeps it out of `opflow run`, unless another task needs it"
    ),
    (
      "alias aliases",
      "for another name, add a task that needs this one: `tasks: { OTHER: { needs: [ID] } }`"
    ),
    ("method", contents),
    ("platforms", "opflow runs on Linux only; test other differences in `if` or `run`"),
    (
      "prompt confirm",
      "make the question a task with `approve: \"…?\"`, and need it: `needs: [QUESTION]`"
    ),
    ("vars", "write `vars` at the top level, or use `env` in this task"),
    ("variables params", "write values under `vars` at the top level, or under `env` in this task"),
    ("set", "write the flags of the shell in `shell`: `shell: [bash, -eux, -c]`"),
    ("shopt", "set the options of the shell in `run`: `shopt -s globstar`"),
    ("watch", "`opflow run --watch` re-runs tasks when their `inputs` change"),
    ("log", "opflow keeps the output of every task: `opflow logs TASK`"),
    ("benchmark", "opflow records the time and memory of every task: `opflow report html`"),
    ("conda", "use it as the shell: `shell: [conda, run, -n, NAME, bash, -ec]`"),
    ("name", "the key of a task is its name; write a description as `desc`"),
    ("id", "the key of a task is its ID"),
    ("extends", "share keys with an anchor: top-level `x-base: &base { … }`, and `<<: *base`"),
    (
      "concurrency",
      "it groups runs, at the top level; to limit tasks, use `resources: { NAME: 1 }`"
    ),
    ("schedule cron", clock),
    ("dotenv env_file env_files", "write it at the top level: `env_file: [FILE]`"),
  ]

  private static let ofManifests: Advices = [
    ("volumes networks", plain),
    ("permissions", "tasks have the permissions of the user that starts opflow; remove this key"),
    ("trigger schedule cron", clock),
    ("silent", quiet),
    ("output", "choose the output on the command line: `opflow run --output group`"),
    ("method", contents),
    ("handlerOn after_script", "make it a task with `finally: true`"),
    ("mailOn notify", "use `opflow run --notify COMMAND`"),
    ("needs", "write it in a task: `tasks: { main: { needs: [ID], run: … } }`"),
    ("on", "opflow has no triggers; start it from cron, a systemd timer or CI, and remove `on`"),
    ("services", "make each service a task with `service: true`, which other tasks need"),
    ("stages", "opflow has no stages; write tasks under `tasks`, and set their order with `needs`"),
    ("image", container),
    ("before_script", "make it a task that the others need"),
    ("shell", "write it under `defaults`: `defaults: { shell: bash }`"),
    ("timeout", "write it under `defaults`: `defaults: { timeout: 10m }`"),
    ("retry", "write it under `defaults`: `defaults: { retry: 2 }`"),
    ("dir", "write it under `defaults`: `defaults: { dir: src }`"),
    ("run", "write it in a task: `tasks: { main: { run: … } }`"),
    ("matrix", "write it in a task: `tasks: { main: { matrix: { NAME: [a, b] }, run: … } }`"),
  ]

  private static let ofIncludes: Advices = [
    ("optional", "an included file must exist; remove this key"),
    ("flatten", "without `as`, the task IDs have no prefix; remove this key"),
    ("dir", "tasks run in the folder of their own file; set `dir` under `defaults` of that file"),
    ("remote project", "opflow includes only local files; download it first"),
  ]

  private static let ofServices: Advices = [
    ("port", "write it in `ready`: `service: { ready: { port: 8080 } }`"),
    ("http", "write it in `ready`: `service: { ready: { http: URL } }`"),
    ("healthcheck", "write a command in `ready`: `service: { ready: { exec: [COMMAND] } }`"),
  ]

  private static let ofCaches: Advices = [
    ("key keys", "opflow makes the key from `inputs` of the task; write `cache: true`"),
    ("path paths", "opflow stores the `outputs` of the task; write `cache: true`"),
  ]

  private static let advicesOnWhen: [(value: StaticString, help: StaticString)] = [
    ("manual", "write `manual: true`"),
    ("always", "write `finally: true`, or `on: finished` with each of its `needs`"),
    ("on_failure", "write it in `needs`: `needs: [{ task: ID, on: failure }]`"),
    ("on_success", "remove it: a task runs if its dependencies succeed"),
    ("never", "write `if: false`"),
    ("delayed", "begin `run` with `sleep`"),
  ]

  static func advice(for text: ByteView, value: ByteView?, in map: KeyMap) -> String? {
    if map == .task, text == "when", let value,
      let advice = advicesOnWhen.first(where: { value == $0.value })
    {
      return advice.help.description
    }
    // GitLab's `parallel` is a matrix or a number of copies.
    if map == .task, text == "parallel" {
      guard let value else { return "write an axis under `matrix`: `matrix: { NAME: [a, b] }`" }
      if let count = CoreSchema.integer(value), count > 0 {
        return "for numbered copies, write `matrix: { n: { range: [1, \(count)] } }`"
      }
    }
    if map == .manifest, let help = topAdvice(text, value) {
      return help
    }
    let advices =
      switch map {
      case .task: ofTasks
      case .manifest: ofManifests
      case .include: ofIncludes
      case .service: ofServices
      case .cache: ofCaches
      case .defaults, .retry, .stop, .ready, .need, .download, .secret, .input, .matrix,
        .axis,
        .rows:
        Advices()
      }
    return advices.first { ForeignKeys.has($0.foreign, text) }?.help.description
  }

  private static func topAdvice(_ text: ByteView, _ value: ByteView?) -> String? {
    if text == "jobs", let value, let count = CoreSchema.integer(value) {
      return "the key is `max_parallel` here: `max_parallel: \(count)`"
    }
    // Snakemake declares a rule this way.
    guard text.hasPrefix("rule "), text.count < 100 else { return nil }
    let name = text.part(5..<text.count).trimmed.string
    return "write a rule as a task: `tasks: { \(name): { run: … } }`"
  }
}

/// Keys of later versions, which get their own error.
enum LaterKeys {
  private static let all: [(name: StaticString, map: KeyMap, help: String)] = [
    (
      "memory", .retry,
      "every attempt gets the same memory: set `memory_limit` and `resources: { memory: SIZE }` of "
        + "the task to what its largest attempt needs"
    )
  ]

  static func help(_ name: ByteView, in map: KeyMap) -> String? {
    all.first { name == $0.name && map == $0.map }?.help
  }
}
