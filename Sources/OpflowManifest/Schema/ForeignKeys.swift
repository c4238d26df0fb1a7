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
      return "the key is `run` here: write `run: |`, and below it each command on a line of its own"
    }
    return "the key is `\(key.string)` here"
  }
}

enum ForeignAdvice {
  /// Words with the same help share a row.
  private typealias Advices = [(foreign: String, help: StaticString)]

  private static let clock: StaticString =
    "what starts a run is whoever calls `opflow run`: cron, a systemd timer, CI"

  private static let here: StaticString = "tasks run on this machine; leave it out"
  private static let container: StaticString =
    "tasks run on this machine; a container is `run: docker run …`"
  private static let contents: StaticString =
    "what decides is what the files in `inputs` hold; leave it out"
  private static let quiet: StaticString = "`opflow run --output quiet` shows failures only"

  // The first keys of tasks do have a counterpart.

  private static let ofTasks: Advices = [
    ("timeout-minutes timeout_minutes", "the key is `timeout` here, with a unit: `timeout: 10m`"),
    ("timeout_seconds", "the key is `timeout` here: `timeout: 90s`"),
    ("uses", "there are no actions here: write their commands under `run`"),
    ("with", "there are no actions here; a command reads `env` and `vars`"),
    ("runs-on runs_on networks container_name", here),
    ("image container", container),
    ("stage", "what comes after what follows from `needs`"),
    ("parallel", "tasks run at once as far as `needs` and `max_parallel` let them"),
    ("strategy", "`matrix` stands in the task itself: `matrix: { NAME: [a, b] }`"),
    ("before_script", "put it at the beginning of `run`"),
    ("silent", quiet),
    ("status", "what decides is `inputs`, in which { run: [COMMAND] } may stand"),
    ("preconditions", "make it a task that this one needs"),
    ("on", "`on` stands in an item of `needs`: `{ task: ID, on: finished }`"),
    ("restart", "`retry` runs a task again when it fails"),
    ("volumes", "tasks run on this machine, in `dir`"),
    ("ports", "ports are those of a service: `service: { ports: [http] }`"),
    ("port", "it tells of a service that it is ready: `service: { ready: { port: 8080 } }`"),
    ("healthcheck", "it stands in `service`: `service: { ready: { exec: [COMMAND] } }`"),
    ("stop_grace_period", "it stands in `stop`: `stop: { grace: 10s }`"),
    ("profiles", "`manual: true` keeps a task out of `opflow run`, `tags` are words to name it by"),
    ("user", "tasks run as who starts opflow; `run` may begin with `sudo -u NAME`"),
    ("services", "a service is a task of its own with `service: true`, which this one needs"),
    (
      "internal private hidden",
      "`manual: true` keeps it out of `opflow run`; what needs it still has it run"
    ),
    (
      "alias aliases",
      "another name is another task that needs this one: `tasks: { OTHER: { needs: [ID] } }`"
    ),
    ("method", contents),
    ("platforms", "opflow is for Linux; what differs otherwise is for `if` or `run` to tell"),
    (
      "prompt confirm",
      "a question is a task of its own with `approve: \"…?\"`, which this one needs"
    ),
    ("vars", "`vars` stand at the top; what only this task has is `env`"),
    ("variables params", "values stand in `vars` at the top; what only this task has is `env`"),
    ("set", "flags of a shell are words of `shell`: `shell: [bash, -eux, -c]`"),
    ("shopt", "options of a shell are for `run`: `shopt -s globstar`"),
    ("watch", "`opflow run --watch` runs again what its `inputs` tell"),
    ("log", "what it prints is kept by itself: `opflow logs TASK`"),
    ("benchmark", "times and memory of tasks are kept by themselves: `opflow report html`"),
    ("conda", "`shell` starts what it takes, such as [conda, run, -n, NAME, bash, -ec]"),
    ("name", "the name of a task is its key; a line for people is `desc`"),
    ("id", "the id of a task is its key"),
    ("extends", "what tasks share is an anchor: `x-base: &base { … }` at the top, and `<<: *base`"),
    (
      "concurrency",
      "it is about runs, and stands at the top; tasks share a resource: `resources: { NAME: 1 }`"
    ),
    ("schedule cron", clock),
    ("dotenv env_file env_files", "files of variables stand at the top: `env_file: [FILE]`"),
  ]

  private static let ofManifests: Advices = [
    ("volumes networks", here),
    ("permissions", "tasks may do what who starts opflow may; leave it out"),
    ("trigger schedule cron", clock),
    ("silent", quiet),
    ("output", "how a run is shown is said where it is started: `opflow run --output group`"),
    ("method", contents),
    ("handlerOn after_script", "make it a task with `finally: true`"),
    ("mailOn notify", "`opflow run --notify COMMAND` tells somebody"),
    ("needs", "it stands in a task: `tasks: { main: { needs: [ID], run: … } }`"),
    ("on", "what starts a run is whoever calls `opflow run`: cron, CI, a hook"),
    ("services", "a service is a task with `service: true`, and what uses it names it in `needs`"),
    ("stages", "tasks stand under `tasks`, and their order follows from `needs`"),
    ("image", container),
    ("before_script", "make it a task that the others need"),
    ("shell", "it stands under `defaults`: `defaults: { shell: bash }`"),
    ("timeout", "it stands under `defaults`: `defaults: { timeout: 10m }`"),
    ("retry", "it stands under `defaults`: `defaults: { retry: 2 }`"),
    ("dir", "it stands under `defaults`: `defaults: { dir: src }`"),
    ("run", "it stands in a task: `tasks: { main: { run: … } }`"),
  ]

  private static let ofIncludes: Advices = [
    ("optional", "an included file must be there"),
    ("flatten", "without `as` the ids join as they are"),
    ("dir", "tasks run in the folder of their own file; `defaults` there may say another"),
    ("remote project", "files of this machine are included; fetch it before"),
  ]

  private static let ofServices: Advices = [
    ("port", "it stands in `ready`: `service: { ready: { port: 8080 } }`"),
    ("http", "it stands in `ready`: `service: { ready: { http: URL } }`"),
    ("healthcheck", "`service: { ready: { exec: [COMMAND] } }` asks a command"),
  ]

  private static let advicesOnWhen: [(value: StaticString, help: StaticString)] = [
    ("manual", "write `manual: true`"),
    ("always", "write `finally: true`, or `on: finished` with each of its `needs`"),
    ("on_failure", "say so of what it needs: `needs: [{ task: ID, on: failure }]`"),
    ("on_success", "leave it out: a task runs when what it needs succeeded"),
    ("never", "write `if: false`"),
    ("delayed", "let `run` begin with `sleep`"),
  ]

  static func advice(for text: ByteView, value: ByteView?, in map: KeyMap) -> String? {
    if map == .task, text == "when", let value,
      let advice = advicesOnWhen.first(where: { value == $0.value })
    {
      return advice.help.description
    }
    // GitLab's `parallel` is a matrix or a number of copies.
    if map == .task, text == "parallel" {
      guard let value else { return "an axis stands under `matrix`: `matrix: { NAME: [a, b] }`" }
      if let count = CoreSchema.integer(value), count > 0 {
        return "copies with a number each are `matrix: { n: { range: [1, \(count)] } }`"
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
      case .defaults, .retry, .stop, .cache, .ready, .need, .download, .secret, .input, .matrix,
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
    return "a rule is a task: `tasks: { \(text.part(5..<text.count).trimmed.string): { run: … } }`"
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
