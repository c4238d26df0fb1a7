/// The commands of opflow, in the order of the help text.
package enum CommandName: String, CaseIterable, Sendable {
  case run, resume, check, plan
  case status, logs, runs
  case cancel, pause, proceed = "continue", priority, parallel
  case graph, report, journal, clean
  case `init`, schema, completion, version, help

  /// The command of that name. Looks through the names: the standard library would first make a table
  /// of them, for the one word that a program is given.
  init?(named word: String) {
    guard let name = Self.allCases.first(where: { $0.rawValue == word }) else { return nil }
    self = name
  }

  /// Whether this version has it; others are known words that later versions answer.
  package var isSupported: Bool {
    switch self {
    case .run, .resume, .check, .plan, .status, .logs, .runs, .journal, .version, .help: true
    case .cancel, .pause, .proceed, .priority, .parallel, .graph, .report, .clean, .`init`,
      .schema, .completion:
      false
    }
  }

  /// Their names, as they are offered to people.
  static var supportedNames: [String] { allCases.filter(\.isSupported).map(\.rawValue) }

  /// Of a command that is not supported yet: what serves instead today.
  var substitute: String? {
    switch self {
    case .cancel, .pause: "Ctrl-C where it runs stops a run, Ctrl-Z suspends it"
    case .proceed: "`opflow resume` continues a run that was stopped"
    case .priority: "the manifest says the `priority` of a task"
    case .parallel: "`opflow run -j N` says how many run at once"
    case .graph: "`opflow plan` shows the tasks in their order"
    case .report: "`opflow status --json` and `opflow journal export` tell all of a run as JSON"
    case .clean: "runs are folders in `.opflow/runs`, and any that has ended may be removed"
    case .`init`: "a manifest is a file `opflow.yaml`: `tasks: { hello: { run: echo hello } }`"
    case .run, .resume, .check, .plan, .status, .logs, .runs, .journal, .version, .help, .schema,
      .completion:
      nil
    }
  }

  /// What follows `opflow`, in short.
  package var synopsis: String {
    switch self {
    case .run: "run [FLAGS] [FILE] [TASK...]"
    case .resume: "resume [FLAGS] [RUN]"
    case .check: "check [FLAGS] [FILE] [TASK...]"
    case .plan: "plan [FLAGS] [FILE] [TASK...]"
    case .status: "status [FLAGS] [RUN]"
    case .logs: "logs [FLAGS] [TASK...]"
    case .runs: "runs [FLAGS]"
    case .help: "help [COMMAND]"
    case .version: "version"
    case .cancel, .pause, .proceed: "\(rawValue) [TASK...]"
    case .priority: "priority TASK N"
    case .parallel: "parallel N"
    case .journal: "journal verify|export|repair [FLAGS] [RUN]"
    case .report: "report [RUN]"
    case .graph, .clean, .`init`, .schema, .completion: rawValue
    }
  }

  var flags: [Flag] {
    switch self {
    case .run:
      [
        .set, .only, .skip, .resume, .rerun, .maxParallel, .maxFailures, .keepGoing, .dryRun,
        .output, .quiet, .verbose, .json, .color, .durability, .workers, .file, .directory,
        .stateDirectory,
      ]
    case .resume:
      CommandName.run.flags.filter { $0 != .resume && $0 != .file }
    case .plan:
      [
        .set, .only, .skip, .resume, .rerun, .maxParallel, .maxFailures, .keepGoing, .color,
        .file, .directory, .stateDirectory,
      ]
    case .check: [.set, .color, .file, .directory]
    case .status: [.json, .verbose, .color, .directory, .stateDirectory]
    case .logs: [.follow, .run, .color, .directory, .stateDirectory]
    case .runs, .journal: [.color, .directory, .stateDirectory]
    case .version, .help, .cancel, .pause, .proceed, .priority, .parallel, .graph, .report, .clean,
      .`init`, .schema, .completion:
      []
    }
  }
}
