/// What people type who know make, just, task, docker compose, GitHub Actions or GitLab CI, and what
/// does it here.
enum ForeignWords {
  /// What to say of a word that stands where a command should; nil for a word that no other tool has.
  static func help(command word: String) -> String? {
    commands.first { $0.word == word }?.help.description
  }

  /// What to say of a flag, by its name without dashes or by its letter.
  static func help(flag word: String, of command: Command) -> String? {
    let found = flags.first { flag in
      flag.word == word && (flag.of.isEmpty || flag.of.contains(command))
    }
    guard let found else { return nil }
    // A command that does not take what would help says which one does.
    if let flag = found.flag, !command.flags.contains(flag) { return nil }
    return found.help.description
  }

  private static let commands: [(word: String, help: StaticString)] = [
    ("list", "`opflow tasks` shows the tasks, `opflow runs` the runs"),
    ("ls", "`opflow tasks` shows the tasks, `opflow runs` the runs"),
    ("targets", "`opflow tasks` shows the tasks, `opflow plan` their order"),
    ("show", "`opflow status` shows a run, `opflow tasks` the tasks"),
    ("ps", "`opflow status` shows what runs, `opflow runs` all runs"),
    ("top", "`opflow status` shows what runs"),
    ("jobs", "`opflow status` shows what runs, `opflow runs` all runs"),
    ("info", "`opflow status` shows where a run stands"),
    ("history", "`opflow runs` shows all runs"),
    ("validate", "`opflow check` reads and validates a manifest"),
    ("lint", "`opflow check` reads and validates a manifest"),
    ("config", "`opflow check` reads and validates a manifest"),
    ("verify", "`opflow check` looks at a manifest, `opflow journal verify` at a run's journal"),
    ("dry-run", "`opflow plan` shows what would run"),
    ("up", "`opflow run` starts a run"),
    ("start", "`opflow run` starts a run, `opflow resume` continues one"),
    ("exec", "`opflow run TASK` runs a task and what it needs"),
    ("do", "`opflow run TASK` runs a task and what it needs"),
    ("make", "`opflow run TASK` runs a task and what it needs"),
    ("all", "`opflow run` runs all tasks"),
    ("default", "`opflow run` runs all tasks"),
    ("stop", "`opflow cancel` stops a run, or tasks of it"),
    ("kill", "`opflow cancel` stops a run, or tasks of it"),
    ("down", "`opflow cancel` stops a run, or tasks of it"),
    ("abort", "`opflow cancel` stops a run, or tasks of it"),
    ("terminate", "`opflow cancel` stops a run, or tasks of it"),
    ("delete", "`opflow cancel` stops a run, or tasks of it"),
    ("hold", "`opflow pause` starts nothing new, `opflow suspend SEL` holds tasks"),
    ("unpause", "`opflow continue` goes on after `pause` and `suspend`"),
    ("release", "`opflow continue` goes on after `pause` and `suspend`"),
    ("renice", "`opflow priority SEL N` says what starts first"),
    ("scale", "`opflow parallel N` says how many run at once"),
    ("restart", "`opflow run` starts anew, `opflow resume` continues the newest run"),
    ("rerun", "`opflow resume --rerun TASK` runs tasks again though they are done"),
    ("log", "`opflow logs` prints what tasks printed"),
    ("output", "`opflow logs` prints what tasks printed"),
    ("tail", "`opflow logs -f` follows what tasks print"),
    (
      "watch",
      "`opflow run --watch` goes on when the manifest changes, `opflow logs -f` follows what tasks print"
    ),
    ("attach", "`opflow logs -f` follows what tasks print"),
    ("man", "`opflow help COMMAND` tells all about a command"),
  ]

  /// - Parameter of: the commands it is said for; none for all.
  private static let flags: [(word: String, of: [Command], flag: Flag?, help: StaticString)] = [
    ("jobs", [], .maxParallel, "did you mean -j?"),
    ("job", [], .maxParallel, "did you mean -j?"),
    ("parallel", [], .maxParallel, "did you mean -j?"),
    ("parallelism", [], .maxParallel, "did you mean -j?"),
    ("concurrency", [], .maxParallel, "did you mean -j?"),
    ("workers", [], .maxParallel, "did you mean -j?"),
    ("threads", [], .maxParallel, "did you mean -j?"),
    ("procs", [], .maxParallel, "did you mean -j?"),
    ("sequential", [], .maxParallel, "`-j 1` runs one task at a time"),
    ("file", [], .file, "did you mean -f?"),
    ("manifest", [], .file, "did you mean -f?"),
    ("config", [], .file, "did you mean -f?"),
    ("makefile", [], .file, "did you mean -f?"),
    ("justfile", [], .file, "did you mean -f?"),
    ("taskfile", [], .file, "did you mean -f?"),
    ("directory", [], nil, "did you mean -C?"),
    ("dir", [], nil, "did you mean -C?"),
    ("chdir", [], nil, "did you mean -C?"),
    ("cwd", [], nil, "did you mean -C?"),
    ("working-directory", [], nil, "did you mean -C?"),
    (
      "d", [], nil,
      "a folder to work in is `-C DIR`; a run in the background is `nohup opflow run &`"
    ),
    ("detach", [], nil, "a run in the background is `nohup opflow run &`"),
    ("background", [], nil, "a run in the background is `nohup opflow run &`"),
    ("just-print", [], .dryRun, "did you mean -n?"),
    ("dryrun", [], .dryRun, "did you mean -n?"),
    ("dry", [], .dryRun, "did you mean -n?"),
    ("recon", [], .dryRun, "did you mean -n?"),
    ("silent", [], .quiet, "did you mean -q?"),
    ("s", [], .quiet, "did you mean -q?"),
    ("ignore-errors", [], .keepGoing, "did you mean -k?"),
    ("i", [], .keepGoing, "did you mean -k?"),
    ("continue-on-error", [], .keepGoing, "did you mean -k?"),
    ("no-fail-fast", [], .keepGoing, "did you mean -k?"),
    ("fail-fast", [], .maxFailures, "a run stops at its first failure by itself"),
    ("no-keep-going", [], .maxFailures, "a run stops at its first failure by itself"),
    ("exclude", [], .skip, "did you mean --skip?"),
    ("except", [], .skip, "did you mean --skip?"),
    ("ignore", [], .skip, "did you mean --skip?"),
    ("task", [.run, .plan, .check], nil, "tasks stand without a flag: `opflow run TASK`"),
    ("target", [.run, .plan, .check], nil, "tasks stand without a flag: `opflow run TASK`"),
    ("tag", [], .only, "did you mean `--only tag:NAME`?"),
    ("tags", [], .only, "did you mean `--only tag:NAME`?"),
    ("var", [], .set, "did you mean --set?"),
    ("vars", [], .set, "did you mean --set?"),
    ("variable", [], .set, "did you mean --set?"),
    ("define", [], .set, "did you mean --set?"),
    ("D", [], .set, "did you mean --set?"),
    ("env", [], .set, "the environment is inherited: `NAME=VALUE opflow run`; `vars` are `--set`"),
    ("e", [], .set, "the environment is inherited: `NAME=VALUE opflow run`; `vars` are `--set`"),
    ("always-make", [], .rerun, "`--rerun '*'` runs all tasks, also those that are up to date"),
    ("B", [], .rerun, "`--rerun '*'` runs all tasks, also those that are up to date"),
    ("force", [], .rerun, "did you mean --rerun?"),
    ("list", [], nil, "`opflow tasks` shows the tasks"),
    ("l", [], nil, "`opflow tasks` shows the tasks"),
    ("summary", [.run], nil, "`opflow plan` shows what would run"),
    ("timeout", [], nil, "the manifest says `timeout` of a task, or of all under `defaults`"),
    ("retries", [], nil, "the manifest says `retry` of a task, or of all under `defaults`"),
    ("retry", [], nil, "the manifest says `retry` of a task, or of all under `defaults`"),
    ("tail", [.logs], nil, "`opflow logs TASK | tail -n 20` shows the last lines"),
    ("lines", [.logs], nil, "`opflow logs TASK | tail -n 20` shows the last lines"),
    ("n", [.logs], nil, "`opflow logs TASK | tail -n 20` shows the last lines"),
    ("head", [.logs], nil, "`opflow logs TASK | head -n 20` shows the first lines"),
    ("grep", [.logs], nil, "`opflow logs TASK | grep WORD` finds lines"),
    ("no-color", [], .color, "did you mean `--color never`?"),
    ("no-ansi", [], .color, "did you mean `--color never`?"),
    ("ansi", [], .color, "did you mean --color?"),
    ("colour", [], .color, "did you mean --color?"),
    ("progress", [], .output, "did you mean --output?"),
    ("format", [], .output, "did you mean --output or --json?"),
    ("junitxml", [], .junit, "did you mean --junit?"),
    ("junit-xml", [], .junit, "did you mean --junit?"),
    ("junitfile", [], .junit, "did you mean --junit?"),
    ("reporter", [], .junit, "`--junit FILE` writes test results, --output is how progress shows"),
    (
      "report", [], .junit,
      "`--junit FILE` writes test results; `opflow report` makes files of a run"
    ),
    ("log-level", [], .verbose, "did you mean -v or -q?"),
    ("debug", [], .verbose, "did you mean -v?"),
    ("all", [.status], .verbose, "did you mean -v?"),
    ("a", [.status], .verbose, "did you mean -v?"),
  ]
}
