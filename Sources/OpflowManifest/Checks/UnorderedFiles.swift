internal import OpflowPlan

/// Finds outputs that include other declared files, and tasks that read another task's outputs
/// without an order between them. The latter is a warning: the reader may want the files of an
/// earlier run.
struct UnorderedFiles {
  private let diagnostics: Diagnostics
  private var inputs: FileTable
  private var outputs: FileTable
  private let store = TextStore()
  /// Absolute paths with links resolved.
  private let manifestFiles: [ByteView]

  /// The limit on bytes compared; the next one is on pairs of tasks.
  private static let mostCompared = 20_000_000
  private static let mostPairs = 500_000

  init(diagnostics: Diagnostics, links: LinkResolver, manifestFiles: [String]) {
    self.diagnostics = diagnostics
    inputs = FileTable(links, followsLinks: true)
    outputs = FileTable(links, followsLinks: false)
    self.manifestFiles = manifestFiles.map { [store] in
      links.unlinked(store.copy($0), isPattern: false, store: store)
    }
  }

  /// Tasks of the run follow all tasks of the manifest.
  mutating func note(_ files: DeclaredFiles) {
    for file in files.inputs { inputs.add(file, of: files) }
    for file in files.outputs { outputs.add(file, of: files) }
  }

  func check(_ needs: NeedList, _ tasks: TaskList) {
    if outputs.entries.isEmpty { return }
    var covers = CoverTable(outputs)
    checkOutputs(&covers, tasks)
    if inputs.entries.isEmpty || diagnostics.errorCount > 0 { return }
    var forward = NeedReach(needs, run: tasks.run)
    var backward = NeedReach(needs, run: tasks.run)
    var told: Set<Place> = []
    // Sorted by reader for `NeedReach`.
    let (pairs, own) = pairs(&covers)
    var toldOwn: Set<Place> = []
    for (reader, writer) in own.sorted(by: <) {
      let (input, output) = (inputs.entries[reader], outputs.entries[writer])
      guard let place = input.place, toldOwn.insert(place).inserted else { continue }
      reportOwn(input, output, at: place)
    }
    for (reader, writer) in pairs.sorted(by: <) {
      if diagnostics.isFull { return }
      let (input, output) = (inputs.entries[reader], outputs.entries[writer])
      // At least one of the two tasks is in the manifest.
      guard let place = input.place ?? output.place, !told.contains(place),
        forward.needs(Int(input.task), Int(output.task)) == false,
        backward.needs(Int(output.task), Int(input.task)) == false
      else { continue }
      told.insert(place)
      warn(input, output, at: place, tasks)
    }
  }

  private func warn(
    _ input: FileTable.Entry, _ output: FileTable.Entry, at place: Place, _ tasks: TaskList
  ) {
    let reader = tasks.name(Int(input.task)).string
    let writer = tasks.name(Int(output.task)).string
    let needed = tasks.declaredName(Int(output.task)).string
    let needing = tasks.declaredName(Int(input.task)).string
    let help =
      input.place == nil
      ? "either may run first; a task of the run does not wait for an added task"
      : needed == needing
        ? "either may run first; let a task that both need write it"
        : "either may run first; add `\(needed)` to the `needs` of `\(needing)`"
    let notes = input.place == nil ? nil : output.place
    let (read, written) = (inputs.text(input).string, outputs.text(output).string)
    diagnostics.add(
      .warning, place,
      "task `\(reader)` reads `\(read)`, "
        + (read == written
          ? "which task `\(writer)` writes" : "task `\(writer)` writes `\(written)`")
        + ", but neither needs the other", help: help,
      notes: Diagnostics.note(notes, "`\(writer)` writes it here"))
  }

  /// The input has no effect.
  private func reportOwn(_ input: FileTable.Entry, _ output: FileTable.Entry, at place: Place) {
    let (read, written) = (inputs.text(input).string, outputs.text(output).string)
    let detail =
      read == written
      ? "`\(read)` is also an output of this task"
      : "`\(read)` is part of this task's output `\(written)`"
    let loss = input.traits.loss
    diagnostics.add(
      loss == nil ? .warning : .error, place,
      detail + (loss.map { ", and \($0.effect)" } ?? ", so it does not count as an input"),
      help: loss.map { "let the task write elsewhere, or remove `\($0.key)`" }
        ?? "opflow treats an edit of it as a change of an output; declare `outputs` more narrowly",
      notes: Diagnostics.note(output.place, "the output is declared here"))
  }

  /// Input and output of two tasks without an order, and inputs covered by an output of their own
  /// task.
  private func pairs(_ outputCovers: inout CoverTable) -> (pairs: [(Int, Int)], own: [(Int, Int)]) {
    var pairs: [(Int, Int)] = []
    var own: [(Int, Int)] = []
    var left = Self.mostPairs
    func add(_ input: Int, _ output: Int, isCovered: Bool) {
      var reader = inputs.lastEntry(of: input)
      while reader >= 0 {
        let a = inputs.entries[reader]
        var writer = outputs.lastEntry(of: output)
        while writer >= 0, left > 0 {
          left -= 1
          let b = outputs.entries[writer]
          // A `finally` task runs after all others.
          if a.task == b.task {
            if isCovered { own.append((reader, writer)) }
          } else if a.traits.contains(.finally) == b.traits.contains(.finally),
            a.place != nil || b.place != nil
          {
            pairs.append((reader, writer))
          }
          writer = Int(b.previous)
        }
        reader = left > 0 ? Int(a.previous) : -1
      }
    }
    var bytesLeft = Self.mostCompared
    var covers = CoverTable(inputs)
    for (output, path) in outputs.paths.texts.enumerated() {
      if let input = inputs.paths.index(of: path) { add(input, output, isCovered: true) }
      covers.forEach(over: path, isPattern: outputs.isPattern[output], left: &bytesLeft) {
        add($0, output, isCovered: false)
      }
    }
    for (input, path) in inputs.paths.texts.enumerated() {
      outputCovers.forEach(over: path, isPattern: inputs.isPattern[input], left: &bytesLeft) {
        add(input, $0, isCovered: true)
      }
    }
    return (pairs, own)
  }

  // MARK: Outputs

  /// Inside another task's output, or with a file of the manifest inside. `WrittenPathCheck` finds
  /// equal outputs.
  private func checkOutputs(_ covers: inout CoverTable, _ tasks: TaskList) {
    var left = Self.mostCompared
    for path in manifestFiles {
      covers.forEach(over: path, isPattern: false, left: &left) { number in
        guard let output = outputs.newest(of: number).first(where: { $0.place != nil }) else {
          return
        }
        reportManifest(output, path)
      }
    }
    for (number, path) in outputs.paths.texts.enumerated() {
      var first: (FileTable.Entry, FileTable.Entry)?
      covers.forEach(over: path, isPattern: outputs.isPattern[number], left: &left) { outer in
        if first == nil { first = pair(number, outer) }
      }
      if let (inner, outer) = first { report(inner, outer, tasks) }
    }
  }

  /// Pairs of downloads are checked elsewhere; pairs of the run's tasks were checked before.
  private func pair(_ inner: Int, _ outer: Int) -> (FileTable.Entry, FileTable.Entry)? {
    for a in outputs.newest(of: inner) {
      for b in outputs.newest(of: outer)
      where a.task != b.task && (a.place != nil || b.place != nil) {
        if !(a.traits.contains(.download) && b.traits.contains(.download)) { return (a, b) }
      }
    }
    return nil
  }

  private func report(_ inner: FileTable.Entry, _ outer: FileTable.Entry, _ tasks: TaskList) {
    if diagnostics.isFull { return diagnostics.count() }
    let (path, around) = (outputs.text(inner).string, outputs.text(outer).string)
    let other = tasks.name(Int(outer.task)).string
    let inRun = inner.place != nil && outer.place != nil ? "" : " of the run"
    let message =
      inner.place == nil
      ? "`\(around)` includes `\(path)`, an output of task "
        + "`\(tasks.name(Int(inner.task)).string)`\(inRun)"
      : "`\(path)` is written twice: `\(around)`, an output of task `\(other)`\(inRun), includes it"
    let notes = inner.place == nil ? nil : outer.place
    diagnostics.add(
      .error, inner.place ?? outer.place, message,
      help: "tasks that write the same file overwrite each other; let one task write it",
      notes: Diagnostics.note(notes, "`\(around)` is declared here"))
  }

  private func reportManifest(_ output: FileTable.Entry, _ file: ByteView) {
    let text = outputs.text(output).string
    let name = file.part(((file.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1)..<file.count).string
    let loss = output.traits.loss
    diagnostics.add(
      loss == nil ? .warning : .error, output.place,
      "`\(text)` includes `\(name)`, a file of this manifest: "
        + (loss?.effect ?? "opflow treats an edit of it as a change of an output"),
      help: "declare `outputs` more narrowly")
  }
}
