/// Commands that inspect runs and manifests.
extension CommandRow {
  static var tasks: CommandRow {
    CommandRow(
      group: .inspecting, isCommon: true, words: .manifestAndTasks(handsOn: false),
      flags: [.set, .json, .color, .file, .directory, .stateDirectory],
      summary: "List the tasks of a manifest with their descriptions",
      examples: [
        ("opflow tasks", "List the tasks of opflow.yaml"),
        ("opflow tasks ci.yaml tag:slow", "List the tasks of ci.yaml with a tag"),
        ("opflow tasks --json | jq -r '.tasks[].id'", "Print the task IDs"),
      ],
      details: """
        The tasks of a matrix share a row. The last line shows the newest run. `opflow` without a command
        does the same for the opflow.yaml here or above.
        """,
      exits: HelpPhrases.exits("0", "2", "3"))
  }

  static var status: CommandRow {
    CommandRow(
      group: .inspecting, isCommon: true, words: .run,
      flags: [
        .output, .quiet, .json, .verbose, .color, .ciCommands, .stay, .run, .directory,
        .stateDirectory,
      ],
      common: [.stay, .output, .quiet, .json, .verbose, .color, .run, .directory],
      rule: checkWatch,
      summary: "Show the state of a run, live or finished",
      examples: [
        ("opflow status", "Show the live run, or else the newest run"),
        ("opflow status -v ci.yaml", "Show every task of the newest run of ci.yaml"),
        ("opflow status --watch", "Follow the run live until it ends"),
      ],
      details: """
        With --watch, opflow follows the run on standard error as `opflow run` does, with the same formats
        and keys. Ctrl-C or `q` leaves the run alone and exits with 0. When the run ends, opflow prints the
        summary and exits with the exit code of the run, or with 137 if the process of the run died.

        \(HelpPhrases.defaultRun)
        """,
      exits: HelpPhrases.exits("0", "2", "4", "137"))
  }

  private static func checkWatch(_ invocation: inout Invocation) throws(Complaint) {
    if invocation.watches, invocation.json {
      throw Complaint(
        "--json and --watch contradict each other; `opflow journal export` prints the steps of a "
          + "run as JSON")
    }
    if !invocation.watches, !invocation.passesCommands {
      throw Complaint("--ci-commands needs --watch")
    }
    if !invocation.watches, invocation.output != nil {
      throw Complaint("--output and -q need --watch")
    }
  }

  static var why: CommandRow {
    CommandRow(
      group: .inspecting, isCommon: true, words: .someTasks,
      flags: [.json, .color, .run, .directory, .stateDirectory],
      summary: "Explain why a task waits, ran, was skipped or failed",
      examples: [
        ("opflow why deploy", "Explain the state of `deploy`"),
        ("opflow why 'test-*' --run ci.yaml", "Explain tasks of the newest run of ci.yaml"),
        ("opflow why --json deploy | jq '.tasks[0].reasons'", "Print the reasons as JSON"),
      ],
      details: """
        For a live run, opflow shows unfinished dependencies, resources that are in use and by which tasks,
        the position in the waiting list and the delay before the next attempt. For a finished run, it shows
        the result of the task, and whether a resume would run the task again with the current manifest.
        Matrix tasks with the same explanation share it.

        \(HelpPhrases.defaultRun)
        """)
  }

  static var wait: CommandRow {
    CommandRow(
      group: .inspecting, words: .run,
      flags: [.waitFor, .reportWait, .color, .run, .directory, .stateDirectory],
      summary: "Block until a run, or some of its tasks, finish",
      examples: [
        ("opflow wait && ./publish", "Publish when the run succeeds"),
        ("opflow wait --for build", "Wait for the task `build`"),
        ("opflow wait 20260102", "Print nothing; exit with the code of a finished run"),
      ],
      details: """
        opflow exits with the exit code of the run. With --for, it exits with 0 if the tasks succeeded, 1 if
        one failed or was skipped because of a failure, 6 if one was cancelled, and the code of the run if
        the run ends first. opflow prints only errors; on a terminal or with -v, it also prints a line about
        the run that it waits for. Ctrl-C leaves the run alone.

        \(HelpPhrases.defaultRun)
        """,
      exits: HelpPhrases.exits("0", "1", "2", "6", "137"))
  }

  static var logs: CommandRow {
    CommandRow(
      group: .inspecting, isCommon: true, words: .tasks,
      flags: [.follow, .color, .run, .directory, .stateDirectory],
      summary: "Print the output of tasks",
      examples: [
        ("opflow logs test", "Print the output of the task `test`"),
        ("opflow logs -f", "Follow the output of all tasks until the run ends"),
        ("opflow logs --run 2026 'build-*'", "Print the output of tasks of an older run"),
      ],
      details: """
        Without TASK, opflow prints the output of all tasks, in the order of the manifest. A word that
        matches no task can be a RUN. opflow leaves control characters out; the folder `logs` of the run has
        the original files.

        \(HelpPhrases.defaultRun)
        """)
  }

  static var runs: CommandRow {
    CommandRow(
      group: .inspecting, words: .nothing, flags: [.color, .directory, .stateDirectory],
      summary: "List all runs, newest first",
      examples: [
        ("opflow runs", "List the runs in .opflow here or above"),
        ("opflow runs --state-dir /srv/ci", "List the runs in another state folder"),
        ("opflow runs | head", "List the newest runs"),
      ])
  }

  static var graph: CommandRow {
    CommandRow(
      group: .inspecting, words: .manifestOrRun,
      flags: [
        .only, .skip, .set, .graphFormat, .outputFile, .unfolded, .color, .run, .file, .directory,
        .stateDirectory,
      ],
      common: [.graphFormat, .outputFile, .unfolded, .only, .skip, .run, .file],
      summary: "Show the dependency graph as text, dot, mermaid or svg",
      examples: [
        ("opflow graph deploy", "Show the dependencies of `deploy`"),
        ("opflow graph --run ci.yaml", "Show the state of each task in the newest run of ci.yaml"),
        ("opflow graph -o graph.svg", "Draw the graph with Graphviz"),
      ],
      details: """
        In the format text, an arrow leads from a task to its dependent, and a branch to each of several
        dependents. A task with several dependencies starts a line of its own, which lists them. dot is for
        Graphviz, mermaid for pages of GitHub and GitLab; svg needs the program `dot` of Graphviz.

        For a run, the graph shows the state of each task. In a large graph, opflow merges the tasks of a
        matrix, then tasks with a common prefix before `/`; -v merges nothing. With TASK or --only, the graph
        has these tasks and their dependencies. A word that names a run is a RUN.
        """,
      exits: HelpPhrases.exits("0", "2", "3"))
  }

  static var report: CommandRow {
    CommandRow(
      group: .inspecting, isCommon: true, words: .kindAndRun,
      flags: [.outputFile, .color, .run, .directory, .stateDirectory],
      summary: "Export a run as HTML, JUnit XML, trace or OpenTelemetry",
      examples: [
        ("opflow report html -o run.html", "Write a page for a browser"),
        ("opflow report junit -o tests.xml", "Write test results for a CI server"),
        ("opflow report trace -o run.json", "Write a trace for ui.perfetto.dev"),
      ],
      details: """
        html is one page that needs no network. It shows the result, failures with the end of their output,
        the timing of all tasks, the graph, the slowest tasks and the changes since the run before.

        junit is the XML of test results that Jenkins, GitLab and others read. It has a test for each task
        and a suite for each included file and each matrix.

        trace is JSON for ui.perfetto.dev and chrome://tracing. It shows each attempt of a task on its
        worker, the resources in use and the critical path.

        otel is JSON with OpenTelemetry spans (OTLP): the run, its sessions and each attempt of a task. Tasks
        find the IDs of their attempts in TRACEPARENT. A run that starts with TRACEPARENT joins that trace.

        A trace or otel file whose name ends in .gz is compressed. opflow makes reports from the journal, so
        a live run and a run that died have them, too.

        \(HelpPhrases.defaultRun)
        """)
  }

  static var journal: CommandRow {
    CommandRow(
      group: .inspecting, words: .actionAndRun,
      flags: [.color, .run, .directory, .stateDirectory],
      summary: "Verify, export or repair the journal of a run",
      examples: [
        ("opflow journal verify", "Check the journal for damage"),
        (
          "opflow journal export | jq 'select(.event == \"failure\")'", "Print all failures as JSON"
        ),
        ("opflow journal repair 20260102", "Remove damaged lines"),
      ],
      details: """
        verify prints each damaged line and its consequence for tasks; it exits with 4 if there is damage.
        export prints each intact line as a JSON object. repair writes the intact lines to a new journal and
        keeps the old one next to it. A resume needs no repair, because it ignores damaged lines.

        \(HelpPhrases.defaultRun)
        """,
      exits: HelpPhrases.exits("0", "2", "4"))
  }
}
