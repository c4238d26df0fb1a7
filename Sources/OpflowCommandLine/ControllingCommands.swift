internal import OpflowPlan

/// Commands that control a live run.
extension CommandRow {
  static let requestFlags: [Flag] = [.json, .color, .run, .directory, .stateDirectory]

  static func request(_ verb: ControlAction) -> CommandRow {
    switch verb {
    case .cancel: cancel
    case .pause: pause
    case .proceed: proceed
    case .suspend: suspend
    case .priority: priority
    case .parallel: parallel
    case .retry: retry
    case .skip: skip
    case .approve: approve
    case .reject: reject
    case .close: close
    }
  }

  static func request(
    _ verb: ControlAction, _ summary: String, examples: [Example], details: String
  ) -> CommandRow {
    CommandRow(
      group: .controlling, words: Words(verb.row), flags: requestFlags, summary: summary,
      examples: examples, details: details)
  }

  private static var cancel: CommandRow {
    request(
      .cancel, "Cancel tasks of a live run, or the whole run",
      examples: [
        ("opflow cancel", "Cancel the live run"),
        ("opflow cancel 'test-*' lint", "Cancel some of its tasks"),
        ("opflow cancel --run 2026 build", "Cancel a task of another run"),
      ],
      details: """
        opflow sends running tasks their stop signal. Pending tasks do not start, and dependents of
        cancelled tasks are skipped. Without SEL the run ends as with Ctrl-C, with exit code 6; `opflow
        resume` continues it.

        \(HelpPhrases.request)
        """)
  }

  private static var pause: CommandRow {
    request(
      .pause, "Pause a live run: start no more tasks, let running tasks finish",
      examples: [
        ("opflow pause", "Pause the live run"),
        ("opflow pause --run ci.yaml", "Pause the run of ci.yaml"),
        ("opflow continue", "Start tasks again"),
      ],
      details: """
        To pause single tasks, use `opflow suspend`. A resume of the run is not paused.

        \(HelpPhrases.liveRun)
        """)
  }

  private static var proceed: CommandRow {
    request(
      .proceed, "Continue a paused run, or suspended tasks",
      examples: [
        ("opflow continue", "Continue the run after `opflow pause`"),
        ("opflow continue build", "Continue a task after `opflow suspend build`"),
        ("opflow continue '*'", "Continue all suspended tasks"),
      ],
      details: HelpPhrases.request)
  }

  private static var suspend: CommandRow {
    request(
      .suspend, "Freeze running tasks (SIGSTOP) and hold pending ones",
      examples: [
        ("opflow suspend build", "Freeze `build`, or keep it from starting"),
        ("opflow suspend tag:slow", "Freeze or hold all tasks with the tag `slow`"),
        ("opflow continue build", "Let `build` run"),
      ],
      details: """
        The timeouts of frozen tasks stop, too. Frozen tasks keep their resources. `opflow continue SEL`
        and a resume let them run.

        \(HelpPhrases.request)
        """)
  }

  private static var priority: CommandRow {
    request(
      .priority, "Change the priority of pending tasks",
      examples: [
        ("opflow priority deploy very_high", "Start `deploy` before other pending tasks"),
        ("opflow priority 'test-*' -5", "Start the tests later"),
        ("opflow priority tag:slow normal", "Set the default priority"),
      ],
      details: """
        N is a number from -1000 to 1000, or very_low, low, normal, high or very_high. The dependencies of
        the tasks get at least the same priority. Running tasks keep running. A resume keeps the priority.

        \(HelpPhrases.request)
        """)
  }

  private static var parallel: CommandRow {
    request(
      .parallel, "Change how many tasks run at once, or the limit of a resource",
      examples: [
        ("opflow parallel 8", "Run at most 8 tasks at once"),
        ("opflow parallel net=1", "Set the limit of the resource `net` to 1"),
        ("opflow parallel memory=16GiB", "Set the memory that tasks may request"),
      ],
      details: """
        N is the limit of `cpu`, as for -j. NAME is a resource of the manifest; `memory` takes a size. If
        running tasks exceed the new limit, they keep running, and others start once there is room. NAME=0
        keeps tasks that request NAME from starting. A resume uses the limits of its flags and manifest.

        \(HelpPhrases.liveRun)
        """)
  }

  private static var retry: CommandRow {
    request(
      .retry, "Run failed or cancelled tasks of a live run again",
      examples: [
        ("opflow retry test", "Run the failed task `test` again"),
        ("opflow retry '*'", "Run all failed and cancelled tasks again"),
        ("opflow retry --run 2026 'build[arch=arm]'", "Run a matrix task of another run again"),
      ],
      details: """
        Dependents that were skipped because of the tasks run, too. The failures no longer count, and the
        key `retry` starts from its first attempt. The tasks must have ended in this session. After the
        `finally` tasks have started, use `opflow resume`.

        \(HelpPhrases.request)
        """)
  }

  private static var skip: CommandRow {
    request(
      .skip, "Skip pending tasks; their dependents still run",
      examples: [
        ("opflow skip lint", "Skip the task `lint`"),
        ("opflow skip 'test-*'", "Skip all pending tests"),
        ("opflow skip tag:slow", "Skip all pending tasks with the tag `slow`"),
      ],
      details: """
        A skipped task counts as if its `if` were false. A resume skips it, too.

        \(HelpPhrases.request)
        """)
  }
}

extension CommandRow {
  private static var approve: CommandRow {
    request(
      .approve, "Approve a task that waits for approval",
      examples: [
        ("opflow status", "Show the tasks that wait for approval"),
        ("opflow approve deploy", "Let `deploy` succeed"),
        ("opflow approve '*'", "Approve all tasks that wait"),
      ],
      details: """
        A task with the key `approve` waits for approval when its dependencies have ended. The journal
        records who approved, and a resume does not ask again. opflow refuses an approval from a task of
        the same run.

        \(HelpPhrases.request)
        """)
  }

  private static var reject: CommandRow {
    request(
      .reject, "Reject a task that waits for approval, so that it fails",
      examples: [
        ("opflow status", "Show the tasks that wait for approval"),
        ("opflow reject deploy", "Let `deploy` fail"),
        ("opflow retry deploy", "Ask for approval again"),
      ],
      details: """
        The journal records who rejected. `opflow retry` and a resume ask again. opflow refuses a rejection
        from a task of the same run.

        \(HelpPhrases.request)
        """)
  }
}
