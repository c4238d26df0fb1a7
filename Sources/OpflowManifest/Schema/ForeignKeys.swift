/// What other tools call a thing, and the key that it has here.
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
  ]

  /// The one of `names` that another tool calls `text`.
  static func key(for text: Text, among names: [Text]) -> Text? {
    for (foreign, key) in table where text == foreign {
      if let name = names.first(where: { $0 == key }) { return name }
    }
    return nil
  }

  private static let clock: StaticString =
    "what starts a run is whoever calls `opflow run`: cron, a systemd timer, CI"

  /// What has no key here, and what to do instead. The first ones are about a key that there is.
  private static let advices: [(foreign: StaticString, owner: StaticString, help: StaticString)] = [
    ("timeout-minutes", TaskKey.owner, "the key is `timeout` here, with a unit: `timeout: 10m`"),
    ("timeout_minutes", TaskKey.owner, "the key is `timeout` here, with a unit: `timeout: 10m`"),
    ("timeout_seconds", TaskKey.owner, "the key is `timeout` here: `timeout: 90s`"),
    ("uses", TaskKey.owner, "there are no actions here: write their commands under `run`"),
    ("with", TaskKey.owner, "there are no actions here; a command reads `env` and `vars`"),
    ("runs-on", TaskKey.owner, "tasks run on this machine; leave it out"),
    ("runs_on", TaskKey.owner, "tasks run on this machine; leave it out"),
    ("image", TaskKey.owner, "tasks run on this machine; a container is `run: docker run …`"),
    ("container", TaskKey.owner, "tasks run on this machine; a container is `run: docker run …`"),
    ("stage", TaskKey.owner, "what comes after what follows from `needs`"),
    ("parallel", TaskKey.owner, "tasks run at once as far as `needs` and `max_parallel` let them"),
    ("strategy", TaskKey.owner, "`matrix` stands in the task itself: `matrix: { NAME: [a, b] }`"),
    ("before_script", TaskKey.owner, "put it at the beginning of `run`"),
    ("silent", TaskKey.owner, "`opflow run --output quiet` shows failures only"),
    ("status", TaskKey.owner, "what decides is `inputs`, in which { run: [COMMAND] } may stand"),
    ("preconditions", TaskKey.owner, "make it a task that this one needs"),
    ("on", TaskKey.owner, "`on` stands in an item of `needs`: `{ task: ID, on: finished }`"),
    ("restart", TaskKey.owner, "`retry` runs a task again when it fails"),
    ("volumes", TaskKey.owner, "tasks run on this machine, in `dir`"),
    ("on", ManifestKey.owner, "what starts a run is whoever calls `opflow run`: cron, CI, a hook"),
    (
      "services", ManifestKey.owner,
      "a service is a task with `service: true`, and what uses it names it in `needs`"
    ),
    ("schedule", ManifestKey.owner, clock),
    ("cron", ManifestKey.owner, clock),
    ("schedule", TaskKey.owner, clock),
    ("cron", TaskKey.owner, clock),
    ("port", "`service`", "it stands in `ready`: `service: { ready: { port: 8080 } }`"),
    ("http", "`service`", "it stands in `ready`: `service: { ready: { http: URL } }`"),
    ("healthcheck", "`service`", "`service: { ready: { exec: [COMMAND] } }` asks a command"),
    (
      "stages", ManifestKey.owner, "tasks stand under `tasks`, and their order follows from `needs`"
    ),
    ("image", ManifestKey.owner, "tasks run on this machine; a container is `run: docker run …`"),
    ("before_script", ManifestKey.owner, "make it a task that the others need"),
    ("after_script", ManifestKey.owner, "make it a task with `finally: true`"),
    ("shell", ManifestKey.owner, "it stands under `defaults`: `defaults: { shell: bash }`"),
    ("timeout", ManifestKey.owner, "it stands under `defaults`: `defaults: { timeout: 10m }`"),
    ("retry", ManifestKey.owner, "it stands under `defaults`: `defaults: { retry: 2 }`"),
    ("dir", ManifestKey.owner, "it stands under `defaults`: `defaults: { dir: src }`"),
    ("run", ManifestKey.owner, "it stands in a task: `tasks: { main: { run: … } }`"),
    ("optional", IncludeKey.owner, "an included file must be there"),
    ("flatten", IncludeKey.owner, "without `as` the ids join as they are"),
    (
      "dir", IncludeKey.owner,
      "tasks run in the folder of their own file; `defaults` there may say another"
    ),
    ("remote", IncludeKey.owner, "files of this machine are included; fetch it before"),
    ("project", IncludeKey.owner, "files of this machine are included; fetch it before"),
    ("dotenv", TaskKey.owner, "files of variables stand at the top: `env_file: [FILE]`"),
    ("env_file", TaskKey.owner, "files of variables stand at the top: `env_file: [FILE]`"),
    ("env_files", TaskKey.owner, "files of variables stand at the top: `env_file: [FILE]`"),
  ]

  /// The same for keys of a task that mean another thing with each value.
  private static let advicesByValue:
    [(foreign: StaticString, value: StaticString, help: StaticString)] = [
      ("when", "manual", "write `manual: true`"),
      ("when", "always", "write `finally: true`, or `on: finished` with each of its `needs`"),
      ("when", "on_failure", "say so of what it needs: `needs: [{ task: ID, on: failure }]`"),
      ("when", "on_success", "leave it out: a task runs when what it needs succeeded"),
      ("when", "never", "write `if: false`"),
      ("when", "delayed", "let `run` begin with `sleep`"),
    ]

  /// What to do instead of a key that other tools have; nil for one that needs no such word.
  ///
  /// - Parameter value: of the key, where it is a scalar.
  static func advice(for text: Text, value: Text?, owner: StaticString) -> String? {
    let isOfTask = owner.description == TaskKey.owner.description
    if isOfTask, let value,
      let advice = advicesByValue.first(where: { text == $0.foreign && value == $0.value })
    {
      return advice.help.description
    }
    // GitLab has both the matrix and the number of copies there.
    if isOfTask, text == "parallel" {
      guard let value else { return "an axis stands under `matrix`: `matrix: { NAME: [a, b] }`" }
      if let count = CoreSchema.integer(value), count > 0 {
        return "copies with a number each are `matrix: { n: { range: [1, \(count)] } }`"
      }
    }
    return advices.first { text == $0.foreign && $0.owner.description == owner.description }?
      .help.description
  }

  static func help(for text: Text, key: Text) -> String {
    // What runs on a failure is a task of its own here.
    if text == "on_failure" || text == "on_success" || text == "on_error" {
      return "let another task need this one: `needs: [{ task: ID, on: failure }]`"
    }
    return "the key is `\(key.string)` here"
  }
}
