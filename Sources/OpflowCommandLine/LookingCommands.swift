/// Commands that inspect runs and manifests.
extension CommandRow {
  static var tasks: CommandRow {
    CommandRow(
      group: .looking, meaning: "the tasks of a manifest, with what it says of them",
      words: .manifestAndTasks(handsOn: false),
      flags: [.set, .json, .color, .file, .directory, .stateDirectory],
      summary: "List the tasks of a manifest, with what it says of them.",
      description: """
        The legs of a family share a row. What is `manual` runs only when it is named, or needed. The last
        line is about the newest run. `opflow` alone is the same of the manifest that is here or above.

        \(HelpPhrases.manifest)

        With TASK it lists these alone.
        """,
      examples: """
          opflow tasks                      of opflow.yaml
          opflow tasks ci.yaml              of another manifest
          opflow tasks tag:slow             those that have this tag
          opflow tasks --json | jq -r '.tasks[].id'
        """)
  }

  static var status: CommandRow {
    CommandRow(
      group: .looking, meaning: "where a run stands, also while it runs",
      words: .run,
      flags: [
        .stay, .output, .quiet, .json, .verbose, .color, .ciCommands, .directory, .stateDirectory,
      ],
      rule: checkWatch,
      summary: "Show where a run stands, also while it runs.",
      description: """
        With --watch it stays, and shows the run on standard error as the process that drives it does:
        live on a terminal, in lines elsewhere, with the same --output and the same keys (`?` shows them).
        Ctrl-C or `q` leaves the run alone, with exit code 0. When the run ends it tells the summary
        and exits with the run's code, or with 137 when the run died.

        \(HelpPhrases.run)
        """,
      examples: """
          opflow status                     the live run, else the newest one
          opflow status -v ci.yaml          every task of the newest run of ci.yaml
          opflow status --json | jq .counts
          opflow status --watch             until it ends; Ctrl-C leaves it alone
        """)
  }

  private static func checkWatch(_ invocation: inout Invocation) throws(Complaint) {
    if invocation.watches, invocation.json {
      throw Complaint(
        "--json tells where the run stands once, and --watch stays: one of them. The transitions "
          + "of a run are those of `opflow run --json`, or of `opflow journal export`")
    }
    if !invocation.watches, !invocation.passesCommands {
      throw Complaint("--ci-commands is for --watch: without it, status shows nothing of tasks")
    }
    if !invocation.watches, invocation.output != nil {
      throw Complaint("--output and -q are for --watch: without it, status shows a table")
    }
  }

  static var why: CommandRow {
    CommandRow(
      group: .looking, meaning: "why a task waits, ran, was skipped or failed",
      words: .someTasks,
      flags: [.run, .json, .color, .directory, .stateDirectory],
      summary: "Tell why a task waits, ran, was skipped, was reused or failed.",
      description: """
        Of a live run: the needs that have no end and what holds them up, the resources of which too little
        is free and who holds them, the place in the queue, the delay before the next try. Of a run that is
        over or died: what became of the task, and what a resume would do with it, by the manifest as it is
        now. Legs of a family of which the same is to be said are told together.

        TASK is a task's id, a family, some of its legs (build[arch=x86_64]), a pattern on ids with `*` and
        `?`, or tag:NAME.

        \(HelpPhrases.run)
        """,
      examples: """
          opflow why deploy                 in the live run, else the newest one
          opflow why --run 20260102 'test-*'
          opflow why --json deploy | jq '.tasks[0].reasons'
        """)
  }

  static var wait: CommandRow {
    CommandRow(
      group: .looking, meaning: "until a run ends, or some of its tasks",
      words: .run,
      flags: [.waitFor, .tellWait, .color, .directory, .stateDirectory],
      summary: "Wait until a run ends, or some of its tasks.",
      description: """
        The exit code is the one that the run ends with, or ended with. With --for it is 0 when each of
        these tasks went well, 1 when one failed or never ran because of one that did, 6 when one was
        cancelled; and when the run ends before them, its own. It is 137 when the run died, by a SIGKILL
        or a loss of power, unless somebody has resumed it by then.

        Nothing is printed but what went wrong; at a terminal, or with -v, one line on standard error says
        what it waits for. Ctrl-C leaves the run alone.

        \(HelpPhrases.run)

        \(HelpPhrases.selector)
        """,
      examples: """
          opflow wait && ./publish          when the live run, else the newest one, succeeds
          opflow wait --for build           until the task `build` has ended
          opflow wait 20260102              a run that is over says at once how it ended
        """)
  }

  static var logs: CommandRow {
    CommandRow(
      group: .looking, meaning: "what tasks printed; -f follows",
      words: .tasks,
      flags: [.follow, .run, .color, .directory, .stateDirectory],
      summary: "Print what tasks printed.",
      description: """
        Without TASK: of all tasks that printed something, in the order of the manifest. TASK is a task's
        id, a pattern on ids with `*` and `?`, or tag:NAME; one that is no task may be RUN. Control
        characters are left out; the files as they were written are in the run's folder, `logs`.

        \(HelpPhrases.run)
        """,
      examples: """
          opflow logs test                  of one task
          opflow logs ci.yaml               of the newest run of ci.yaml
          opflow logs -f                    follow all tasks until the run ends
          opflow logs --run 2026 'build-*'  of some tasks of an older run
        """)
  }

  static var runs: CommandRow {
    CommandRow(
      group: .looking, meaning: "the runs here, newest first",
      words: .nothing,
      flags: [.color, .directory, .stateDirectory],
      summary: "List the runs here, newest first.",
      description: """
        Here is `.opflow` in this folder or in the nearest folder above that has one; --state-dir names
        another.
        """)
  }

  static var graph: CommandRow {
    CommandRow(
      group: .looking, meaning: "what needs what, as text, dot, mermaid or svg",
      words: .manifestOrRun,
      flags: [
        .graphFormat, .outputFile, .unfolded, .color, .only, .skip, .set, .run, .file, .directory,
        .stateDirectory,
      ],
      summary: "Show what needs what, of a manifest or of a run.",
      description: """
        text is for a terminal: a task stands behind the one that it needs, after an arrow, or as a branch
        where several do; one that needs several begins a line of its own, which says what it is after.
        dot is for Graphviz, mermaid for a block of that kind in a page of GitHub or GitLab, and svg is
        drawn with Graphviz's `dot`, where that is installed.

        Of a run it tells by colour and by sign or word where each task stands. Of a large graph families
        are folded, then tasks whose ids begin alike up to a `/`, then what had no room, which is said; -v
        folds nothing. With TASK or --only it is of these tasks and what they need.

        \(HelpPhrases.manifest)
        A word that names a run is RUN, as that of --run.
        """,
      examples: """
          opflow graph                      of opflow.yaml here or above
          opflow graph deploy               what `deploy` needs
          opflow graph --run ci.yaml        of the newest run of ci.yaml
          opflow graph ci.yaml -o ci.svg    drawn by Graphviz
          opflow graph --format mermaid     for a page of GitHub
        """)
  }

  static var report: CommandRow {
    CommandRow(
      group: .looking, meaning: "a run as a file for other programs",
      words: .kindAndRun,
      flags: [.outputFile, .color, .directory, .stateDirectory],
      summary: "Make a file of a run that other programs read.",
      description: """
        junit is the XML of test results that Jenkins, GitLab and others read: a suite for each file
        that the manifest includes and for each family, and a test for each task.

        trace is JSON for ui.perfetto.dev and chrome://tracing: when each try of a task ran on which
        worker, how many tasks ran and what they held of each resource, and the critical path. To a file
        whose name ends with .gz it is written compressed.

        otel is the spans of OpenTelemetry as JSON (OTLP), for a collector: the run, its further drives,
        and each try of a task, with the same ids whenever it is made. Tasks find the ids of their own
        tries in TRACEPARENT, and a run that is begun with one is a part of that trace. To a file whose
        name ends with .gz it is written compressed.

        html is one page to look at, which needs no network: the result and why, failures with the end
        of their output, what ran where and when, the graph, what took longest, what is otherwise than
        in the run before, and all tasks in a table.

        It is made from the run's journal, also while the run goes on, and also of one that died.

        \(HelpPhrases.run)
        """,
      examples: """
          opflow report junit -o tests.xml  of the live run, else the newest one
          opflow report junit ci.yaml       of the newest run of ci.yaml, on standard output
          opflow report trace -o run.json   to look at in ui.perfetto.dev
          opflow report otel -o run.json    to send to a collector
          opflow report html -o run.html    to look at in a browser
        """)
  }

  static var journal: CommandRow {
    CommandRow(
      group: .looking,
      meaning: "the record of a run: is it whole, as JSON, without what is damaged",
      words: .actionAndRun,
      flags: [.color, .directory, .stateDirectory],
      summary: "Look at the journal of a run: the record that every other command reads.",
      description: """
        verify says what is damaged, and what that means for each task: exit code 0 when nothing is, 4
        when something is. export prints each intact line as a JSON object, with the keys of the journal.
        repair puts a copy without the damaged lines in the journal's place and keeps the old one beside
        it; a resume needs no repair, since it passes over what is damaged. Only repair changes anything.

        \(HelpPhrases.run)
        """,
      examples: """
          opflow journal verify             of the live run, else the newest one
          opflow journal export | jq 'select(.event == "failure")'
        """)
  }
}
