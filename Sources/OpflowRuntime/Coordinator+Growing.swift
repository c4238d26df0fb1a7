internal import OpflowBase
internal import OpflowEngine
internal import OpflowJournal
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowViews
internal import OpflowWire
internal import OpflowWorker

/// Additions to the run (`RunGrowth`). Clients write segments into the run's folder. Segments are
/// untrusted and checked before they enter the plan's file.
extension Coordinator {
  func add(_ request: AddRequest, by requester: Requester, for connection: ConnectionID) {
    // The engine knows past additions even if the folder is gone.
    if let count = engine.count(ofRequest: request.id) {
      return answer(connection, request.id, .done(count: count))
    }
    // After a takeover the other process owns the plan's file.
    keepClaim()
    if hasLostClaim {
      return answer(
        connection, request.id, .refused(detail: "another process has taken over the run"))
    }
    do throws(RequestRefusal) {
      let folder = AddedFolder(request.id, of: self.request.folder)
      let segment = try folder.segment(of: request)
      try expectNoSecret(in: segment, request, folder)
      if let known = engine.answer(toExtension: request.id, by: segment, of: request.generator) {
        return answer(connection, request.id, known)
      }
      let initial = try Self.initial(of: segment)
      try expectMeans(of: segment, initial)
      let entry = entry(request, requester, segment)
      let grown = try grow(by: segment, mayFollow: request.carried != nil)
      use(grown)
      let growth = RunGrowth(plan: grown, entry: entry, initial: initial, connection: connection)
      unshownGrowths.append(growth)
      tell(.extend(growth))
    } catch {
      answer(connection, request.id, .refused(detail: error.detail))
    }
  }

  private func use(_ changed: Plan) {
    formerKeys.insert(plan.key.description)
    plan = changed
    control.plan = changed
    downloads.plan = changed
  }

  func retract(_ retraction: Retraction) {
    var retraction = retraction
    do throws(GrowthFault) {
      let renamed = try growing.retract(retraction)
      use(renamed)
      retraction.plan = renamed
    } catch {
      warn(
        "cannot retract the tasks that "
          + "\(CleanText.string(plan.nameString(retraction.entry.generator))) added before: "
          + "\(error.detail(in: request.folder))")
    }
    tell(.retracted(retraction))
  }

  private static func initial(of segment: Plan) throws(RequestRefusal) -> [InitialState] {
    do throws(SelectionError) {
      let all = try Selection(only: [], skip: [], of: segment)
      return segment.tasks.map { all.initialState(TaskID($0)) }
    } catch {
      throw RequestRefusal(detail: error.message)
    }
  }

  private func expectMeans(of segment: Plan, _ initial: [InitialState]) throws(RequestRefusal) {
    if let task = MissingTerminal.tasks(of: segment, initial).first {
      throw RequestRefusal(
        detail: "`\(CleanText.string(task))` is interactive, but the run has no terminal")
    }
    let usesNodes = request.nodes != nil
    if let missing = MissingDevices.first(of: segment, usesNodes: usesNodes, initial) {
      throw RequestRefusal(
        detail:
          "task \(CleanText.string(missing.task)) needs \(missing.wanted)"
          + " \(missing.wanted == 1 ? "GPU" : "GPUs"); this machine has"
          + " \(missing.there == 0 ? "none" : "\(missing.there)") (opflow looked at"
          + " CUDA_VISIBLE_DEVICES, SLURM_STEP_GPUS and /dev/nvidia*)")
    }
    try expectSecrets(of: segment, initial)
    if segment.hasCaches, !plan.hasCaches {
      throw RequestRefusal(
        detail: "`cache` needs a run whose first manifest has a task with `cache: true`; start a"
          + " new run")
    }
    if segment.hasMemoryLimits, !plan.hasMemoryLimits {
      warn(
        "`memory_limit` of the added tasks is not enforced, because no task had one when the run "
          + "began; `opflow resume` enforces it")
    }
    guard segment.hasChecks, !plan.hasChecks else { return }
    let state = StateFolder(holding: request.folder).path
    _ = try rethrowing(RecordBook(state: state)) {
      RequestRefusal(detail: "cannot use \(RecordBook.badPath(in: state)): \($0)")
    }
  }

  /// Refuses secrets that no task listed when the session began: opflow never read them.
  private func expectSecrets(of segment: Plan, _ initial: [InitialState]) throws(RequestRefusal) {
    let known = Set(request.secrets.map(\.name))
    for task in segment.tasks.lazy.map({ TaskID($0) }) where initial[task.index].mayStart {
      if let name = segment.secretNames(task).first(where: { !known.contains($0) }) {
        throw RequestRefusal(
          detail:
            "`\(segment.nameString(task))` lists the secret `\(name)`, which opflow did not read"
            + " when the run began, because no task listed it; list it in the run's first manifest")
      }
    }
  }

  /// Refuses a segment with a secret, and removes its copies in the run's folder at once.
  private func expectNoSecret(
    in segment: Plan, _ request: AddRequest, _ folder: AddedFolder
  ) throws(RequestRefusal) {
    if self.request.secrets.isEmpty { return }
    let names = [request.manifestPath, request.folder] + request.files
    let lines = Array(names.joined(separator: "\n").utf8)
    let copies = try folder.copies(of: request) + [("the list of its files", lines)]
    guard let detail = WrittenSecrets.refusal(self.request.secrets, of: segment, copies: copies)
    else { return }
    folder.remove()
    throw RequestRefusal(detail: detail)
  }

  private func grow(by segment: Plan, mayFollow: Bool) throws(RequestRefusal) -> Plan {
    try rethrowing(growing.grow(by: segment, mayFollow: mayFollow)) { (fault: GrowthFault) in
      RequestRefusal(detail: fault.detail(in: request.folder))
    }
  }

  private func entry(_ request: AddRequest, _ requester: Requester, _ segment: Plan) -> ExtendEntry
  {
    var entry = ExtendEntry(
      id: request.id, requester: requester, taskCount: plan.taskCount + segment.taskCount,
      added: segment.taskCount)
    if !request.generator.isNone {
      entry.generator = request.generator
      entry.attempt = engine.attempt(of: request.generator)
    }
    entry.segmentKey = segment.key.description
    entry.manifestPath = request.manifestPath
    entry.folder = request.folder
    entry.files = request.files
    if let carried = request.carried { entry.copy = String(decoding: carried.copy, as: UTF8.self) }
    return entry
  }
}
