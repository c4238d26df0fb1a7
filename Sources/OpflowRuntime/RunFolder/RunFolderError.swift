internal import OpflowBase
package import OpflowJournal
package import OpflowPlan
package import OpflowSystem

package enum RunFolderError: Error, Equatable, Sendable {
  case file(doing: String, path: String, Errno)
  case journal(path: String, JournalError)
  case plan(path: String, PlanError)
  /// The process is nil if its name could not be read.
  case held(run: String, by: LockHolder?)
  /// The run was still held after a wait.
  case heldElsewhere(run: String, by: LockHolder)
  /// A run of the same concurrency group is live, and waiting was not requested.
  case live(run: String, group: String, by: LockHolder?)
  /// A process is starting a run of the group, and waiting was not requested.
  case beginning(group: String, by: LockHolder?)
  /// The live run of the group contains this process, so waiting would never end.
  case aroundItself(run: String, group: String)
  case removed(run: String)
  /// A state folder that was found, not named, and that another user may have written.
  case foreign(ForeignFile, state: String)
  /// Another user may have changed the manifest of the resumed run.
  case foreignManifest(ForeignFile, path: String)
  /// Runs are not removed through a symbolic link.
  case link(String)
  case noRuns(folder: String)
  case noSuchRun(String)
  case ambiguous(String, runs: [String])

  package var message: String {
    switch self {
    case .file(let doing, let path, let error): "cannot \(doing) \(path): \(error)"
    case .journal(let path, let error):
      "\(path): \(error.message); start a new run with `opflow run`"
    case .plan(let path, let error):
      "\(path): opflow cannot use this plan: \(error.message);"
        + " `opflow resume` rebuilds it from the manifest"
    case .held(let run, let holder?):
      "run \(run) is in use by \(holder); wait for it, or stop it "
        + (holder.localPID.map { "with `kill \($0)`" } ?? "there")
    case .heldElsewhere(let run, let holder):
      "run \(run) is still in use by \(holder); stop it there, or, if that machine is gone,"
        + " take over the run with `opflow resume \(run) --take-over`"
    case .held(let run, nil): "run \(run) is in use by another process; wait for it to end"
    case .noRuns(let folder): "no runs in \(folder); start one with `opflow run FILE`"
    case .live(let run, let group, let holder):
      "run \(run) \(group) is live" + (holder.map { " (\($0))" } ?? "")
        + "; `--if-running wait` waits for it, `--if-running allow` starts a run beside it"
    case .beginning(let group, let holder):
      "\(holder?.description ?? "another process") is starting a run \(group);"
        + " `--if-running wait` waits for it, `--if-running allow` starts a run beside it"
    case .aroundItself(let run, let group):
      "this command was started by a task of run \(run) \(group), so waiting for that run would"
        + " never end; use `--if-running allow`, or a manifest with another `concurrency`"
    case .foreign(let file, let state):
      "\(CleanText.string(file.description)), so opflow does not use the state folder that it"
        + " found; if you trust it, name it: `--state-dir \(CleanText.string(state))`"
    case .foreignManifest(let file, let path):
      "\(CleanText.string(file.description)), and \(CleanText.string(path)) has changed since the "
        + "run began; if you trust it, name it: `opflow run --resume -f \(CleanText.string(path))`"
    case .link(let path):
      "\(path) is a symbolic link, and opflow does not remove runs through links; name the real "
        + "state folder with `--state-dir`"
    case .removed(let run):
      "run \(run) no longer exists; `opflow clean`, the `keep_runs` of a later run or a user has "
        + "just removed its folder"
    case .noSuchRun(let name) where RunID(name) != nil:
      "no run with ID `\(name)`; `opflow runs` lists all runs (`opflow clean` and `keep_runs`"
        + " remove old ones)"
    case .noSuchRun(let name) where name.contains("/") || name.contains("."):
      "no runs of a manifest `\(name)`; `opflow runs` lists all runs"
    case .noSuchRun(let name): "no run with ID `\(name)`; `opflow runs` lists all runs"
    case .ambiguous(let name, let runs):
      "\(runs.count) run IDs start with `\(name)`: " + runs.prefix(5).joined(separator: ", ")
        + (runs.count > 5 ? ", … and \(runs.count - 5) more" : "") + "; type more of the ID"
    }
  }
}

/// A missing journal means that the run never began or was removed: it is created just before its
/// first line.
func openingJournal<Result: ~Copyable>(
  _ path: String, _ body: @autoclosure () throws(Errno) -> Result
) throws(RunFolderError) -> Result {
  do throws(Errno) {
    return try body()
  } catch .noSuchFile {
    let folder = Path.parent(of: path)
    if Path.isMissing(folder) { throw .removed(run: Path.name(folder)) }
    throw .journal(path: path, .empty)
  } catch {
    throw .file(doing: "open", path: path, error)
  }
}

func doing<Result: ~Copyable>(
  _ detail: String, _ path: String, _ body: @autoclosure () throws(Errno) -> Result
) throws(RunFolderError) -> Result {
  try rethrowing(body()) { RunFolderError.file(doing: detail, path: path, $0) }
}

func doing<Result: ~Copyable>(
  _ detail: String, _ path: String, _ body: () throws(Errno) -> Result
) throws(RunFolderError) -> Result {
  try doing(detail, path, body())
}
