internal import OpflowBase
import OpflowCommandLine
internal import OpflowJournal
import OpflowManifest
internal import OpflowPlan
import OpflowRuntime
import OpflowSystem
internal import OpflowViews

enum GraphCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    if arguments.graphFormat == nil, let file = arguments.outputFile,
      let format = GraphFormat.foreign(ofFile: file)
    {
      throw CommandError(
        .usage,
        "graph: opflow cannot write \(format); use Graphviz: `opflow graph --format dot |"
          + " dot -T\(format) -o \(QuotedWords.quoted(CleanText.string(file)))`")
    }
    let source = try find(arguments, console)
    let included = try tasks(source, arguments)
    let file = arguments.outputFile
    let format = arguments.graphFormat ?? file.map { GraphFormat(ofFile: $0) } ?? .text
    var bytes: [UInt8]? = try make(format, source, included, arguments, console)
    try ReportCommand.write(
      {
        defer { bytes = nil }
        return bytes
      }, to: file)
    return ExitCode.success.rawValue
  }

  private struct Source {
    let plan: Plan
    /// nil for a manifest.
    var status: RunStatus?
    var words: [String]
  }

  // MARK: - Manifest or run

  private static func find(
    _ arguments: Invocation, _ console: Console
  ) throws(CommandError) -> Source {
    if arguments.run != nil {
      return try read(RunLookup.run(arguments.run, arguments.view), arguments.tasks, console)
    }
    if arguments.file == nil, try ManifestLookup.nearest() == nil,
      let found = try run(among: arguments.tasks, of: nil, arguments, console)
    {
      return found
    }
    let manifest = try ManifestLookup.manifest(arguments.file, naming: arguments.tasks)
    let state = try RunLookup.state(arguments.view, for: manifest)
    let compiled = try console.preparing(
      manifest.compile(
        runID: ManifestFile.runIDOfCheck, set: arguments.set, maxParallel: nil, state: state))
    let plan = try console.preparing(compiled.openPlan())
    if arguments.file == nil,
      let found = try run(among: arguments.tasks, of: plan, arguments, console)
    {
      return found
    }
    console.show(compiled.warnings)
    try console.preparing(manifest.expectTasks(arguments.tasks, in: plan))
    return Source(plan: plan, words: arguments.tasks)
  }

  /// Returns the run if a word names one and not a task.
  private static func run(
    among words: [String], of plan: Plan?, _ arguments: Invocation, _ console: Console
  ) throws(CommandError) -> Source? {
    for (index, word) in words.enumerated() {
      if let plan, (try? Selector.tasks([word], of: plan)) != nil { continue }
      guard let folder = try RunLookup.namedRun(word, arguments.view) else { continue }
      var others = words
      others.remove(at: index)
      return try read(folder, others, console)
    }
    return nil
  }

  private static func read(
    _ folder: RunFolder, _ words: [String], _ console: Console
  ) throws(CommandError) -> Source {
    let run = try RunLookup.reading(ReadRun(folder))
    for warning in run.warnings { console.warn(warning) }
    return Source(plan: run.plan, status: run.status, words: words)
  }

  // MARK: - Tasks

  private static func tasks(
    _ source: Source, _ arguments: Invocation
  ) throws(CommandError) -> TaskSet {
    let plan = source.plan
    var included = source.status?.included ?? .all(taskCount: plan.taskCount)
    do throws(SelectionError) {
      if !source.words.isEmpty || !arguments.only.isEmpty {
        let selection = try Selection(tasks: source.words, only: arguments.only, skip: [], of: plan)
        included = included.intersection(selection.included)
      }
      if arguments.skip.isEmpty { return included }
      let skipped = try Selection.tasks("--skip", arguments.skip, plan)
      var left = TaskSet(taskCount: plan.taskCount)
      for index in plan.tasks
      where included.contains(TaskID(index)) && !skipped.contains(TaskID(index)) {
        left.insert(TaskID(index))
      }
      return left
    } catch {
      if case .unfit(flag: "run", let selector) = error {
        throw CommandError(.usage, selector.message(of: "graph"))
      }
      throw CommandError(.usage, error.message)
    }
  }

  // MARK: - Output

  private static func make(
    _ format: GraphFormat, _ source: Source, _ included: TaskSet, _ arguments: Invocation,
    _ console: Console
  ) throws(CommandError) -> [UInt8] {
    let (plan, status, isWhole) = (source.plan, source.status, arguments.verbose)
    switch format {
    case .text:
      let graph = GraphFolding.graph(
        plan, included: included, status: status, limits: isWhole ? .none : .text)
      let isFile = arguments.outputFile != nil
      var view = GraphText(
        graph, showsAll: isWhole,
        color: isFile ? arguments.view.color == .always : console.colorsOutput,
        columns: isFile ? nil : Terminal.size(Terminal.standardOutput)?.columns)
      return view.write()
    case .mermaid:
      let (graph, bytes) = GraphMermaid.text(
        plan, included: included, status: status, isWhole: isWhole)
      tell(graph)
      return bytes
    case .dot, .svg:
      let graph = GraphFolding.graph(
        plan, included: included, status: status, limits: isWhole ? .none : .dot)
      tell(graph)
      let text = GraphDot.text(graph)
      return format == .dot ? text : try draw(text)
    }
  }

  /// On standard error: the picture may be viewed elsewhere.
  private static func tell(_ graph: DrawnGraph) {
    guard let folding = graph.foldingNote else { return }
    Console.complain("opflow: \(folding)\n")
  }

  private static func draw(_ graph: [UInt8]) throws(CommandError) -> [UInt8] {
    try rethrowing(Graphviz.svg(graph)) { (error: GraphvizError) in
      CommandError(error.isMissing ? .usage : .io, error.message)
    }
  }
}
