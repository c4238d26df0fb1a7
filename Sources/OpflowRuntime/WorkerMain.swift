internal import OpflowCore
internal import OpflowSystem

/// `opflow worker RUN-FOLDER RUN-ID`: runs tasks for a coordinator.
///
/// Orders come on standard input and reports go to standard output, as the worker protocol has them
/// (`MessageCodec`). The plan is `RUN-FOLDER/plan`, logs go to `RUN-FOLDER/logs`, which must exist, and
/// a shared lock is held on `RUN-FOLDER/workers.lock` for as long as the worker lives.
/// What the worker itself has to complain of goes to standard error.
package enum WorkerMain {
  /// The word on the command line.
  package static let command = "worker"

  /// The command line, without the program's name, of a worker for a run.
  package static func arguments(runFolder: String, run: String) -> [String] {
    [command, runFolder, run]
  }

  /// Runs the worker. `arguments` are those behind the command. Returns the exit code: 0, 2 for wrong
  /// arguments, 74 when the run's files cannot be used.
  package static func run(arguments: [String]) -> Int32 {
    guard arguments.count == 2 else {
      complain("usage: opflow worker RUN-FOLDER RUN-ID")
      return 2
    }
    do throws(Failure) {
      try work(runFolder: arguments[0], run: arguments[1])
      return 0
    } catch {
      complain(error.what)
      return 74
    }
  }

  private struct Failure: Error {
    let what: String
  }

  private static func work(runFolder: String, run: String) throws(Failure) {
    try attempt("cannot set up signals") { () throws(Errno) in try prepareProcess() }
    let orders = try attempt("cannot use standard input") { () throws(Errno) in
      try StandardStream.input.duplicate()
    }
    let reports = try attempt("cannot use standard output") { () throws(Errno) in
      try StandardStream.output.duplicate()
    }
    let nothing = try attempt("cannot open /dev/null") { () throws(Errno) in
      try File.openNull()
    }
    try attempt("cannot redirect standard input and output") { () throws(Errno) in
      // So that nothing which is printed by mistake gets between the lines, and no task finds them.
      try StandardStream.input.redirect(to: nothing)
      try StandardStream.output.redirect(to: .error)
    }
    let lock = try attempt("cannot lock \(runFolder)/workers.lock") { () throws(Errno) in
      try FileLock.lock(runFolder + "/workers.lock", .shared)
    }
    let logs = try attempt("cannot open \(runFolder)/logs") { () throws(Errno) in
      try File.open(runFolder + "/logs", [.readOnly, .directory])
    }
    let plan = try openPlan(runFolder + "/plan")
    let hello = WorkerHello(
      planKey: plan.key.description, pid: ProcessID.own, cores: Machine.cores, actions: ["run"],
      host: Machine.hostName)
    do throws(Errno) {
      let loop = try WorkerLoop(
        plan: plan, run: run, logs: logs, orders: orders, reports: reports)
      try loop.run(hello: hello)
    } catch {
      throw Failure(what: "cannot go on: \(error)")
    }
    _ = consume lock
  }

  private static func prepareProcess() throws(Errno) {
    Dispositions.resetAll()
    try SignalSet.all.block()
    try MappedFile.exitOnBusError()
    try ProcessTree.becomeSubreaper()
    // Fails where the worker leads a session already, which is as good.
    try? ProcessID.newSession()
  }

  private static func openPlan(_ path: String) throws(Failure) -> Plan {
    let file = try attempt("cannot open \(path)") { () throws(Errno) in try MappedFile(path) }
    do throws(PlanError) {
      return try Plan(bytes: file.bytes, checksum: false, release: MappedFile.unmap)
    } catch {
      throw Failure(what: "\(path) is no plan that this opflow can use: \(error.message)")
    }
  }

  private static func attempt<Result: ~Copyable>(
    _ what: String, _ body: () throws(Errno) -> Result
  ) throws(Failure) -> Result {
    do throws(Errno) {
      return try body()
    } catch {
      throw Failure(what: "\(what): \(error)")
    }
  }

  static func complain(_ text: String) {
    let line = Array("opflow worker: \(text)\n".utf8)
    // Nobody is left to tell when this fails.
    try? StandardStream.error.writeAll(line)
  }
}
