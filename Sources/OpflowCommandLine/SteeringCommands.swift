internal import OpflowPlan

/// Commands that control a live run.
extension CommandRow {
  static let askedFlags: [Flag] = [.run, .json, .color, .directory, .stateDirectory]

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

  static func asking(
    _ verb: ControlAction, _ meaning: String, summary: String, description: String,
    examples: String = ""
  ) -> CommandRow {
    CommandRow(
      group: .steering, meaning: meaning, words: Words(verb.row), flags: askedFlags,
      summary: summary, description: description, examples: examples)
  }

  private static var cancel: CommandRow {
    asking(
      .cancel, "end tasks, or the whole run",
      summary: "End tasks of a run that goes on, or the whole run.",
      description: """
        Tasks that run are ended by their stop rules, and those that have not started never do: they are
        cancelled, and what needs them is skipped. Without SEL the whole run stops as at Ctrl-C, and ends
        with exit code 6; `opflow resume` continues it.

        \(HelpPhrases.asked)
        """,
      examples: """
          opflow cancel                     the run that is live here
          opflow cancel 'test-*'            some tasks of it
          opflow cancel --run 2026 build    a task of that run
        """)
  }

  private static var pause: CommandRow {
    asking(
      .pause, "start nothing new",
      summary: "Start nothing new in a run that goes on; what runs may end.",
      description: """
        `opflow continue` goes on. A resume is not paused any more.

        \(HelpPhrases.liveRun)
        """)
  }

  private static var proceed: CommandRow {
    asking(
      .proceed, "go on after `pause`, or with tasks after `suspend`",
      summary: "Go on after `opflow pause`, or with tasks after `opflow suspend`.",
      description: HelpPhrases.asked,
      examples: """
          opflow continue                   the run that was paused
          opflow continue build             a task that was suspended
        """)
  }

  private static var suspend: CommandRow {
    asking(
      .suspend, "let tasks stand still, or not start",
      summary:
        "Let tasks stand still: those that run are stopped where they are, others do not start.",
      description: """
        Their timeouts stand still too, and what they hold of resources stays theirs. `opflow continue SEL`
        goes on with them; a resume does so by itself.

        \(HelpPhrases.asked)
        """)
  }

  private static var priority: CommandRow {
    asking(
      .priority, "what starts first, among what waits",
      summary: "Say which tasks start first, among those that wait.",
      description: """
        N is a number from -1000 to 1000, or very_low, low, normal, high or very_high, as in a manifest.
        What those tasks wait for counts as at least as urgent. What runs goes on. It holds for a resume
        too.

        \(HelpPhrases.asked)
        """,
      examples: """
          opflow priority deploy very_high
          opflow priority 'test-*' -5
        """)
  }

  private static var parallel: CommandRow {
    asking(
      .parallel, "how much runs at once: of `cpu`, or of a resource",
      summary: "Change how much runs at once.",
      description: """
        N alone is the capacity of `cpu`, as -j; NAME is a resource of the manifest, and N as it stands
        there: a size for `memory`. With less than what is in use nothing is ended, and nothing new starts
        until there is room. NAME=0 closes a resource of the manifest's own. A resume has the capacities of
        its own flags and manifest.

        \(HelpPhrases.liveRun)
        """,
      examples: """
          opflow parallel 8                 eight at once
          opflow parallel net=1             one at a time of those that ask for `net`
          opflow parallel memory=16GiB
        """)
  }

  private static var retry: CommandRow {
    asking(
      .retry, "run tasks again that failed in this run",
      summary:
        "Run tasks again that failed or were cancelled since the run was started or resumed.",
      description: """
        They wait again, and so does what was skipped for want of them, whether it is named or not; their
        `retry` starts anew, and the failure does not count any more. Until the `finally` tasks begin;
        then `opflow resume` runs them again.

        \(HelpPhrases.asked)
        """)
  }

  private static var skip: CommandRow {
    asking(
      .skip, "leave tasks out that have not started",
      summary: "Leave tasks out that have not started, as if their `if` were false.",
      description: """
        What needs them runs. It holds for a resume too.

        \(HelpPhrases.asked)
        """)
  }
}

extension CommandRow {
  private static var approve: CommandRow {
    asking(
      .approve, "say yes to a task that asks",
      summary: "Say yes to a task that asks by `approve`: it succeeds.",
      description: """
        It asks when all that it needs has ended; `opflow status` shows what. Who said yes stands in the
        journal, and a resume does not ask again. opflow refuses the answer of a process that a task
        of the run started.

        \(HelpPhrases.asked)
        """,
      examples: """
          opflow approve deploy
        """)
  }

  private static var reject: CommandRow {
    asking(
      .reject, "say no to a task that asks",
      summary: "Say no to a task that asks by `approve`: it fails.",
      description: """
        Who said no stands in the journal. `opflow retry` asks again in this run, and so does a resume.
        opflow refuses the answer of a process that a task of the run started.

        \(HelpPhrases.asked)
        """)
  }
}

extension HelpPhrases {
  static let liveRun = """
    Without --run it asks, within a task, the run of that task, which needs `control: true`; else the
    live run of `.opflow` here or in the nearest folder above that has one. Where several runs are live,
    it names them and exits with 2. What cannot be done is refused with exit code 2, and nothing of it
    is done.
    """

  static let asked = """
    \(selector)
    A task that is named by its id must be one that it can be done to; of a family, a pattern or a tag
    it is done to those it can be done to.

    \(liveRun)
    """
}
