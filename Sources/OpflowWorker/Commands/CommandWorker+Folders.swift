internal import OpflowPlan
internal import OpflowSystem

/// A task's temporary folder and that of its values.
extension CommandWorker {
  /// Without a folder tasks run anyway: most do not use it.
  func prepareFolder() {
    if let error = taskFolder.prepare() {
      frame.complain("cannot make the folder \(taskFolder.path) for OPFLOW_TMP: \(error)")
    }
    launcher.use(taskFolder: taskFolder.path)
  }

  func cleanFolder() {
    let path = taskFolder.path
    do throws(Errno) {
      try taskFolder.clean()
    } catch {
      frame.complain(
        "task \(plan.nameString(running)): cannot empty its OPFLOW_TMP, \(path): \(error);"
          + " the next task gets another folder")
    }
  }

  func endValues(isSuccess: Bool) {
    guard let error = values.end(isSuccess: isSuccess) else { return }
    frame.complain(
      "task \(plan.nameString(running)): what it left in $OPFLOW_VALUES cannot be removed: \(error)"
    )
  }

  /// The first task that declares files was just added to the run.
  func openFiles(_ now: Instant) {
    guard files == nil, plan.declaresFiles else { return }
    do throws(WorkerFailure) {
      files = try DeclaredFiles.of(frame.plans, runFolder: frame.runFolder)
    } catch {
      frame.complain(error.what)
      endOfOrders(at: now)
    }
  }
}
