package import OpflowPlan
internal import OpflowSystem

/// The main function of a worker process:
///
///     PROGRAM worker RUN-FOLDER RUN-ID [TASK ARGUMENT...]
///
/// Commands arrive on standard input and reports go to standard output (`MessageCodec`). The plan
/// is `RUN-FOLDER/plan`. The worker holds a shared lock on `RUN-FOLDER/workers.lock` while it
/// lives. Its own errors go to standard error.
package enum WorkerProcess {
  package static let command = "worker"

  /// `task` adds arguments for the command of one task.
  package static func arguments(
    runFolder: String, run: String, task: TaskArguments? = nil
  ) -> [String] {
    [command, runFolder, run] + (task.map { ["\($0.task.rawValue)"] + $0.words } ?? [])
  }

  /// Exits when the worker is done. `arguments` follow the subcommand. Returns 2 for wrong
  /// arguments, 74 if the run's files cannot be used.
  package static func run<Role: WorkerRole>(
    _ trade: WorkerTrade, arguments: [String], makeRole: (WorkerFrame) throws(WorkerFailure) -> Role
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
      // If the report pipe closed before the exit, the coordinator would see a silent, living
      // worker, kill it and assume that it left its folders behind.
      withExtendedLifetime(frame) { ProcessID.exitNow(0) }
    } catch {
      trade.complain(error.detail)
      return 74
    }
  }

  /// Releases the role's resources before it returns.
  private static func work<Role: WorkerRole>(
    _ role: Role, _ frame: WorkerFrame
  ) throws(WorkerFailure) {
    try WorkerFailure.naming("cannot continue") { () throws(Errno) in try frame.work(role) }
  }

  private static func open(
    _ trade: WorkerTrade, runFolder: String, run: String
  ) throws(WorkerFailure) -> WorkerFrame {
    try WorkerFailure.naming("cannot open standard streams") { () throws(Errno) in
      try StandardStream.openClosed()
    }
    try WorkerFailure.naming("cannot set up signals") { () throws(Errno) in
      Dispositions.resetAll()
      // A write to a closed pipe, or beyond a limit, reports the error itself.
      try SignalSet.all.block()
      try MappedFile.exitOnBusError()
      joinSession()
    }
    let messages = try WorkerFailure.naming("cannot use standard input") { () throws(Errno) in
      try StandardStream.input.duplicate()
    }
    let reports = try WorkerFailure.naming("cannot use standard output") { () throws(Errno) in
      try StandardStream.output.duplicate()
    }
    let nothing = try WorkerFailure.naming("cannot open /dev/null") { () throws(Errno) in
      try File.openNull()
    }
    try WorkerFailure.naming("cannot redirect standard input and output") { () throws(Errno) in
      // Stray output must not mix with the reports, and tasks must not inherit the pipes.
      try StandardStream.input.redirect(to: nothing)
      try StandardStream.output.redirect(to: .error)
    }
    let lock = try WorkerFailure.naming("cannot lock \(runFolder)/workers.lock") {
      () throws(Errno) in try FileLock.lock(runFolder + "/workers.lock", .shared)
    }
    let plans = try WorkerPlan(at: runFolder + "/plan")
    return try WorkerFrame(
      trade, plans: plans, run: run, runFolder: runFolder, messages: messages, reports: reports,
      lock: lock)
  }

  /// A worker for tasks that use the terminal must stay in its session: started as a process group
  /// leader, safe from keys, it now blocks their signals and joins its coordinator's group
  /// (`TerminalLoan`).
  private static func joinSession() {
    do throws(Errno) {
      try ProcessID.newSession()
    } catch {
      // A session leader fails here too, which is harmless.
      try? ProcessGroup.joinParent()
    }
  }
}

/// The plan of the run. Tasks may be added to the end of its file (`PlanGrowth`); existing tasks do
/// not change.
package final class WorkerPlan {
  package private(set) var current: Plan
  /// nil for a plan that does not grow.
  private let path: String?
  private var mapping: SharedMapping?

  package init(_ plan: Plan) {
    current = plan
    path = nil
  }

  init(at path: String) throws(WorkerFailure) {
    self.path = path
    let mapping = try Self.map(path)
    self.mapping = mapping
    current = try Self.open(mapping, path)
  }

  var runFolder: String? { path.map { Path.parent(of: $0) } }

  /// Reopens the file if `last`, the highest task that a command names, is unknown. The coordinator
  /// names a task, or a dependent of matrix tasks, only after they are in the file.
  func extend(to last: TaskID) {
    guard !last.isNone, last.index >= current.taskCount || current.lacksInstances(last), let path,
      let mapping = mapped(path), let grown = try? Self.open(mapping, path),
      grown.key == current.key, grown.taskCount > current.taskCount
    else { return }
    current = grown
    self.mapping = mapping
  }

  private func mapped(_ path: String) -> SharedMapping? {
    if let mapping, let status = try? Path.status(path), mapping.isAll(of: status) {
      return mapping
    }
    return try? Self.map(path)
  }

  private static func map(_ path: String) throws(WorkerFailure) -> SharedMapping {
    try WorkerFailure.naming("cannot open \(path)") { () throws(Errno) in
      try SharedMapping(File.openRegular(path, .readOnly), at: path)
    }
  }

  private static func open(_ mapping: SharedMapping, _ path: String) throws(WorkerFailure) -> Plan {
    do throws(PlanError) {
      return try Plan(bytes: mapping.bytes, checksum: false, release: mapping.release)
    } catch {
      throw WorkerFailure(detail: "cannot read the plan \(path): \(error.message)")
    }
  }
}
