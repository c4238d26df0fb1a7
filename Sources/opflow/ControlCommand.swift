internal import OpflowBase
import OpflowCommandLine
internal import OpflowJournal
import OpflowManifest
internal import OpflowPlan
import OpflowRuntime
import OpflowSystem
internal import OpflowViews
internal import OpflowWire

enum ControlCommand {
  static func perform(_ verb: ControlAction, _ arguments: Invocation) throws(CommandError) -> Int32
  {
    _ = try Console.enter(arguments.view)
    let (folder, request, amount, line, plan): (RunFolder, ClientRequest, String, [UInt8], Plan)
    do throws(CommandError) {
      folder = try LiveRuns.run(arguments)
      plan = try LiveRuns.plan(folder, arguments.view)
      (request, amount) = try Self.request(verb, plan, arguments)
      line = try Self.line(request)
    } catch {
      // With --json, errors are objects too.
      if arguments.json {
        try Console.write(RequestView.json(verb.rawValue, refused: error.message))
      }
      throw error
    }
    return try tell(
      try ask(line, request.id, folder, plan, arguments), request, folder, amount, arguments)
  }

  /// Returns also the amount as text.
  private static func request(
    _ verb: ControlAction, _ plan: Plan, _ arguments: Invocation
  ) throws(CommandError) -> (ClientRequest, String) {
    var request = ClientRequest(id: RequestID.new(), verb: verb, planKey: plan.key.description)
    request.by = "opflow \(verb.rawValue)"
    try select(arguments.tasks, of: plan, into: &request)
    var amount = ""
    switch verb.row.carries {
    case .nothing: break
    case .number(let kind): request.carried.number = try number(arguments.value, kind, verb)
    case .capacity: amount = try setCapacity(arguments, plan, into: &request)
    }
    return (request, amount)
  }

  private static func line(_ request: ClientRequest) throws(CommandError) -> [UInt8] {
    if let line = RequestLines.line(request) { return line }
    throw CommandError(
      .usage,
      "\(request.verb.rawValue): the selectors match too many separate tasks for one request;"
        + " send several requests")
  }

  private static func tell(
    _ answer: RequestAnswer, _ request: ClientRequest, _ folder: RunFolder, _ amount: String,
    _ arguments: Invocation
  ) throws(CommandError) -> Int32 {
    if arguments.json {
      try Console.write(RequestView.json(request, run: folder.id.description, answer))
    }
    switch answer {
    case .done(let count):
      if !arguments.json {
        let text = RequestView.text(
          request, count: count, amount: amount, words: arguments.tasks,
          resumeCommand: CommandText.resume(folder, arguments.view)
        ) { CommandText.request(folder, $0, $1, arguments.view) }
        try Console.write(text + "\n")
      }
      return ExitCode.success.rawValue
    case .refused(let detail):
      throw CommandError(.usage, "\(request.verb.rawValue): \(CleanText.string(detail))")
    }
  }

  // MARK: - The request

  /// A task named in full must accept the request; other selectors apply where they can.
  private static func select(
    _ words: [String], of plan: Plan, into request: inout ClientRequest
  ) throws(CommandError) {
    var named = TaskSet(taskCount: plan.taskCount)
    var among = TaskSet(taskCount: plan.taskCount)
    for word in words {
      // A matrix is more than the generator of its tasks.
      if let task = plan.task(named: word), plan.instances(madeBy: task) == nil {
        named.insert(task)
        continue
      }
      do throws(UnfitSelector) {
        among.formUnion(try Selector.tasks([word], of: plan))
      } catch {
        throw CommandError(.usage, error.message(of: request.verb.rawValue))
      }
    }
    let all = plan.tasks.lazy.map { TaskID($0) }
    request.tasks = TaskRanges(all.filter { named.contains($0) })
    request.among = TaskRanges(all.filter { among.contains($0) && !named.contains($0) })
  }

  private static func number(
    _ text: String, _ kind: RequestNumber, _ verb: ControlAction
  ) throws(CommandError) -> Int64 {
    if let number = AskedValues.number(text, of: kind) { return number }
    throw CommandError(
      .usage, "\(verb.rawValue): N must be \(kind.known), not `\(CleanText.string(text))`")
  }

  private static func setCapacity(
    _ arguments: Invocation, _ plan: Plan, into request: inout ClientRequest
  ) throws(CommandError) -> String {
    let name = arguments.resource
    let names = plan.resources.indices.map { plan.string(plan.resources[$0].name) }
    guard let index = names.firstIndex(of: name) else {
      let hint =
        NearestName.of(name, among: names).map { "; did you mean `\($0)`?" }
        ?? "; its resources: \(CleanText.list(names))"
      throw CommandError(
        .usage, "parallel: the run has no resource `\(CleanText.string(name))`\(hint)")
    }
    let resource = UInt32(truncatingIfNeeded: index)
    guard let amount = AskedValues.amount(arguments.value, ofResource: resource),
      let value = Int64(exactly: amount)
    else {
      throw CommandError(
        .usage,
        "parallel: `\(name)` must be \(kind(of: resource)), not"
          + " `\(CleanText.string(arguments.value))`")
    }
    if value == 0, !ResourceEntry.isCountedInThousandths(resource) {
      throw CommandError(
        .usage, "parallel: `\(name)` cannot be 0; to start no more tasks, use `opflow pause`")
    }
    request.carried = CarriedValue(resource: name, number: value)
    // As typed: `1GiB` reads better than its number.
    return CleanText.string(arguments.value)
  }

  private static func kind(of resource: UInt32) -> String {
    switch resource {
    case ResourceEntry.memory: "a size, such as 16GiB"
    case ResourceEntry.cpu, ResourceEntry.download: "a whole number from 1 to 1000000"
    default: "a number with up to three decimals, or a size"
    }
  }

  // MARK: - Sending

  /// Calls `isUndone` if the request certainly had no effect.
  static func ask(
    _ line: [UInt8], _ id: RequestID, _ folder: RunFolder, _ plan: Plan, _ arguments: Invocation,
    whenUndone isUndone: () -> Void = {}
  ) throws(CommandError) -> RequestAnswer {
    let run = folder.id
    do throws(ControlError) {
      return try ControlConnection(folder, plan: plan).ask(line, id) { holder in
        Console.complain("opflow: waiting for an answer from \(process(holder))\n")
      }
    } catch {
      switch error {
      case .notLive:
        isUndone()
        throw LiveRuns.notLive(folder, arguments.view)
      case .unheard(let holder?) where holder.host == nil:
        throw CommandError(
          .usage,
          "run \(run) takes no requests: \(holder) has no socket, perhaps because the file system"
            + " of the run's folder does not support sockets")
      case .unheard(let holder):
        throw CommandError(
          .usage,
          "run \(run) takes no requests from here: it belongs to"
            + " \(holder?.description ?? "a process on another machine"); send the request there")
      case .crowded:
        throw CommandError(.usage, "run \(run) has too many requests at once; try again")
      case .failed(let errno): throw CommandError(.io, "cannot send a request to run \(run)", errno)
      }
    }
  }

  private static func process(_ holder: LockHolder?) -> String {
    guard let pid = holder?.localPID else { return holder?.description ?? "the run" }
    let isStopped = ProcessStatus.read(pid)?.state == UInt8(ascii: "T")
    return "process \(pid)"
      + (isStopped ? ", which is stopped; to continue it: kill -CONT \(pid)" : "")
  }
}

enum AddCommand {
  /// A concurrent addition changes the plan, so that this one is compiled again.
  private static let mostTries = 100

  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    do throws(CommandError) {
      return try add(arguments, console)
    } catch {
      // With --json, errors are objects too.
      if arguments.json { try Console.write(RequestView.json("add", refused: error.message)) }
      throw error
    }
  }

  private static func add(_ arguments: Invocation, _ console: Console) throws(CommandError) -> Int32
  {
    let folder = try LiveRuns.run(arguments)
    let manifest = try ManifestLookup.manifest(arguments.file)
    let addition = try join(folder, arguments, console, asking: "opflow add") {
      (plan, id) throws(CommandError) in
      let generator = try generator(in: plan, of: folder)
      return try console.preparing(PreparedAddition(manifest, to: folder, plan, id, by: generator))
    }
    return try tell(addition, folder, arguments)
  }

  /// Compiles and sends an addition until the run accepts it. Sends nothing if no task is new.
  static func join(
    _ folder: RunFolder, _ arguments: Invocation, _ console: Console, asking name: String,
    _ make: (Plan, RequestID) throws(CommandError) -> PreparedAddition
  ) throws(CommandError) -> PreparedAddition {
    var hasWarned = false
    for _ in 0..<mostTries {
      let plan = try LiveRuns.plan(folder, arguments.view)
      var addition = try make(plan, RequestID.new())
      if !hasWarned { console.show(addition.warnings) }
      hasWarned = true
      addition.request.by = name
      // Within the request, so that a refused secret is never written to a file.
      if plan.hasSecrets { addition.carry() }
      guard addition.taskCount > 0 else { return addition }
      switch try ask(addition, folder, plan, arguments) {
      case .done: return addition
      case .refused(let detail) where detail.hasPrefix(AddRequest.outdated): addition.remove()
      case .refused(let detail):
        addition.remove()
        let isOutput = detail.hasPrefix(AddRequest.unwritable)
        throw CommandError(isOutput ? .io : .usage, "add: \(CleanText.string(detail))")
      }
    }
    throw CommandError(
      .usage, "add: other additions to run \(folder.id) came first each time; try again")
  }

  private static func ask(
    _ addition: PreparedAddition, _ folder: RunFolder, _ plan: Plan, _ arguments: Invocation
  ) throws(CommandError) -> RequestAnswer {
    guard let line = RequestLines.line(addition.request) else {
      throw CommandError(
        .usage, "add: the manifest includes too many files for one request; split it")
    }
    do throws(RunFolderError) {
      try addition.write()
    } catch {
      addition.remove()
      throw CommandError(error)
    }
    return try ControlCommand.ask(
      line, addition.request.id, folder, plan, arguments, whenUndone: addition.remove)
  }

  /// `none` outside the run.
  private static func generator(in plan: Plan, of folder: RunFolder) throws(CommandError) -> TaskID
  {
    guard let around = TaskAround.here, around.run == folder.id,
      let task = plan.task(named: around.task)
    else { return .none }
    guard plan.flags(task).contains(.finally) else { return task }
    throw CommandError(
      .usage,
      "add: \(CleanText.string(around.task)) is a `finally` task; you cannot add tasks after those "
        + "have started")
  }

  private static func tell(
    _ addition: PreparedAddition, _ folder: RunFolder, _ arguments: Invocation
  ) throws(CommandError) -> Int32 {
    let run = folder.id.description
    if arguments.json {
      try Console.write(
        AddView.json(
          run: run, addition.taskCount > 0 ? addition.request.id : nil,
          count: addition.taskCount, addition.ids, unchanged: addition.unchanged))
    } else {
      try Console.write(
        AddView.text(
          run: run, count: addition.taskCount, addition.added, unchanged: addition.unchanged)
          + "\n")
    }
    return ExitCode.success.rawValue
  }
}

/// The internal command of a generator: when the tasks in `after` have succeeded, it reads what its
/// `matrix` names and adds the matrix tasks to its run.
enum InstancesCommand {
  /// `words` are the matrix's ID and the run's folder.
  static func run(_ words: [String]) -> Int32 {
    do throws(CommandError) {
      guard words.count == 2, let around = TaskAround.here, around.task == words[0] else {
        throw CommandError(
          .usage,
          "`opflow \(InstanceMaker.word)` is internal: only a task that generates a matrix runs it")
      }
      try makeInstances(of: words[0], in: RunFolder(id: around.run, path: words[1]))
      return ExitCode.success.rawValue
    } catch {
      Console.complain(error.text)
      return error.code.rawValue
    }
  }

  private static func makeInstances(of matrixGroup: String, in folder: RunFolder)
    throws(CommandError)
  {
    let arguments = Invocation(.add)
    let console = try Console.enter(arguments.view)
    let addition = try AddCommand.join(
      folder, arguments, console, asking: "opflow \(InstanceMaker.word)"
    ) { (plan, id) throws(CommandError) in
      guard let maker = plan.task(named: matrixGroup), plan.makesInstances(maker) else {
        throw CommandError(
          .usage,
          "run \(folder.id) has no task `\(CleanText.string(matrixGroup))` that generates a matrix")
      }
      return try console.preparing(PreparedAddition(instancesMadeBy: maker, of: folder, plan, id))
    }
    let count = addition.taskCount
    let text =
      if count > 0 {
        "\(count) \(count == 1 ? "matrix task" : "matrix tasks")"
      } else if addition.unchanged.isEmpty {
        "no matrix tasks: the matrix is empty"
      } else {
        "the same matrix tasks as before"
      }
    try Console.write(text + "\n")
  }
}

enum LiveRuns {
  /// `--run`, else the run around this task, else the only live run here.
  static func run(_ arguments: Invocation) throws(CommandError) -> RunFolder {
    let view = arguments.view
    let folder =
      if let named = arguments.run { try RunLookup.run(named, view) } else {
        try RunLookup.defaultRun(view, isAsked: true)
      }
    let isLive = try RunLookup.reading(RunFolderLock.isHeld(folder))
    if isLive { return folder }
    throw notLive(folder, view)
  }

  /// Waits for the plan of a run that is just starting.
  static func plan(_ folder: RunFolder, _ view: ViewArguments) throws(CommandError) -> Plan {
    let deadline = Clock.monotonicNanoseconds + patience
    while true {
      do throws(RunFolderError) {
        return try folder.openPlan()
      } catch {
        guard case .file(_, folder.plan, .noSuchFile) = error else { throw CommandError(error) }
        guard (try? RunFolderLock.isHeld(folder)) == true else { throw notLive(folder, view) }
        if Clock.monotonicNanoseconds > deadline { throw CommandError(error) }
      }
      // An error only shortens the pause.
      try? PollSet.pause(nanoseconds: 10_000_000)
    }
  }

  /// Nanoseconds from the lock to the plan.
  private static let patience: Int64 = 3_000_000_000

  static func notLive(_ folder: RunFolder, _ view: ViewArguments) -> CommandError {
    let run = folder.id
    guard let status = try? ReadRun(folder).status else {
      return CommandError(.usage, "run \(run) is not live")
    }
    var text =
      "run \(run) is not live: "
      + RequestView.state(status, nowMilliseconds: Clock.wallMilliseconds)
    if status.state != .succeeded, status.state != .running {
      let resume = CommandText.resume(folder, on: status.history.on, view)
      text += "; to continue: \(resume)"
    }
    return CommandError(.usage, text)
  }
}
