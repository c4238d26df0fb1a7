internal import OpflowBase
internal import OpflowPlan

/// What a command takes apart from flags.
enum Words {
  case nothing
  /// Told apart by `ManifestWords`. After `--` stand tasks too, or arguments for the task.
  case manifestAndTasks(handsOn: Bool)
  case manifestOrRun
  case tasks
  case someTasks
  case run
  /// Read by the parser.
  case topic
  case shell
  /// Tasks; none if the request may be about the whole run.
  case asked(mayBeNone: Bool)
  /// The same, then a number.
  case askedAndNumber(RequestNumber)
  /// A capacity: of `cpu`, or `NAME=N`.
  case capacity
  /// A manifest with any name, or `-`.
  case file
  case optionalFile
  case actionAndRun
  case kindAndRun

  init(_ row: ActionRow) {
    switch row.carries {
    case .nothing where row.about == .run: self = .nothing
    case .nothing: self = .asked(mayBeNone: row.about == .either)
    case .number(let number): self = .askedAndNumber(number)
    case .capacity: self = .capacity
    }
  }

  /// Before and after the flags.
  var synopsis: (before: String, behind: String) {
    switch self {
    case .nothing: ("", "")
    case .manifestAndTasks(let handsOn):
      ("", handsOn ? " [FILE] [TASK...] [-- ARG...]" : " [FILE] [TASK...]")
    case .manifestOrRun: ("", " [FILE|RUN] [TASK...]")
    case .tasks: ("", " [TASK...]")
    case .someTasks: ("", " TASK...")
    case .run: ("", " [RUN]")
    case .asked(let mayBeNone): ("", mayBeNone ? " [SEL...]" : " SEL...")
    case .askedAndNumber: ("", " SEL... N")
    case .capacity: ("", " N|NAME=N")
    case .file: ("", " FILE")
    case .optionalFile: ("", " [FILE]")
    case .topic: ("", " [WORD | manifest [KEY]]")
    case .shell: (" \(Self.all(CompletionShell.self).joined(separator: "|"))", "")
    case .actionAndRun: (" \(Self.all(JournalAction.self).joined(separator: "|"))", " [RUN]")
    case .kindAndRun: (" \(Self.all(ReportKind.self).joined(separator: "|"))", " [RUN]")
    }
  }

  /// Those of `Glossary.placeholders`.
  var placeholders: [String] {
    switch self {
    case .nothing, .topic, .shell, .capacity: []
    case .manifestAndTasks: ["FILE", "TASK", "SEL"]
    case .manifestOrRun: ["FILE", "RUN", "TASK", "SEL"]
    case .tasks, .someTasks: ["TASK", "SEL"]
    case .run, .actionAndRun, .kindAndRun: ["RUN"]
    case .asked, .askedAndNumber: ["SEL"]
    case .file, .optionalFile: ["FILE"]
    }
  }

  func read(_ scanner: WordScanner, into invocation: inout Invocation) throws(Complaint) {
    let words = scanner.positionals
    switch self {
    case .nothing:
      if let extra = words.first {
        throw Self.noWords(extra, of: invocation.command)
      }
    case .manifestAndTasks(let handsOn):
      // npm and just pass arguments on like this.
      let behind = handsOn ? scanner.behindDashes : []
      let found = try ManifestWords(
        Array(words.dropLast(behind.count)), file: invocation.file)
      (invocation.file, invocation.tasks) = (found.file, found.tasks)
      invocation.arguments = behind
    case .manifestOrRun:
      let found = try ManifestWords(words, file: invocation.file)
      (invocation.file, invocation.tasks) = (found.file, found.tasks)
      if let run = invocation.run, let file = invocation.file {
        throw Complaint(
          "`\(file.clean)` is a manifest and `\(run.clean)` is a run; name only one of them")
      }
    case .tasks: invocation.tasks = words
    case .someTasks:
      if words.isEmpty {
        throw Complaint(
          "which task? For example: `opflow why build`; `opflow status` lists the tasks")
      }
      invocation.tasks = words
    case .run:
      if invocation.command == .resume, let first = scanner.behindDashes.first {
        throw Complaint(
          "`-- \(first.clean)`: a resume passes the arguments of the run; for others, start a new "
            + "run: `opflow run TASK -- \(first.clean)`")
      }
      try Self.readRun(words[...], into: &invocation)
    case .asked(let mayBeNone):
      invocation.tasks = try Self.asked(words, mayBeNone: mayBeNone, of: invocation.command)
    case .askedAndNumber(let number):
      let command = "opflow \(invocation.command?.word ?? "")"
      guard let value = words.last else {
        throw Complaint("which tasks? For example: `\(command) build \(number.example)`")
      }
      if words.count == 1, !value.isEmpty, Int(value) == nil,
        !number.words.contains(where: { $0.word.description == value })
      {
        throw Complaint(
          "which number? For example: `\(command) \(value.typed) \(number.example)`")
      }
      if words.count == 1 {
        throw Complaint("which tasks? For example: `\(command) build \(value.clean)`")
      }
      invocation.tasks = try Self.asked(words.dropLast(), mayBeNone: true, of: nil)
      invocation.value = value
    case .capacity:
      guard let word = try Self.single(words[...]) else {
        throw Complaint("how many? For example: `opflow parallel 4`, or `opflow parallel net=1`")
      }
      guard let equals = word.firstIndex(of: "=") else {
        invocation.value = word
        return
      }
      invocation.resource = String(word[..<equals])
      invocation.value = String(word[word.index(after: equals)...])
      if invocation.resource.isEmpty || invocation.value.isEmpty {
        throw Complaint("`\(word.clean)` must be N or NAME=N")
      }
    case .file:
      guard let file = try Self.single(words[...]) else {
        throw Complaint(
          "which manifest? For example: `opflow add more.yaml`, or `-` for standard input")
      }
      invocation.file = file
    case .optionalFile: if let file = try Self.single(words[...]) { invocation.file = file }
    case .topic: break
    case .shell:
      invocation.shell = try Self.choice(words.first, of: "shell", "opflow completion bash")
      if let extra = words.dropFirst().first { throw .superfluous(extra) }
    case .actionAndRun:
      invocation.action = try Self.choice(words.first, of: "action", "opflow journal verify")
      try Self.readRun(words.dropFirst(), into: &invocation)
    case .kindAndRun:
      invocation.report = try Self.choice(
        words.first, of: "report", "opflow report html -o run.html")
      try Self.readRun(words.dropFirst(), into: &invocation)
    }
  }

  private static func noWords(_ word: String, of command: Command?) -> Complaint {
    switch command {
    case .request(.pause):
      Complaint("`pause` pauses the whole run; use `opflow suspend \(word.typed)` for tasks")
    case .initialize:
      Complaint(
        "unexpected argument `\(word.clean)`; for a folder write `-C \(word.clean)`, for a file "
          + "`-f \(word.clean)`")
    default: .superfluous(word)
    }
  }

  private static func single(_ words: ArraySlice<String>) throws(Complaint) -> String? {
    if let extra = words.dropFirst().first { throw .superfluous(extra) }
    if let only = words.first, only.isEmpty { throw Complaint.empty }
    return words.first
  }

  /// RUN is `--run RUN` too.
  private static func readRun(
    _ words: ArraySlice<String>, into invocation: inout Invocation
  ) throws(Complaint) {
    guard let run = try single(words) else { return }
    if let other = invocation.run, other != run {
      throw Complaint("two runs: `\(other.clean)` and `\(run.clean)`; name only one")
    }
    invocation.run = run
  }

  private static func asked(
    _ words: some Sequence<String>, mayBeNone: Bool, of command: Command?
  ) throws(Complaint) -> [String] {
    let words = Array(words)
    if words.contains("") { throw Complaint.empty }
    if words.isEmpty, !mayBeNone {
      throw Complaint("which tasks? For example: `opflow \(command?.word ?? "") test`")
    }
    return words
  }

  private static func all<Word: RawRepresentable & CaseIterable>(_: Word.Type) -> [String]
  where Word.RawValue == String {
    Word.allCases.map { $0.rawValue }
  }

  private static func choice<Word: RawRepresentable & CaseIterable>(
    _ word: String?, of kind: String, _ example: String
  ) throws(Complaint) -> Word where Word.RawValue == String {
    let words = all(Word.self)
    guard let word else {
      let others = words.filter { !example.split(separator: " ").contains(Substring($0)) }
      throw Complaint("which \(kind)? `\(example)` (or \(others.joined(separator: ", ")))")
    }
    if let choice = Word(rawValue: word) { return choice }
    let nearest = NearestName.of(word, among: words).map { "; did you mean \($0)?" } ?? ""
    throw Complaint(
      "unknown \(kind) `\(word.clean)`; use one of \(words.joined(separator: ", "))\(nearest)")
  }
}

/// Splits the arguments of `run`, `check` and `plan` into manifest and tasks.
struct ManifestWords {
  /// `-` for standard input; a folder with a trailing slash for the manifest in it.
  private(set) var file: String?
  /// Selectors.
  private(set) var tasks: [String] = []

  /// `file` is that of `-f`.
  init(_ words: [String], file: String?) throws(Complaint) {
    self.file = file
    for word in words {
      guard let file = Self.file(word) else {
        if let complaint = Self.noTask(word) { throw complaint }
        tasks.append(word)
        continue
      }
      if let first = self.file {
        throw .two(first, file)
      }
      self.file = file
    }
  }

  private static func file(_ word: String) -> String? {
    if word == "-" || word.hasSuffix(".yaml") || word.hasSuffix(".yml") || word.hasSuffix("/") {
      return word
    }
    if word == "." || word == ".." || word.hasSuffix("/.") || word.hasSuffix("/..") {
      return word + "/"
    }
    // A shell's `<(…)`; task IDs do not start with a slash.
    return word.hasPrefix("/dev/") || word.hasPrefix("/proc/") ? word : nil
  }

  /// Nil unless the intention is clear.
  private static func noTask(_ word: String) -> Complaint? {
    if word.isEmpty { return Complaint.empty }
    // make, just and task set variables like this.
    if let equals = word.firstIndex(of: "="), equals > word.startIndex,
      !word[..<equals].contains("["),
      !word.hasPrefix("tag:"), !Glob.isPattern(word)
    {
      return Complaint(
        "`\(word.clean)` is not a task; to set a variable, write `--set \(word.typed)`")
    }
    // Other tools take lists like this.
    if word.contains(","), !word.contains("["), !word.hasPrefix("tag:"), !Glob.isPattern(word) {
      let words = word.split(separator: ",").joined(separator: " ")
      return Complaint(
        "`\(word.clean)` is not a task; separate tasks by spaces: `\(words.clean)`")
    }
    return nil
  }
}

extension Complaint {
  static func two(_ first: String, _ second: String) -> Complaint {
    Complaint("two manifests: `\(first.clean)` and `\(second.clean)`; name only one")
  }
}
