package import OpflowCore
internal import OpflowSystem

/// A worker from its command line to its exit code, whatever its work is:
///
///     PROGRAM worker RUN-FOLDER RUN-ID [TASK ARGUMENT...]
///
/// Orders come on standard input and reports go to standard output, as the worker protocol has them
/// (`MessageCodec`). The plan is `RUN-FOLDER/plan`, and a shared lock is held on
/// `RUN-FOLDER/workers.lock` for as long as the worker lives. What the worker itself has to complain of
/// goes to standard error.
package enum WorkerProcess {
  /// The word on the command line.
  package static let command = "worker"

  /// The command line, without the program's name, of a worker for a run.
  ///
  /// - Parameter task: what one of the tasks gets behind its command.
  package static func arguments(
    runFolder: String, run: String, task: TaskArguments? = nil
  ) -> [String] {
    [command, runFolder, run] + (task.map { ["\($0.task.rawValue)"] + $0.words } ?? [])
  }

  /// Runs the worker that `makeRole` makes, and ends the process when its work is done. `arguments` are those
  /// behind the command. Returns the exit code of one that cannot work: 2 for wrong arguments, 74 when the run's
  /// files cannot be used.
  package static func run<Role: WorkerRole>(
    _ trade: WorkerTrade, arguments: [String],
    makeRole: (WorkerFrame) throws(WorkerFailure) -> Role
  ) -> Int32 {
    guard arguments.count == 2 || trade.takesArguments && arguments.count > 3 else {
      trade.complain("usage: \(trade.usage)")
      return 2
    }
    do throws(WorkerFailure) {
      let frame = try open(trade, runFolder: arguments[0], run: arguments[1])
      if arguments.count > 3, let task = Int32(arguments[2]), task >= 0 {
        frame.taskArguments = TaskArguments(task: TaskID(task), words: Array(arguments[3...]))
      }
      try work(makeRole(frame), frame)
      // The pipe for reports ends with the process. Closed before, it would show the coordinator a worker that
      // says nothing more and still lives, which is killed, and is thought to have left its folders behind.
      withExtendedLifetime(frame) { ProcessID.exitNow(0) }
    } catch {
      trade.complain(error.what)
      return 74
    }
  }

  /// What the role holds is given back when this returns.
  private static func work<Role: WorkerRole>(
    _ role: Role, _ frame: WorkerFrame
  ) throws(WorkerFailure) {
    try WorkerFailure.naming("cannot go on") { () throws(Errno) in try frame.work(role) }
  }

  private static func open(
    _ trade: WorkerTrade, runFolder: String, run: String
  ) throws(WorkerFailure) -> WorkerFrame {
    try WorkerFailure.naming("cannot open standard streams") { () throws(Errno) in
      try StandardStream.openClosed()
    }
    try WorkerFailure.naming("cannot set up signals") { () throws(Errno) in
      Dispositions.resetAll()
      // What is written to nobody, or beyond a limit, is told by the write.
      try SignalSet.all.block()
      try MappedFile.exitOnBusError()
      joinSession()
    }
    let orders = try WorkerFailure.naming("cannot use standard input") { () throws(Errno) in
      try StandardStream.input.duplicate()
    }
    let reports = try WorkerFailure.naming("cannot use standard output") { () throws(Errno) in
      try StandardStream.output.duplicate()
    }
    let nothing = try WorkerFailure.naming("cannot open /dev/null") { () throws(Errno) in
      try File.openNull()
    }
    try WorkerFailure.naming("cannot redirect standard input and output") { () throws(Errno) in
      // So that nothing which is printed by mistake gets between the lines, and no task finds them.
      try StandardStream.input.redirect(to: nothing)
      try StandardStream.output.redirect(to: .error)
    }
    let lock = try WorkerFailure.naming("cannot lock \(runFolder)/workers.lock") {
      () throws(Errno) in try FileLock.lock(runFolder + "/workers.lock", .shared)
    }
    let plans = try WorkerPlan(at: runFolder + "/plan")
    return try WorkerFrame(
      trade, plans: plans, run: run, runFolder: runFolder, orders: orders, reports: reports,
      lock: lock)
  }

  /// A session of its own, which it has already where it was started as it should be. One that is to run
  /// what has the terminal was started at the head of a process group, where no key of the terminal reaches
  /// it, and cannot leave the terminal's session; by now it blocks what keys send, and joins its
  /// coordinator (`TerminalLoan`).
  private static func joinSession() {
    do throws(Errno) {
      try ProcessID.newSession()
    } catch {
      // Fails for one that leads a session, which is as good.
      try? ProcessGroup.joinParent()
    }
  }
}
