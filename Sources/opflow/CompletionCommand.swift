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
