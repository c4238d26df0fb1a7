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
    case .journal(let path, let error): "\(path): \(error.message). Start anew with `opflow run`"
    case .plan(let path, let error):
      "\(path): this is no plan that opflow can use: \(error.message)."
        + " A resume makes it anew from the manifest"
    case .held(let run, let holder?):
      "run \(run) is held by \(holder). Wait for it, or stop it "
        + (holder.localPID.map { "with `kill \($0)`" } ?? "there")
    case .heldElsewhere(let run, let holder):
      "run \(run) is still held by \(holder). Stop it there; where that machine is gone,"
        + " `opflow resume \(run) --take-over` goes on without it"
    case .held(let run, nil): "run \(run) is held by another process"
    case .noRuns(let folder): "no runs in \(folder). Start one with `opflow run FILE`"
    case .live(let run, let group, let holder):
      "run \(run) \(group) is live, and is held by "
        + (holder?.description ?? "another process")
        + "; `--if-running wait` waits for it, `--if-running allow` runs beside it"
    case .beginning(let group, let holder):
      "\(holder?.description ?? "another process") begins a run \(group);"
        + " `--if-running wait` waits for it, `--if-running allow` runs beside it"
    case .aroundItself(let run, let group):
      "this is a task of run \(run) \(group): to wait for it would never end."
        + " `--if-running allow` runs beside it; so does a manifest of another `concurrency`"
    case .foreign(let file, let state):
      "\(CleanText.string(file.description)): opflow does not use a state folder that it found and "
        + "that others may have written. If you trust it, name it: `--state-dir "
        + "\(CleanText.string(state))`"
    case .foreignManifest(let file, let path):
      "\(CleanText.string(file.description)), and \(CleanText.string(path)) has changed since the "
        + "run began. If you trust it, name it: `opflow run --resume -f \(CleanText.string(path))`"
    case .link(let path):
      "\(path) is a symbolic link: what is behind it may be another's, and nothing of it is "
        + "removed. --state-dir names the folder that holds the runs themselves"
    case .removed(let run):
      "run \(run) is here no more: its folder was just removed, by `opflow clean`, the end of a "
        + "later run (`keep_runs`) or by hand"
    case .noSuchRun(let name) where RunID(name) != nil:
      "run \(name) is not here; `opflow clean` and the end of a later run (`keep_runs`) remove old "
        + "ones. `opflow runs` lists those that are"
    case .noSuchRun(let name):
      "no run is named `\(name)` or begins like it, and no run is of a manifest there."
        + " `opflow runs` lists them"
    case .ambiguous(let name, let runs):
      "`\(name)` is the beginning of \(runs.count) runs: "
        + runs.prefix(5).joined(separator: ", ") + (runs.count > 5 ? ", …" : "")
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
