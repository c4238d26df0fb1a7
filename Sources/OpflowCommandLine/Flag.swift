internal import OpflowBase
internal import OpflowPlan
internal import OpflowWire

/// `Command.row` tells which command takes which flag.
enum Flag: CaseIterable {
  case set, only, skip, resume, rerun, name
  case maxParallel, maxFailures, keepGoing, dryRun
  case ifRunning, watchFiles, memory
  case output, quiet, verbose, json, color
  case durability, workers, queueTimeout, takeOver
  case cache, cacheWrite, noCache
  case follow, stay, run, waitFor, reportWait
  case keep, olderThan, showRemoval
  case file, newFile, directory, stateDirectory, outputFile
  case graphFormat, unfolded
  case junit, notify, ciCommands
  case controlDescriptor, forQueue
  case help, all

  var row: FlagRow {
    switch self {
    case .set:
      FlagRow(
        "set", in: .selection, "Override an entry of `vars`; repeatable",
        takes: .text(.assignment) { $0.set.append($1) })
    case .only:
      FlagRow(
        "only", in: .selection, "Run only these tasks and dependencies; repeatable",
        takes: .text(.selector) { $0.only.append($1) })
    case .skip:
      FlagRow(
        "skip", in: .selection, "Skip these tasks, run their dependents; repeatable",
        takes: .text(.selector) { $0.skip.append($1) })
    case .resume:
      FlagRow(
        "resume", in: .selection,
        "Resume the newest run of this manifest if it did not succeed, else start a new run",
        takes: .nothing { $0.resumesNewest = true })
    case .rerun:
      FlagRow(
        "rerun", in: .selection,
        "Run finished or up-to-date tasks again; repeatable",
        takes: .text(.selector) { $0.rerun.append($1) })
    case .name:
      FlagRow(
        "name", in: .selection, "Name the run, for `--run NAME` of other commands",
        takes: .text(.name) { $0.name = $1 })
    case .maxParallel:
      FlagRow(
        "max-parallel", "j", in: .limits,
        "Run at most N tasks at once (default: CPU count)",
        // Only a dry run compares several, which is checked later.
        takes: .numbers(from: 1) {
          $0.maxParallel = $1.first
          $0.capacities = $1.count == 1 ? [] : $1
        })
    case .maxFailures:
      FlagRow(
        "max-failures", in: .limits,
        "Start no more tasks after N failures (default 1; 0: no limit)",
        takes: .number(from: 0) { $0.maxFailures = $1 })
    case .keepGoing:
      FlagRow(
        "keep-going", "k", in: .limits,
        "Keep going after a failure, without its dependents",
        takes: .nothing { $0.maxFailures = 0 })
    case .ifRunning:
      FlagRow(
        "if-running", in: .limits,
        "If another run of the group is live: wait, fail or run too (default: `if_running`)",
        takes: .word(IfRunning.self) { $0.ifRunning = $1 })
    case .memory:
      FlagRow(
        "memory", in: .limits,
        "If `memory_limit` cannot be enforced: warn, or refuse to run (default warn)",
        takes: .word(MemoryPolicy.self) { $0.memory = $1 })
    case .watchFiles:
      FlagRow(
        "watch", in: .other,
        "After the run, wait for changes of the manifest or inputs, then run again",
        takes: .nothing { $0.watchesFiles = true })
    case .dryRun:
      FlagRow(
        "dry-run", "n", in: .selection, "Run nothing; show the plan, as `opflow plan` does",
        takes: .nothing { $0.isDryRun = true })
    case .output:
      FlagRow(
        "output", in: .shown,
        "Format of progress (default: live on a terminal, github and gitlab on CI, else line)",
        takes: .word(OutputMode.self) { $0.output = $1 })
    case .quiet:
      FlagRow(
        "quiet", "q", in: .shown, "Print only failures and the summary",
        takes: .nothing { $0.output = .quiet })
    case .verbose:
      FlagRow(
        "verbose", "v", in: .shown,
        "Print more: commands as they start, all tasks",
        takes: .nothing { $0.verbose = true })
    case .json:
      FlagRow(
        "json", in: .shown, "Print JSON on standard output", takes: .nothing { $0.json = true })
    case .color:
      FlagRow(
        "color", in: .shown, "Use colors (default auto; NO_COLOR turns them off)",
        takes: .word(ColorChoice.self) { $0.view.color = $1 })
    case .durability:
      FlagRow(
        "durability", in: .other,
        "Sync the journal to disk never, per group of steps or per step (default group)",
        takes: .word(Durability.self) { $0.durability = $1 })
    case .workers:
      FlagRow(
        "on", in: .place, "Run tasks on these nodes (default local); repeatable",
        takes: .text(.nodes) { (invocation, word) throws(Complaint) in
          do throws(NodeRequestError) {
            invocation.on += try NodeRequest.parse(word)
            invocation.saysPlace = true
          } catch {
            throw Complaint("--on: \(error.message)")
          }
        })
    case .queueTimeout:
      FlagRow(
        "queue-timeout", in: .place, "Wait at most D for Slurm (default: no limit)",
        takes: .text(.duration) { $0.queueTimeout = $1 })
    case .takeOver:
      FlagRow(
        "take-over", in: .place, "Take over a run whose machine is dead",
        takes: .nothing { $0.takesOver = true })
    case .cache:
      FlagRow(
        "cache", in: .place,
        "Restore results from the cache in DIR (default: OPFLOW_CACHE, or next to the runs)",
        takes: .text(.folder) { $0.cache = $1 })
    case .cacheWrite:
      FlagRow(
        "cache-write", in: .place, "Also store results in the cache of --cache or OPFLOW_CACHE",
        takes: .nothing { $0.writesCache = true })
    case .noCache:
      FlagRow(
        "no-cache", in: .place, "Neither restore nor store cached results",
        takes: .nothing { $0.usesCache = false })
    case .follow:
      FlagRow(
        "follow", "f", in: .shown, "Follow the output until the tasks or the run end",
        takes: .nothing { $0.follows = true })
    case .stay:
      FlagRow(
        "watch", in: .shown, "Follow the run until it ends, as `opflow run` shows it",
        takes: .nothing { $0.watches = true })
    case .run:
      FlagRow(
        "run", in: .place, "Use this run: an ID, a name or a manifest",
        takes: .text(.run) { $0.run = $1 })
    case .waitFor:
      FlagRow(
        "for", in: .selection, "Wait for these tasks, not the whole run; repeatable",
        takes: .text(.selector) { $0.waitsFor.append($1) })
    case .reportWait:
      FlagRow(
        "verbose", "v", in: .shown, "Print the run that it waits for even without a terminal",
        takes: .nothing { $0.verbose = true })
    case .keep:
      FlagRow(
        "keep", in: .removal, "Keep the newest N runs of each manifest (default: its `keep_runs`)",
        takes: .number(from: 0) { $0.keep = $1 })
    case .olderThan:
      FlagRow(
        "older-than", in: .removal,
        "Remove only runs that are older, such as 12h or 7d; without --keep, all of them",
        takes: .text(.duration) { $0.olderThan = $1 })
    case .showRemoval:
      FlagRow(
        "dry-run", "n", in: .removal, "Remove nothing; show the runs that would be removed",
        takes: .nothing { $0.isDryRun = true })
    case .file:
      FlagRow(
        "file", "f", in: .place, "Read this manifest; `-` is standard input",
        takes: .text(.file) { (invocation, file) throws(Complaint) in
          if let first = invocation.file, first != file { throw .two(first, file) }
          invocation.file = file
        })
    case .newFile:
      FlagRow(
        "file", "f", in: .place, "Write FILE, not opflow.yaml; `-` is standard output",
        takes: .text(.file) { $0.file = $1 })
    case .directory:
      FlagRow(
        nil, "C", in: .place, "Change to DIR first",
        takes: .text(.folder) { $0.view.directory = $1 })
    case .stateDirectory:
      FlagRow(
        "state-dir", in: .place, "State folder (default: .opflow next to the manifest)",
        takes: .text(.folder) { $0.view.stateDirectory = $1 })
    case .outputFile:
      FlagRow(
        nil, "o", in: .shown, "Write to FILE, completely or not at all (default: standard output)",
        takes: .text(.file) { $0.outputFile = $1 })
    case .graphFormat:
      FlagRow(
        "format", in: .shown, "Output format (default: by the name of the -o file, else text)",
        takes: .word(GraphFormat.self) { $0.graphFormat = $1 })
    case .unfolded:
      FlagRow(
        "verbose", "v", in: .shown, "Show every task and dependency of a large graph",
        takes: .nothing { $0.verbose = true })
    case .junit:
      FlagRow(
        "junit", in: .shown, "When the run ends, write JUnit XML results to FILE",
        takes: .text(.file) { $0.junitFile = $1 })
    case .notify:
      FlagRow(
        "notify", in: .other,
        "When the run ends, run COMMAND with a JSON summary on its standard input",
        takes: .text(.command) { $0.notifyCommand = $1 })
    case .ciCommands:
      FlagRow(
        "ci-commands", in: .shown,
        "off: keep the CI server from executing commands in task output (default on)",
        takes: .word(CICommands.self) { $0.passesCommands = $1 == .on })
    case .controlDescriptor:
      FlagRow(
        "control-fd", in: .other, "Use descriptor N, which is connected to the run's control.sock",
        takes: .number(from: 3) { $0.controlDescriptor = Int32(clamping: $1) })
    case .forQueue:
      FlagRow(
        "for-queue", in: .other,
        "Resume a queue of a program whose session was lost, without running finished tasks again",
        takes: .nothing { $0.isForQueue = true })
    case .help:
      FlagRow(
        "help", "h", in: .other, "Print this help; with -v, all flags and details",
        takes: .nothing { _ in })
    case .all:
      FlagRow(
        "all", "v", in: .other, "Print all commands, flags, exit codes and details",
        takes: .nothing { $0.verbose = true })
    }
  }

  /// The flags that help shows.
  static var listed: [Flag] {
    allCases.filter { $0 != .controlDescriptor && $0 != .forQueue }
  }

  /// As shown to users: `-C`, `--set`.
  var spelled: String { row.spelled }
}

struct FlagRow {
  /// After `--`; nil for a flag with a letter only.
  let long: String?
  let letter: Character?
  let group: FlagGroup
  let meaning: String
  let takes: FlagValue

  init(
    _ long: String?, _ letter: Character? = nil, in group: FlagGroup, _ meaning: String,
    takes: FlagValue
  ) {
    self.long = long
    self.letter = letter
    self.group = group
    self.meaning = meaning
    self.takes = takes
  }

  var spelled: String {
    if let long { return "--\(long)" }
    return letter.map { "-\($0)" } ?? ""
  }

  /// `-j, --max-parallel N`.
  var spelling: String {
    let names = [letter.map { "-\($0)" }, long.map { "--\($0)" }].compactMap { $0 }
    return names.joined(separator: ", ") + (takes.isThere ? " \(takes.name)" : "")
  }
}

enum FlagGroup: String, CaseIterable {
  case selection = "Selection"
  case limits = "Limits"
  case shown = "Output"
  case place = "Location"
  case removal = "Retention"
  case other = "Other"
}

/// What a flag takes, and its effect.
enum FlagValue {
  case nothing((inout Invocation) -> Void)
  case text(ValueName, (inout Invocation, String) throws(Complaint) -> Void)
  case number(from: UInt32, (inout Invocation, UInt32) -> Void)
  /// Separated by commas.
  case numbers(from: UInt32, (inout Invocation, [UInt32]) -> Void)
  /// The function returns false for an unknown string.
  case choice(() -> [String], (inout Invocation, String) -> Bool)

  static func word<Word: RawRepresentable & CaseIterable>(
    _: Word.Type, _ set: @escaping (inout Invocation, Word) -> Void
  ) -> FlagValue where Word.RawValue == String {
    .choice({ Word.allCases.map { $0.rawValue } }) { invocation, text in
      guard let word = Word(rawValue: text) else { return false }
      set(&invocation, word)
      return true
    }
  }

  var isThere: Bool { if case .nothing = self { false } else { true } }

  /// Empty for a flag without a value.
  var name: String {
    switch self {
    case .nothing: ""
    case .text(let name, _): name.rawValue
    case .number, .numbers: "N"
    case .choice(let words, _): words().joined(separator: "|")
    }
  }

  func read(
    _ text: String, _ spelled: String, into invocation: inout Invocation
  ) throws(Complaint) {
    switch self {
    case .nothing(let set): set(&invocation)
    case .text(let name, let set):
      try name.check(text, spelled)
      try set(&invocation, text)
    case .number(let lowest, let set): set(&invocation, try Self.number(text, spelled, lowest))
    case .numbers(let lowest, let set):
      var numbers: [UInt32] = []
      for part in text.split(separator: ",", omittingEmptySubsequences: false) {
        numbers.append(try Self.number(String(part), spelled, lowest))
      }
      set(&invocation, numbers)
    case .choice(let words, let set):
      if set(&invocation, text) { return }
      let words = words()
      let nearest = NearestName.of(text, among: words).map { "; did you mean \($0)?" } ?? ""
      throw Complaint(
        "\(spelled) must be one of \(words.joined(separator: ", ")), not `\(text.clean)`\(nearest)")
    }
  }

  private static func number(
    _ text: String, _ spelled: String, _ lowest: UInt32
  ) throws(Complaint) -> UInt32 {
    guard let number = decimal(text), number >= lowest else {
      let hint = text == "auto" ? "; the default is the number of CPUs" : ""
      throw Complaint(
        "\(spelled) needs a number from \(lowest) to \(Int32.max), not `\(text.clean)`\(hint)")
    }
    return UInt32(number)
  }

  /// `Field`'s generic parser is not specialized here and takes a twentieth of a start.
  private static func decimal(_ text: String) -> Int32? {
    var value: Int32 = 0
    for byte in text.utf8 {
      guard byte >= 48, byte <= 57 else { return nil }
      let (product, isTooMuch) = value.multipliedReportingOverflow(by: 10)
      let (sum, isMore) = product.addingReportingOverflow(Int32(byte - 48))
      if isTooMuch || isMore { return nil }
      value = sum
    }
    return text.isEmpty ? nil : value
  }
}

/// A placeholder for a value in help.
enum ValueName: String {
  case assignment = "NAME=VALUE"
  case selector = "SEL"
  case file = "FILE"
  case folder = "DIR"
  case run = "RUN"
  case name = "NAME"
  case duration = "D"
  case command = "COMMAND"
  case nodes = "NODES"

  fileprivate func check(_ text: String, _ spelled: String) throws(Complaint) {
    switch self {
    case .assignment:
      if let equals = text.firstIndex(of: "="), equals > text.startIndex { return }
      throw Complaint("\(spelled) needs \(rawValue), not `\(text.clean)`")
    case .name:
      guard RunName.isValid(text) else {
        throw Complaint(
          "\(spelled): `\(text.clean)` is not a valid name; a name has \(RunName.rule)")
      }
    case .selector, .file, .folder, .run, .duration, .command, .nodes:
      if text.isEmpty { throw Complaint("\(spelled) needs a value (\(rawValue))") }
    }
  }
}

extension String {
  var clean: String { CleanText.string(self) }

  /// For a shell, as in `'build[arch=arm]'`.
  var typed: String { QuotedWords.quoted(clean) }
}
