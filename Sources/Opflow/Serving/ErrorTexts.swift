internal import OpflowBase
internal import OpflowManifest
internal import OpflowPlan
internal import OpflowRuntime

extension QueueError {
  init(_ error: RunFolderError) {
    let kind: Kind =
      switch error {
      case .file: .io
      case .journal, .plan: .journal
      case .held, .heldElsewhere, .live, .beginning, .aroundItself: .held
      case .foreign, .foreignManifest, .link, .removed, .noRuns, .noSuchRun, .ambiguous: .usage
      }
    self.init(kind, error.message)
  }

  /// `composed` is the manifest if the library wrote it.
  init(_ error: PreparationError, composed: ManifestText?) {
    switch error {
    case .unreadable(let path, let errno):
      self.init(.io, "cannot read \(CleanText.string(path)): \(errno)")
    case .mistakes(let mistakes):
      self.init(
        .manifest,
        composed?.text(mistakes) ?? DiagnosticRenderer(isColored: false).render(mistakes))
    case .folder(let error): self.init(error)
    case .unsoundPlan(let error):
      self.init(.journal, "the plan that was compiled is not sound: \(error.message)")
    case .noSuchTask, .selection, .unfitAddition, .noLegSource, .noProcesses, .secrets, .secretSet,
      .secretOn, .secretNamed, .noDescriptors, .noMemoryLimits, .noTerminal, .workersElsewhere,
      .noProgram, .survivors, .taskAround, .tooFewDevices:
      self.init(.usage, "cannot be added: \(error)")
    }
  }
}
