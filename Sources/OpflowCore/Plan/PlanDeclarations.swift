/// An entry of a task's `inputs` or `outputs`, as a plan holds it. Those of one task are a list.
package struct DeclaredItem: Hashable, Sendable, BitwiseCopyable {
  package enum Kind: UInt32, Sendable {
    /// One file, or a folder with all that is in it.
    case path
    /// All that a pattern fits.
    case glob
    /// A variable of the environment.
    case environment
    /// What a command prints.
    case command
  }

  /// The raw value of a `Kind`.
  var code: UInt32
  /// The path, the pattern as it is written, or the variable's name.
  package var text: TextRef = .empty
  /// Of a command. Of a path that looks like a pattern: the one text that it is written as.
  package var words: ListIndex = 0

  package init(_ kind: Kind, text: TextRef) {
    code = kind.rawValue
    self.text = text
  }

  package init(words: ListIndex) {
    code = Kind.command.rawValue
    self.words = words
  }

  /// Nil for a number that is none.
  var kind: Kind? { Kind(rawValue: code) }
}

/// What one task declares. Most tasks of most plans declare nothing, and have none.
package struct DeclarationEntry: Hashable, Sendable, BitwiseCopyable {
  var task: Int32
  /// Lists of items: numbers that the builder gave.
  var inputs: UInt32
  var outputs: UInt32
}

/// What a task's result depends on besides its definition. A path is a name, in which no character means
/// anything else; a pattern is as it is written. Relative ones start from the task's folder, and one that ends
/// with `/` is a folder.
package enum InputEntry: Hashable, Sendable {
  /// One file, or a folder with all that is in it.
  case path(String)
  /// All files that a `PathPattern` fits.
  case glob(String)
  /// The value of a variable, as the task finds it.
  case environment(String)
  /// What a command prints that is run in the task's folder, with its environment; never without a word.
  case command([String])
}

/// What a task leaves when it succeeds, written as in `InputEntry`.
package enum OutputEntry: Hashable, Sendable {
  case path(String)
  case glob(String)

  package var text: String {
    switch self {
    case .path(let text), .glob(let text): text
    }
  }

  package var isPattern: Bool {
    switch self {
    case .path: false
    case .glob: true
    }
  }
}

extension Plan {
  /// Whether any task declares `inputs`.
  package var hasChecks: Bool { manifest.hasChecks == 1 }

  /// Whether results of any task are cached.
  package var hasCaches: Bool { manifest.hasCaches == 1 }

  /// Whether what a task leaves is kept, and brought back instead of running it.
  package func isCached(_ task: TaskID) -> Bool { flags(task).contains(.cached) }

  /// Whether what earlier attempts of a task left is removed before it starts.
  package func cleans(_ task: TaskID) -> Bool { record(task).processes[.clean] != 0 }

  /// Whether any task declares files.
  package var declaresFiles: Bool { declarations.count > 0 }

  /// Whether a task declares `inputs`, and so is skipped where nothing has changed. The list may be empty.
  @inline(__always)
  package func isChecked(_ task: TaskID) -> Bool { flags(task).contains(.checked) }

  /// Whether a task says what it leaves. A download does by its `to`.
  @inline(__always)
  package func declaresOutputs(_ task: TaskID) -> Bool { flags(task).contains(.declaresOutputs) }

  // Arrays, since other modules go through a column or a collection of some kind without its type, which
  // took a tenth of the time in which it is found out that nothing changed.

  /// In the order of the manifest. An entry that is written twice is there twice.
  package func inputs(of task: TaskID) -> [InputEntry] {
    declaredItems(declaration(of: task)?.inputs ?? 0).map { entry($0) }
  }

  /// Those that are no files.
  package func otherInputs(of task: TaskID) -> [InputEntry] {
    var others: [InputEntry] = []
    for item in declaredItems(declaration(of: task)?.inputs ?? 0)
    where item.kind == .environment || item.kind == .command {
      others.append(entry(item))
    }
    return others
  }

  private func entry(_ item: DeclaredItem) -> InputEntry {
    switch item.kind {
    case .path, nil: .path(string(item.text))
    case .glob: .glob(string(item.text))
    case .environment: .environment(string(item.text))
    case .command: .command(list(item.words).map { string($0) })
    }
  }

  /// The same of what it leaves.
  package func outputs(of task: TaskID) -> [OutputEntry] {
    declaredItems(declaration(of: task)?.outputs ?? 0).map { item in
      item.kind == .glob ? .glob(self.string(item.text)) : .path(self.string(item.text))
    }
  }

  /// How the manifest writes a path that a task declares and that looks like a pattern; nil for any other.
  package func writtenText(ofPath path: String, of task: TaskID) -> String? {
    guard let entry = declaration(of: task) else { return nil }
    for list in [entry.inputs, entry.outputs] {
      for item in declaredItems(list)
      where item.kind == .path && item.words != 0 && text(item.text).elementsEqual(path.utf8) {
        return self.list(item.words).first.map { string($0) }
      }
    }
    return nil
  }

  /// A number that changes with what a task declares, in so far as nothing that is found by it does: with its
  /// `outputs`, and with the variables and commands of its `inputs`. Which paths it names is no part of it:
  /// two ways to name the same files are the same. The order of the entries does not count. With `clean` another result
  /// is left: without files of earlier ones.
  package func declarationDigest(_ task: TaskID) -> UInt64 {
    guard let entry = declaration(of: task) else { return 0 }
    let outputs = declaredItems(entry.outputs).reduce(cleans(task) ? Self.cleanDigest : 0) {
      $0 &+ Hash.combine(1, digest(of: $1))
    }
    return declaredItems(entry.inputs).reduce(outputs) { sum, item in
      switch item.kind {
      case .environment, .command: sum &+ digest(of: item)
      case .path, .glob, nil: sum
      }
    }
  }

  private static let cleanDigest = Hash.xxh3(Array("clean".utf8))

  private func digest(of item: DeclaredItem) -> UInt64 {
    // How a path is written does not count.
    let words = list(item.kind == .command ? item.words : 0).reduce(Hash.xxh3(text(item.text))) {
      Hash.combine($0, Hash.xxh3(text($1)))
    }
    return Hash.combine(UInt64(item.code), words)
  }

  /// List 0 is empty by what it is: a worker looks at no list that its tasks do not name.
  private func declaredItems(_ index: UInt32) -> Column<DeclaredItem> {
    if index == 0 { return declaredItems[0..<0] }
    return declaredItems[
      Int(declaredOffsets[Int(index)])..<Int(declaredOffsets[Int(index) + 1])]
  }

  /// What the task declares; nil for one that declares nothing.
  private func declaration(of task: TaskID) -> DeclarationEntry? {
    if flags(task).isDisjoint(with: .declares) { return nil }
    let place = declarations.partitioningIndex { $0.task >= task.rawValue }
    guard place < declarations.count, declarations[place].task == task.rawValue else { return nil }
    return declarations[place]
  }
}

// MARK: - Validation

extension Plan {
  /// Whether the tasks that declare something have what they declare, in their order, and no other has.
  func validateDeclarations() throws(PlanError) {
    var previous: Int32 = -1
    for entry in declarations {
      guard entry.task > previous, Int(entry.task) < taskCount else {
        throw .reference(.declarations)
      }
      previous = entry.task
      try validateLists(of: entry)
    }
    let declaring = flagBits.count { !TaskFlags(rawValue: $0).isDisjoint(with: .declares) }
    guard declaring == declarations.count else { throw .reference(.declarations) }
    for item in declaredItems where !isSound(item) { throw .reference(.declaredItems) }
  }

  /// The same of one task, for a worker.
  func validateDeclaration(of task: TaskID) throws(PlanError) {
    if flags(task).isDisjoint(with: .declares) { return }
    guard let entry = declaration(of: task) else { throw .reference(.declarations) }
    try validateLists(of: entry)
    for list in [entry.inputs, entry.outputs] {
      let row = try row(.declaredOffsets, declaredOffsets, Int(list), end: declaredItems.count)
      for item in declaredItems[row] {
        guard isSound(item) else { throw .reference(.declaredItems) }
        try validateWords(item.words)
      }
    }
  }

  private func validateLists(of entry: DeclarationEntry) throws(PlanError) {
    let flags = flags(TaskID(entry.task))
    guard Int(entry.inputs) + 1 < declaredOffsets.count,
      Int(entry.outputs) + 1 < declaredOffsets.count,
      entry.inputs == 0 || flags.contains(.checked),
      (entry.outputs != 0) == flags.contains(.declaresOutputs)
    else { throw .reference(.declarations) }
    let outputs = try row(
      .declaredOffsets, declaredOffsets, Int(entry.outputs), end: declaredItems.count)
    for item in declaredItems[outputs] where item.kind != .path && item.kind != .glob {
      throw .reference(.declaredItems)
    }
  }

  private func isSound(_ item: DeclaredItem) -> Bool {
    guard isSound(item.text), Int(item.words) + 1 < listOffsets.count else { return false }
    let (start, end) = (listOffsets[Int(item.words)], listOffsets[Int(item.words) + 1])
    guard start <= end else { return false }
    let words = end - start
    switch item.kind {
    case .path: return item.text.length > 0 && words <= 1
    case .glob, .environment: return item.text.length > 0 && words == 0
    case .command: return item.text.length == 0 && words > 0
    case nil: return false
    }
  }
}
