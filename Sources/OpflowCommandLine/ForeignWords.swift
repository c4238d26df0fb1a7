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

  // Words for which the help is the same are in one row, with blanks between them.

  private static let commands: [(words: String, help: StaticString)] = [
    ("list ls", "`opflow tasks` shows the tasks, `opflow runs` the runs"),
    ("targets", "`opflow tasks` shows the tasks, `opflow plan` their order"),
    ("show", "`opflow status` shows a run, `opflow tasks` the tasks"),
    ("ps jobs", "`opflow status` shows what runs, `opflow runs` all runs"),
    ("top", "`opflow status` shows what runs"),
    ("info", "`opflow status` shows where a run stands"),
    ("history", "`opflow runs` shows all runs"),
    ("validate lint config", "`opflow check` reads and validates a manifest"),
    ("verify", "`opflow check` looks at a manifest, `opflow journal verify` at a run's journal"),
    ("dry-run", "`opflow plan` shows what would run"),
    ("up", "`opflow run` starts a run"),
    ("start", "`opflow run` starts a run, `opflow resume` continues one"),
    ("exec do make", "`opflow run TASK` runs a task and what it needs"),
    ("all default", "`opflow run` runs all tasks"),
    ("stop kill down abort terminate", "`opflow cancel` stops a run, or tasks of it"),
    ("delete rm remove", "`opflow clean` removes old runs, `opflow cancel` stops one"),
    ("prune gc", "`opflow clean` removes old runs"),
    ("dag deps", "`opflow graph` shows what needs what"),
    (
      "describe inspect", "`opflow tasks TASK` tells of a task, `opflow why TASK` what became of it"
    ),
    ("new create", "`opflow init` writes a first manifest"),
    ("edit", "a manifest is a text: `${EDITOR:-vi} opflow.yaml`"),
    (
      "upgrade update self-update",
      "a newer opflow comes as this one did: by `scripts/install`, or a package"
    ),
    ("uninstall", "it goes as it came: `scripts/install --uninstall`, or `apt-get remove opflow`"),
    ("hold", "`opflow pause` starts nothing new, `opflow suspend SEL` holds tasks"),
    ("unpause release", "`opflow continue` goes on after `pause` and `suspend`"),
    ("renice", "`opflow priority SEL N` says what starts first"),
    ("scale", "`opflow parallel N` says how many run at once"),
    ("restart", "`opflow run` starts anew, `opflow resume` continues the newest run"),
    ("rerun", "`opflow resume --rerun TASK` runs tasks again though they are done"),
    ("log output", "`opflow logs` prints what tasks printed"),
    ("tail attach", "`opflow logs -f` follows what tasks print"),
    (
      "watch",
      "`opflow run --watch` goes on when files change, `opflow logs -f` follows what tasks print"
    ),
    ("man", "`opflow help COMMAND` tells all about a command"),
  ]

  /// `of` is empty for all commands.
  private static let flags: [(words: String, of: [Command], flag: Flag?, help: StaticString)] = [
    (
      "jobs job parallel parallelism concurrency workers threads procs cores c", [], .maxParallel,
      "did you mean -j?"
    ),
    ("p", [.run], nil, "tasks run at once by themselves; `-j N` says how many"),
    ("sequential", [], .maxParallel, "`-j 1` runs one task at a time"),
    ("file manifest config makefile justfile taskfile", [], .file, "did you mean -f?"),
    ("t", [.run, .plan, .check], .file, "did you mean -f?"),
    ("directory dir chdir cwd working-directory", [], nil, "did you mean -C?"),
    (
      "d", [], nil,
      "a folder to work in is `-C DIR`; a run in the background is `nohup opflow run &`"
    ),
    ("detach background", [], nil, "a run in the background is `nohup opflow run &`"),
    ("just-print dryrun dry recon", [], .dryRun, "did you mean -n?"),
    ("silent s", [], .quiet, "did you mean -q?"),
    ("ignore-errors i continue-on-error no-fail-fast", [], .keepGoing, "did you mean -k?"),
    ("w", [.run], .watchFiles, "did you mean --watch?"),
    ("until", [.run, .plan], nil, "the task itself: `opflow run TASK` runs it and what it needs"),
    ("yes y", [.run, .resume], nil, "`opflow approve TASK` answers a task that asks"),
    ("fail-fast no-keep-going", [], .maxFailures, "a run stops at its first failure by itself"),
    ("exclude except ignore", [], .skip, "did you mean --skip?"),
    ("task target", [.run, .plan, .check], nil, "tasks stand without a flag: `opflow run TASK`"),
    ("tag tags", [], .only, "did you mean `--only tag:NAME`?"),
    ("var vars variable define D", [], .set, "did you mean --set?"),
    (
      "env e", [], .set, "the environment is inherited: `NAME=VALUE opflow run`; `vars` are `--set`"
    ),
    ("env-file dotenv-path", [], nil, "the manifest says it: `env_file: [FILE]` at the top"),
    ("always-make B", [], .rerun, "`--rerun '*'` runs all tasks, also those that are up to date"),
    ("force", [], .rerun, "did you mean --rerun?"),
    ("list l list-all", [], nil, "`opflow tasks` shows the tasks"),
    ("a", [.run], nil, "`opflow tasks` shows the tasks"),
    ("choose", [], nil, "`opflow tasks` shows the tasks; the Tab key completes them"),
    ("init", [.run], nil, "`opflow init` writes a first manifest"),
    ("completion completions", [.run], nil, "`opflow completion bash`, `zsh` or `fish`"),
    ("status", [.run], nil, "`opflow plan` shows what would run, and what is up to date"),
    ("summary", [.run], nil, "`opflow plan` shows what would run"),
    ("timeout", [], nil, "the manifest says `timeout` of a task, or of all under `defaults`"),
    ("retries retry", [], nil, "the manifest says `retry` of a task, or of all under `defaults`"),
    ("tail lines n", [.logs], nil, "`opflow logs TASK | tail -n 20` shows the last lines"),
    ("head", [.logs], nil, "`opflow logs TASK | head -n 20` shows the first lines"),
    ("grep", [.logs], nil, "`opflow logs TASK | grep WORD` finds lines"),
    ("no-color no-ansi", [], .color, "did you mean `--color never`?"),
    ("ansi colour", [], .color, "did you mean --color?"),
    ("progress", [], .output, "did you mean --output?"),
    ("format", [], .output, "did you mean --output or --json?"),
    ("junitxml junit-xml junitfile", [], .junit, "did you mean --junit?"),
    ("reporter", [], .junit, "`--junit FILE` writes test results, --output is how progress shows"),
    (
      "report", [], .junit,
      "`--junit FILE` writes test results; `opflow report` makes files of a run"
    ),
    ("log-level", [], .verbose, "did you mean -v or -q?"),
    ("debug", [], .verbose, "did you mean -v?"),
    ("t timestamps", [.logs], nil, "`opflow journal export` and `opflow report trace` have times"),
    ("all force", [.clean], nil, "`--keep 0 --older-than 0` removes all that is not live"),
    ("all", [.logs], nil, "`opflow logs` without a task is of all of them"),
    ("graph", [.plan], nil, "`opflow graph` shows what needs what"),
    ("dot", [.graph], .graphFormat, "did you mean `--format dot`?"),
    ("mermaid", [.graph], .graphFormat, "did you mean `--format mermaid`?"),
    ("svg", [.graph], .graphFormat, "did you mean `--format svg`?"),
    ("png", [.graph], .graphFormat, "`opflow graph --format dot | dot -Tpng -o FILE` draws one"),
    ("shell", [.completion], nil, "the shell is a word: `opflow completion bash`"),
    ("output o", [.schema, .completion], nil, "it goes to standard output: `> FILE`"),
    ("all a", [.status], .verbose, "did you mean -v?"),
  ]
}
