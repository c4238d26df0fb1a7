internal import OpflowPlan
internal import OpflowWire

package struct CompletionQuestion: Equatable, Sendable {
  /// The caller looks these up.
  package enum Kind: Equatable, Sendable {
    /// IDs, matrices, matrix tasks and tags.
    case tasks
    case runs, manifests, files, folders, resources, manifestKeys
  }

  package var words: [CompletionCandidate] = []
  package var kinds: [Kind] = []
  /// The fixed part at the cursor: `--only=`.
  package var prefix = ""
  /// The rest, to be completed.
  package var stem = ""
  /// Given in the line, like `run` and `view`.
  package var file: String?
  package var run: String?
  package var view = ViewArguments()
  /// The tasks are a run's, if there is one.
  package var isOfRun = false

  /// `words` stand before the cursor, `current` ends at it.
  package init(_ words: [String], _ current: String) {
    stem = current
    var rest = words[...]
    while let word = rest.first, word.hasPrefix("-C") {
      rest.removeFirst()
      if word != "-C" {
        view.directory = String(word.dropFirst(2))
      } else if let folder = rest.popFirst() {
        view.directory = folder
      } else {
        kinds = [.folders]
        return
      }
    }
    guard let name = rest.popFirst() else {
      self.words = current.hasPrefix("-") ? Self.flagsOfProgram : Self.commands
      return
    }
    guard let command = Command(named: name) else { return }
    ask(command, rest)
  }

  private mutating func ask(_ command: Command, _ words: ArraySlice<String>) {
    let row = command.row
    let known = row.flags + [.help]
    isOfRun = row.words.isOfRun
    var positionals: [String] = []
    var isBehindDashes = false
    var open: Flag?
    for word in words {
      if let flag = open {
        note(flag, word)
        open = nil
      } else if isBehindDashes || word == "-" || !word.hasPrefix("-") {
        positionals.append(word)
      } else if word == "--" {
        isBehindDashes = true
      } else if let (flag, value) = Self.flag(word, known), flag.row.takes.isThere {
        if let value { note(flag, value) } else { open = flag }
      }
    }
    if let open { return ask(open) }
    if !isBehindDashes, stem.hasPrefix("-") {
      if let (flag, value) = Self.flag(stem, known), let value, flag.row.takes.isThere {
        prefix = String(stem.dropLast(value.count))
        stem = value
        return ask(flag)
      }
      self.words = known.flatMap { Self.candidates(of: $0.row) }
      return
    }
    ask(row.words, positionals, isBehindDashes: isBehindDashes)
  }

  /// Returns also the value: `--set=a`, `-j4`. Of letters the last flag counts.
  private static func flag(_ word: String, _ known: [Flag]) -> (flag: Flag, value: String?)? {
    if word.hasPrefix("--") {
      let parts = word.dropFirst(2).split(
        separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = parts.first, let flag = known.first(where: { $0.row.long == String(name) })
      else { return nil }
      return (flag, parts.count > 1 ? String(parts[1]) : nil)
    }
    var letters = word.dropFirst()
    while let letter = letters.popFirst() {
      guard let flag = known.first(where: { $0.row.letter == letter }) else { return nil }
      if flag.row.takes.isThere { return (flag, letters.isEmpty ? nil : String(letters)) }
      if letters.isEmpty { return (flag, nil) }
    }
    return nil
  }

  private mutating func note(_ flag: Flag, _ value: String) {
    if flag == .file { file = value }
    if flag == .run { run = value }
    if flag == .directory { view.directory = value }
    if flag == .stateDirectory { view.stateDirectory = value }
  }

  private mutating func ask(_ flag: Flag) {
    switch flag.row.takes {
    case .nothing, .number, .numbers: break
    case .choice(let choices, _): words = choices().map { CompletionCandidate($0) }
    case .text(let name, _):
      switch name {
      case .selector: kinds = [.tasks]
      case .run: kinds = [.runs, .manifests]
      case .file: kinds = [.files]
      case .folder: kinds = [.folders]
      case .command: kinds = [.files]
      case .nodes:
        words = NodeRequest.beginnings.map { CompletionCandidate($0) }
      case .assignment, .name, .duration: break
      }
    }
  }

  private mutating func ask(_ taken: Words, _ positionals: [String], isBehindDashes: Bool) {
    switch taken {
    case .nothing: break
    case .manifestAndTasks(let handsOn):
      note(positionals)
      if handsOn, isBehindDashes { return kinds = [.files] }
      kinds = file == nil ? [.tasks, .manifests] : [.tasks]
    case .manifestOrRun:
      note(positionals)
      kinds = file == nil ? [.tasks, .manifests, .runs] : [.tasks]
    case .tasks, .someTasks, .asked: kinds = [.tasks]
    case .askedAndNumber(let number):
      kinds = [.tasks]
      if !positionals.isEmpty {
        words = number.words.map { CompletionCandidate($0.word.description) }
      }
    case .run: if positionals.isEmpty { kinds = [.runs, .manifests] }
    case .capacity: if positionals.isEmpty { kinds = [.resources] }
    case .file, .optionalFile: if positionals.isEmpty { kinds = [.manifests] }
    case .topic:
      if positionals.isEmpty {
        words =
          Self.commands
          + [
            CompletionCandidate(HelpText.controlTopic, "List the commands for a live run"),
            CompletionCandidate("manifest", "List the keys of a manifest"),
          ]
      } else if positionals == ["manifest"] {
        kinds = [.manifestKeys]
      }
    case .shell: if positionals.isEmpty { words = Self.candidates(CompletionShell.self) }
    case .actionAndRun: askKind(JournalAction.self, positionals)
    case .kindAndRun: askKind(ReportKind.self, positionals)
    }
  }

  private mutating func askKind<Word: RawRepresentable & CaseIterable>(
    _: Word.Type, _ positionals: [String]
  ) where Word.RawValue == String {
    if positionals.isEmpty { words = Self.candidates(Word.self) }
    if positionals.count == 1 { kinds = [.runs, .manifests] }
  }

  private mutating func note(_ positionals: [String]) {
    for word in positionals {
      if let found = (try? ManifestWords([word], file: nil))?.file { file = found }
    }
  }
}

extension CompletionQuestion {
  private static func candidates<Word: RawRepresentable & CaseIterable>(
    _: Word.Type
  ) -> [CompletionCandidate] where Word.RawValue == String {
    Word.allCases.map { CompletionCandidate($0.rawValue) }
  }

  private static var commands: [CompletionCandidate] {
    Command.allCases.map { CompletionCandidate($0.word, $0.row.summary) }
  }

  private static var flagsOfProgram: [CompletionCandidate] {
    candidates(of: Flag.directory.row) + candidates(of: Flag.help.row)
      + [CompletionCandidate("--version", Command.version.row.summary)]
  }

  private static func candidates(of row: FlagRow) -> [CompletionCandidate] {
    [CompletionCandidate(row.spelled, row.meaning)]
  }
}

package struct CompletionCandidate: Equatable, Sendable {
  package var word: String
  /// May be empty.
  package var meaning: String
  /// The word continues, as a folder's path.
  package var isOpen: Bool

  package init(_ word: String, _ meaning: String = "", isOpen: Bool = false) {
    self.word = word
    self.meaning = meaning
    self.isOpen = isOpen
  }
}

extension Words {
  fileprivate var isOfRun: Bool {
    switch self {
    case .tasks, .someTasks, .asked, .askedAndNumber, .capacity, .run, .actionAndRun, .kindAndRun:
      true
    case .nothing, .manifestAndTasks, .manifestOrRun, .file, .optionalFile, .topic, .shell: false
    }
  }
}
