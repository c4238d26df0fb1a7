enum ForeignKeys {
  private static let table: [(foreign: StaticString, key: StaticString)] = [
    ("depends_on", "needs"), ("depends-on", "needs"), ("dependsOn", "needs"), ("deps", "needs"),
    ("depends", "needs"), ("dependencies", "needs"), ("dependency", "needs"),
    ("requires", "needs"), ("require", "needs"), ("require_tasks", "needs"), ("after", "needs"),
    ("wait_for", "needs"), ("upstream", "needs"), ("prerequisites", "needs"), ("need", "needs"),
    ("cmd", "run"), ("cmds", "run"), ("command", "run"), ("commands", "run"), ("script", "run"),
    ("shell_command", "run"), ("exec", "run"), ("execute", "run"), ("steps", "run"),
    ("recipe", "run"), ("action", "run"), ("args", "run"), ("entrypoint", "run"),
    ("fetch", "download"), ("get", "download"), ("url", "download"),
    ("cwd", "dir"), ("workdir", "dir"), ("work_dir", "dir"), ("working_dir", "dir"),
    ("working_directory", "dir"), ("working-directory", "dir"), ("directory", "dir"),
    ("chdir", "dir"), ("path", "dir"), ("folder", "dir"),
    ("environment", "env"), ("envs", "env"), ("environ", "env"), ("variables", "vars"),
    ("params", "vars"), ("parameters", "vars"), ("variable", "vars"), ("var", "vars"),
    ("retries", "retry"), ("attempts", "retry"), ("max_attempts", "retry"),
    ("max_retries", "retry"), ("tries", "retry"),
    ("timeout_minutes", "timeout"), ("timeout-minutes", "timeout"), ("time_limit", "timeout"),
    ("timeout_seconds", "timeout"), ("deadline", "timeout"), ("duration", "timeout"),
    ("when", "if"), ("condition", "if"), ("only_if", "if"), ("unless", "if"), ("cond", "if"),
    ("only", "if"), ("rules", "if"),
    ("continue_on_error", "allow_failure"), ("continue-on-error", "allow_failure"),
    ("ignore_errors", "allow_failure"), ("ignore_error", "allow_failure"),
    ("ignore_failure", "allow_failure"), ("soft_fail", "allow_failure"),
    ("allow_fail", "allow_failure"), ("allow_failures", "allow_failure"),
    ("on_failure", "needs"), ("on_success", "needs"), ("on_error", "needs"),
    ("always", "finally"), ("after_all", "finally"), ("teardown", "finally"),
    ("cleanup", "finally"), ("after_script", "finally"), ("defer", "finally"),
    ("sources", "inputs"), ("srcs", "inputs"), ("generates", "outputs"), ("targets", "outputs"),
    ("artifacts", "outputs"), ("produces", "outputs"), ("creates", "outputs"), ("outs", "outputs"),
    ("description", "desc"), ("summary", "desc"), ("help", "desc"), ("doc", "desc"),
    ("comment", "desc"), ("title", "name"), ("label", "tags"), ("labels", "tags"),
    ("groups", "tags"), ("group", "tags"),
    ("prio", "priority"), ("weight", "priority"), ("nice", "priority"),
    ("limits", "resources"), ("resource", "resources"), ("cpus", "resources"),
    ("cpu", "resources"), ("memory", "resources"), ("mem", "resources"), ("cores", "resources"),
    ("threads", "resources"),
    ("jobs", "tasks"), ("targets", "tasks"), ("stages", "tasks"), ("task", "tasks"),
    ("pipeline", "tasks"), ("nodes", "tasks"), ("actions", "tasks"), ("workflow", "tasks"),
    ("parallel", "max_parallel"), ("max_jobs", "max_parallel"),
    ("parallelism", "max_parallel"), ("max-parallel", "max_parallel"),
    ("fail_fast", "max_failures"), ("fail-fast", "max_failures"),
    ("keep_going", "max_failures"), ("failfast", "max_failures"),
    ("includes", "include"), ("import", "include"), ("imports", "include"),
    ("extends", "include"), ("default", "defaults"), ("strategy", "matrix"),
    ("foreach", "matrix"), ("with_items", "matrix"), ("loop", "matrix"), ("for", "matrix"),
    ("interpreter", "shell"), ("executable", "shell"), ("kill_signal", "stop"),
    ("stop_signal", "stop"), ("grace_period", "stop"), ("secret", "secrets"),
    ("limit", "max"), ("count", "max"), ("times", "max"), ("interval", "delay"),
    ("wait", "delay"), ("factor", "backoff"), ("multiplier", "backoff"), ("codes", "exit_codes"),
    ("cap", "max_delay"), ("sig", "signal"), ("kill_after", "grace"), ("timeout", "grace"),
    ("dest", "to"), ("destination", "to"), ("output", "to"), ("out", "to"), ("file", "to"),
    ("target", "to"), ("path", "to"), ("checksum", "sha256"), ("hash", "sha256"),
    ("sha", "sha256"), ("uri", "url"), ("src", "url"), ("source", "url"), ("href", "url"),
    ("link", "url"), ("mirror", "mirrors"), ("urls", "mirrors"), ("header", "headers"),
    ("permissions", "mode"), ("chmod", "mode"), ("bytes", "size"), ("length", "size"),
    ("rate", "max_speed"), ("limit_rate", "max_speed"), ("continue", "resume"),
    ("id", "task"), ("name", "task"), ("status", "on"), ("condition", "on"), ("when", "on"),
    ("if", "on"), ("result", "on"), ("schema", "version"), ("format", "version"),
    ("dotenv", "env_file"), ("env_files", "env_file"), ("envfile", "env_file"),
    ("env-file", "env_file"), ("taskfile", "path"), ("file", "path"), ("local", "path"),
    ("namespace", "as"),
    ("prefix", "as"), ("name", "as"), ("with", "vars"), ("inputs", "vars"),
    ("message", "desc"), ("tty", "interactive"), ("stdin_open", "interactive"),
    ("daemon", "service"), ("background", "service"), ("detach", "service"),
    ("maxActiveSteps", "max_parallel"), ("max_active_steps", "max_parallel"),
    ("retryPolicy", "retry"), ("retry_policy", "retry"), ("maxActiveRuns", "concurrency"),
  ]

  /// Returns the one of `names` that `text` means.
  static func key(for text: Text, among names: [Text]) -> Text? {
    for (foreign, key) in table where text == foreign {
      if let name = names.first(where: { $0 == key }) { return name }
    }
    return nil
  }

  static func help(for text: Text, key: Text, isList: Bool) -> String {
    // These keys name a command elsewhere; here it is a separate task.
    if text == "on_failure" || text == "on_success" || text == "on_error" {
      return "let another task need this one: `needs: [{ task: ID, on: failure }]`"
    }
    if isList, key == TaskKey.run.name {
      return "the key is `run` here: write `run: |`, and below it each command on a line of its own"
    }
    return "the key is `\(key.string)` here"
  }
}

/// Says what to write instead of other tools' keys.
enum ForeignAdvice {
  private static let clock: StaticString =
    "what starts a run is whoever calls `opflow run`: cron, a systemd timer, CI"

  private static let here: StaticString = "tasks run on this machine; leave it out"
  private static let container: StaticString =
    "tasks run on this machine; a container is `run: docker run …`"
  private static let timeout: StaticString =
    "the key is `timeout` here, with a unit: `timeout: 10m`"
  private static let values: StaticString =
    "values stand in `vars` at the top; what only this task has is `env`"
  private static let contents: StaticString =
    "what decides is what the files in `inputs` hold; leave it out"
  private static let quiet: StaticString = "`opflow run --output quiet` shows failures only"
  private static let notice: StaticString = "`opflow run --notify COMMAND` tells somebody"
  private static let environmentFiles: StaticString =
    "files of variables stand at the top: `env_file: [FILE]`"
  private static let otherFiles: StaticString =
    "files of this machine are included; fetch it before"
  private static let hidden: StaticString =
    "`manual: true` keeps it out of `opflow run`; what needs it still has it run"
  private static let otherName: StaticString =
    "another name is another task that needs this one: `tasks: { OTHER: { needs: [ID] } }`"
  private static let question: StaticString =
    "a question is a task of its own with `approve: \"…?\"`, which this one needs"

  // Advice by key. The first keys of tasks do have a counterpart.

  private static let ofTasks: [(foreign: StaticString, help: StaticString)] = [
    ("timeout-minutes", timeout),
    ("timeout_minutes", timeout),
    ("timeout_seconds", "the key is `timeout` here: `timeout: 90s`"),
    ("uses", "there are no actions here: write their commands under `run`"),
    ("with", "there are no actions here; a command reads `env` and `vars`"),
    ("runs-on", here),
    ("runs_on", here),
    ("image", container),
    ("container", container),
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
    ("networks", here),
    ("container_name", here),
    ("ports", "ports are those of a service: `service: { ports: [http] }`"),
    ("port", "it tells of a service that it is ready: `service: { ready: { port: 8080 } }`"),
    ("healthcheck", "it stands in `service`: `service: { ready: { exec: [COMMAND] } }`"),
    ("stop_grace_period", "it stands in `stop`: `stop: { grace: 10s }`"),
    ("profiles", "`manual: true` keeps a task out of `opflow run`, `tags` are words to name it by"),
    ("user", "tasks run as who starts opflow; `run` may begin with `sudo -u NAME`"),
    ("services", "a service is a task of its own with `service: true`, which this one needs"),
    ("internal", hidden),
    ("private", hidden),
    ("hidden", hidden),
    ("alias", otherName),
    ("aliases", otherName),
    ("method", contents),
    ("platforms", "opflow is for Linux; what differs otherwise is for `if` or `run` to tell"),
    ("prompt", question),
    ("confirm", question),
    ("vars", "`vars` stand at the top; what only this task has is `env`"),
    ("variables", values),
    ("params", values),
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
    ("schedule", clock),
    ("cron", clock),
    ("dotenv", environmentFiles),
    ("env_file", environmentFiles),
    ("env_files", environmentFiles),
  ]

  private static let ofManifests: [(foreign: StaticString, help: StaticString)] = [
    ("volumes", here),
    ("networks", here),
    ("permissions", "tasks may do what who starts opflow may; leave it out"),
    ("trigger", clock),
    ("silent", quiet),
    ("output", "how a run is shown is said where it is started: `opflow run --output group`"),
    ("method", contents),
    ("handlerOn", "make it a task with `finally: true`"),
    ("mailOn", notice),
    ("notify", notice),
    ("needs", "it stands in a task: `tasks: { main: { needs: [ID], run: … } }`"),
    ("on", "what starts a run is whoever calls `opflow run`: cron, CI, a hook"),
    ("services", "a service is a task with `service: true`, and what uses it names it in `needs`"),
    ("schedule", clock),
    ("cron", clock),
    ("stages", "tasks stand under `tasks`, and their order follows from `needs`"),
    ("image", container),
    ("before_script", "make it a task that the others need"),
    ("after_script", "make it a task with `finally: true`"),
    ("shell", "it stands under `defaults`: `defaults: { shell: bash }`"),
    ("timeout", "it stands under `defaults`: `defaults: { timeout: 10m }`"),
    ("retry", "it stands under `defaults`: `defaults: { retry: 2 }`"),
    ("dir", "it stands under `defaults`: `defaults: { dir: src }`"),
    ("run", "it stands in a task: `tasks: { main: { run: … } }`"),
  ]

  private static let ofIncludes: [(foreign: StaticString, help: StaticString)] = [
    ("optional", "an included file must be there"),
    ("flatten", "without `as` the ids join as they are"),
    ("dir", "tasks run in the folder of their own file; `defaults` there may say another"),
    ("remote", otherFiles),
    ("project", otherFiles),
  ]

  private static let ofServices: [(foreign: StaticString, help: StaticString)] = [
    ("port", "it stands in `ready`: `service: { ready: { port: 8080 } }`"),
    ("http", "it stands in `ready`: `service: { ready: { http: URL } }`"),
    ("healthcheck", "`service: { ready: { exec: [COMMAND] } }` asks a command"),
  ]

  private static let advicesByValue:
    [(foreign: StaticString, value: StaticString, help: StaticString)] = [
      ("when", "manual", "write `manual: true`"),
      ("when", "always", "write `finally: true`, or `on: finished` with each of its `needs`"),
      ("when", "on_failure", "say so of what it needs: `needs: [{ task: ID, on: failure }]`"),
      ("when", "on_success", "leave it out: a task runs when what it needs succeeded"),
      ("when", "never", "write `if: false`"),
      ("when", "delayed", "let `run` begin with `sleep`"),
    ]

  static func advice(for text: Text, value: Text?, owner: StaticString) -> String? {
    let isOfTask = owner.description == TaskKey.owner.description
    if isOfTask, let value,
      let advice = advicesByValue.first(where: { text == $0.foreign && value == $0.value })
    {
      return advice.help.description
    }
    // GitLab's `parallel` is a matrix or a number of copies.
    if isOfTask, text == "parallel" {
      guard let value else { return "an axis stands under `matrix`: `matrix: { NAME: [a, b] }`" }
      if let count = CoreSchema.integer(value), count > 0 {
        return "copies with a number each are `matrix: { n: { range: [1, \(count)] } }`"
      }
    }
    if owner.description == ManifestKey.owner.description, let help = topAdvice(text, value) {
      return help
    }
    let advices =
      switch owner.description {
      case TaskKey.owner.description: ofTasks
      case ManifestKey.owner.description: ofManifests
      case IncludeKey.owner.description: ofIncludes
      case "`service`": ofServices
      default: [(foreign: StaticString, help: StaticString)]()
      }
    return advices.first { text == $0.foreign }?.help.description
  }

  private static func topAdvice(_ text: Text, _ value: Text?) -> String? {
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

  /// Returns nil for any other key.
  static func help(_ name: Text, owner: StaticString) -> String? {
    all.first { name == $0.name && owner.description == $0.map.place }?.help
  }
}
