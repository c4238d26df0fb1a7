struct CommandRow {
  let group: CommandGroup
  /// For the program's help.
  let meaning: String
  /// The arguments in that help; by default those of the usage line without FILE.
  var label: String?
  let words: Words
  var flags: [Flag] = []
  /// For programs; the help does not show them.
  var unlisted: [Flag] = []
  /// Runs after all flags are read.
  var rule: (inout Invocation) throws(Complaint) -> Void = { (_) throws(Complaint) in }
  let help: () -> CommandHelp
}

enum CommandGroup: String, CaseIterable {
  case running = "Running"
  case looking = "Looking"
  case steering = "Steering a live run"
  case other = "Else"
}

struct CommandHelp {
  var summary: String
  var description = ""
  var examples = ""
}

enum HelpPhrases {
  static let selector = """
    SEL is a task's id, the name of a family or some of its legs (build[arch=x86_64]), a pattern on ids
    with `*` and `?`, or tag:NAME. One that fits no task is a mistake.
    """

  static let manifest = """
    FILE is the manifest: what ends in .yaml or .yml, `DIR/` for the opflow.yaml in that folder, `-`
    for standard input; -f takes a file of any name. Default: opflow.yaml here or in the nearest folder
    above that has one. TASK is a task's id, a pattern on ids with `*` and `?`, or tag:NAME.
    """

  /// As in `RunLookup.defaultRun`.
  static let run = """
    \(namedRun) Default: within a task, the run of that task; else the live run of `.opflow` here or
    in the nearest folder above that has one, the newest of several; else the newest run there.
    """

  static let resumedRun = """
    \(namedRun) Default: the newest run of `.opflow` here or in the nearest folder above that has one.
    """

  private static let namedRun = """
    RUN is a run's id, the start of one that fits no other, or a manifest's path, which stands for its
    newest run.
    """
}
