/// What the table says of a command.
struct CommandRow {
  let group: CommandGroup
  /// Beside its name in the help of the program.
  let meaning: String
  /// The words that are named there; nil for those of the usage line but FILE.
  var label: String?
  let words: Words
  var flags: [Flag] = []
  /// Taken as well, and in no help: programs say them, and no person does.
  var unlisted: [Flag] = []
  /// What holds between flags, once all are read.
  var rule: (inout Invocation) throws(Complaint) -> Void = { (_) throws(Complaint) in }
  /// Made for who asks for it: it takes longer than a command line is read.
  let help: () -> CommandHelp
}

/// The headings that commands stand under in the help.
enum CommandGroup: String, CaseIterable {
  case running = "Running"
  case looking = "Looking"
  case steering = "Steering a live run"
  case other = "Else"
}

/// The parts of a command's help that are written by hand.
struct CommandHelp {
  var summary: String
  var description = ""
  var examples = ""
}

/// What the help of several commands says.
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

  /// The same for each command: `RunLookup.defaultRun`.
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
