package import OpflowManifest
package import OpflowPlan
package import OpflowSystem

/// Why a run or a resume cannot be prepared.
package enum PreparationError: Error {
  case unreadable(manifest: String, Errno)
  case mistakes(ManifestError)
  case folder(RunFolderError)
  /// `tasks` lists the first tasks or tags.
  case noSuchTask(UnfitSelector, manifest: String, tasks: [String])
  case selection(SelectionError)
  /// A bug in opflow.
  case unsoundPlan(PlanError)
  /// Too large, or a bug in opflow.
  case unfitAddition(GrownPlanError)
  /// No manifest of the run declares the generator's matrix: a bug in opflow.
  case noLegSource(String)
  /// Processes cannot be inspected, so none can be started or ended safely.
  case noProcesses(String)
  /// The manifest has changed meanwhile.
  case secrets(SecretFaults)
  /// A `--set` value contains a secret, which would be stored.
  case secretSet(name: String)
  case secretOn
  /// An option that names a run or tasks contains a secret.
  case secretNamed(option: String)
  /// So many descriptors are not available.
  case noDescriptors(Int, Errno)
  case noMemoryLimits(String)
  /// The manifest has changed meanwhile.
  case noTerminal(tasks: [String])
  /// Workers of an earlier session are, or may be, alive on these machines.
  case workersElsewhere([String])
  case noProgram(String, for: String)
  /// A task that contains this process would run.
  case taskAround(String)
  /// Of an earlier session; they could not be ended.
  case survivors([Orphans.Survivor])
  case tooFewDevices(task: String, wanted: Int, there: Int)
}

extension PreparationError {
  static func expectDevices(
    of plan: Plan, usesSites: Bool, _ initial: @autoclosure () -> [InitialState]
  ) throws(PreparationError) {
    guard let missing = MissingDevices.first(of: plan, usesSites: usesSites, initial()) else {
      return
    }
    throw .tooFewDevices(task: missing.task, wanted: missing.wanted, there: missing.there)
  }
}

func withFolder<Result: ~Copyable>(
  _ body: () throws(RunFolderError) -> Result
) throws(PreparationError) -> Result {
  do throws(RunFolderError) {
    return try body()
  } catch {
    throw .folder(error)
  }
}
