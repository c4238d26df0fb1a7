/// Maps keys of other tools to opflow's.
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

  /// - Parameter isList: Whether the value is a list.
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
