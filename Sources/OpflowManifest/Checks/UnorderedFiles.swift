internal import OpflowCore

/// Finds tasks that read what others write, with nothing that says which of the two comes first.
///
/// A warning, since the two may be meant to be apart: the one that reads finds what an earlier run left.
struct UnorderedFiles {
  private let mistakes: Mistakes
  private var inputs = FileTable()
  private var outputs = FileTable()

  /// What is looked at before the rest is left alone: bytes that are compared with patterns, and pairs of
  /// tasks.
  private static let mostCompared = 20_000_000
  private static let mostPairs = 500_000

  init(mistakes: Mistakes) { self.mistakes = mistakes }

  /// Notes what a task declares.
  ///
  /// - Parameter number: the task's.
  mutating func note(_ task: borrowing TaskValues, _ number: Int, in document: YAMLDocument) {
    let folder = task.settings.directory.path
    let isFinally = task.flags.contains(.finally)
    for input in task.inputs {
      guard case .file(let path) = input, !Self.isOfFolders(path.text) else { continue }
      inputs.add(
        path.text, in: folder, task: number, isFinally: isFinally,
        place: document.place(path.node), isPattern: PathPattern.isPattern(path.text))
    }
    for file in task.written where !Self.isOfFolders(file.path.text) {
      outputs.add(
        file.path.text, in: folder, task: number, isFinally: isFinally,
        place: document.place(file.path.node),
        isPattern: file.kind == .output && PathPattern.isPattern(file.path.text))
    }
  }

  /// Whether a path is a pattern that fits folders only: of what lies in them nothing is known.
  private static func isOfFolders(_ path: Text) -> Bool {
    path.last == UInt8(ascii: "/") && PathPattern.isPattern(path)
  }

  /// Warns, once all tasks are noted and all needs found.
  func check(_ needs: NeedList, _ tasks: TaskList) {
    if inputs.entries.isEmpty || outputs.entries.isEmpty || mistakes.errorCount > 0 { return }
    var forward = NeedReach(needs)
    var backward = NeedReach(needs)
    var told: Set<Place> = []
    // By the task that reads, whose needs are then looked at once.
    for (reader, writer) in pairs().sorted(by: <) {
      if mistakes.isFull { return }
      let (input, output) = (inputs.entries[reader], outputs.entries[writer])
      guard !told.contains(input.place),
        forward.needs(Int(input.task), Int(output.task)) == false,
        backward.needs(Int(output.task), Int(input.task)) == false
      else { continue }
      told.insert(input.place)
      warn(input, output, tasks)
    }
  }

  private func warn(_ input: FileTable.Entry, _ output: FileTable.Entry, _ tasks: TaskList) {
    let reader = tasks.name(Int(input.task)).string
    let writer = tasks.name(Int(output.task)).string
    // Of a leg, the family.
    let (readers, writers) = (
      tasks.declaration(of: Int(input.task)), tasks.declaration(of: Int(output.task))
    )
    let needed = tasks.declared.name(writers).string
    let needing = tasks.declared.name(readers).string
    let (read, written) = (inputs.text(input).string, outputs.text(output).string)
    mistakes.add(
      Mistakes.Mistake(
        severity: .warning, place: input.place,
        message: "task `\(reader)` reads `\(read)`, "
          + (read == written
            ? "which task `\(writer)` writes" : "task `\(writer)` writes `\(written)`")
          + ", and neither needs the other",
        help: readers == writers
          ? "either may come first; let a task that both need write it"
          : "either may come first; add `\(needed)` to the `needs` of `\(needing)`",
        notes: [.init(place: output.place, message: "`\(writer)` writes it here")]))
  }

  /// Entries of inputs and outputs that are about one file, of two tasks that may run at once.
  private func pairs() -> [(Int, Int)] {
    var pairs: [(Int, Int)] = []
    var left = Self.mostPairs
    func add(_ input: Int, _ output: Int) {
      var reader = inputs.lastEntry(of: input)
      while reader >= 0 {
        let a = inputs.entries[reader]
        var writer = outputs.lastEntry(of: output)
        while writer >= 0, left > 0 {
          left -= 1
          let b = outputs.entries[writer]
          // A `finally` task comes after all others.
          if a.task != b.task, a.isFinally == b.isFinally { pairs.append((reader, writer)) }
          writer = Int(b.previous)
        }
        reader = left > 0 ? Int(a.previous) : -1
      }
    }
    var bytesLeft = Self.mostCompared
    var ways = WayTable(inputs)
    for (output, path) in outputs.paths.texts.enumerated() {
      if let input = inputs.paths.index(of: path) { add(input, output) }
      if outputs.isPattern[output] { continue }
      ways.forEach(of: path, left: &bytesLeft) { add($0, output) }
    }
    ways = WayTable(outputs)
    for (input, path) in inputs.paths.texts.enumerated() where !inputs.isPattern[input] {
      ways.forEach(of: path, left: &bytesLeft) { add(input, $0) }
    }
    return pairs
  }
}
