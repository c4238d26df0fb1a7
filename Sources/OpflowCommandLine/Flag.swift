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
  case follow, stay, run, waitFor, tellWait
  case keep, olderThan, showRemoval
  case file, directory, stateDirectory, outputFile
  case graphFormat, unfolded
  case junit, notify, ciCommands
  case controlDescriptor, forQueue
  case help

  var row: FlagRow {
    switch self {
    case .set:
      FlagRow(
        "set", in: .selection, "override an entry of `vars`; repeatable",
        takes: .text(.assignment) { $0.set.append($1) })
    case .only:
      FlagRow(
        "only", in: .selection, "only these tasks and what they need; repeatable",
        takes: .text(.selector) { $0.only.append($1) })
    case .skip:
      FlagRow(
        "skip", in: .selection, "not these tasks; repeatable",
        takes: .text(.selector) { $0.skip.append($1) })
    case .resume:
      FlagRow(
        "resume", in: .selection, "continue the newest run of this manifest if it did not succeed",
        takes: .nothing { $0.resumesNewest = true })
    case .rerun:
      FlagRow(
        "rerun", in: .selection, "run these again though they are done or up to date; repeatable",
        takes: .text(.selector) { $0.rerun.append($1) })
    case .name:
      FlagRow(
        "name", in: .selection, "what the run is known by: `--run NAME` means it",
        takes: .text(.name) { $0.name = $1 })
    case .maxParallel:
      FlagRow(
        "max-parallel", "j", in: .limits, "capacity of `cpu`: how many tasks run at once",
        // Only a dry run compares several, which is checked later.
        takes: .numbers(from: 1) {
          $0.maxParallel = $1.first
          $0.capacities = $1.count == 1 ? [] : $1
        })
    case .maxFailures:
      FlagRow(
        "max-failures", in: .limits, "start nothing new after N failures (default 1; 0: no limit)",
        takes: .number(from: 0) { $0.maxFailures = $1 })
    case .keepGoing:
      FlagRow(
        "keep-going", "k", in: .limits,
        "after a failure go on with all that does not depend on it",
        takes: .nothing { $0.maxFailures = 0 })
    case .ifRunning:
      FlagRow(
        "if-running", in: .limits, "while another run of the group is live (default: `if_running`)",
        takes: .word(IfRunning.self) { $0.ifRunning = $1 })
    case .memory:
      FlagRow(
        "memory", in: .limits,
        "where `memory_limit` of tasks cannot be kept (default: warn)",
        takes: .word(MemoryPolicy.self) { $0.memory = $1 })
    case .watchFiles:
      FlagRow(
        "watch", in: .other,
        "after the end wait for changes of the manifest and of inputs, and go on",
        takes: .nothing { $0.watchesFiles = true })
    case .dryRun:
      FlagRow(
        "dry-run", "n", in: .selection, "show what would run, as `opflow plan`; write nothing",
        takes: .nothing { $0.isDryRun = true })
    case .output:
      FlagRow(
        "output", in: .shown,
        "default: live on a terminal, github and gitlab on theirs, else line",
        takes: .word(OutputMode.self) { $0.output = $1 })
    case .quiet:
      FlagRow(
        "quiet", "q", in: .shown, "failures and the summary only",
        takes: .nothing { $0.output = .quiet })
    case .verbose:
      FlagRow(
        "verbose", "v", in: .shown,
        "more: the commands as they start, all tasks of a status or plan",
        takes: .nothing { $0.verbose = true })
    case .json:
      FlagRow(
        "json", in: .shown, "JSON on standard output", takes: .nothing { $0.json = true })
    case .color:
      FlagRow(
        "color", in: .shown, "colours (default auto: on a terminal without NO_COLOR)",
        takes: .word(ColorChoice.self) { $0.view.color = $1 })
    case .durability:
      FlagRow(
        "durability", in: .other, "when the journal is synced to disk (default group)",
        takes: .word(Durability.self) { $0.durability = $1 })
    case .workers:
      FlagRow(
        "on", in: .place, "where tasks run (default local): on other machines; repeatable",
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
        "queue-timeout", in: .place, "how long to wait for Slurm (default: as long as it takes)",
        takes: .text(.duration) { $0.queueTimeout = $1 })
    case .takeOver:
      FlagRow(
        "take-over", in: .place, "go on though another machine holds the run: it is gone",
        takes: .nothing { $0.takesOver = true })
    case .cache:
      FlagRow(
        "cache", in: .place,
        "where results are cached (default: OPFLOW_CACHE, or beside the runs)",
        takes: .text(.folder) { $0.cache = $1 })
    case .cacheWrite:
      FlagRow(
        "cache-write", in: .place, "add to such a cache, too",
        takes: .nothing { $0.writesCache = true })
    case .noCache:
      FlagRow(
        "no-cache", in: .place, "bring back no results, and keep none",
        takes: .nothing { $0.usesCache = false })
    case .follow:
      FlagRow(
        "follow", "f", in: .shown, "go on as more is printed, until it ends",
        takes: .nothing { $0.follows = true })
    case .stay:
      FlagRow(
        "watch", in: .shown, "stay, and show it as `opflow run` does, until the run ends",
        takes: .nothing { $0.watches = true })
    case .run:
      FlagRow(
        "run", in: .place, "of that run: its id, the start of one, or a manifest",
        takes: .text(.run) { $0.run = $1 })
    case .waitFor:
      FlagRow(
        "for", in: .selection, "until these tasks end, not the whole run; repeatable",
        takes: .text(.selector) { $0.waitsFor.append($1) })
    case .tellWait:
      FlagRow(
        "verbose", "v", in: .shown, "say what is waited for, also where there is no terminal",
        takes: .nothing { $0.verbose = true })
    case .keep:
      FlagRow(
        "keep", in: .removal, "the newest N runs of each manifest stay (default: its `keep_runs`)",
        takes: .number(from: 0) { $0.keep = $1 })
    case .olderThan:
      FlagRow(
        "older-than", in: .removal, "only what is older goes: 12h, 7d; without --keep all of that",
        takes: .text(.duration) { $0.olderThan = $1 })
    case .showRemoval:
      FlagRow(
        "dry-run", "n", in: .removal, "show what would be removed; remove nothing",
        takes: .nothing { $0.isDryRun = true })
    case .file:
      FlagRow(
        "file", "f", in: .place, "the manifest, whatever its name; `-` is standard input",
        takes: .text(.file) { (invocation, file) throws(Complaint) in
          if let first = invocation.file, first != file { throw .two(first, file) }
          invocation.file = file
        })
    case .directory:
      FlagRow(
        nil, "C", in: .place, "as if started in DIR",
        takes: .text(.folder) { $0.view.directory = $1 })
    case .stateDirectory:
      FlagRow(
        "state-dir", in: .place, "where runs are kept (default .opflow beside the manifest)",
        takes: .text(.folder) { $0.view.stateDirectory = $1 })
    case .outputFile:
      FlagRow(
        nil, "o", in: .shown, "write it to FILE, whole or not at all (default: standard output)",
        takes: .text(.file) { $0.outputFile = $1 })
    case .graphFormat:
      FlagRow(
        "format", in: .shown, "default: what the name of -o ends with, else text",
        takes: .word(GraphFormat.self) { $0.graphFormat = $1 })
    case .unfolded:
      FlagRow(
        "verbose", "v", in: .shown, "every task and every need, however many there are",
        takes: .nothing { $0.verbose = true })
    case .junit:
      FlagRow(
        "junit", in: .shown, "in the end write the results to FILE, as JUnit's XML",
        takes: .text(.file) { $0.junitFile = $1 })
    case .notify:
      FlagRow(
        "notify", in: .other,
        "in the end run COMMAND, with a summary as JSON on its standard input",
        takes: .text(.command) { $0.notifyCommand = $1 })
    case .ciCommands:
      FlagRow(
        "ci-commands", in: .shown,
        "off: what tasks print is never a command for the CI server (default on)",
        takes: .word(CICommands.self) { $0.passesCommands = $1 == .on })
    case .controlDescriptor:
      FlagRow(
        "control-fd", in: .other, "descriptor N is connected to the run's control.sock already",
        takes: .number(from: 3) { $0.controlDescriptor = Int32(clamping: $1) })
    case .forQueue:
      FlagRow(
        "for-queue", in: .other,
        "go on with a lost drive that programs have as a queue: nothing is tried again that has "
          + "its end",
        takes: .nothing { $0.isForQueue = true })
    case .help:
      FlagRow("help", "h", in: .other, "this text", takes: .nothing { _ in })
    }
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
}

enum FlagGroup: String, CaseIterable {
  case selection = "What runs"
  case removal = "What goes"
  case limits = "How much at once, and how long"
  case shown = "What is shown"
  case place = "Where"
  case other = "Else"
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
        "\(spelled) is \(words.joined(separator: ", ")), not `\(text.clean)`\(nearest)")
    }
  }

  private static func number(
    _ text: String, _ spelled: String, _ lowest: UInt32
  ) throws(Complaint) -> UInt32 {
    guard let number = decimal(text), number >= lowest else {
      let hint = text == "auto" ? "; without it there are as many as processors" : ""
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

/// The type of a value, in the words of the help.
enum ValueName: String {
  case assignment = "NAME=VALUE"
  case selector = "SEL"
  case file = "FILE"
  case folder = "DIR"
  case run = "RUN"
  case name = "NAME"
  case duration = "D"
  case command = "COMMAND"
  case nodes = "SITES"

  fileprivate func check(_ text: String, _ spelled: String) throws(Complaint) {
    switch self {
    case .assignment:
      if let equals = text.firstIndex(of: "="), equals > text.startIndex { return }
      throw Complaint("\(spelled) needs \(rawValue), not `\(text.clean)`")
    case .name:
      guard RunName.isValid(text) else {
        throw Complaint("\(spelled) has \(RunName.rule), and is not `\(text.clean)`")
      }
    case .selector, .file, .folder, .run, .duration, .command, .nodes:
      if text.isEmpty { throw Complaint("\(spelled) needs a value (\(rawValue))") }
    }
  }
}

extension String {
  var clean: String { CleanText.string(self) }
}
