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
  /// A command, or `manifest` and a key.
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
    case .topic: ("", " [COMMAND | manifest [KEY]]")
    case .shell: (" \(Self.all(CompletionShell.self).joined(separator: "|"))", "")
    case .actionAndRun: (" \(Self.all(JournalAction.self).joined(separator: "|"))", " [RUN]")
    case .kindAndRun: (" \(Self.all(ReportKind.self).joined(separator: "|"))", " [RUN]")
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
          "a manifest, `\(file.clean)`, and a run, `\(run.clean)`: the graph is of one of them")
      }
    case .tasks: invocation.tasks = words
    case .someTasks:
      if words.isEmpty {
        throw Complaint("which task? `opflow status` shows where all of them stand")
      }
      invocation.tasks = words
    case .run:
      if invocation.command == .resume, let first = scanner.behindDashes.first {
        throw Complaint(
          "`-- \(first.clean)`: a resume hands on the arguments that the run was started with; "
            + "others make another run: `opflow run TASK -- \(first.clean)`")
      }
      invocation.run = try Self.single(words[...])
    case .asked(let mayBeNone):
      invocation.tasks = try Self.asked(words, mayBeNone: mayBeNone, "SEL...")
    case .askedAndNumber(let number):
      guard let value = words.last else { throw Complaint("SEL... and N are missing") }
      if words.count == 1, !value.isEmpty, Int(value) == nil,
        !number.words.contains(where: { $0.word.description == value })
      {
        let example = "opflow \(invocation.command?.word ?? "") \(value.clean) \(number.example)"
        throw Complaint(
          "N is missing: `\(example)`" + (number.words.isEmpty ? "" : ", or a number"))
      }
      invocation.tasks = try Self.asked(words.dropLast(), mayBeNone: false, "SEL... N")
      invocation.value = value
    case .capacity:
      guard let word = try Self.single(words[...]) else {
        throw Complaint("N or NAME=N is missing")
      }
      guard let equals = word.firstIndex(of: "=") else {
        invocation.value = word
        return
      }
      invocation.resource = String(word[..<equals])
      invocation.value = String(word[word.index(after: equals)...])
      if invocation.resource.isEmpty || invocation.value.isEmpty {
        throw Complaint("`\(word.clean)` is no NAME=N")
      }
    case .file:
      guard let file = try Self.single(words[...]) else {
        throw Complaint("FILE is missing: the manifest, or `-` for standard input")
      }
      invocation.file = file
    case .optionalFile: if let file = try Self.single(words[...]) { invocation.file = file }
    case .topic:
      guard words.first == "manifest" else {
        return invocation.tasks = try Self.single(words[...]).map { [$0] } ?? []
      }
      invocation.manifestKey = try Self.single(words.dropFirst()) ?? ""
    case .shell:
      invocation.shell = try Self.choice(words.first)
      if let extra = words.dropFirst().first { throw .superfluous(extra) }
    case .actionAndRun:
      invocation.action = try Self.choice(words.first)
      invocation.run = try Self.single(words.dropFirst())
    case .kindAndRun:
      invocation.report = try Self.choice(words.first)
      invocation.run = try Self.single(words.dropFirst())
    }
  }

  private static func noWords(_ word: String, of command: Command?) -> Complaint {
    switch command {
    case .request(.pause):
      Complaint("it is about the whole run; `opflow suspend \(word.clean)` holds tasks")
    case .initialize:
      Complaint(
        "`-C \(word.clean)` writes it in that folder, `-f \(word.clean)` under that name")
    default: .superfluous(word)
    }
  }

  private static func single(_ words: ArraySlice<String>) throws(Complaint) -> String? {
    if let extra = words.dropFirst().first { throw .superfluous(extra) }
    if let only = words.first, only.isEmpty { throw Complaint("an empty name") }
    return words.first
  }

  private static func asked(
    _ words: some Sequence<String>, mayBeNone: Bool, _ synopsis: String
  ) throws(Complaint) -> [String] {
    let words = Array(words)
    if words.contains("") { throw Complaint("an empty name") }
    if words.isEmpty, !mayBeNone { throw Complaint("it names no task: \(synopsis)") }
    return words
  }

  private static func all<Word: RawRepresentable & CaseIterable>(_: Word.Type) -> [String]
  where Word.RawValue == String {
    Word.allCases.map { $0.rawValue }
  }

  private static func choice<Word: RawRepresentable & CaseIterable>(
    _ word: String?
  ) throws(Complaint) -> Word where Word.RawValue == String {
    let words = all(Word.self)
    let all = words.joined(separator: ", ")
    guard let word else { throw Complaint("one of \(all) is missing") }
    if let choice = Word(rawValue: word) { return choice }
    let nearest = NearestName.of(word, among: words).map { "; did you mean \($0)?" } ?? ""
    throw Complaint("`\(word.clean)` is none of \(all)\(nearest)")
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
    if word.isEmpty { return Complaint("an empty name") }
    // make, just and task set variables like this.
    if let equals = word.firstIndex(of: "="), equals > word.startIndex,
      !word[..<equals].contains("["),
      !word.hasPrefix("tag:"), !Glob.isPattern(word)
    {
      return Complaint(
        "`\(word.clean)` is no task; a variable is set with `--set \(word.clean)`")
    }
    // Other tools take lists like this.
    if word.contains(","), !word.contains("["), !word.hasPrefix("tag:"), !Glob.isPattern(word) {
      let words = word.split(separator: ",").joined(separator: " ")
      return Complaint(
        "`\(word.clean)` is no task; several are words of their own: `\(words.clean)`")
    }
    return nil
  }
}

extension Complaint {
  static func two(_ first: String, _ second: String) -> Complaint {
    Complaint("two manifests: `\(first.clean)` and `\(second.clean)`; one command reads one")
  }
}
