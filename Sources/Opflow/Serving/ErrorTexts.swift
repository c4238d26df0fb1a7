internal import OpflowCore
internal import OpflowManifest
internal import OpflowRuntime

extension QueueError {
  init(_ error: RunFolderError) {
    let kind: Kind =
      switch error {
      case .file: .io
      case .journal, .plan: .journal
      case .held, .heldElsewhere, .live, .beginning, .aroundItself: .held
      case .link, .removed, .noRuns, .noSuchRun, .ambiguous: .usage
      }
    self.init(kind, error.message)
  }

  /// Why tasks cannot be added.
  ///
  /// - Parameter isComposed: nobody wrote the manifest, so that places in it say nothing.
  init(_ error: PreparationError, isComposed: Bool) {
    switch error {
    case .unreadable(let path, let errno):
      self.init(.io, "cannot read \(CleanText.string(path)): \(errno)")
    case .mistakes(let mistakes):
      self.init(
        .manifest,
        isComposed ? Self.text(mistakes) : DiagnosticRenderer(isColored: false).render(mistakes))
    case .folder(let error): self.init(error)
    case .unsoundPlan(let error):
      self.init(.journal, "the plan that was compiled is not sound: \(error.message)")
    case .noSuchTask, .selection, .unfitAddition, .noLegSource, .noProcesses, .secrets, .secretSet,
      .secretOn, .noDescriptors, .noMemoryLimits, .noTerminal, .workersElsewhere, .tooFewDevices:
      self.init(.usage, "cannot be added: \(error)")
    }
  }

  private static func text(_ mistakes: ManifestError) -> String {
    mistakes.diagnostics.filter { $0.severity == .error }
      .map { diagnostic in
        let message = CleanText.string(diagnostic.message)
        return diagnostic.help.map { "\(message); \(CleanText.string($0))" } ?? message
      }.joined(separator: "\n")
  }
}
