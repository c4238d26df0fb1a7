internal import OpflowBase
import OpflowCommandLine
import OpflowManifest
internal import OpflowPlan
import OpflowRuntime
import OpflowSystem

enum CompletionCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    try Console.write(CompletionScript.text(arguments.shell))
    return ExitCode.success.rawValue
  }

  /// Errors stay silent, since the user is typing.
  static func answer(_ words: [String]) -> Int32 {
    guard let request = CompletionRequest(words) else { return ExitCode.usage.rawValue }
    let question = request.question
    if let folder = question.view.directory, (try? Path.changeDirectory(to: folder)) == nil {
      return ExitCode.usage.rawValue
    }
    var candidates = question.words
    for kind in question.kinds { candidates += Self.candidates(kind, question) }
    try? Console.write(request.answer(candidates))
    return ExitCode.success.rawValue
  }

  private static func candidates(
    _ kind: CompletionQuestion.Kind, _ question: CompletionQuestion
  ) -> [CompletionCandidate] {
    switch kind {
    case .tasks: plan(question).map { PlanCandidates.tasks($0, stem: question.stem) } ?? []
    case .resources: plan(question).map(PlanCandidates.resources) ?? []
    case .runs: runs(question)
    case .manifests: manifests(question.stem)
    case .files: FileCandidates.names(question.stem) { _ in true }
    case .folders: FileCandidates.names(question.stem) { _ in false }
    case .manifestKeys: ManifestReference.names.map { CompletionCandidate($0) }
    }
  }

  private static func plan(_ question: CompletionQuestion) -> Plan? {
    if question.isOfRun, let run = try? RunLookup.run(question.run, question.view) {
      if let plan = try? run.openPlan(verifyingChecksum: false) { return plan }
    }
    guard let path = question.file.map(ManifestFile.path) ?? (try? ManifestLookup.nearest()),
      path != ManifestFile.standardInput, let manifest = try? ManifestLookup.read(path),
      let state = try? RunLookup.state(question.view, for: manifest)
    else { return nil }
    return manifest.planToGlanceAt(state)
  }

  /// Projects have many folders: only those with a manifest, or below a typed path.
  private static func manifests(_ stem: String) -> [CompletionCandidate] {
    FileCandidates.names(stem, where: NearestFile.isManifest).filter { candidate in
      !candidate.isOpen || stem.contains("/")
        || Path.exists(candidate.word + ManifestFile.defaultName)
    }
  }

  private static func runs(_ question: CompletionQuestion) -> [CompletionCandidate] {
    guard let state = try? RunLookup.state(question.view), let runs = try? state.runs() else {
      return []
    }
    return runs.prefix(mostRuns).map { CompletionCandidate($0.description) }
  }

  private static let mostRuns = 200
}

enum PlanCandidates {
  /// Matrix tasks and tags are listed once their prefix is typed.
  static func tasks(_ plan: Plan, stem: String) -> [CompletionCandidate] {
    if stem.hasPrefix("tag:") { return tags(plan) }
    var candidates: [CompletionCandidate] = []
    var next = 0
    while next < plan.taskCount, candidates.count <= most {
      let task = TaskID(next)
      guard let matrixGroup = plan.matrixGroup(of: task) else {
        let name = plan.nameString(task)
        if name.hasPrefix(stem) || plan.taskCount <= most {
          candidates.append(CompletionCandidate(name, description(of: task, plan)))
        }
        next += 1
        continue
      }
      let name = plan.matrixGroupName(matrixGroup)
      let instances = plan.instances(matrixGroup)
      if name.hasPrefix(stem) || plan.taskCount <= most {
        let count = instances.count == 1 ? "1 task" : "\(instances.count) tasks"
        let text = description(of: task, plan)
        candidates.append(CompletionCandidate(name, text.isEmpty ? count : "\(text) (\(count))"))
      }
      if stem.hasPrefix(name) { candidates += self.instances(instances, plan, stem) }
      next = instances.upperBound
    }
    if "tag:".hasPrefix(stem), !tags(plan).isEmpty {
      candidates.append(CompletionCandidate("tag:", "tasks with a tag", isOpen: true))
    }
    return candidates
  }

  private static func instances(_ instances: Range<Int>, _ plan: Plan, _ stem: String)
    -> [CompletionCandidate]
  {
    var candidates: [CompletionCandidate] = []
    for instance in instances where candidates.count <= most {
      let name = plan.nameString(TaskID(instance))
      if name.hasPrefix(stem) { candidates.append(CompletionCandidate(name)) }
    }
    return candidates
  }

  static func resources(_ plan: Plan) -> [CompletionCandidate] {
    plan.resources.map { CompletionCandidate(plan.string($0.name) + "=", isOpen: true) }
  }

  private static func tags(_ plan: Plan) -> [CompletionCandidate] {
    var names: Set<String> = []
    var seen: Set<ListIndex> = []
    for task in plan.tasks {
      let tags = plan.record(TaskID(task)).texts[.tags]
      guard seen.insert(tags).inserted else { continue }
      for tag in plan.list(tags) { names.insert(plan.string(tag)) }
    }
    return names.sorted().map { CompletionCandidate("tag:" + $0) }
  }

  private static func description(of task: TaskID, _ plan: Plan) -> String {
    CleanText.string(plan.description(of: task))
  }

  /// More than a user would read.
  private static let most = 2000
}

enum FileCandidates {
  /// Completes a typed path with folders and wanted files; hidden ones only after a dot.
  static func names(_ stem: String, where isWanted: (String) -> Bool) -> [CompletionCandidate] {
    let slash = stem.lastIndex(of: "/")
    let folder = slash.map { String(stem[...$0]) } ?? ""
    let beginning = slash.map { String(stem[stem.index(after: $0)...]) } ?? stem
    guard let all = try? Path.names(in: place(folder)) else { return [] }
    var candidates: [CompletionCandidate] = []
    for name in all.sorted() where name.hasPrefix(beginning) {
      if name.hasPrefix("."), beginning.isEmpty { continue }
      if Path.isDirectory(place(folder) + "/" + name) {
        candidates.append(CompletionCandidate(folder + name + "/", isOpen: true))
      } else if isWanted(name) {
        candidates.append(CompletionCandidate(folder + name))
      }
    }
    return candidates
  }

  private static func place(_ folder: String) -> String {
    if folder.isEmpty { return "." }
    guard folder.hasPrefix("~/"), let home = Environment.value("HOME") else { return folder }
    return home + folder.dropFirst()
  }
}
