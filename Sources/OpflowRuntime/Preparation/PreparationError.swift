package import OpflowCore
package import OpflowManifest
package import OpflowSystem

/// Why a run or a resume cannot be prepared.
package enum PreparationError: Error {
  /// The manifest that was named cannot be read.
  case unreadable(manifest: String, Errno)
  /// The manifest is wrong.
  case mistakes(ManifestError)
  case folder(RunFolderError)
  /// A word that was to name tasks of a manifest names none. With the manifest's first tasks.
  case noSuchTask(UnfitSelector, manifest: String, tasks: [String])
  case selection(SelectionError)
  /// The plan that was compiled cannot be used: a mistake of ours.
  case unsoundPlan(PlanError)
  /// What was added to a run cannot be added to its plan as it is now, though it was compiled for it: a mistake of
  /// ours, or too much.
  case unfitAddition(GrownPlanError)
  /// No manifest of the run declares the family any more whose legs that task is to make: a mistake of ours.
  case noLegSource(String)
  /// Why processes cannot be found: without that nothing can be started, and nothing ended.
  case noProcesses(String)
  /// Secrets that tasks want cannot be had, and the manifest is not the one any more that says so.
  case secrets(SecretFaults)
  /// The value that `--set` gives this name holds a secret, and would be written down.
  case secretSet(name: String)
  /// What leads to another machine holds a secret.
  case secretOn
  /// The same of an option that names a run or tasks.
  case secretNamed(option: String)
  /// A run needs so many descriptors, which are not to be had.
  case noDescriptors(Int, Errno)
  /// Why memory cannot be limited as tasks say it is.
  case noMemoryLimits(String)
  /// `interactive` tasks are to be run, there is no terminal, and the manifest is not the one any more
  /// that says so.
  case noTerminal(tasks: [String])
  /// Workers of an earlier drive are still at work on these machines, or may be.
  case workersElsewhere([String])
  /// What `--on` asks for needs this program, which is not in PATH.
  case noProgram(String, for: String)
  /// A task that this process is part of would run.
  case taskAround(String)
  /// Processes of an earlier session that could not be ended.
  case survivors([Orphans.Survivor])
  /// A task wants more GPUs than this machine has.
  case tooFewDevices(task: String, wanted: Int, there: Int)
}

extension PreparationError {
  /// - Throws: for the first task that wants more GPUs than there are.
  static func expectDevices(
    of plan: Plan, usesSites: Bool, _ initial: @autoclosure () -> [InitialState]
  ) throws(PreparationError) {
    guard let missing = MissingDevices.first(of: plan, usesSites: usesSites, initial()) else {
      return
    }
    throw .tooFewDevices(task: missing.task, wanted: missing.wanted, there: missing.there)
  }
}

/// Runs `body` on the files of runs, as a part of a preparation.
func withFolder<Result: ~Copyable>(
  _ body: () throws(RunFolderError) -> Result
) throws(PreparationError) -> Result {
  do throws(RunFolderError) {
    return try body()
  } catch {
    throw .folder(error)
  }
}
