/// The help texts, for standard output.
package enum HelpText {
  package static func text(_ topic: CommandName?) -> String {
    topic.map(command) ?? program
  }

  private static let program = """
    opflow runs the tasks of a manifest: in the order that they need each other, many at once, and
    such that a run that was stopped, killed or failed goes on where it was.

    usage: opflow COMMAND [FLAGS] [ARGUMENTS]

    Running:
      run [TASK...]     run a manifest (default: opflow.yaml), or these tasks and what they need
      resume [RUN]      continue a run: finished tasks are not run again
      check             read and validate a manifest, run nothing
      plan [TASK...]    what would run, in which order, and why

    Looking:
      status [RUN]      where a run stands, also while it runs
      logs [TASK...]    what tasks printed; -f follows
      runs              the runs here, newest first
      journal verify|export|repair [RUN]
                        the record of a run: is it whole, as JSON, without what is damaged

    Else:
      version           the version of opflow
      help [COMMAND]    this text, or all about a command

    opflow alone shows the tasks of opflow.yaml here or above.

    Examples:
      opflow run                      run all tasks of opflow.yaml
      opflow run test                 run the task `test` and what it needs
      opflow run -j4 -k build.yaml    another manifest, four at once, and go on after failures
      opflow resume                   continue the newest run
      opflow logs -f test             follow what the task `test` prints

    """

  private static func command(_ command: CommandName) -> String {
    let words = HelpWords.of(command)
    var text = "\(words.summary)\n\nusage: opflow \(command.synopsis)\n"
    if !words.description.isEmpty { text += "\n\(words.description)\n" }
    let flags = command.flags + [.help]
    for group in FlagGroup.allCases {
      let members = flags.filter { $0.group == group }
      if members.isEmpty { continue }
      text += "\n\(group.rawValue):\n"
      for flag in members { text += line(of: flag) }
    }
    if !words.examples.isEmpty { text += "\nExamples:\n\(words.examples)\n" }
    return text
  }

  /// `  -j, --max-parallel N   meaning`, the meaning on a line of its own where the flag is long.
  private static func line(of flag: Flag) -> String {
    let letter = flag.letter.map { "-\($0)" } ?? "  "
    var left = "  \(letter)"
    if let long = flag.long { left += flag.letter == nil ? "  --\(long)" : ", --\(long)" }
    if let value = flag.value { left += " \(value)" }
    let column = 28
    if left.count >= column {
      return "\(left)\n\(String(repeating: " ", count: column))\(flag.meaning)\n"
    }
    return "\(left)\(String(repeating: " ", count: column - left.count))\(flag.meaning)\n"
  }
}

/// The headings that flags stand under.
enum FlagGroup: String, CaseIterable {
  case selection = "What runs"
  case limits = "How much at once, and how long"
  case shown = "What is shown"
  case place = "Where"
  case other = "Else"
}

extension Flag {
  var group: FlagGroup {
    switch self {
    case .set, .only, .skip, .resume, .rerun, .dryRun: .selection
    case .maxParallel, .maxFailures, .keepGoing: .limits
    case .output, .quiet, .verbose, .json, .color, .follow: .shown
    case .run, .file, .directory, .stateDirectory, .workers: .place
    case .durability, .help: .other
    }
  }

  var meaning: String {
    switch self {
    case .set: "override an entry of `vars`; repeatable"
    case .only: "only these tasks and what they need; repeatable"
    case .skip: "not these tasks; repeatable"
    case .resume: "continue the newest run of this manifest if it did not succeed"
    case .rerun: "run these again though they are done; repeatable"
    case .maxParallel: "capacity of `cpu`: how many tasks run at once"
    case .maxFailures: "start nothing new after N failures (default 1; 0: no limit)"
    case .keepGoing: "after a failure go on with all that does not depend on it"
    case .dryRun: "show what would run, as `opflow plan`; write nothing"
    case .output: "default: live on a terminal, group on GitHub, else line"
    case .quiet: "failures and the summary only"
    case .verbose: "more: the commands as they start, all tasks of a status"
    case .json: "JSON on standard output"
    case .color: "colours (default auto: on a terminal without NO_COLOR)"
    case .durability: "when the journal is synced to disk (default group)"
    case .workers: "where tasks run (default local)"
    case .follow: "go on as more is printed, until it ends"
    case .run: "of that run: its id, the start of one, or a manifest"
    case .file: "the manifest, whatever its name; `-` is standard input"
    case .directory: "as if started in DIR"
    case .stateDirectory: "where runs are kept (default .opflow beside the manifest)"
    case .help: "this text"
    }
  }
}
