internal import OpflowBase

/// An entry of a task's `inputs` or `outputs`.
package struct DeclaredItem: Hashable, Sendable, BitwiseCopyable {
  package enum Kind: UInt32, Sendable {
    case path
    case glob
    case environment
    case command
  }

  var code: UInt32
  /// The path, the pattern as written, or the variable.
  package var text: TextRef = .empty
  /// The words of a command, or the manifest's spelling of a path that looks like a pattern.
  package var words: ListIndex = 0

  package init(_ kind: Kind, text: TextRef) {
    code = kind.rawValue
    self.text = text
  }

  package init(words: ListIndex) {
    code = Kind.command.rawValue
    self.words = words
  }

  var kind: Kind? { Kind(rawValue: code) }
}

package struct DeclarationEntry: Hashable, Sendable, BitwiseCopyable {
  var task: Int32
  var inputs: UInt32
  var outputs: UInt32
}

/// An input. Paths are literal, patterns as written, both relative to the task's folder unless
/// absolute. A trailing `/` means a folder.
package enum InputEntry: Hashable, Sendable {
  /// A folder includes everything in it.
  case path(String)
  case glob(String)
  case environment(String)
  /// The output of a command in the task's folder and environment. Never empty.
  case command([String])
}

/// An output, with paths as in `InputEntry`.
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
  package var hasChecks: Bool { manifest.hasChecks == 1 }

  package var hasCaches: Bool { manifest.hasCaches == 1 }

  package func isCached(_ task: TaskID) -> Bool { flags(task).contains(.cached) }

  package func cleans(_ task: TaskID) -> Bool { record(task).processes[.clean] != 0 }

  package var declaresFiles: Bool { declarations.count > 0 }

  @inline(__always)
  package func isChecked(_ task: TaskID) -> Bool { flags(task).contains(.checked) }

  /// A download declares its `to`.
  @inline(__always)
  package func declaresOutputs(_ task: TaskID) -> Bool { flags(task).contains(.declaresOutputs) }

  // These return arrays, since columns are not specialized in other modules, which took a tenth of
  // the time of an up-to-date check.

  /// In manifest order, with duplicates.
  package func inputs(of task: TaskID) -> [InputEntry] {
    declaredItems(declaration(of: task)?.inputs ?? 0).map { entry($0) }
  }

  package func otherInputs(of task: TaskID) -> [InputEntry] {
    var others: [InputEntry] = []
    for item in declaredItems(declaration(of: task)?.inputs ?? 0)
    where item.kind == .environment || item.kind == .command { others.append(entry(item)) }
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

  package func outputs(of task: TaskID) -> [OutputEntry] {
    declaredItems(declaration(of: task)?.outputs ?? 0).map { item in
      item.kind == .glob ? .glob(self.string(item.text)) : .path(self.string(item.text))
    }
  }

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

  /// A hash of `outputs`, `clean`, and variables and commands of `inputs`, in any order; without
  /// paths of inputs, since different patterns can match the same files.
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
    let words = list(item.kind == .command ? item.words : 0).reduce(Hash.xxh3(text(item.text))) {
      Hash.combine($0, Hash.xxh3(text($1)))
    }
    return Hash.combine(UInt64(item.code), words)
  }

  /// A worker validates only the lists that its tasks use, so list 0 is not read.
  private func declaredItems(_ index: UInt32) -> Column<DeclaredItem> {
    if index == 0 { return declaredItems[0..<0] }
    return declaredItems[Int(declaredOffsets[Int(index)])..<Int(declaredOffsets[Int(index) + 1])]
  }

  private func declaration(of task: TaskID) -> DeclarationEntry? {
    if flags(task).isDisjoint(with: .declares) { return nil }
    let place = declarations.partitioningIndex { $0.task >= task.rawValue }
    guard place < declarations.count, declarations[place].task == task.rawValue else { return nil }
    return declarations[place]
  }
}

// MARK: - Validation

extension Plan {
  /// Exactly the tasks with the flags have declarations, in task order.
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
      Int(entry.outputs) + 1 < declaredOffsets.count, entry.inputs == 0 || flags.contains(.checked),
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
