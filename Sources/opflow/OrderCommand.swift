internal import OpflowBase
import OpflowCommandLine
import OpflowManifest
internal import OpflowPlan
import OpflowRuntime
import OpflowSystem
internal import OpflowViews
internal import OpflowWire

enum OrderCommand {
  static func perform(_ verb: OrderVerb, _ arguments: Invocation) throws(CommandError) -> Int32 {
    _ = try Console.enter(arguments.view)
    let (folder, request, amount, line, plan): (RunFolder, OrderRequest, String, [UInt8], Plan)
    do throws(CommandError) {
      folder = try LiveRuns.run(arguments)
      plan = try LiveRuns.plan(folder, arguments.view)
      (request, amount) = try Self.request(verb, plan, arguments)
      line = try Self.line(request)
    } catch {
      // With --json, errors are objects too.
      if arguments.json { try Console.write(OrderView.json(verb, refused: error.message)) }
      throw error
    }
    return try tell(
      try ask(line, request.id, folder, plan, arguments), request, folder, amount, arguments)
  }

  /// Returns also the amount as text.
  private static func request(
    _ verb: OrderVerb, _ plan: Plan, _ arguments: Invocation
  ) throws(CommandError) -> (OrderRequest, String) {
    var request = OrderRequest(id: OrderID.new(), verb: verb, planKey: plan.key.description)
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

  private static func line(_ request: OrderRequest) throws(CommandError) -> [UInt8] {
    if let line = OrderLines.line(request) { return line }
    throw CommandError(
      .usage,
      "\(request.verb.rawValue): an order names fewer tasks that are no neighbours;"
        + " give it part by part")
  }

  private static func tell(
    _ answer: OrderAnswer, _ request: OrderRequest, _ folder: RunFolder, _ amount: String,
    _ arguments: Invocation
  ) throws(CommandError) -> Int32 {
    if arguments.json {
      try Console.write(OrderView.json(request, run: folder.id.description, answer))
    }
    switch answer {
    case .done(let count):
      if !arguments.json {
        let text = OrderView.text(
          request, count: count, amount: amount, words: arguments.tasks,
          resumeCommand: CommandText.resume(folder, arguments.view)
        ) { CommandText.order(folder, $0, $1, arguments.view) }
        try Console.write(text + "\n")
      }
      return ExitCode.success.rawValue
    case .refused(let what):
      throw CommandError(.usage, "\(request.verb.rawValue): \(CleanText.string(what))")
    }
  }

  // MARK: - The request

  /// A task named in full must accept the request; other selectors apply where they can.
  private static func select(
    _ words: [String], of plan: Plan, into request: inout OrderRequest
  ) throws(CommandError) {
    var named = TaskSet(taskCount: plan.taskCount)
    var among = TaskSet(taskCount: plan.taskCount)
    for word in words {
      // A matrix is more than the generator of its tasks.
      if let task = plan.task(named: word), plan.legs(madeBy: task) == nil {
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
    _ text: String, _ kind: OrderNumber, _ verb: OrderVerb
  ) throws(CommandError) -> Int64 {
    if let number = AskedValues.number(text, of: kind) { return number }
    throw CommandError(
      .usage, "\(verb.rawValue): N is \(kind.known), not `\(CleanText.string(text))`")
  }

  private static func setCapacity(
    _ arguments: Invocation, _ plan: Plan, into request: inout OrderRequest
  ) throws(CommandError) -> String {
    let name = arguments.resource
    let names = plan.resources.indices.map { plan.string(plan.resources[$0].name) }
    guard let index = names.firstIndex(of: name) else {
      let hint = NearestName.of(name, among: names).map { "; did you mean `\($0)`?" } ?? ""
      throw CommandError(
        .usage, "parallel: the run has no resource `\(CleanText.string(name))`\(hint)")
    }
    let resource = UInt32(truncatingIfNeeded: index)
    guard let amount = AskedValues.amount(arguments.value, ofResource: resource),
      let value = Int64(exactly: amount)
    else {
      throw CommandError(
        .usage,
        "parallel: `\(name)` is \(kind(of: resource)), not `\(CleanText.string(arguments.value))`")
    }
    if value == 0, !ResourceEntry.isCountedInThousandths(resource) {
      throw CommandError(
        .usage, "parallel: `\(name)` cannot be 0; `opflow pause` starts nothing new")
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
    _ line: [UInt8], _ id: OrderID, _ folder: RunFolder, _ plan: Plan, _ arguments: Invocation,
    whenUndone isUndone: () -> Void = {}
  ) throws(CommandError) -> OrderAnswer {
    let run = folder.id
    do throws(ControlError) {
      return try ControlConnection(folder, plan: plan).ask(line, id) { holder in
        Console.complain("opflow: waiting for the answer of \(process(holder))\n")
      }
    } catch {
      switch error {
      case .notLive:
        isUndone()
        throw LiveRuns.notLive(folder, arguments.view)
      case .deaf(let holder?) where holder.host == nil:
        throw CommandError(
          .usage,
          "run \(run) takes no orders: \(holder) drives it without a socket, which the file"
            + " system of its folder may not have")
      case .deaf(let holder):
        throw CommandError(
          .usage,
          "run \(run) takes no orders here: \(holder?.description ?? "another process") drives it."
            + " Ask where that is")
      case .crowded:
        throw CommandError(.usage, "run \(run) is asked for too much at once; ask again")
      case .failed(let errno):
        throw CommandError(.io, "run \(run) cannot be asked", errno)
      }
    }
  }

  private static func process(_ holder: LockHolder?) -> String {
    guard let pid = holder?.localPID else { return holder?.description ?? "the run" }
    let isStopped = ProcessStatus.read(pid)?.state == UInt8(ascii: "T")
    return "process \(pid)" + (isStopped ? ", which is stopped: `kill -CONT \(pid)`" : "")
  }
}
