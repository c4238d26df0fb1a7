/// Short definitions of the terms in help, messages and the manual.
package enum Glossary {
  package typealias Term = (name: String, meaning: String)

  /// Sorted by name.
  package static let terms: [Term] = [
    ("agent", "An `opflow agent` process, which runs tasks on a node for a run with `--on`."),
    (
      "already done",
      "Said of a task that succeeded in an earlier session of the run. A resume does not run it"
        + " again."
    ),
    (
      "approval",
      "A task with the key `approve`. It waits until you run `opflow approve` or `opflow reject`."
    ),
    (
      "attempt",
      "One execution of a task. A task with `retry` gets another attempt after a failure."
    ),
    (
      "cache",
      "A folder of task results. A task with `cache: true` is restored from it if its inputs match."
    ),
    (
      "cached",
      "Said of a task whose outputs opflow restored from the cache. The task did not run."
    ),
    ("cancelled", "The state of a task or run that `opflow cancel` ended. A resume runs it again."),
    (
      "critical path",
      "The chain of dependent tasks that takes longest. No run can be shorter, with any number of"
        + " CPUs."
    ),
    (
      "dependency",
      "A task that another task lists under `needs`. It must end first, by default with success."
    ),
    ("dependent", "A task that lists this task under `needs`. It starts after this task."),
    (
      "download",
      "A task that fetches a file with HTTP instead of running a command. It resumes partial files"
        + " and checks hashes."
    ),
    (
      "dynamic task",
      "A task that was added to a live run, by `opflow add`, by another task or by a program."
    ),
    (
      "expression",
      "A value in a manifest that opflow computes, written `${{ vars.NAME }}` or"
        + " `${{ matrix.NAME }}`."
    ),
    (
      "external task",
      "A task with the key `block`. A program that uses the opflow library does its work."
    ),
    (
      "failed",
      "The state of a task that exited with an error or timed out. Its dependents are skipped."
    ),
    (
      "generator",
      "A task that adds dynamic tasks to its own run. It needs the key `control: true`."
    ),
    (
      "grace period",
      "The time that a task gets to exit after its stop signal. Then opflow kills it."
    ),
    (
      "heartbeat timeout",
      "The time after which opflow gives up an agent that it cannot reach, and the agent ends its"
        + " tasks."
    ),
    (
      "input",
      "A file, variable or command under `inputs`. A task runs again only if an input changed."
    ),
    (
      "interactive task",
      "A task that owns the terminal while it runs, such as an editor or a password prompt."
    ),
    (
      "interrupted",
      "The state of a task or run that was running when opflow died. A resume runs it again."
    ),
    (
      "journal",
      "The file in which opflow records each step of a run. A resume and all views read it."
    ),
    ("live run", "A run that an opflow process executes right now. You can control it."),
    (
      "manifest",
      "The YAML file that declares tasks. Its default name is `opflow.yaml`."
    ),
    (
      "manual task",
      "A task with `manual: true`. It runs only if you name it or another task needs it."
    ),
    (
      "matrix",
      "The key that makes one task for each combination of values, such as platforms or shards."
    ),
    (
      "matrix task",
      "One task of a matrix. Its ID contains its values, as in `build[arch=x86_64]`."
    ),
    ("node", "A machine that runs tasks of a run, reached through Slurm, ssh or a command."),
    ("output", "A file or pattern under `outputs` that the task creates."),
    ("pending", "The state of a task that has not started yet."),
    (
      "priority",
      "A number that decides which ready task starts first. Dependencies inherit a higher one."
    ),
    ("queue", "A run that stays open and executes tasks that you add: `opflow serve`."),
    (
      "request",
      "A command to a live run, such as `opflow pause`. The run records it and answers it."
    ),
    (
      "resource",
      "A limited amount that tasks share, such as `cpu`, `memory`, `gpu` or a name of your own."
    ),
    (
      "resume",
      "Continue a run after a failure, Ctrl-C or a crash. Finished tasks do not run again."
    ),
    ("retry", "Run a failed task again, automatically by the key `retry` or with `opflow retry`."),
    (
      "run",
      "One execution of a manifest. It has an ID, a journal, logs and one or more sessions."
    ),
    ("running", "The state of a task whose command runs, or of a run that is live."),
    (
      "secret",
      "A value that opflow gives to tasks in the environment and masks in logs and messages."
    ),
    (
      "service",
      "A task that keeps running while its dependents run, such as a database for tests."
    ),
    (
      "session",
      "One process's work on a run. A run that you resumed once has two sessions."
    ),
    (
      "skipped",
      "The state of a task that did not run: a dependency failed, its `if` was false or you skipped"
        + " it."
    ),
    ("slot", "The place that an external task takes in a run while a program does its work."),
    (
      "state folder",
      "The folder `.opflow` next to the manifest. It holds runs, journals, logs and the cache."
    ),
    (
      "stop signal",
      "The signal that ends a running task, SIGTERM by default. The key `stop` changes it."
    ),
    ("succeeded", "The state of a task that exited with code 0, or of a run without failures."),
    ("suspended", "The state of a task that `opflow suspend` froze or holds back."),
    ("tag", "A label of tasks under the key `tags`. `tag:NAME` selects all tasks that have it."),
    (
      "task",
      "One step of a manifest: a command, a download, an approval or a group of dependencies."
    ),
    ("trace", "A JSON file with the timing of each task, for ui.perfetto.dev."),
    (
      "up to date",
      "Said of a task whose inputs and outputs have not changed since its success. It does not run."
    ),
    ("worker", "A process of opflow that starts tasks and collects their output."),
  ]

  static let selector =
    "SEL selects tasks: an ID, a glob ('test-*'), a matrix task ('build[arch=x86_64]') or tag:NAME."
    + " It must match at least one task."

  /// The placeholders of usage lines.
  static let placeholders: [Term] = [
    (
      "FILE",
      "FILE is the manifest: a name that ends in .yaml or .yml, DIR/ for the opflow.yaml in DIR, or"
        + " - for standard input. The default is opflow.yaml here or in the nearest folder above."
    ),
    (
      "RUN",
      "RUN names a run: its ID, the start of its ID, the NAME of `opflow serve --name`, or a"
        + " manifest for its newest run."
    ),
    ("TASK", "TASK selects tasks as SEL does."),
    ("SEL", selector),
    (
      "NODES",
      "NODES says where tasks run: local, slurm[:OPTIONS], ssh:HOST,HOST or exec:COMMAND. All nodes"
        + " must see the same files."
    ),
    ("D", "D is a duration, such as 500ms, 30s, 10m, 12h or 7d."),
  ]

  /// Returns the term for a word in any case, in the plural or with hyphens; if `isExact`, for its
  /// name only.
  static func term(_ word: String, isExact: Bool) -> Term? {
    if isExact { return terms.first { $0.name == word } }
    if let placeholder = placeholders.first(where: { $0.name == word }) { return placeholder }
    let name = word.lowercased().replacing("-", with: " ").replacing("_", with: " ")
    let names = [
      name, String(name.dropLast(name.hasSuffix("s") ? 1 : 0)),
      name.hasSuffix("ies") ? name.dropLast(3) + "y" : name,
    ]
    return terms.first { names.contains($0.name) }
      ?? placeholders.first { $0.name.lowercased() == name }
  }
}
