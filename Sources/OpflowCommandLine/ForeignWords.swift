internal import OpflowPlan

/// What users of make, just, task, docker compose, GitHub Actions and GitLab CI type.
enum ForeignWords {
  static func help(command word: String) -> String? {
    commands.first { has($0.words, word) }?.help.description
  }

  /// By its name without dashes, or its letter.
  static func help(flag word: String, of command: Command) -> String? {
    let found = flags.first { flag in
      has(flag.words, word) && (flag.of.isEmpty || flag.of.contains(command))
    }
    guard let found else { return nil }
    // Another message names the command.
    if let flag = found.flag, !command.flags.contains(flag) { return nil }
    return found.help.description
  }

  private static func has(_ words: String, _ word: String) -> Bool {
    words.split(separator: " ").contains { $0 == word }
  }

  // Words with the same help share a row, separated by spaces.

  private static let commands: [(words: String, help: StaticString)] = [
    ("list ls", "`opflow tasks` lists the tasks, `opflow runs` the runs"),
    ("targets", "`opflow tasks` lists the tasks, `opflow plan` their order"),
    ("show", "`opflow status` shows a run, `opflow tasks` the tasks"),
    ("ps jobs", "`opflow status` shows the running tasks, `opflow runs` all runs"),
    ("top", "`opflow status` shows the running tasks"),
    ("info", "`opflow status` shows the state of a run"),
    ("history", "`opflow runs` lists all runs"),
    ("validate lint config", "`opflow check` checks a manifest"),
    ("verify", "`opflow check` checks a manifest, `opflow journal verify` the journal of a run"),
    ("dry-run", "`opflow plan` shows the tasks that would run"),
    ("up", "`opflow run` starts a run"),
    ("start", "`opflow run` starts a run, `opflow resume` continues one"),
    ("exec do make", "`opflow run TASK` runs a task and its dependencies"),
    ("all default", "`opflow run` runs all tasks"),
    ("stop kill down abort terminate", "`opflow cancel` cancels a run, or tasks of it"),
    ("delete rm remove", "`opflow clean` removes old runs, `opflow cancel` cancels a live one"),
    ("prune gc", "`opflow clean` removes old runs"),
    ("dag deps", "`opflow graph` shows the dependency graph"),
    (
      "describe inspect", "`opflow tasks TASK` shows a task, `opflow why TASK` explains its state"
    ),
    ("new create", "`opflow init` writes a first manifest"),
    ("edit", "use your editor: `${EDITOR:-vi} opflow.yaml`"),
    (
      "upgrade update self-update",
      "install a newer opflow as you installed this one: with `scripts/install`, or a package"
    ),
    ("uninstall", "use `scripts/install --uninstall`, or `apt-get remove opflow`"),
    ("cache", "`opflow run --no-cache` runs without the cache; `opflow clean` removes old runs"),
    ("deny refuse decline", "`opflow reject TASK` rejects an approval"),
    ("set", "`opflow run --set NAME=VALUE` overrides an entry of `vars`"),
    ("hold", "`opflow pause` pauses a run, `opflow suspend SEL` holds tasks"),
    ("unpause release", "`opflow continue` continues after `pause` and `suspend`"),
    ("renice", "`opflow priority SEL N` changes the priority of tasks"),
    ("scale", "`opflow parallel N` runs at most N tasks at once"),
    ("restart", "`opflow run` starts a new run, `opflow resume` continues the newest one"),
    ("rerun", "`opflow resume --rerun TASK` runs finished tasks again"),
    ("log output", "`opflow logs` prints the output of tasks"),
    ("tail attach", "`opflow logs -f` follows the output of tasks"),
    (
      "watch",
      "`opflow run --watch` runs again when files change, `opflow logs -f` follows output"
    ),
    ("man", "`opflow help COMMAND -v` explains a command"),
  ]

  /// `of` is empty for all commands.
  private static let flags: [(words: String, of: [Command], flag: Flag?, help: StaticString)] = [
    (
      "jobs job parallel parallelism concurrency workers threads procs cores c", [], .maxParallel,
      "did you mean -j?"
    ),
    ("p", [.run], nil, "tasks run in parallel by default; `-j N` runs at most N at once"),
    ("sequential", [], .maxParallel, "`-j 1` runs one task at a time"),
    ("f file manifest", [.resume], nil, "name the manifest without a flag: `opflow resume FILE`"),
    ("file manifest config makefile justfile taskfile", [], .file, "did you mean -f?"),
    ("t", [.run, .plan, .check], .file, "did you mean -f?"),
    ("directory dir chdir cwd working-directory", [], nil, "did you mean -C?"),
    (
      "d", [], nil,
      "`-C DIR` changes the folder; `nohup opflow run &` runs in the background"
    ),
    ("detach background", [], nil, "`nohup opflow run &` runs in the background"),
    ("just-print dryrun dry recon", [], .dryRun, "did you mean -n?"),
    ("silent s", [], .quiet, "did you mean -q?"),
    ("ignore-errors i continue-on-error no-fail-fast", [], .keepGoing, "did you mean -k?"),
    ("w", [.run], .watchFiles, "did you mean --watch?"),
    ("until", [.run, .plan], nil, "name the task: `opflow run TASK` runs it and its dependencies"),
    (
      "yes y", [.run, .resume], nil, "`opflow approve TASK` approves a task that waits for approval"
    ),
    ("fail-fast no-keep-going", [], .maxFailures, "a run stops at its first failure by default"),
    ("exclude except ignore", [], .skip, "did you mean --skip?"),
    ("task target", [.run, .plan, .check], nil, "name tasks without a flag: `opflow run TASK`"),
    ("tag tags", [.tasks], nil, "write it without a flag: `opflow tasks tag:NAME`"),
    ("tag tags", [], .only, "did you mean `--only tag:NAME`?"),
    ("var vars variable define D", [], .set, "did you mean --set?"),
    (
      "env e", [], .set,
      "tasks inherit the environment: `NAME=VALUE opflow run`; for `vars` use `--set`"
    ),
    ("env-file dotenv-path", [], nil, "write `env_file: [FILE]` at the top of the manifest"),
    ("always-make B", [], .rerun, "`--rerun '*'` runs all tasks, even if they are up to date"),
    ("force", [.initialize], nil, "`opflow init` does not overwrite a file; remove it first"),
    ("force", [], .rerun, "did you mean --rerun?"),
    ("list l list-all", [], nil, "`opflow tasks` lists the tasks"),
    ("a", [.run], nil, "`opflow tasks` lists the tasks"),
    ("choose", [], nil, "`opflow tasks` lists the tasks; the Tab key completes them"),
    ("init", [.run], nil, "`opflow init` writes a first manifest"),
    ("completion completions", [.run], nil, "use `opflow completion bash`, `zsh` or `fish`"),
    ("status", [.run], nil, "`opflow plan` shows which tasks would run or are up to date"),
    ("summary", [.run], nil, "`opflow plan` shows the tasks that would run"),
    ("timeout", [.wait], nil, "limit the time with `timeout 60 opflow wait`"),
    ("timeout", [], nil, "write `timeout` in a task, or under `defaults` for all tasks"),
    ("retries retry", [], nil, "write `retry` in a task, or under `defaults` for all tasks"),
    ("tail lines n", [.logs], nil, "`opflow logs TASK | tail -n 20` shows the last lines"),
    ("head", [.logs], nil, "`opflow logs TASK | head -n 20` shows the first lines"),
    ("grep", [.logs], nil, "`opflow logs TASK | grep WORD` finds lines"),
    ("no-color no-ansi", [], .color, "did you mean `--color never`?"),
    ("ansi colour", [], .color, "did you mean --color?"),
    ("progress", [], .output, "did you mean --output?"),
    ("html", [.report], nil, "write it without dashes: `opflow report html -o run.html`"),
    ("junit", [.report], nil, "write it without dashes: `opflow report junit -o FILE`"),
    ("trace", [.report], nil, "write it without dashes: `opflow report trace -o FILE`"),
    ("otel", [.report], nil, "write it without dashes: `opflow report otel`"),
    ("format", [.report], nil, "name the format without a flag: `opflow report html`"),
    ("format", [], .output, "did you mean --output or --json?"),
    ("junitxml junit-xml junitfile", [], .junit, "did you mean --junit?"),
    (
      "reporter", [], .junit,
      "`--junit FILE` writes test results, `--output` changes the format of progress"
    ),
    (
      "report", [], .junit,
      "`--junit FILE` writes test results; `opflow report` exports a run"
    ),
    ("log-level", [], .verbose, "did you mean -v or -q?"),
    ("debug", [], .verbose, "did you mean -v?"),
    ("t timestamps", [.logs], nil, "`opflow journal export` and `opflow report trace` print times"),
    ("all", [.run], nil, "`opflow run` runs all tasks"),
    ("older days age", [.clean], nil, "did you mean --older-than?"),
    ("limit last", [.runs], nil, "`opflow runs | head -n 20` shows the first lines"),
    ("profile", [.run, .plan], nil, "select tasks by their tags: `--only tag:NAME`"),
    ("no reject deny", [.request(.approve)], nil, "`opflow reject TASK` rejects an approval"),
    ("all force", [.clean], nil, "`--keep 0 --older-than 0` removes all runs that are not live"),
    ("all", [.logs], nil, "`opflow logs` without a task prints the output of all tasks"),
    ("graph", [.plan], nil, "`opflow graph` shows the dependency graph"),
    ("dot", [.graph], .graphFormat, "did you mean `--format dot`?"),
    ("mermaid", [.graph], .graphFormat, "did you mean `--format mermaid`?"),
    ("svg", [.graph], .graphFormat, "did you mean `--format svg`?"),
    ("png", [.graph], .graphFormat, "use `opflow graph --format dot | dot -Tpng -o FILE`"),
    ("shell", [.completion], nil, "name the shell without a flag: `opflow completion bash`"),
    ("output o", [.schema, .completion], nil, "redirect standard output: `> FILE`"),
    ("all a", [.status], .verbose, "did you mean -v?"),
    ("json", [.runs], nil, "`opflow status --json` prints one run as JSON"),
    ("json", [.check], nil, "`opflow tasks --json` prints the tasks as JSON"),
    (
      "json", [.logs, .plan, .graph, .report, .clean, .wait], nil,
      "`opflow status --json` prints the tasks of a run as JSON"
    ),
  ]
}
