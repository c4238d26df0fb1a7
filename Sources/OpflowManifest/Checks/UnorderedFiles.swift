internal import OpflowPlan

/// Finds tasks that read another task's outputs without an order between them. This is only a
/// warning, because the reader may want the files of an earlier run.
struct UnorderedFiles {
  private let diagnostics: Diagnostics
  private var inputs: FileTable
  private(set) var outputs: FileTable
  private let scratch = TextStore()
  private let manifestFiles: [String]

  /// Work limits, in bytes compared and in pairs of tasks.
  private static let mostCompared = 20_000_000
  private static let mostPairs = 500_000

  init(diagnostics: Diagnostics, links: LinkResolver, manifestFiles: [String]) {
    self.diagnostics = diagnostics
    inputs = FileTable(links, followsLinks: true)
    outputs = FileTable(links, followsLinks: false)
    let store = TextStore()
    self.manifestFiles = manifestFiles.map {
      links.unlinked(store.copy($0), isPattern: false, store: store).string
    }
  }

  mutating func note(_ task: borrowing TaskValues, _ number: Int, in document: YAMLDocument) {
    let folder = task.settings.directory.path
    var traits = FileTable.Traits(rawValue: 0)
    if task.flags.contains(.finally) { traits.insert(.finally) }
    if task.flags.contains(.cached) { traits.insert(.cached) }
    if task.processes[.clean] != 0 { traits.insert(.cleaned) }
    for input in task.inputs {
      guard case .file(let path) = input else { continue }
      inputs.add(
        path.text, in: folder, task: number, traits: traits, place: document.place(path.node),
        isPattern: path.isPattern)
    }
    for file in task.written {
      outputs.add(
        file.path.text, in: folder, task: number,
        traits: file.kind == .download ? traits.union(.download) : traits,
        place: document.place(file.path.node), isPattern: file.path.isPattern)
    }
  }

  /// Records the files of a task of the run. Call it after all tasks of the manifest.
  mutating func note(_ task: TaskID, _ number: Int, of run: RunTasks) {
    let plan = run.plan
    let folder = plan.text(plan.record(task).directory)
    var traits = FileTable.Traits(rawValue: 0)
    if plan.flags(task).contains(.finally) { traits.insert(.finally) }
    if plan.isCached(task) { traits.insert(.cached) }
    if plan.cleans(task) { traits.insert(.cleaned) }
    func add(_ path: String, isPattern: Bool, _ traits: FileTable.Traits, to table: inout FileTable)
    {
      scratch.removeAll()
      let path = scratch.copy(path)
      table.add(path, in: folder, task: number, traits: traits, place: nil, isPattern: isPattern)
    }
    for input in plan.inputs(of: task) {
      switch input {
      case .path(let path): add(path, isPattern: false, traits, to: &inputs)
      case .glob(let pattern): add(pattern, isPattern: true, traits, to: &inputs)
      case .environment, .command: break
      }
    }
    if plan.kind(task) == .download { traits.insert(.download) }
    for output in plan.outputs(of: task) {
      add(output.text, isPattern: output.isPattern, traits, to: &outputs)
    }
  }

  var isEmpty: Bool { inputs.entries.isEmpty && outputs.entries.isEmpty }

  /// Reports problems. Call it after all tasks and needs are known.
  func check(_ needs: NeedList, _ tasks: TaskList) {
    OutputOverlaps(diagnostics: diagnostics, outputs: outputs, tasks: tasks).check(
      manifestFiles: manifestFiles)
    if inputs.entries.isEmpty || outputs.entries.isEmpty || diagnostics.errorCount > 0 { return }
    var forward = NeedReach(needs, run: tasks.run)
    var backward = NeedReach(needs, run: tasks.run)
    var told: Set<Place> = []
    // Grouped by reader for `NeedReach`.
    let (pairs, own) = pairs()
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
      ? "either may come first: what is in the run already does not wait for what is added"
      : needed == needing
        ? "either may come first; let a task that both need write it"
        : "either may come first; add `\(needed)` to the `needs` of `\(needing)`"
    let notes = input.place == nil ? nil : output.place
    let (read, written) = (inputs.text(input).string, outputs.text(output).string)
    diagnostics.add(
      .warning, place,
      "task `\(reader)` reads `\(read)`, "
        + (read == written
          ? "which task `\(writer)` writes" : "task `\(writer)` writes `\(written)`")
        + ", and neither needs the other", help: help,
      notes: Diagnostics.note(notes, "`\(writer)` writes it here"))
  }

  /// Reports an output among the inputs of its own task, where it does not count.
  private func reportOwn(_ input: FileTable.Entry, _ output: FileTable.Entry, at place: Place) {
    let (read, written) = (inputs.text(input).string, outputs.text(output).string)
    let detail =
      read == written
      ? "`\(read)` is an output of this task too" : "`\(read)` is among its output `\(written)`"
    let loss = input.traits.loss
    diagnostics.add(
      loss == nil ? .warning : .error, place,
      detail + (loss.map { ", and \($0.effect)" } ?? ", and no input of it"),
      help: loss.map { "let the task write elsewhere, or take `\($0.key)` away" }
        ?? "an edit of it has the task run again as one of what it leaves; name that more "
        + "narrowly", notes: Diagnostics.note(output.place, "the output is declared here"))
  }

  /// Returns pairs about the same file: input and output of two tasks without an order, and an
  /// input that is covered by an output of its own task.
  private func pairs() -> (pairs: [(Int, Int)], own: [(Int, Int)]) {
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
    covers = CoverTable(outputs)
    for (input, path) in inputs.paths.texts.enumerated() {
      covers.forEach(over: path, isPattern: inputs.isPattern[input], left: &bytesLeft) {
        add(input, $0, isCovered: true)
      }
    }
    return (pairs, own)
  }
}

/// Finds outputs inside another task's output, and outputs that include a file of the manifest.
/// `WrittenPathCheck` finds equal outputs.
struct OutputOverlaps {
  let diagnostics: Diagnostics
  let outputs: FileTable
  let tasks: TaskList

  /// The work limit, in bytes compared.
  private static let mostCompared = 20_000_000

  func check(manifestFiles: [String]) {
    if outputs.entries.isEmpty { return }
    var covers = CoverTable(outputs)
    var left = Self.mostCompared
    for file in manifestFiles {
      var file = file
      file.withUTF8 { bytes in
        let path = ByteView(bytes)
        covers.forEach(over: path, isPattern: false, left: &left) { number in
          guard let output = outputs.newest(of: number).first(where: { $0.place != nil }) else {
            return
          }
          reportManifest(output, path)
        }
      }
    }
    for (number, path) in outputs.paths.texts.enumerated() {
      var first: (FileTable.Entry, FileTable.Entry)?
      covers.forEach(over: path, isPattern: outputs.isPattern[number], left: &left) { outer in
        if first == nil { first = pair(number, outer) }
      }
      if let (inner, outer) = first { report(inner, outer) }
    }
  }

  /// Returns entries of two tasks. Pairs of downloads, and pairs of tasks of the run, are checked
  /// elsewhere.
  private func pair(_ inner: Int, _ outer: Int) -> (FileTable.Entry, FileTable.Entry)? {
    for a in outputs.newest(of: inner) {
      for b in outputs.newest(of: outer)
      where a.task != b.task && (a.place != nil || b.place != nil) {
        if !(a.traits.contains(.download) && b.traits.contains(.download)) { return (a, b) }
      }
    }
    return nil
  }

  private func report(_ inner: FileTable.Entry, _ outer: FileTable.Entry) {
    if diagnostics.isFull { return diagnostics.count() }
    let (path, around) = (outputs.text(inner).string, outputs.text(outer).string)
    let other = tasks.name(Int(outer.task)).string
    let inRun = inner.place != nil && outer.place != nil ? "" : " of the run"
    let message =
      inner.place == nil
      ? "`\(around)` takes in `\(path)`, which task "
        + "`\(tasks.name(Int(inner.task)).string)`\(inRun) leaves"
      : "`\(path)` is written twice: it is among `\(around)`, which task `\(other)`\(inRun) leaves"
    let notes = inner.place == nil ? nil : outer.place
    diagnostics.add(
      .error, inner.place ?? outer.place, message,
      help: "two writers of one file destroy each other's work; let one task write it",
      notes: Diagnostics.note(notes, "`\(around)` is declared here"))
  }

  private func reportManifest(_ output: FileTable.Entry, _ file: ByteView) {
    let text = outputs.text(output).string
    let name = file.part(((file.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1)..<file.count).string
    let loss = output.traits.loss
    diagnostics.add(
      loss == nil ? .warning : .error, output.place,
      "`\(text)` takes in `\(name)`, a file of this manifest: "
        + (loss?.effect ?? "an edit of it counts as one of what the task leaves"),
      help: "name what the task leaves more narrowly")
  }
}
