internal import OpflowPlan

struct DeclaredFiles {
  struct File {
    /// A literal name, or a pattern with escapes.
    let text: ByteView
    /// Nil for a task of the run.
    let place: Place?
    let isPattern: Bool
    var isDownload = false
  }

  let task: Int
  /// Nil for a task of the manifest.
  let nameInRun: ByteView?
  let folder: ByteView
  private(set) var traits = FileTable.Traits(rawValue: 0)
  private(set) var inputs: [File] = []
  private(set) var outputs: [File] = []

  init(_ task: borrowing TaskValues, _ number: Int, in document: YAMLDocument) {
    self.task = number
    nameInRun = nil
    folder = task.settings.directory.path
    noteTraits(task.flags, isCached: task.flags.contains(.cached), task.processes[.clean] != 0)
    for case .file(let path) in task.inputs {
      inputs.append(
        File(text: path.text, place: document.place(path.node), isPattern: path.isPattern))
    }
    for file in task.written {
      outputs.append(
        File(
          text: file.path.text, place: document.place(file.path.node),
          isPattern: file.path.isPattern, isDownload: file.kind == .download))
    }
  }

  init(_ task: TaskID, _ number: Int, of run: RunTasks, store: TextStore) {
    let plan = run.plan
    self.task = number
    nameInRun = run.name(task)
    folder = plan.text(plan.record(task).directory)
    noteTraits(plan.flags(task), isCached: plan.isCached(task), plan.cleans(task))
    for input in plan.inputs(of: task) {
      switch input {
      case .path(let path):
        inputs.append(File(text: store.copy(path), place: nil, isPattern: false))
      case .glob(let pattern):
        inputs.append(File(text: store.copy(pattern), place: nil, isPattern: true))
      case .environment, .command: break
      }
    }
    let isDownload = plan.kind(task) == .download
    for output in plan.outputs(of: task) {
      outputs.append(
        File(
          text: store.copy(output.text), place: nil, isPattern: output.isPattern,
          isDownload: isDownload))
    }
  }

  private mutating func noteTraits(_ flags: TaskFlags, isCached: Bool, _ isCleaned: Bool) {
    if flags.contains(.finally) { traits.insert(.finally) }
    if isCached { traits.insert(.cached) }
    if isCleaned { traits.insert(.cleaned) }
  }
}
